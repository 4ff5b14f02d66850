/* The properties of a target: the rows of targets.def, or the text that a user's own `render-X
 * --describe` prints.
 *
 *     name: mine
 *     gpu: 0
 *     lanes: 8
 *     lacks: RECIP MULACC POW
 */
#include "shape/shape.h"
#include "process/process.h"
#include "target/target.h"
#include <stdlib.h>
#if defined __x86_64__ || defined __i386__
#include <cpuid.h>
#elif defined __aarch64__ && defined __linux__
#include <sys/auxv.h>
#include <asm/hwcap.h>
#endif

typedef struct {
	const char *name, *language;    /* the target's, whose render-X prints it */
	bool gpu, f64, fixed, vectors;
	int lanes, vector, registers, group, dims, warp, access;
	int64_t local;
	const char *lacks, *swaps, *flags;
	Machine machine;
} TargetRow;

static const TargetRow rows[] = {
#define TARGET(NAME, ...) {.name = #NAME, .language = #NAME, __VA_ARGS__},
#define VARIANT(NAME, OF, ...) {.name = #NAME, .language = #OF, __VA_ARGS__},
#include "target/targets.def"
#undef TARGET
#undef VARIANT
};

const Target *target;
LowerOptions lower_opt = {.target = "clang", .processor = "native"};

static void set_ops(uint64_t *set, const Target *t, const char *key, const char *names)
{
	char word[32];
	int used;
	for (; sscanf(names, " %31s%n", word, &used) == 1; names += used) {
		int op = op_find(word);
		if (op < 0)
			die(MALFORMED, "target %s: %s %s, which is no op", t->name, key, word);
		set[op / 64] |= 1ull << op % 64;
	}
}

static const Target *from_row(const TargetRow *r)
{
	Target *t = xcalloc(1, sizeof *t);
	snprintf(t->name, sizeof t->name, "%s", r->language);
	t->gpu = r->gpu;
	t->fixed = r->fixed;
	t->vectors = r->vectors;
	t->f64 = r->f64;
	t->lanes = r->lanes;
	t->vector = r->vector;
	t->registers = r->registers;
	t->group = r->group;
	t->dims = r->dims;
	t->warp = r->warp;
	t->access = r->access;
	t->local = r->local;
	t->machine = r->machine;
	machine_fill(&t->machine, t->gpu);
	set_ops(t->lacks, t, "lacks", r->lacks ? r->lacks : "");
	set_ops(t->swaps, t, "swaps", r->swaps ? r->swaps : "");
	snprintf(t->flags, sizeof t->flags, "%s", r->flags ? r->flags : "");
	return t;
}

static int64_t number(const Target *t, const char *key, const char *text, int64_t most)
{
	char *end;
	long long v = strtoll(text, &end, 10);
	if (end == text || *end || v < 0 || v > most)
		die(MALFORMED, "target %s: %s is not a number from 0 to %lld", t->name, key,
			(long long)most);
	return v;
}

static void set_field(Target *t, const char *key, const char *text)
{
	if (machine_set(&t->machine, key, text, t->name))
		return;
	if (!strcmp(key, "gpu"))
		t->gpu = number(t, key, text, 1);
	else if (!strcmp(key, "f64"))
		t->f64 = number(t, key, text, 1);
	else if (!strcmp(key, "fixed"))
		t->fixed = number(t, key, text, 1);
	else if (!strcmp(key, "vectors"))
		t->vectors = number(t, key, text, 1);
	else if (!strcmp(key, "lanes"))
		t->lanes = (int)number(t, key, text, 64);
	else if (!strcmp(key, "vector"))
		t->vector = (int)number(t, key, text, 256);
	else if (!strcmp(key, "registers"))
		t->registers = (int)number(t, key, text, 256);
	else if (!strcmp(key, "group"))
		t->group = (int)number(t, key, text, 1024);
	else if (!strcmp(key, "dims"))
		t->dims = (int)number(t, key, text, 3);
	else if (!strcmp(key, "warp"))
		t->warp = (int)number(t, key, text, 1024);
	else if (!strcmp(key, "access"))
		t->access = (int)number(t, key, text, 16);
	else if (!strcmp(key, "local"))
		t->local = number(t, key, text, 1 << 30);
	else if (!strcmp(key, "lacks"))
		set_ops(t->lacks, t, key, text);
	else if (!strcmp(key, "swaps"))
		set_ops(t->swaps, t, key, text);
	else if (!strcmp(key, "flags"))
		snprintf(t->flags, sizeof t->flags, "%s", text);
}

