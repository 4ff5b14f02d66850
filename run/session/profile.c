/* --profile: where the time of a run went, by kernel and by layer, and what bounds it.
 *
 *          ms      %   GFLOP/s  peak    GB/s  peak  limit    kernel
 *      0.9123  45.2%    110.20   52%    1.20    5%  compute  K3 r_64_512  /layer1/conv1/Conv
 *
 * Operations and bytes are counted in the compiled kernel; of bytes no more than its buffers have.
 * Peaks are measured in the same run, with as many threads. */
#include "io/io.h"
#include "process/process.h"
#include "session/steps.h"
#include <stdlib.h>

enum { EVENTS = 1 << 20 };

typedef struct {
	const Step *step;
	const char *kernel, *layer;
	size_t number;                  /* in the table and in meta.timings */
	double ms, runs, operations, bytes;     /* of one call, but for ms of what runs once */
	bool once, cached;
} Row;
typedef struct { Row *at; size_t n, cap; } Rows;

/* ---- what was counted */

static void count_step(Row *r, const Session *s, const Step *t)
{
	const UOp *callee = t->callee;
	UOp *kernel = callee && callee->op != OP_CUSTOM ? kernel_of((UOp *)callee) : NULL;
	double all = 0;

	for (size_t k = 0; k < t->nbuf; k++)
		all += s->b.host[t->slot[k]].bytes;
	r->bytes = all * r->runs;
	if (!kernel || kernel->op != OP_KERNEL || t->kind != STEP_LAUNCH)
		return;
	KernelWork w = count_work(kernel, &s->in->env);
	r->operations = w.operations * r->runs;
	r->bytes = (w.bytes < all ? w.bytes : all) * r->runs;
}

static const char *layer_at(const Session *s, const Step *t)
{
	const Graph *g = session_top((Session *)s)->g;
	const char *layer = t->node->op == OP_CALL ? layer_of(g, t->node) : NULL;
	const Val *name = layer || !t->callee ? NULL : val_get(kernel_of(t->callee)->note, "name");

	return layer ? layer : name && name->kind == VAL_STR ? name->s : "";
}

static void add_steps(Rows *rows, const Session *s, double calls)
{
	for (size_t i = 0; i < s->nsteps; i++) {
		const Step *t = &s->step[i];
		Row r = {.step = t, .kernel = t->name, .number = s->before_steps + i,
			.once = i < s->first, .layer = layer_at(s, t)};
		r.cached = r.once && prepared_skips(s->prepared, i);
		r.ms = r.once ? t->ms : t->ms / calls;
		r.runs = r.once ? 1 : t->runs / calls;
		count_step(&r, s, t);
		vec_push(rows, r);
	}
}

static int by_time(const void *a, const void *b)
{
	const Row *x = a, *y = b;
	return x->ms < y->ms ? 1 : x->ms > y->ms ? -1 : x->number < y->number ? -1 : 1;
}

/* ---- the tables */

static const char *limit_of(const Row *r, const Peak *p)
{
	double compute = r->operations / p->operations, memory = r->bytes / p->bytes;
	double most = compute > memory ? compute : memory;

	/* far from both: launching, waiting for what is read, instructions that count as nothing */
	return most < 0.1 * r->ms / 1000 ? "neither" : compute > memory ? "compute" : "memory";
}

static void put_row(const Row *r, double all, const Peak *p)
{
	double seconds = r->ms > 0 ? r->ms / 1000 : 1e-9;
	double gflops = r->operations / seconds / 1e9, gb = r->bytes / seconds / 1e9;

	fprintf(stderr, "%10.4f %5.1f%% ", r->ms, all > 0 ? 100 * r->ms / all : 0);
	if (p->bytes > 0)
		fprintf(stderr, "%9.2f %4.0f%% %8.2f %4.0f%%  %-8s", gflops,
			100e9 * gflops / p->operations, gb, 100e9 * gb / p->bytes,
			limit_of(r, p));
	else
		fprintf(stderr, "%9.2f %5s %8.2f %5s  %-8s", gflops, "", gb, "", "");
}

static void put_head(const char *what, const char *last)
{
	fprintf(stderr, "%s\n%10s %6s %9s %5s %8s %5s  %-8s %s\n", what, "ms", "%", "GFLOP/s",
		"peak", "GB/s", "peak", "limit", last);
}

static void put_kernels(const Rows *rows, double all, const Peak *p, bool listed)
{
	put_head("by kernel", "kernel, layer");
	for (size_t i = 0; i < rows->n; i++) {
		const Row *r = &rows->at[i];
		if (r->once)
			continue;
		put_row(r, all, p);
		fprintf(stderr, " %zu %s%s%s%s", r->number, r->kernel,
			r->step->kind == STEP_INTERPRET ? " (interpreted)" : "",
			*r->layer ? "  " : "", r->layer);
		if (listed)
			fprintf(stderr, ", %.4g times", r->runs);
		fprintf(stderr, "\n");
	}
}

/* "/layer1/conv1/Conv" is of layer "/layer1/conv1", as exporters write names; "a/b.t:3" is a
 * line. */
static const char *group_of(const char *layer)
{
	const char *slash = strrchr(layer, '/');
	bool path = slash && slash > layer && !strchr(slash, ':');
	return path ? arena_printf("%.*s", (int)(slash - layer), layer) : layer;
}

