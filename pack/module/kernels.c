/* Kernels of a module: a source that several programs share stands in it once.
 *
 *     void r_64(float *restrict y, …)              →   static void r_64(float *restrict y, …)
 *     void r_64_call(void *const *bufs, …)         →   the caller, for threads
 *
 * Each source is what render wrote (common/README.md, level program): whatever else it declares is
 * static and in an include guard, or begins with the kernel's name. */
#include "module/module.h"
#include <ctype.h>

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* Where a line begins with "void NAME(", or "static void NAME("; NULL when none does. */
static const char *definition(const char *src, const char *name)
{
	const char *find = arena_printf("void %s(", name);
	const char *at = src;

	for (; (at = strstr(at, find)); at++) {
		if (at == src || at[-1] == '\n')
			return at;
		if (at - src >= 7 && !memcmp(at - 7, "static ", 7) &&
				(at - 7 == src || at[-8] == '\n'))
			return at - 7;
	}
	return NULL;
}

/* src with the words `from`, and those that begin with it and _, renamed. */
static const char *renamed(const char *src, const char *from, const char *to)
{
	size_t n = strlen(from);
	Buf b = {0};

	while (*src) {
		const char *end = src;
		if (!in_word(*src)) {
			buf_add(&b, src++, 1);
			continue;
		}
		while (in_word(*end))
			end++;
		bool is = (size_t)(end - src) >= n && !memcmp(src, from, n) &&
			(src[n] == '_' || src + n == end);
		buf_printf(&b, "%s%.*s", is ? to : "", (int)(end - src - (is ? n : 0)),
			src + (is ? n : 0));
		src = end;
	}
	const char *r = arena_strdup(buf_str(&b));
	buf_free(&b);
	return r;
}

/* text with `by` before `at`, which is in it. */
static const char *inserted(const char *text, const char *at, const char *by)
{
	return arena_printf("%.*s%s%s", (int)(at - text), text, by, at);
}

/* A kernel and its caller get the place of their arrays in the workspace. */
static void add_scratch(Kernel *k)
{
	const char *head = strchr(k->caller, ')'), *call = strrchr(k->caller, ')'), *own;

	scratch_take(k);
	own = definition(k->src, k->id);
	CHECK(own && head && call > head);
	if (k->scratch) {
		k->src = inserted(k->src, strchr(own, ')'),
			", unsigned char *restrict const scratch");
		k->caller = inserted(k->caller, call, ", scratch");
	} else {
		k->caller = inserted(k->caller, strstr(k->caller, "{\n") + 2, "\t(void)scratch;\n");
	}
	k->caller = inserted(k->caller, strchr(k->caller, ')'), ", unsigned char *scratch");
}

static Kernel kernel_of(const UOp *program, const char *id)
{
	const char *name = val_get(program->arg, "name")->s;
	const char *src = val_get(program->arg, "src")->s;

	if (strcmp(name, id))
		src = renamed(src, name, id);
	const char *call = definition(src, arena_printf("%s_call", id));
	const char *own = definition(src, id);
	if (!call || !own || call < own)
		die(UNSUPPORTED, "%s: its source has no plain function of that name: %s", name,
			"pack takes what render -t c and -t clang write");
	size_t head = own - src, length = call - own;
	while (length && own[length - 1] == '\n')
		length--;
	bool is_static = !strncmp(own, "static ", 7);
	Kernel k = {
		.id = id,
		.src = arena_printf("%.*s%s%.*s\n", (int)head, src, is_static ? "" : "static ",
			(int)length, own),
		.caller = call,
		.program = program,
	};
	add_scratch(&k);
	return k;
}

size_t module_add_kernel(Module *m, const UOp *program)
{
	const Val *src = val_get(program->arg, "src");
	size_t k = (size_t)(uintptr_t)map_get(&m->kernel_of, PKEY(program));

	if (k)
		return k - 1;
	if (!src || src->kind != VAL_STR || !src->n)
		die(UNSUPPORTED, "%s: its source is not in the document: %s",
			val_get(program->arg, "name")->s, "pack takes what render writes");
	k = (size_t)(uintptr_t)map_get(&m->kernels, PKEY(src));
	if (!k) {
		const char *id = identifier_new(&m->ids, NULL, val_get(program->arg, "name")->s);
		vec_push(&m->kernel, kernel_of(program, id));
		k = m->kernel.n;
		map_put(&m->kernels, PKEY(src), (void *)(uintptr_t)k);
	}
	map_put(&m->kernel_of, PKEY(program), (void *)(uintptr_t)k);
	return k - 1;
}

size_t module_add_code(Module *m, Code *code, const UOp *program)
{
	const Val *src = val_get(program->arg, "src");
	const char *name = val_get(program->arg, "name")->s;

	if (map_get(&m->kernel_of, PKEY(program)))
		return module_kernel_number(m, program);
	if (!src || src->kind != VAL_STR || !src->n)
		die(UNSUPPORTED, "%s: its source is not in the document: %s", name,
			"pack takes what render writes");
	size_t k = (size_t)(uintptr_t)map_get(&m->kernels, PKEY(src));
	if (!k) {
		const char *id = identifier_new(&m->ids, NULL, name);
		vec_push(&code->kernel, ((Kernel){
			.id = id,
			.src = strcmp(name, id) ? renamed(src->s, name, id) : src->s,
			.program = program,
		}));
		k = code->kernel.n;
		map_put(&m->kernels, PKEY(src), (void *)(uintptr_t)k);
	}
	map_put(&m->kernel_of, PKEY(program), (void *)(uintptr_t)k);
	return k - 1;
}

size_t module_kernel_number(const Module *m, const UOp *program)
{
	size_t k = (size_t)(uintptr_t)map_get(&m->kernel_of, PKEY(program));

	CHECK(k);
	return k - 1;
}

const Kernel *module_kernel(const Module *m, const UOp *program)
{
	return &m->kernel.at[module_kernel_number(m, program)];
}

bool module_vectors(const Module *m)
{
	for (size_t i = 0; i < m->kernel.n; i++)
		if (strstr(m->kernel.at[i].src, "vector_size"))
			return true;
	return false;
}