/* Group sizes are powers of two, so that a tree reduction can halve them. */
static void check(Target *t)
{
	if (t->gpu && (t->group < 1 || t->group & (t->group - 1)))
		die(MALFORMED, "target %s: group is not a power of two", t->name);
	if (t->warp & (t->warp - 1) || (t->warp && t->warp < WARP))
		die(MALFORMED, "target %s: warp is not a power of two from 32 on", t->name);
	if (t->gpu && t->dims < 1)
		t->dims = 1;
	if (t->access & (t->access - 1))
		die(MALFORMED, "target %s: access is not a power of two", t->name);
	if (t->lanes & (t->lanes - 1) || t->vector & (t->vector - 1))
		die(MALFORMED, "target %s: lanes or vector is not a power of two", t->name);
}

/* ---- processors: the vectors of processors that --march names, and the ops that are one
 * instruction on them; the longest matching prefix counts */

typedef struct { const char *prefix; int vector, registers; const char *swaps; } March;
#define PAIRS "DOTI16"
#define VNNI "DOTI16 DOTU8I8"
#define SDOT "DOTI8"
static const March marches[] = {
	{"x86-64-v4", 64, 32, PAIRS}, {"skylake-avx512", 64, 32, PAIRS},
	{"cascadelake", 64, 32, VNNI}, {"cooperlake", 64, 32, VNNI}, {"icelake", 64, 32, VNNI},
	{"sapphirerapids", 64, 32, VNNI}, {"znver4", 64, 32, VNNI}, {"znver5", 64, 32, VNNI},
	{"x86-64-v3", 32, 16, PAIRS}, {"haswell", 32, 16, PAIRS}, {"broadwell", 32, 16, PAIRS},
	{"skylake", 32, 16, PAIRS}, {"alderlake", 32, 16, VNNI}, {"znver", 32, 16, PAIRS},
	{"x86-64", 16, 16, PAIRS}, {"core2", 16, 16, PAIRS}, {"nehalem", 16, 16, PAIRS},
	{"armv8", 16, 32, ""}, {"armv8.2-a+dotprod", 16, 32, SDOT}, {"armv8.4", 16, 32, SDOT},
	{"armv9", 16, 32, SDOT},
};

#if defined __x86_64__ || defined __i386__
/* VNNI in vectors of 32 bytes, which is not among what every compiler's __builtin_cpu_supports
 * knows */
static bool has_avx_vnni(void)
{
	unsigned a, b, c, d;
	return __get_cpuid_count(7, 1, &a, &b, &c, &d) && a >> 4 & 1;
}

static March march_native(void)
{
	__builtin_cpu_init();
	if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq"))
		return (March){"native", 64, 32,
			__builtin_cpu_supports("avx512vnni") ? VNNI : PAIRS};
	if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"))
		return (March){"native", 32, 16, has_avx_vnni() ? VNNI : PAIRS};
	return (March){"native", 16, 16, PAIRS};
}
#else
static March march_native(void)
{
	bool sdot = false;
#if defined __aarch64__ && defined __linux__
	sdot = getauxval(AT_HWCAP) & HWCAP_ASIMDDP;
#endif
	return (March){"native", 16, 32, sdot ? SDOT : ""};
}
#endif

static March march_find(const char *name)
{
	March best = {NULL};
	if (!strcmp(name, "native"))
		return march_native();
	for (size_t i = 0; i < sizeof marches / sizeof *marches; i++) {
		size_t n = strlen(marches[i].prefix);
		if (!strncmp(name, marches[i].prefix, n) &&
			(!best.prefix || n > strlen(best.prefix)))
			best = marches[i];
	}
	if (!best.prefix)
		die(UNSUPPORTED,
			"--march %.60s: not known; x86-64, x86-64-v3, x86-64-v4, armv8-a or native",
			name);
	return best;
}

