/* info FILE: describes a model or a program: its inputs and outputs, operators, parameters, work
 * and memory.
 *
 *     inputs       x f32[batch,3,224,224]
 *     outputs      y f32[batch,1000]
 *     operators    Conv 53, Relu 49, Add 16, …
 *     parameters   25.6 M in 102 MB */
#include "io/io.h"
#include "process/process.h"
#include "trace.h"
#include <stdlib.h>

static const Option options[] = {
	ONNX_OPTIONS,
	{0},
};

static bool role_is(const UOp *u, const char *role)
{
	return u->op == OP_BUFFER && buffer_is(u, role);
}

/* ---- lists, one item per line, with the title before the first */

static void put_line(Buf *out, const char **title, const char *text)
{
	buf_printf(out, "%-13s%s\n", *title, text);
	*title = "";
}

static const char *typed(const char *name, const UOp *u)
{
	return arena_printf("%s %s%s", name, dtype_name(u->dtype),
		u->shape->rank ? shape_text(u->shape) : "");
}

static void put_outputs(Buf *out, const Graph *g)
{
	const char *title = "outputs";
	const Val *names = val_get(g->sink->arg, "names");
	for (size_t i = 0, n = sink_outputs(g->sink); i < n; i++)
		put_line(out, &title,
			typed(names ? names->a[i]->s : arena_printf("out%zu", i), g->sink->src[i]));
}

/* the texts that the numbers of an output stand for, or the names of its columns */
static void put_classes(Buf *out, const Val *classes)
{
	const char *title = "classes";
	for (size_t i = 0; classes && classes->kind == VAL_MAP && i < classes->n; i++) {
		Buf words = {0};
		text_value(&words, classes->a[2 * i + 1]);
		put_line(out, &title, arena_printf("%s %s", classes->a[2 * i]->s, buf_str(&words)));
		buf_free(&words);
	}
}

static void put_ends(Buf *out, const Graph *g, Nodes all)
{
	const char *title = "inputs";
	for (size_t i = 0; i < all.n; i++)
		if (role_is(all.at[i], "input"))
			put_line(out, &title, typed(buffer_name(all.at[i]), all.at[i]));
	title = "state";
	for (size_t i = 0; i < all.n; i++)
		if (role_is(all.at[i], "state"))
			put_line(out, &title, typed(buffer_name(all.at[i]), all.at[i]));
	put_outputs(out, g);
	put_classes(out, val_get(g->meta, "classes"));
	title = "sizes";
	for (size_t i = 0; g->vars->kind == VAL_MAP && i < g->vars->n; i++) {
		const Val *range = g->vars->a[2 * i + 1];
		put_line(out, &title, arena_printf("%s from %lld to %lld", g->vars->a[2 * i]->s,
			(long long)range->a[0]->i, (long long)range->a[1]->i));
	}
}

/* ---- numbers */

static const char *scaled(double v, const char *unit)
{
	static const char *const prefix[] = {"", "k", "M", "G", "T", "P", "E"};
	int k = 0;
	for (; v >= 1000 && k < 6; k++)
		v /= 1000;
	const char *space = k || *unit ? " " : "";
	return arena_printf(k ? "%.3g%s%s%s" : "%.0f%s%s%s", v, space, prefix[k], unit);
}

/* Every size variable at its minimum. */
static VarEnv least_sizes(const Val *vars)
{
	VarEnv env = {0};
	for (size_t i = 0; vars->kind == VAL_MAP && i < vars->n && i < 64; i++) {
		env.name[env.n] = vars->a[2 * i]->s;
		env.value[env.n++] = vars->a[2 * i + 1]->a[0]->i;
	}
	return env;
}

static double count(const Shape *s, const VarEnv *env)
{
	double n = 1;
	int64_t v;
	for (int i = 0; i < s->rank; i++)
		n *= ix_eval(s->dim[i], env, &v) ? (double)v : 1;
	return n;
}

/* Operations on floats: a multiplication and an addition count one each. */
static double work(const UOp *u, const VarEnv *env)
{
	if (!u->shape || !dtype_float(u->dtype))
		return 0;
	switch (u->op) {
	case OP_CAST: case OP_BITCAST: case OP_WHERE: return 0;
	case OP_MULACC: return 2 * count(u->shape, env);
	case OP_REDUCE: case OP_SCAN: return count(u->src[0]->shape, env);
	default: return op_elementwise(u->op) ? count(u->shape, env) : 0;
	}
}

