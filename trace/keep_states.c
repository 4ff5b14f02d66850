/* --state IN=OUT: an input and an output become a state, which keeps its content between calls.
 *
 *     input h f32[1,8], output hn        BUFFER h {role: state, data: zeros}
 *                                        the output hn is ASSIGN(h, hn), one of meta.updates */
#include "io/io.h"
#include "onnx/proto.h"
#include "process/process.h"
#include "trace.h"

enum { MOST_STATE = 1 << 30 };

StatePairs state_pairs;

typedef struct { const char *in, *out; } Pair;

static Pair pair_of(const char *text)
{
	const char *middle = strchr(text, '=');
	if (!middle || middle == text || !middle[1])
		die(USAGE, "--state %.200s: an input and an output, INPUT=OUTPUT", text);
	return (Pair){arena_printf("%.*s", (int)(middle - text), text), middle + 1};
}

/* a model's own name counts too */
static bool named(const char *name, const char *want)
{
	return !strcmp(name, want) || !strcmp(name, onnx_clean(want));
}

static UOp *input_named(const Graph *g, const char *want)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input") &&
			named(buffer_name(all.at[i]), want))
			return all.at[i];
	die(MALFORMED, "--state: no output depends on an input '%.200s'", want);
}

static uint32_t output_named(const Graph *g, const char *want)
{
	const Val *names = val_get(g->sink->arg, "names");
	for (uint32_t i = 0; names && i < sink_outputs(g->sink); i++)
		if (named(names->a[i]->s, want))
			return i;
	die(MALFORMED, "--state: there is no output '%.200s'", want);
}

/* ---- what a state needs */

static const char *open_size(const Shape *s)
{
	int64_t v;
	for (int i = 0; i < s->rank; i++)
		if (!ix_is_const(s->dim[i], &v))
			return size_to_val(s->dim[i])->s;
	return NULL;
}

static void check_pair(const UOp *in, const UOp *out, const Pair *p)
{
	const char *open = open_size(in->shape);
	bool same = in->shape->rank == out->shape->rank;
	if (in->dtype != out->dtype)
		die(MALFORMED, "--state: %.200s is %s, %.200s is %s; they have to agree", p->in,
			dtype_name(in->dtype), p->out, dtype_name(out->dtype));
	if (open)
		die(UNSUPPORTED,
			"--state: the sizes of a state are numbers, %.200s has shape %s; of an "
			"ONNX model, --set %.80s=N makes this size one",
			p->in, shape_text(in->shape), open);
	for (int i = 0; same && i < in->shape->rank; i++)
		same = size_equal(in->shape->dim[i], out->shape->dim[i]);
	if (!same)
		die(MALFORMED, "--state: %.200s has shape %s, %.200s %s; they have to agree", p->in,
			shape_text(in->shape), p->out, shape_text(out->shape));
}

static UOp *zeros_state(const UOp *in)
{
	int64_t n;
	CHECK(shape_static(in->shape, &n));
	if (n > MOST_STATE / dtype_size(in->dtype))
		die(UNSUPPORTED, "a state of more than %d bytes", MOST_STATE);
	size_t bytes = n * dtype_size(in->dtype);
	const Val *arg = val_set(in->arg, "role", val_str("state"));
	arg = val_set(arg, "data", val_bin(memset(arena_alloc(bytes + 1), 0, bytes), bytes));
	UOp *u = LEAF(OP_BUFFER, in->dtype, arg);
	node_note(u, in->note);
	return u;
}

/* ---- the graph */

typedef struct { const UOp *from; UOp *to; } Change;

static UOp *changed(UOp *u, void *ctx)
{
	const Change *c = ctx;
	return u == c->from ? c->to : u;
}

/* rows of a list whose name, or first element, is not this one */
static const Val *without(const Val *list, const char *name)
{
	const Val **at = arena_alloc((list->n + 1) * sizeof *at);
	size_t n = 0;
	for (size_t i = 0; i < list->n; i++) {
		const Val *v = list->a[i];
		if (!val_is_str(v->kind == VAL_ARRAY && v->n ? v->a[0] : v, name))
			at[n++] = v;
	}
	return val_array(n, at);
}

static const Val *with(const Val *list, const Val *v)
{
	size_t n = list && list->kind == VAL_ARRAY ? list->n : 0;
	const Val **at = arena_alloc((n + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[i] = list->a[i];
	at[n] = v;
	return val_array(n + 1, at);
}

static void set_meta(Graph *g, const char *input, const Val *output)
{
	static const char *const lists[] = {"inputs", "sized"};
	for (int i = 0; i < 2; i++) {
		const Val *list = val_get(g->meta, lists[i]);
		if (list && list->kind == VAL_ARRAY)
			g->meta = val_set(g->meta, lists[i], without(list, input));
	}
	g->meta = val_set(g->meta, "updates", with(val_get(g->meta, "updates"), output));
}

static void keep(Graph *g, const char *text)
{
	Pair p = pair_of(text);
	UOp *in = input_named(g, p.in);
	uint32_t k = output_named(g, p.out);
	check_pair(in, g->sink->src[k], &p);
	if (g->sink->src[k]->op == OP_ASSIGN)
		die(MALFORMED, "--state: output '%.200s' is a state's next content already", p.out);
	Change c = {in, zeros_state(in)};
	UOp *sink = walk_replace(g->sink, changed, &c), **src;
	src = arena_alloc((sink->nsrc + 1) * sizeof *src);
	memcpy(src, sink->src, sink->nsrc * sizeof *src);
	src[k] = NODE(OP_ASSIGN, in->dtype, VNIL, c.to, src[k]);
	g->sink = node_new(OP_SINK, DT_NONE, sink->nsrc, src, sink->arg);
	set_meta(g, buffer_name(in), val_get(sink->arg, "names")->a[k]);
}

Graph *keep_states(Graph *g)
{
	for (size_t i = 0; i < state_pairs.n; i++)
		keep(g, state_pairs.at[i]);
	return g;
}