/* t with the vectors of that processor ("native": this machine's); t itself when the processor has
 * none. */
static const Target *with_march(const Target *t, const char *name)
{
	if (t->gpu || t->fixed || !t->vector)
		return t;
	March m = march_find(name);
	Target *r = xcalloc(1, sizeof *r);
	*r = *t;
	r->vector = m.vector;
	r->registers = m.registers;
	set_ops(r->swaps, r, "swaps", m.swaps);
	if (strcmp(name, "native"))
		snprintf(r->march, sizeof r->march, "%s", name);
	return r;
}

static void set_lines(Target *t, char *text, const char *from)
{
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		char *colon = strchr(line, ':');
		if (!colon)
			die(MALFORMED, "%s: a line is not \"key: value\"", from);
		*colon = 0;
		char *value = colon + 1 + strspn(colon + 1, " \t");
		value[strcspn(value, "\r")] = 0;
		set_field(t, line + strspn(line, " \t"), value);
	}
}

static const Target *from_text(const char *name, char *text)
{
	Target *t = xcalloc(1, sizeof *t);
	snprintf(t->name, sizeof t->name, "%s", name);
	t->f64 = true;
	set_lines(t, text, arena_printf("render-%s --describe", name));
	machine_fill(&t->machine, t->gpu);
	check(t);
	return t;
}

static const TargetRow *row_find(const char *name)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i].name, name))
			return &rows[i];
	return NULL;
}

const char *target_tool(const char *name)
{
	const TargetRow *row = row_find(name);

	name = row ? row->language : name;
	bool plain = name_plain(name, strlen(name));
	const char *tool = plain ? tool_find(arena_printf("render-%s", name)) : NULL;
	if (!tool)
		die(UNSUPPORTED, "no target %.60s: there is no render-%.60s on the stage path",
			name, name);
	return tool;
}

static const Target *describe(const char *name)
{
	const char *tool = target_tool(name);
	Buf out = {0};
	int status = spawn_filter((char *[]){(char *)tool, "--describe", NULL}, "", 0, &out);
	if (status)
		die(FAILED, "render-%s --describe ended with status %d", name, status);
	const Target *t = from_text(name, (char *)buf_str(&out));
	buf_free(&out);
	return t;
}

const Target *target_find(const char *name)
{
	const TargetRow *row = row_find(name);

	return row ? from_row(row) : describe(name);
}

void target_print(Buf *out, const Target *t)
{
	buf_printf(out,
		"name: %s\ngpu: %d\nlanes: %d\nvector: %d\nregisters: %d\nvectors: %d\n"
		"fixed: %d\n"
		"group: %d\ndims: %d\nwarp: %d\naccess: %d\nlocal: %lld\nf64: %d\nlacks:",
		t->name, t->gpu, t->lanes, t->vector, t->registers, t->vectors, t->fixed, t->group,
		t->dims, t->warp, t->access, (long long)t->local, t->f64);
	for (int op = 0; op < OP_COUNT; op++)
		if (target_lacks(t, op))
			buf_printf(out, " %s", op_name(op));
	buf_printf(out, "\nswaps:");
	for (int op = 0; op < OP_COUNT; op++)
		if (target_swaps(t, op))
			buf_printf(out, " %s", op_name(op));
	buf_printf(out, "\nflags: %s\n", t->flags);
	machine_print(out, &t->machine);
}

/* ---- what was measured here */

static char *remembered;

void target_remember(void)
{
	if (lower_opt.measured)
		remembered = machine_kept();
}

/* t with the figures of this machine; a GPU's are none of its processor's. */
static const Target *with_measured(const Target *t)
{
	if (!remembered || t->gpu || t->fixed)
		return t;
	Target *r = xcalloc(1, sizeof *r);
	*r = *t;
	machine_read(&r->machine, remembered, "--measured");
	return r;
}

Graph *target_choose(Graph *g)
{
	if (!target)
		target = with_measured(
			with_march(target_find(lower_opt.target), lower_opt.processor));
	return g;
}
