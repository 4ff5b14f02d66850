/* A trial: the document is lowered, compiled and run by the project's tools, in a folder of its
 * own, each within a limit of time. Whatever a candidate does, it does in a process of its own.
 *
 * Times are those of `run --laps`: candidates run in turns, and of each the quarter of its runs
 * that was fastest counts, by the slowest of these: what else the machine does disturbs all of them
 * alike. Of one that runs alone the least counts: it is compared with other processes. Results are
 * compared with the first candidate's: integers bit for bit, floats to within what the order of a
 * sum may change. */
#include "arrays/arrays.h"
#include "document/document.h"
#include "hunt/hunt.h"
#include "target/target.h"
#include "tune/parts.h"
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <unistd.h>

enum { COMMAND = 10 };          /* seconds that a command may take */

typedef struct {
	const Graph *g;
	const char *folder;
	size_t n;               /* candidates */
	double seconds;
	int threads;
	Lap *lap;
} Trial;

static const char *file_of(const Trial *t, const char *name)
{
	return arena_printf("%s/%s", t->folder, name);
}

static void all_laps(Trial *t, Outcomes what, const char *why)
{
	for (size_t i = 0; i < t->n; i++)
		t->lap[i] = (Lap){what, 0, why};
}

/* Runs a tool; false, and all laps say why, when it does not end well. */
static bool run_tool(Trial *t, Words *w, const char *out)
{
	if (process.verbose)
		show_command(words_end(w));
	Outcome o = command_run(words_end(w), NULL, out, COMMAND + t->seconds);
	vec_free(w);
	if (!outcome_good(&o))
		all_laps(t, outcome_crash(&o) ? CRASHED : REFUSED,
			outcome_text(&o, COMMAND + t->seconds));
	return outcome_good(&o);
}

static void add_tool(Words *w, const char *name)
{
	const char *path = tool_find(name);
	if (!path)
		die(FAILED, "the tool '%s' is not on the stage path %s", name, stage_path());
	words_add(w, path);
}

static bool compile(Trial *t)
{
	Words lower = {0}, build = {0};
	add_tool(&lower, "lower");
	words_add(&lower, "-t");
	words_add(&lower, lower_opt.target);
	words_add(&lower, "--march");
	words_add(&lower, lower_opt.processor);
	if (lower_opt.strict)
		words_add(&lower, "--strict");
	if (lower_opt.measured)
		words_add(&lower, "--measured");
	words_add(&lower, file_of(t, "trial.mp"));
	if (!run_tool(t, &lower, file_of(t, "loops.mp")))
		return false;
	add_tool(&build, "compile");
	words_add(&build, "-t");
	words_add(&build, lower_opt.target);
	words_add(&build, file_of(t, "loops.mp"));
	return run_tool(t, &build, file_of(t, "program.mp"));
}

/* Values for inputs and sizes, as run's operands. */
static void add_operands(const Trial *t, Words *w)
{
	const Val *sizes = val_get(val_get(t->g->meta, "trial"), "sizes"), *vars = t->g->vars;
	Nodes all = walk(t->g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input"))
			words_add(w, arena_printf("%s=rand", buffer_name(all.at[i])));
	for (size_t i = 0; vars->kind == VAL_MAP && i < vars->n; i++) {
		const Val *name = vars->a[2 * i], *bounds = vars->a[2 * i + 1];
		const Val *given = val_get(sizes, name->s);
		int64_t n = given && given->kind == VAL_INT ? given->i :
			usual_size(bounds->a[0]->i, bounds->a[1]->i);
		words_add(w, arena_printf("%s=%lld", name->s, (long long)n));
	}
}

static bool run(Trial *t)
{
	Words w = {0};
	add_tool(&w, "run");
	words_add(&w, "--bench");
	words_add(&w, "--seconds");
	words_add(&w, arena_printf("%g", t->seconds));
	words_add(&w, "--laps");
	words_add(&w, file_of(t, "laps"));
	words_add(&w, "-o");
	words_add(&w, file_of(t, "out.npz"));
	if (t->threads) {
		words_add(&w, "-j");
		words_add(&w, arena_printf("%d", t->threads));
	}
	words_add(&w, file_of(t, "program.mp"));
	add_operands(t, &w);
	return run_tool(t, &w, NULL);
}

/* ---- times */

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return x < y ? -1 : x > y;
}

