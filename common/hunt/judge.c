/* Whether a document still has the right results. They are those of the first document,
 * interpreted, to within what the order of its sums and the rounding of its ops allow. */
#include "hunt/hunt.h"
#include <dirent.h>
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <sys/stat.h>

/* units in the last place that an op may be off by (common/README.md), at most */
enum { OP_ULP = 4 };

const char *hunt_file(Hunt *h, const char *end)
{
	return arena_printf("%s/%zu%s", h->work, h->files++, end);
}

Graph *hunt_read(const char *file)
{
	Stream *in = stream_open(file);
	Graph *g = stream_next(in, 0);

	if (!g)
		die(MALFORMED, "%s: ends early at byte 0", file);
	verify(g);
	return g;
}

Outcome hunt_tool(Hunt *h, const char *out, const char *tool, const char *file,
	const char *const *more)
{
	const char *path = tool_find(tool);
	Words w = {0};

	if (!path)
		die(FAILED, "the tool '%s' is not on the stage path %s", tool, stage_path());
	words_add(&w, path);
	for (; more && *more; more++)
		words_add(&w, *more);
	if (process.code_allowed || process.custom_allowed)
		words_add(&w, process.code_allowed ? "--allow-code" : "--allow-custom");
	if (file)
		words_add(&w, file);
	if (process.verbose)
		show_command(words_end(&w));
	Outcome o = command_run(words_end(&w), NULL, out, h->seconds);
	vec_free(&w);
	return o;
}

/* run with the inputs, and more arguments before them */
static Outcome run_document(Hunt *h, const char *file, const char *const *how, const char *results)
{
	Words w = {0};

	for (; how && *how; how++)
		words_add(&w, *how);
	words_add(&w, "-o");
	words_add(&w, results);
	for (size_t i = 0; i < h->ninputs; i++)
		words_add(&w, h->inputs[i]);
	Outcome o = hunt_tool(h, NULL, "run", file, (const char *const *)words_end(&w));
	vec_free(&w);
	return o;
}

/* ---- tolerances */

static double unit(DType dt)
{
	return dt == DT_F64 ? DBL_EPSILON / 2 :
		dt == DT_F16 ? 0x1p-11 :
		dt == DT_BF16 ? 0x1p-8 :
		dt == DT_F32 ? FLT_EPSILON / 2 :
				0;
}

/* How many units a node may be off by when its sources are right, counted in the magnitude of what
 * it is made of: one for each term of a sum, the op's own bound otherwise. */
static double units(const UOp *u)
{
	int64_t all, kept;

	if (!dtype_float(u->dtype))
		return 0;
	if (u->op == OP_REDUCE || u->op == OP_SCAN) {
		all = shape_max_count(u->src[0]->shape);
		kept = shape_max_count(u->shape);
		if (u->op == OP_SCAN)
			kept = 1;
		return kept ? (double)all / (double)kept + 1 : 0;
	}
	return op_elementwise(u->op) ? OP_ULP : 0;
}

/* On the ways to a node: the largest sum of units, the coarsest unit, and the greatest value. */
typedef struct { double units, unit, most; } Spread;

static double greatest(const Array *a)
{
	double most = 0, v;

	for (int64_t i = 0; dtype_float(a->dtype) && i < array_count(a); i++) {
		interp_cast(DT_F64, &v, a->dtype,
			(const char *)a->data + i * dtype_size(a->dtype), 1);
		if (isfinite(v))
			most = fmax(most, fabs(v));
	}
	return most;
}

/* The greatest value of each node that was kept, into its spread; a file begins with the node's
 * number in the text. */
static void add_kept(Spread *s, const Graph *g, Nodes all, const char *folder)
{
	uint32_t *number = text_index(g);
	double *most = xcalloc(node_limit(), sizeof *most);
	DIR *d = opendir(folder);

	for (struct dirent *e; d && (e = readdir(d));) {
		unsigned long k = strtoul(e->d_name, NULL, 10);
		if (e->d_name[0] == '.' || k >= node_limit())
			continue;
		Array a = npy_read(arena_printf("%s/%s", folder, e->d_name), DT_NONE);
		most[k] = fmax(most[k], greatest(&a));
		array_free(&a);
	}
	if (d)
		closedir(d);
	for (size_t i = 0; i < all.n; i++)
		s[all.at[i]->id].most = most[number[all.at[i]->id]];
	free(most);
	free(number);
}

/* Of each node of a graph whose values were kept, by its id. */
static Spread *spreads(const Graph *g, const char *kept)
{
	Spread *s = xcalloc(node_limit(), sizeof *s);
	Nodes all = walk(g->sink);

	add_kept(s, g, all, kept);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		Spread *to = &s[u->id];
		for (uint32_t k = 0; k < u->nsrc; k++) {
			const Spread *from = &s[u->src[k]->id];
			to->units = fmax(to->units, from->units);
			to->unit = fmax(to->unit, from->unit);
			to->most = fmax(to->most, from->most);
		}
		to->units += units(u);
		to->unit = fmax(to->unit, unit(u->dtype));
	}
	return s;
}

/* A sum's error goes with the magnitude of its terms; but where a mask adds -1e9, it is bounded by
 * the result's own. */