static void put_layers(const Rows *rows, double all, const Peak *p)
{
	Rows layers = {0};
	Map by = {0};

	for (size_t i = 0; i < rows->n; i++) {
		const Row *r = &rows->at[i];
		const Val *name = val_str(*r->layer ? group_of(r->layer) : "(none)");
		uintptr_t k = (uintptr_t)map_get(&by, PKEY(name));
		if (r->once)
			continue;
		if (!k) {
			vec_push(&layers, ((Row){.layer = name->s, .number = layers.n}));
			map_put(&by, PKEY(name), (void *)(k = layers.n));
		}
		layers.at[k - 1].ms += r->ms;
		layers.at[k - 1].operations += r->operations;
		layers.at[k - 1].bytes += r->bytes;
	}
	if (layers.n)
		qsort(layers.at, layers.n, sizeof *layers.at, by_time);
	put_head("by layer", "layer");
	for (size_t i = 0; i < layers.n; i++) {
		put_row(&layers.at[i], all, p);
		fprintf(stderr, " %s\n", layers.at[i].layer);
	}
	map_free(&by);
	vec_free(&layers);
}

static void put_once(const Rows *rows)
{
	bool any = false;

	for (size_t i = 0; i < rows->n; i++) {
		const Row *r = &rows->at[i];
		if (!r->once)
			continue;
		fprintf(stderr, "%s%10.4f %6s %42s %zu %s%s%s\n", any ? "" : "before the calls\n",
			r->ms, r->cached ? "cached" : "once", "", r->number, r->kernel,
			*r->layer ? "  " : "", r->layer);
		any = true;
	}
}

static const Val *timings(const Rows *rows)
{
	const Val **at = arena_alloc((rows->n + 1) * sizeof *at);

	for (size_t i = 0; i < rows->n; i++) {
		const Row *r = &rows->at[i];
		at[i] = VARR(val_int(r->number), val_str(r->kernel), val_float(r->ms));
	}
	return val_array(rows->n, at);
}

/* Of what the times are: {sizes: {n: 4}, threads: 2, peak: [operations, bytes] a second}. */
static const Val *measured(const Session *s, const Peak *p)
{
	const Val *sizes = val_map(0, NULL);

	for (int i = 0; i < s->in->env.n; i++)
		sizes = val_set(sizes, s->in->env.name[i], val_int(s->in->env.value[i]));
	return VMAP(val_str("sizes"), sizes, val_str("threads"), val_int(s->threads),
		val_str("peak"), VARR(val_float(p->operations), val_float(p->bytes)));
}

Graph *session_profile(const Session *s)
{
	Graph *g = arena_alloc(sizeof *g);
	double calls = s->ncalls ? s->ncalls : 1, all = 0;
	const Session *part;
	Peak peak = {0};
	Rows rows = {0};

	add_steps(&rows, s, calls);
	for (size_t p = 0; s->list && (part = list_session(s->list, p)); p++)
		add_steps(&rows, part, calls);
	for (size_t i = 0; i < rows.n; i++)
		all += rows.at[i].once ? 0 : rows.at[i].ms;
	const Val *times = timings(&rows);
	if (rows.n)
		qsort(rows.at, rows.n, sizeof *rows.at, by_time);
	if (s->loaded && s->loaded->exec->host)
		peak = peak_measure(s->threads > 0 ? s->threads : 1);
	*g = *s->g;
	g->meta = val_set(val_set(s->g->meta, "timings", times), "measured", measured(s, &peak));
	fprintf(stderr, "%zu call%s, %.4f ms each", s->ncalls, s->ncalls == 1 ? "" : "s",
		all);
	if (peak.bytes > 0)
		fprintf(stderr, "; peak of %d thread%s here: %.1f GFLOP/s, %.1f GB/s", s->threads,
			s->threads == 1 ? "" : "s", peak.operations / 1e9, peak.bytes / 1e9);
	fprintf(stderr, "\n");
	put_kernels(&rows, all, &peak, s->list);
	put_layers(&rows, all, &peak);
	put_once(&rows);
	vec_free(&rows);
	return g;
}

/* ---- the timeline */

void session_event(Session *s, const Step *t, double begin, double ms)
{
	Session *top = session_top(s);

	if (top->events.n < EVENTS)
		vec_push(&top->events, ((Event){layer_at(s, t), t->name, begin, ms}));
}

void session_trace(const Session *s)
{
	for (size_t i = 0; i < s->events.n; i++) {
		const Event *e = &s->events.at[i];
		timeline_kernel(e->name, e->layer, e->begin, e->ms);
	}
}

/* ---- each run of each kernel */

void session_laps(const Session *s, const char *file)
{
	Map done = {0};
	Buf b = {0};

	for (size_t i = 0; i < s->events.n; i++) {
		const char *name = s->events.at[i].name;
		if (map_get(&done, PKEY(name)))
			continue;
		map_put(&done, PKEY(name), (void *)name);
		buf_printf(&b, "%s", name);
		for (size_t k = i; k < s->events.n; k++)
			if (s->events.at[k].name == name)
				buf_printf(&b, " %.0f", s->events.at[k].ms * 1e6);
		buf_printf(&b, "\n");
	}
	file_write(file, buf_str(&b), b.n);
	map_free(&done);
	buf_free(&b);
}