/* The fastest quarter's slowest, or the least. */
static double time_of(const char *numbers, bool least)
{
	VEC(double) ns = {0};
	char *end;
	for (;; numbers = end) {
		double v = strtod(numbers, &end);
		if (end == numbers)
			break;
		vec_push(&ns, v);
	}
	if (ns.n)
		qsort(ns.at, ns.n, sizeof *ns.at, by_value);
	double r = ns.n ? ns.at[least ? 0 : ns.n / 4] : 0;
	vec_free(&ns);
	return r;
}

/* A line is a kernel's; kernels of several calls have the names of all. */
static void read_laps(Trial *t)
{
	size_t n;
	const char *text = file_map(file_of(t, "laps"), &n);
	char *all = arena_printf("%.*s", (int)n, text);
	for (char *line = strtok(all, "\n"); line; line = strtok(NULL, "\n")) {
		unsigned long i;
		const char *numbers = strchr(line, ' ');
		if (sscanf(line, "c%lu_%*d", &i) == 1 && i < t->n && numbers)
			t->lap[i].ns += time_of(numbers, t->n == 1);
	}
	for (size_t i = 0; i < t->n; i++)
		if (!(t->lap[i].ns > 0))
			t->lap[i] = (Lap){REFUSED, 0, "it is the same as another"};
}

/* ---- results */

static double element(const Array *a, int64_t i)
{
	double v;
	interp_cast(DT_F64, &v, a->dtype, (const char *)a->data + i * dtype_size(a->dtype), 1);
	return v;
}

static double greatest(const Array *a)
{
	double most = 1;        /* inputs have no greater elements */
	for (int64_t i = 0; i < array_count(a); i++) {
		double v = fabs(element(a, i));
		most = isfinite(v) && v > most ? v : most;
	}
	return most;
}

static double unit(DType dt)
{
	return dt == DT_F64 ? DBL_EPSILON : dt == DT_F16 ? 0x1p-10 : dt == DT_BF16 ? 0x1p-7 :
		FLT_EPSILON;
}

/* The terms of the longest sum in the document, and its nodes: each may be off by a unit. */
static double units(const Graph *g)
{
	Nodes all = walk(g->sink->src[g->sink->nsrc - 1]);
	double terms = 0;
	for (size_t i = 0; i < all.n; i++) {
		double n = all.at[i]->op == OP_RREDUCE || all.at[i]->op == OP_RSCAN;
		for (uint32_t k = 1; n && k < all.at[i]->nsrc; k++)
			n *= (double)range_size(all.at[i]->src[k]);
		terms += n;
	}
	return terms + 4 * (double)all.n;
}

/* The first element that two arrays have otherwise, -1 when there is none. */
static int64_t differs(const Array *a, const Array *b, double most)
{
	int64_t n = array_count(a), size = dtype_size(a->dtype);
	if (a->dtype != b->dtype || n != array_count(b))
		return 0;
	if (!memcmp(a->data, b->data, n * size))
		return -1;
	for (int64_t i = 0; i < n; i++) {
		const char *x = (const char *)a->data + i * size;
		if (!memcmp(x, (const char *)b->data + i * size, size))
			continue;
		double u = element(a, i), v = element(b, i);
		if (!dtype_float(a->dtype) || isnan(u) != isnan(v) ||
			(!isnan(u) && u != v && !(fabs(u - v) <= most)))
			return i;
	}
	return -1;
}

