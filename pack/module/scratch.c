/* What a thread needs for itself: arrays of temporaries within a slice, tiles and accumulators.
 * Those that are large are in the workspace, a part for each thread; those that may become
 * registers, and are within a few lines of the cache, stay on the stack; lives.c says how many of
 * them are there at once.
 *
 *     float buf0[4096];      →   float *restrict const buf0 = (float *)(void *)(scratch + 0);
 *
 * The k-th DEFINE_LOCAL of a kernel is a line of its own in its source, of an array bufK. */
#include "module/module.h"
#include <ctype.h>

enum { APART = 64, SMALL = 1024 };      /* bytes: the greatest alignment; what stays on the stack */

static int64_t array_bytes(const UOp *u)
{
	int64_t low, most;
	const char *err;
	UOp *n = size_from_val(u->arg->a[1], &err);

	CHECK(n);
	ix_bounds(n, &low, &most);
	return most > INT32_MAX ? INT32_MAX :
		(most * dtype_size(u->dtype) + APART - 1) / APART * APART;
}

/* text with its part from … to-1 replaced. */
static const char *spliced(const char *text, const char *from, const char *to, const char *by)
{
	return arena_printf("%.*s%s%s", (int)(from - text), text, by, to);
}

/* The source with array number k in the workspace, at the end of what is there; NULL: it is not
 * declared in a line. */
static const char *moved(const char *src, int k, int64_t at)
{
	const char *name = arena_printf(" buf%d[", k), *declared = strstr(src, name);
	const char *end = declared ? declared + strlen(name) : NULL, *type = declared;

	while (end && isdigit((unsigned char)*end))
		end++;
	if (!end || strncmp(end, "];\n", 3))
		return NULL;
	while (type > src && (isalnum((unsigned char)type[-1]) || type[-1] == '_'))
		type--;
	const char *line = type;
	while (line > src && line[-1] != '\n')
		line--;
	line += strspn(line, "\t");
	const char *is = arena_printf("%.*s", (int)(declared - type), type);
	return spliced(src, line, end + 2,
		arena_printf("%s *restrict const buf%d = (%s *)(void *)(scratch + %lld);", is, k,
			is, (long long)at));
}

/* Whether it is a variable, which is in memory only while it is used; else it is an array. */
static bool is_variable(const UOp *u)
{
	bool one = u->arg->a[1]->kind == VAL_INT && u->arg->a[1]->i == 1;
	return u->op == OP_DEFINE_REG && (one || reg_is_vector(u));
}

void scratch_take(Kernel *k)
{
	const UOp *kernel = k->program->nsrc ? k->program->src[0] : NULL;
	VEC(Held) held = {0};
	int number = 0;

	if (!kernel || kernel->op != OP_KERNEL) {
		k->stack = -1;
		return;
	}
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		const UOp *u = kernel->src[i];
		if (u->op != OP_DEFINE_LOCAL && u->op != OP_DEFINE_REG)
			continue;
		int64_t bytes = array_bytes(u);
		const char *src = u->op == OP_DEFINE_LOCAL && bytes > SMALL ?
			moved(k->src, number, k->scratch) : NULL;
		number += u->op == OP_DEFINE_LOCAL;
		if (src) {
			k->src = src;
			k->scratch += bytes;
		} else {
			vec_push(&held, ((Held){i, bytes, is_variable(u)}));
		}
	}
	k->stack = held.n ? lives_most(kernel, held.at, held.n) : 0;
	vec_free(&held);
}

/* ---- of a function */

static int64_t larger(int64_t a, int64_t b) { return a < 0 || b < 0 ? -1 : a > b ? a : b; }

static void look(const Module *m, const UOp *list, int64_t *scratch, int64_t *stack)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		const Kernel *k = u->op == OP_CALL ? module_kernel(m, u->src[0]) : NULL;
		*scratch = larger(*scratch, k ? k->scratch : 0);
		*stack = larger(*stack, k ? k->stack : 0);
		for (uint32_t s = 0; s < u->nsrc; s++)
			if (u->src[s]->op == OP_REGION)
				look(m, u->src[s], scratch, stack);
	}
}

int64_t scratch_most(const Module *m, const Function *f)
{
	int64_t scratch = 0, stack = 0;

	look(m, f->g->sink, &scratch, &stack);
	return scratch;
}

int64_t stack_most(const Module *m, const Function *f)
{
	int64_t scratch = 0, stack = 0;

	look(m, f->g->sink, &scratch, &stack);
	return stack;
}
