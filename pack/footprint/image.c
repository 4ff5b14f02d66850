/* A module compiled and linked, to see what it takes. A worker does it, who may start a compiler;
 * what comes back is numbers.
 *
 *     cc -c NAME.c; cc -nostartfiles … → sections of the ELF file, the graph of calls */
#include "footprint/footprint.h"
#include "io/io.h"
#include "process/process.h"
#include <elf.h>
#include <stdlib.h>
#include <unistd.h>

enum { WORKER = 2, MOST_WORDS = 64 };
/* the worker's answer, and behind it the stack of each function */
typedef struct { int64_t flash, ram; int32_t linked, functions; } Answer;

static struct { const char *cc, *folder, *name; } given;

/* ---- sections */

typedef struct { uint64_t flags, bytes; bool none; } Section;

static void add_section(Answer *a, Section s)
{
	if (!(s.flags & SHF_ALLOC))
		return;
	a->flash += s.none ? 0 : (int64_t)s.bytes;
	a->ram += s.flags & SHF_WRITE ? (int64_t)s.bytes : 0;
}

/* Sums the sections of a file of B bits; false when it is not whole. */
#define SECTIONS(B) \
	static bool sections##B(const char *s, size_t n, Answer *a) \
	{ \
		const Elf##B##_Ehdr *h = (const void *)s; \
		const size_t each = sizeof(Elf##B##_Shdr); \
		if (n < sizeof *h || h->e_shentsize != each || h->e_shoff > n || \
				h->e_shoff % _Alignof(Elf##B##_Shdr) || \
				(n - h->e_shoff) / each < h->e_shnum) \
			return false; \
		const Elf##B##_Shdr *at = (const void *)(s + h->e_shoff); \
		for (int i = 0; i < h->e_shnum; i++) \
			add_section(a, (Section){at[i].sh_flags, at[i].sh_size, \
				at[i].sh_type == SHT_NOBITS}); \
		return true; \
	}
SECTIONS(32)
SECTIONS(64)

static void read_sections(const char *path, Answer *a)
{
	size_t n;
	const char *s = file_map(path, &n);
	bool known = n > EI_NIDENT && !memcmp(s, ELFMAG, SELFMAG) && s[EI_DATA] == ELFDATA2LSB;

	a->flash = a->ram = 0;
	if (!known || !(s[EI_CLASS] == ELFCLASS64 ? sections64(s, n, a) : sections32(s, n, a)))
		die(UNSUPPORTED, "what the compiler writes is no ELF file of little-endian order");
}

/* ---- the compiler */

typedef struct { char *word[MOST_WORDS + 16]; size_t n; } Command;

static void add(Command *c, const char *word)
{
	if (c->n + 1 >= sizeof c->word / sizeof *c->word)
		die(USAGE, "--cc: more than %d words", MOST_WORDS);
	c->word[c->n++] = (char *)word;
	c->word[c->n] = NULL;
}

/* The compiler with its options; quiet: its messages go nowhere. */
static Command compiler(bool quiet)
{
	Command c = {0};
	char *words = arena_strdup(given.cc), *more;

	if (quiet) {
		add(&c, program_find("sh"));
		add(&c, "-c");
		add(&c, "exec \"$@\" 2>/dev/null");
		add(&c, "sh");
	}
	for (char *w = strtok_r(words, " ", &more); w; w = strtok_r(NULL, " ", &more)) {
		bool first = w == words + strspn(words, " ");
		add(&c, first ? program_find(w) : w);
		if (first && !c.word[c.n - 1])
			die(FAILED, "no compiler '%s'", w);
		if (first)
			add(&c, "-O2");
	}
	if (!c.n)
		die(USAGE, "--cc takes a compiler");
	return c;
}

static bool start(Command *c)
{
	Buf out = {0};
	bool ok = !spawn_filter(c->word, "", 0, &out);

	buf_free(&out);
	return ok;
}

static bool compile(const char *source, const char *object, bool graph)
{
	Command c = compiler(graph);

	if (graph)
		add(&c, "-fcallgraph-info=su");
	add(&c, "-ffunction-sections");
	add(&c, "-fdata-sections");
	add(&c, "-w");
	add(&c, "-c");
	add(&c, source);
	add(&c, "-o");
	add(&c, object);
	return start(&c);
}

/* A program of these functions; false where the compiler cannot link one. */
static bool link_image(const char *folder, bool weights, const char *functions, const char *end)
{
	Command c = compiler(true);

	add(&c, arena_printf("%s/module.o", folder));
	if (weights)
		add(&c, arena_printf("%s/weights.o", folder));
	add(&c, "-nostartfiles");
	add(&c, "-static");
	add(&c, arena_printf("-Wl,--gc-sections,--build-id=none,-e,%s", functions));
	Buf names = {0};
	for (const char *f = functions; f < end; f += strlen(f) + 1)
		buf_printf(&names, "-Wl,-u,%s\n", f);
	const char *list = arena_printf("%s/functions", folder);
	file_write(list, buf_str(&names), names.n);
	add(&c, arena_printf("@%s", list));
	buf_free(&names);
	add(&c, "-lm");
	add(&c, "-o");
	add(&c, arena_printf("%s/image", folder));
	return start(&c);
}

/* ---- the worker */

static const char *text_of(const char *path)
{
	size_t n;
	const char *s = access(path, R_OK) ? NULL : file_map(path, &n);

	return s ? arena_printf("%.*s", (int)n, s) : "";
}

/* in: whether there are weights in an object, then names, each with a NUL */
static int make(const void *in, size_t n, Buf *out)
{
	char folder[] = "/tmp/sluice.XXXXXX";
	const char *p = in, *names = p + 1, *end = p + n;
	Answer a = {0};

	if (!leftover_folder(folder))
		die_errno("cannot make a temporary folder");
	const char *module = arena_printf("%s/module.o", folder);
	const char *source = arena_printf("%s/%s.c", given.folder, given.name);
	bool graph = compile(source, module, true);
	if (!graph && !compile(source, module, false))
		die(FAILED, "the compiler '%s' failed", given.cc);
	if (*p && !compile(arena_printf("%s/%s_weights.S", given.folder, given.name),
			arena_printf("%s/weights.o", folder), false))
		die(FAILED, "the compiler '%s' failed", given.cc);
	a.linked = link_image(folder, *p, names, end);
	read_sections(a.linked ? arena_printf("%s/image", folder) : module, &a);
	const char *calls = text_of(arena_printf("%s/module.ci", folder));
	for (const char *f = names; f < end; f += strlen(f) + 1)
		a.functions++;
	buf_add(out, &a, sizeof a);
	for (const char *f = names; f < end; f += strlen(f) + 1) {
		int64_t stack = stack_of(calls, f);
		buf_add(out, &stack, sizeof stack);
	}
	folder_remove(folder);
	leftover_drop(folder);
	return DONE;
}

void image_offer(const char *cc, const char *folder, const char *name)
{
	given.cc = cc;
	given.folder = folder;
	given.name = name;
	worker_offer(WORKER, make);
}

Image image_make(const Module *m, size_t n, const char *const *functions)
{
	Buf in = {0}, out = {0};
	Answer a = {0};

	buf_add(&in, &(char){m->weights == WEIGHTS_OBJECT}, 1);
	for (size_t i = 0; i < n; i++)
		buf_add(&in, functions[i], strlen(functions[i]) + 1);
	int status = worker_end(worker_start(WORKER, in.s, in.n), &out);
	if (status)
		die_silent(status < 0 ? FAILED : status);
	CHECK(out.n == sizeof a + n * sizeof(int64_t));
	memcpy(&a, out.s, sizeof a);
	int64_t *stack = arena_alloc(n * sizeof *stack + 1);
	memcpy(stack, out.s + sizeof a, n * sizeof *stack);
	buf_free(&in);
	buf_free(&out);
	return (Image){a.flash, a.ram, a.linked, stack};
}
