/* vmap -a x=0,w=none: a program for one x becomes a program for many.
 *
 *     input x f32[4]     output y f32[3]
 *     vmap -a x=0        input x f32[vmap,4], output y f32[vmap,3]
 *
 * A state whose next content depends on a batched value is batched too: each copy starts with the
 * state's first value, so the results are those of separate runs. */
#include "interp/interp.h"
#include "process/process.h"
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <ctype.h>
#include <stdlib.h>

static struct {
	Names in, out;
	const char *size;
} opt;

static const Option options[] = {
	{'a', "axis", "NAME=AXIS",
		"inputs (or states) that get the new axis, and where: x=0; w=none leaves w alone",
		&opt.in, .many = true},
	{'n', "size", "SIZE",
		"its size: a number, or a size variable: NAME, NAME=MIN..MAX "
		"(default: vmap, 1 to 2147483647)",
		&opt.size},
	{'o', "out", "NAME=AXIS",
		"outputs that get it elsewhere than in front, or without depending on it", &opt.out,
		.many = true},
	{0},
};

/* ---- the command line */

typedef struct { const char *name; bool none; int axis; UOp *u; } Place;
typedef VEC(Place) Places;

static Place read_place(const char *text, size_t n)
{
	const char *eq = memrchr(text, '=', n);
	char *end;

	if (!eq || eq == text || eq + 1 == text + n)
		die(USAGE, "'%.*s' is not NAME=AXIS", (int)n, text);
	Place p = {.name = arena_printf("%.*s", (int)(eq - text), text)};
	const char *axis = arena_printf("%.*s", (int)(text + n - eq - 1), eq + 1);
	p.none = !strcmp(axis, "none");
	long v = strtol(axis, &end, 10);
	if (!p.none && (*end || v < -MAX_RANK || v > MAX_RANK))
		die(USAGE, "'%s' is no axis, nor none", axis);
	p.axis = (int)v;
	return p;
}

static Place *place_find(const Places *p, const char *name)
{
	for (size_t i = 0; i < p->n; i++)
		if (!strcmp(p->at[i].name, name))
			return &p->at[i];
	return NULL;
}

static Places read_places(const char *const *arg, size_t n)
{
	Places r = {0};

	for (size_t i = 0; i < n; i++)
		for (const char *s = arg[i]; s; ) {
			size_t len = strcspn(s, ",");
			Place p = read_place(s, len);
			if (place_find(&r, p.name))
				die(USAGE, "'%.80s' is named twice", p.name);
			vec_push(&r, p);
			s = s[len] ? s + len + 1 : NULL;
		}
	return r;
}

/* An axis of the result, of this rank, from 0; negative ones count from the end. */
static int axis_of(const Place *p, int rank)
{
	int axis = p->axis < 0 ? p->axis + rank : p->axis;

	if (axis < 0 || axis >= rank)
		die(USAGE, "axis %d of %s: there are %d, the new one counted", p->axis, p->name,
			rank);
	return axis;
}

/* ---- the size of the new axis */

static UOp *variable(Graph *g, const char *name, int64_t min, int64_t max)
{
	const char *err;

	g->vars = val_set(g->vars, name, VARR(val_int(min), val_int(max)));
	if ((err = vars_declare(g->vars)))
		die(USAGE, "size '%.80s': %s", name, err);
	return vars_find(name, strlen(name));
}

static UOp *new_size(Graph *g)
{
	const char *name = "vmap", *text = opt.size;
	long long v, min = 1, max = INT32_MAX;
	int used = 0;
	char *end;

	if (!text) {
		for (int k = 1; vars_find(name, strlen(name)) || buffer_taken(g, name); k++)
			name = arena_printf("vmap_%d", k);
		return variable(g, name, min, max);
	}
	if (isdigit((unsigned char)*text)) {
		v = strtoll(text, &end, 10);
		if (*end || v >= 1LL << 62)
			die(USAGE, "'%.80s' is no size", text);
		return ix_const(v);
	}
	const char *eq = strchr(text, '=');
	name = arena_printf("%.*s", (int)(eq ? eq - text : (long)strlen(text)), text);
	if (eq && (sscanf(eq + 1, "%lld..%lld%n", &min, &max, &used) != 2 || eq[1 + used]))
		die(USAGE, "'%.80s' is not NAME=MIN..MAX", text);
	UOp *known = vars_find(name, strlen(name));
	if (known && eq)
		die(USAGE, "size '%.80s' has its limits from the document", name);
	if (!known && buffer_taken(g, name))
		die(USAGE, "'%.80s' is the name of a buffer, and cannot be a size's", name);
	return known ? known : variable(g, name, min, max);
}