static Tolerance tolerance(const Hunt *h, const char *name, Spread s, double scale, double own)
{
	double u = s.unit * (s.units + OP_ULP);

	return (Tolerance){name, h->rtol >= 0 ? h->rtol : u,
		h->atol >= 0 ? h->atol : fmin(u * scale, 16 * sqrt(s.unit) * own)};
}

/* The spread of an output of a graph, by its name. */
static Spread spread_of(const Spread *s, const UOp *sink, const char *name)
{
	for (size_t i = 0; i < sink_outputs(sink); i++)
		if (!strcmp(sink_output_name(sink, i), name))
			return s[sink->src[i]->id];
	return s[sink->id];
}

static void derive(Hunt *h, const Graph *g)
{
	Spread *spread = h->nodes ? spreads(g, h->nodes) : NULL;
	Spread all = spread ? spread[g->sink->id] : (Spread){1024, unit(DT_F32), 0};
	double least = 0, coarse = all.unit;
	const char **names;
	size_t n = npz_names(h->reference, &names);

	for (size_t i = 0; i < n; i++) {
		Array a = npz_read(h->reference, names[i], DT_NONE);
		Spread s = spread ? spread_of(spread, g->sink, names[i]) : all;
		double own = greatest(&a);
		s.unit = fmax(s.unit, unit(a.dtype));
		vec_push(&h->tolerance, tolerance(h, names[i], s, spread ? s.most : own, own));
		least = fmax(least, h->tolerance.at[i].atol);
		array_free(&a);
	}
	h->other = tolerance(h, NULL, all, all.most, all.most);
	h->other.atol = fmin(h->other.atol, fmax(least, 1e-7 * all.most));
	h->same = (Tolerance){NULL, 64 * unit(DT_F32), 16 * unit(DT_F32) * all.most};
	if (coarse > unit(DT_F32))
		h->same = (Tolerance){NULL, 4 * coarse, coarse * all.most};
	free(spread);
}

bool hunt_begin(Hunt *h, const char *file, const char **why)
{
	const Graph *g = hunt_read(file);
	const char *nodes = hunt_file(h, ".kept");

	h->reference = hunt_file(h, ".npz");
	Outcome o = run_document(h, file, (const char *const[]){"--interpret", "--keep", nodes,
		NULL}, h->reference);
	*why = outcome_text(&o, h->seconds);
	if (!outcome_good(&o))
		return false;
	h->nodes = g->level == LV_GRAPH ? nodes : NULL;
	derive(h, g);
	return true;
}

/* ---- verdicts */

bool arrays_near(
	const char *a, const char *b, const char *only, const Tolerance *t, const char **why)
{
	Closeness how = {.rtol = t->rtol, .atol = t->atol, .ulp = -1, .only = only};
	Buf b1 = {0};
	bool near = arrays_diff(&b1, a, b, &how);

	buf_str(&b1);
	b1.s[strcspn(b1.s, "\n")] = 0;
	*why = arena_strdup(b1.s);
	buf_free(&b1);
	return near;
}

static Verdict compare(Hunt *h, const char *results, const char **why)
{
	const char **names;
	size_t n = npz_names(results, &names);

	if (n != h->tolerance.n) {
		*why = arena_printf("%zu outputs instead of %zu", n, h->tolerance.n);
		return BAD;
	}
	for (size_t i = 0; i < h->tolerance.n; i++) {
		const Tolerance *t = &h->tolerance.at[i];
		bool there = false;
		for (size_t k = 0; k < n; k++)
			there |= !strcmp(names[k], t->name);
		*why = arena_printf("%s: it is missing", t->name);
		if (!there || !arrays_near(h->reference, results, t->name, t, why))
			return BAD;
	}
	return GOOD;
}

static const char *first_line(const char *file)
{
	size_t n;
	const char *text = file_map(file, &n), *end = n ? memchr(text, '\n', n) : NULL;

	return n ? arena_printf("%.*s", (int)(end ? end - text : (ptrdiff_t)n), text) : "";
}

static Verdict by_proof(Hunt *h, const char *before, const char *file, const char **why)
{
	const char *said = hunt_file(h, ".txt");
	Outcome o = hunt_tool(h, said, "prove", NULL, (const char *const[]){before, file, NULL});

	const char *verdict = first_line(said);
	*why = *o.says ? o.says : *verdict ? verdict : outcome_text(&o, h->seconds);
	return outcome_good(&o) ? GOOD : o.status == FAILED ? BAD : UNTESTABLE;
}

Verdict hunt_judge(Hunt *h, const char *before, const char *file, const char *const *how,
	const char **why)
{
	const char *results = hunt_file(h, ".npz");

	h->compared = false;
	if (h->prove && !how)
		return by_proof(h, before, file, why);
	Outcome o = run_document(h, file, how ? how : (const char *const[]){"--interpret", NULL},
		results);
	*why = arena_printf("run %s", outcome_text(&o, h->seconds));
	if (outcome_crash(&o))
		return BAD;
	h->compared = !o.status;
	h->status = o.status;
	return o.status ? UNTESTABLE : compare(h, results, why);
}