static void put_numbers(Buf *out, const Graph *g, Nodes all)
{
	VarEnv env = least_sizes(g->vars);
	double n = 0, bytes = 0, flops = 0;
	const char *title = "parameters", *at = env.n ? ", each size at its least" : "";
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		flops += work(u, &env);
		if (role_is(u, "const")) {
			n += count(u->shape, &env);
			bytes += count(u->shape, &env) * dtype_size(u->dtype);
		}
	}
	put_line(out, &title, arena_printf("%s in %s", scaled(n, ""), scaled(bytes, "B")));
	title = "work";
	put_line(out, &title, arena_printf("%s%s", scaled(flops, "FLOP"), at));
}

static void put_plan(Buf *out, Graph *g)
{
	Graph *s = stage_raise(g, LV_SCHEDULE, NULL, true);
	const Val *w = val_get(s->meta, "workspace");
	const char *title = "kernels";
	size_t calls = 0, once = 0;
	for (uint32_t i = 0; i < s->sink->nsrc; i++) {
		bool call = s->sink->src[i]->op == OP_CALL, first = call_prepares(s->sink->src[i]);
		calls += call && !first;
		once += call && first;
	}
	put_line(out, &title,
		once ? arena_printf("%zu, and %zu once, before the first call", calls, once) :
		       arena_printf("%zu", calls));
	title = "workspace";
	if (w && w->kind == VAL_ARRAY && w->n && w->a[0]->kind == VAL_INT)
		put_line(out, &title, scaled(w->a[0]->i, "B"));
	else
		put_line(out, &title, "depends on the sizes");
}

/* ---- models that cannot be traced: what their file says */

static struct { const char *file; Buf start, ends; } model;

static void describe_refused(int status, const char *where, const char *text)
{
	if (status != UNSUPPORTED || !model.start.n)
		return;
	onnx_describe_refusal(&model.ends, model.file, where, text);
	buf_printf(&model.start, "%s", buf_str(&model.ends));
	stream_put(NULL, buf_str(&model.start), model.start.n);
	exit(stage_end());
}

/* Whether its operators are all there; if they are, tracing it may still be refused. */
static bool describe_model(const char *file)
{
	model.file = file;
	bool whole = onnx_describe(file, &model.start, &model.ends);
	if (whole)
		process.refused = describe_refused;
	else
		buf_printf(&model.start, "%s", buf_str(&model.ends));
	return whole;
}

/* ---- files */

static void print(Graph *g, Buf *out)
{
	if (g->level < LV_GRAPH)
		g = read_tensor(g);
	if (g->level == LV_GRAPH) {
		g = steps_prune(g);
		Nodes all = walk(g->sink);
		put_ends(out, g, all);
		put_numbers(out, g, all);
		put_plan(out, g);
	} else {
		die(UNSUPPORTED, "a document of level %s is beyond what it takes, graph",
			level_name[g->level]);
	}
	stream_put(NULL, buf_str(out), out->n);
	buf_free(out);
}

static void documents(const char *file)
{
	broker_start();
	Stream *in = stream_open(file);
	confine_stage(endpoint_is(file));
	for (Graph *g; (g = stream_next(in, 0)); arena_reset()) {
		Buf out = {0};
		verify(g);
		print(g, &out);
	}
	if (!stream_count(in) && file && strcmp(file, "-"))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!stream_count(in))
		die_silent(MALFORMED);
}

int main(int argc, char **argv)
{
	static const Stage tool = {.name = "info",
		.usage = "[FILE]",
		.options = options,
		.summary = "Prints what a model or a program is: inputs, outputs, operators, work, "
			   "memory."};
	stage_begin("info");
	stage_prints();
	argc = take_shapes_from(argc, argv);
	int first = options_parse(&tool, argc, argv);
	const char *file = first < argc ? argv[first] : process.input;
	if (argc - first > 1)
		die(USAGE, "one FILE is enough: '%.80s' is too much", argv[first + 1]);
	bool onnx = file && (file_is_onnx(file) || file_kind(file) == INPUT_MODEL);
	if (onnx)
		confine_stage(false);
	if (onnx && !describe_model(file)) {
		stream_put(NULL, buf_str(&model.start), model.start.n);
		return stage_end();
	}
	Graph *g = file && strcmp(file, "-") ? read_file(file) : NULL;
	if (g)
		print(g, &model.start);
	else
		documents(file);
	return stage_end();
}