/* ---- which inputs and states are batched */

typedef struct { Nodes all; uint32_t *first, *user; uint8_t *seen; } Reach;

/* the users of each node: user[first[id]] … user[first[id + 1] - 1], as indices into all */
static void find_users(Reach *r)
{
	uint32_t limit = node_limit();

	r->first = arena_alloc((limit + 2) * sizeof *r->first);
	for (size_t i = 0; i < r->all.n; i++)
		for (uint32_t s = 0; s < r->all.at[i]->nsrc; s++)
			r->first[r->all.at[i]->src[s]->id + 2]++;
	for (uint32_t i = 2; i < limit + 2; i++)
		r->first[i] += r->first[i - 1];
	r->user = arena_alloc((r->first[limit + 1] + 1) * sizeof *r->user);
	for (size_t i = 0; i < r->all.n; i++)
		for (uint32_t s = 0; s < r->all.at[i]->nsrc; s++)
			r->user[r->first[r->all.at[i]->src[s]->id + 1]++] = (uint32_t)i;
}

/* Adds the states that depend on places, and so must be batched too, to places. */
static void add_states(Graph *g, Places *places)
{
	Reach r = {.all = walk(g->sink), .seen = arena_alloc(node_limit())};
	VEC(UOp *) todo = {0};

	find_users(&r);
	for (size_t i = 0; i < places->n; i++)
		if (places->at[i].u && !places->at[i].none)
			vec_push(&todo, places->at[i].u);
	while (todo.n) {
		UOp *u = todo.at[--todo.n];
		if (r.seen[u->id]++)
			continue;
		if (u->op == OP_ASSIGN && !r.seen[u->src[0]->id]) {
			Place *p = place_find(places, buffer_name(u->src[0]));
			if (p && p->none)
				die(USAGE,
					"the state %s depends on what is batched: it cannot be "
					"left alone",
					p->name);
			vec_push(places, ((Place){.name = buffer_name(u->src[0]), .u = u->src[0]}));
			vec_push(&todo, u->src[0]);
		}
		for (uint32_t k = r.first[u->id]; k < r.first[u->id + 1]; k++)
			vec_push(&todo, r.all.at[r.user[k]]);
	}
	vec_free(&todo);
}

/* Each name must be an input or a state; one that no output needs may be missing from the graph. */
static Places find_inputs(Graph *g)
{
	Places p = read_places(opt.in.at, opt.in.n);
	Nodes all = walk(g->sink);
	bool some = false;

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER) {
			Place *at = place_find(&p, buffer_name(all.at[i]));
			if (at)
				at->u = all.at[i];
		}
	for (size_t i = 0; i < p.n; i++) {
		const char *name = p.at[i].name;
		if (!p.at[i].u && !listed(val_get(g->meta, "inputs"), name))
			die(USAGE, "there is no input '%.80s'", name);
		if (!p.at[i].none && p.at[i].u && buffer_is(p.at[i].u, "const"))
			die(USAGE, "'%.80s' is a constant: it has no axis to give", name);
		if (val_get(val_get(g->meta, "assumed"), name) ||
			val_get(val_get(g->meta, "sequences"), name))
			die(UNSUPPORTED, "the input '%.80s' has fixed values, or is a sequence",
				name);
		some |= !p.at[i].none;
	}
	if (!some)
		die(USAGE, "which input gets the new axis? (-a x=0)");
	add_states(g, &p);
	return p;
}

/* ---- buffers with the new axis */

/* The first value of a state, repeated along the new axis. */
static const Val *repeat_data(UOp *u, UOp *size, int axis)
{
	Array a = constant_content(u, NULL);
	size_t bytes = a.bytes, total, inner = dtype_size(u->dtype);
	const char *p = a.data;
	int64_t n;

	if (!ix_is_const(size, &n))
		die(UNSUPPORTED,
			"the state %s is batched as well, and has its first value here: -n needs a "
			"number",
			buffer_name(u));
	if (__builtin_mul_overflow(bytes, (size_t)n, &total) || total > memory_most() / 4)
		die(UNSUPPORTED, "the state %s has too many bytes %lld times", buffer_name(u),
			(long long)n);
	for (int i = axis; i < u->shape->rank; i++)
		inner *= shape_dim(u->shape, i);
	char *to = arena_alloc(total + 1);
	for (size_t at = 0, k = 0; inner && at < bytes; at += inner)
		for (int64_t j = 0; j < n; j++, k += inner)
			memcpy(to + k, p + at, inner);
	return val_bin(to, total);
}