static void compare(Trial *t)
{
	const char **names, *path = file_of(t, "out.npz");
	size_t n = npz_names(path, &names);
	double off = units(t->g);
	for (size_t i = 0; i < n; i++) {
		unsigned long candidate, number;
		if (sscanf(names[i], "o%lu_%lu", &candidate, &number) != 2 || !candidate ||
			candidate >= t->n || t->lap[candidate].what != TIMED)
			continue;
		Array is = npz_read(path, names[i], DT_NONE);
		Array right = npz_read(path, arena_printf("o0_%lu", number), DT_NONE);
		double own = greatest(&right), u = unit(right.dtype);
		int64_t at = differs(&right, &is, own * fmin(u * off, 16 * sqrt(u)));
		if (at >= 0)
			t->lap[candidate] = (Lap){WRONG, 0, arena_printf(
				"element %lld is %.9g instead of %.9g", (long long)at,
				element(&is, at), element(&right, at))};
		array_free(&is);
		array_free(&right);
	}
}

/* ---- a worker */

static const Val *laps_val(const Trial *t)
{
	const Val **v = arena_alloc((t->n + 1) * sizeof *v);
	for (size_t i = 0; i < t->n; i++)
		v[i] = VARR(val_int(t->lap[i].what), val_float(t->lap[i].ns),
			val_str(t->lap[i].why ? t->lap[i].why : ""));
	return val_array(t->n, v);
}

static int64_t number_of(const Val *trial, const char *key, int64_t most)
{
	const Val *v = val_get(trial, key);
	if (!v || v->kind != VAL_INT || v->i < 0 || v->i > most)
		die(MALFORMED, "meta.trial: %s is not a number up to %lld", key, (long long)most);
	return v->i;
}

static void trial_of(Trial *t, const Graph *g)
{
	const Val *trial = val_get(g->meta, "trial"), *seconds = val_get(trial, "seconds");
	*t = (Trial){.g = g};
	t->n = number_of(trial, "candidates", 1 << 10);
	t->threads = (int)number_of(trial, "threads", 1 << 10);
	t->seconds = seconds && seconds->kind == VAL_FLOAT && seconds->f >= 0 && seconds->f < 60 ?
		seconds->f : 1;
	t->lap = arena_alloc((t->n + 1) * sizeof *t->lap);
}

int measure_worker(const void *in, size_t n, Buf *out)
{
	char folder[] = "/tmp/sluice.XXXXXX";
	Graph *g = wire_read(in, n, NULL, 0);
	Trial t;
	Buf b = {0};
	verify(g);
	trial_of(&t, g);
	if (!leftover_folder(folder))
		die_errno("%s: cannot make a folder", folder);
	t.folder = folder;
	wire_write_in(&b, g, folder);
	file_write(file_of(&t, "trial.mp"), b.s, b.n);
	if (compile(&t) && run(&t)) {
		read_laps(&t);
		compare(&t);
	}
	folder_remove(folder);
	leftover_drop(folder);
	g->meta = val_set(g->meta, "laps", laps_val(&t));
	wire_write(out, g);
	return DONE;
}

void laps_read(const Graph *g, size_t n, Lap *laps)
{
	const Val *v = val_get(g->meta, "laps");
	if (!v || v->kind != VAL_ARRAY || v->n != n)
		die(MALFORMED, "meta.laps: there are not %zu laps", n);
	for (size_t i = 0; i < n; i++) {
		const Val *lap = v->a[i];
		if (lap->kind != VAL_ARRAY || lap->n != 3 || lap->a[0]->kind != VAL_INT ||
			lap->a[0]->i < TIMED || lap->a[0]->i > WRONG ||
			lap->a[1]->kind != VAL_FLOAT || lap->a[2]->kind != VAL_STR ||
			!(lap->a[1]->f >= 0))
			die(MALFORMED, "meta.laps: lap %zu is none", i);
		laps[i] = (Lap){lap->a[0]->i, lap->a[1]->f, lap->a[2]->s};
	}
}