static UOp *with_axis(const Place *p, UOp *n)
{
	int rank = p->u->shape->rank + 1, axis = axis_of(p, rank);
	UOp *dim[MAX_RANK + 1];
	const Val *arg = p->u->arg;

	if (rank > MAX_RANK)
		die(UNSUPPORTED, "%s: with the new axis its rank %d is above %d", p->name, rank,
			MAX_RANK);
	for (int i = 0; i < rank; i++)
		dim[i] = i == axis ? n : p->u->shape->dim[i - (i > axis)];
	if (buffer_is(p->u, "state"))
		arg = val_set(val_set(arg, "file", NULL), "data", repeat_data(p->u, n, axis));
	arg = val_set(arg, "shape", shape_to_val(shape_new(rank, dim)));
	UOp *u = LEAF(OP_BUFFER, p->u->dtype, arg);
	node_note(u, p->u->note);
	return t_move_axis(u, axis, 0);
}

/* ---- outputs, and sizes in meta */

static UOp *place_outputs(Graph *g, UOp *n, UOp **out)
{
	Places p = read_places(opt.out.at, opt.out.n);
	UOp *sink = g->sink;

	for (size_t k = 0; k < sink_outputs(sink); k++) {
		const char *name = output_name(g, k);
		Place *at = place_find(&p, name), front = {.name = name};
		bool moved = out[k] != sink->src[k];
		if (at)
			at->u = out[k];
		if (at && at->none && moved)
			die(USAGE, "the output '%.80s' depends on what is batched", name);
		if (!moved && (!at || at->none))
			continue;
		if (!moved)
			out[k] = t_expand_axis(t_unsqueeze(out[k], 0), 0, n);
		int axis = axis_of(at ? at : &front, out[k]->shape->rank);
		out[k] = t_move_axis(out[k], 0, axis);
	}
	for (size_t i = 0; i < p.n; i++)
		if (!p.at[i].u)
			die(USAGE, "there is no output '%.80s'", p.at[i].name);
	return steps_sink(sink_outputs(sink), out, sink_plain_arg(sink->arg));
}

/* meta.sized has the full shapes of inputs of symbolic size. */
static void note_sized(Graph *g, const Places *p, UOp *const *by)
{
	const Val *old = val_get(g->meta, "sized");
	VEC(const Val *) rows = {0};
	int64_t count;

	for (size_t i = 0; old && i < old->n; i++) {
		bool same = true;
		for (size_t k = 0; k < p->n; k++)
			same &= p->at[k].none || !val_is_str(old->a[i]->a[0], p->at[k].name);
		if (same)
			vec_push(&rows, old->a[i]);
	}
	for (size_t k = 0; k < p->n; k++) {
		UOp *u = by[k] && by[k]->nsrc ? by[k]->src[0] : by[k];
		if (u && buffer_is(u, "input") && !shape_static(u->shape, &count))
			vec_push(&rows,
				VARR(val_get(u->arg, "name"), val_str(dtype_name(u->dtype)),
					val_get(u->arg, "shape")));
	}
	if (rows.n || old)
		g->meta = val_set(g->meta, "sized", val_array(rows.n, rows.at));
	vec_free(&rows);
}

static Graph *vmap(Graph *g)
{
	Graph *r = arena_alloc(sizeof *r);
	Places p = find_inputs(g);
	UOp **in = arena_alloc((p.n + 1) * sizeof *in), **by = arena_alloc((p.n + 1) * sizeof *by);
	UOp **at = arena_alloc((p.n + 1) * sizeof *at),
		**out = arena_alloc((g->sink->nsrc + 1) * sizeof *out);
	size_t n = 0;

	*r = *g;
	steps_known(g->sink);
	UOp *size = new_size(r);
	for (size_t i = 0; i < p.n; i++)
		if (p.at[i].u && !p.at[i].none) {
			in[n] = p.at[i].u;
			at[n++] = by[i] = with_axis(&p.at[i], size);
		}
	vmap_nodes(size, n, in, at, sink_outputs(g->sink), g->sink->src, out);
	r->sink = place_outputs(r, size, out);
	note_sized(r, &p, by);
	return r;
}

int main(int argc, char **argv)
{
	static const Pass passes[] = {
		{"vmap", vmap,
			"the new axis, from the inputs that have it to what depends on them"},
		{"loops", join_loops, "one loop of what has the axis in it and what has not"},
		{0}};
	static const Stage stage = {
		.name = "vmap",
		.summary = "give inputs a new axis, and compute all along it at once",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_GRAPH,
		.level_out = LV_GRAPH,
		.passes = passes,
		.steps = STEPS_WHOLE,
	};
	return stage_main(&stage, argc, argv);
}
