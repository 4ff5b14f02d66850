/* A graph over a new axis: each op's batching rule, by its line of vmap.rules.
 *
 *     y [3] = REDUCE ADD (x [3,4] · w [4]), x batched by n
 *     y [n,3] = REDUCE ADD (x [n,3,4] · EXPAND w [n,3,4])
 *
 * Only nodes that depend on a batched node are rebuilt, with the new axis in front; the rest is
 * shared. Movement and reductions leave the axis alone; a batched index is preceded by the number
 * along the axis, since the batched x[i] is x[b, i]. Random numbers depend on counters and keys, so
 * equal ones give equal numbers. */
#include "primitives/primitives.h"
#include "derive/batch.h"
#include "rules/rule.h"
#include <stdlib.h>

/* The maximum number of lanes for which a custom kernel is called. */
enum { CUSTOM_LANES = 256 };

UOp *lanes_of(const Batch *b, const UOp *u)
{
	return u->id < b->limit ? b->to[u->id] : NULL;
}

/* x repeated along the new axis: a view. */
static UOp *repeat(const Batch *b, UOp *x)
{
	return t_expand_axis(t_unsqueeze(x, 0), 0, b->n);
}

UOp *batched(const Batch *b, UOp *u)
{
	UOp *v = lanes_of(b, u);
	return v ? v : repeat(b, u);
}

/* ---- elementwise */

/* A source next to sources of that shape: a batched scalar is expanded along all axes but the new
 * one. */
static UOp *beside(const Batch *b, UOp *src, const Shape *s)
{
	UOp *v = lanes_of(b, src), *dim[MAX_RANK];

	if (!v)
		return src->shape->rank ? repeat(b, src) : src;
	if (src->shape->rank || !s->rank)
		return v;
	dim[0] = b->n;
	for (int i = 0; i < s->rank; i++)
		dim[i + 1] = ix_const(1);
	v = t_reshapev(v, s->rank + 1, dim);
	for (int i = 0; i < s->rank; i++)
		dim[i + 1] = s->dim[i];
	return t_expandv(v, s->rank + 1, dim);
}

static UOp *each_element(const Batch *b, UOp *u)
{
	UOp *src[3];

	for (uint32_t i = 0; i < u->nsrc; i++)
		src[i] = beside(b, u->src[i], u->shape);
	return node_new(u->op, u->dtype, u->nsrc, src, u->arg);
}

/* ---- by index */

static bool any_moved(const Batch *b, const UOp *u, size_t from, size_t to)
{
	for (size_t i = from; i < to; i++)
		if (lanes_of(b, u->src[i]))
			return true;
	return false;
}

/* The number along the new axis, in the shape of a batched index. */
static UOp *lanes(const Batch *b, const UOp *index)
{
	UOp *dim[MAX_RANK];

	dim[0] = b->n;
	for (int i = 0; i < index->shape->rank; i++)
		dim[i + 1] = index->shape->dim[i];
	const Shape *s = shape_new(index->shape->rank + 1, dim);
	return t_expand_to(t_iota(DT_I64, s, 0), s);
}

/* gathers from x with the batch axis behind its k indexed axes, so that the indices stay the
 * same */
static UOp *gather_behind(const Batch *b, UOp *u, int k)
{
	UOp **src = arena_alloc(u->nsrc * sizeof *src);

	memcpy(src, u->src, u->nsrc * sizeof *src);
	src[0] = t_move_axis(batched(b, src[0]), 0, k);
	UOp *y = node_new(u->op, u->dtype, u->nsrc, src, u->arg);
	return t_move_axis(y, u->src[1]->shape->rank, 0);
}

static UOp *gather(const Batch *b, UOp *u)
{
	size_t k = u->nsrc - 1, n = 0;
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src), *x = lanes_of(b, u->src[0]);

	if (!any_moved(b, u, 1, k + 1))
		return gather_behind(b, u, (int)k);
	src[n++] = x ? x : u->src[0];
	if (x)
		src[n++] = lanes(b, u->src[1]);
	for (size_t i = 1; i <= k; i++)
		src[n++] = batched(b, u->src[i]);
	return node_new(u->op, u->dtype, n, src, u->arg);
}

/* As for GATHER; the row-major order of writes within each lane stays the same. */
static UOp *scatter(const Batch *b, UOp *u)
{
	size_t k = u->nsrc - 2, n = 0;
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	bool along = any_moved(b, u, 1, k + 1);
	UOp *x = batched(b, u->src[0]), *v = batched(b, u->src[k + 1]);

	src[n++] = along ? x : t_move_axis(x, 0, (int)k);
	if (along)
		src[n++] = lanes(b, u->src[1]);
	for (size_t i = 1; i <= k; i++)
		src[n++] = along ? batched(b, u->src[i]) : u->src[i];
	src[n++] = along ? v : t_move_axis(v, 0, u->src[1]->shape->rank);
	UOp *y = node_new(u->op, u->dtype, n, src, u->arg);
	return along ? y : t_move_axis(y, (int)k, 0);
}

/* ---- effects */

/* The batched form of a state is its BUFFER, or that with the axis moved to the front; the new
 * content is moved back to match the BUFFER. */
static UOp *assign(const Batch *b, UOp *u)
{
	UOp *state = lanes_of(b, u->src[0]), *x = batched(b, u->src[1]);
	int axes[MAX_RANK] = {0};

	if (!state)
		die(UNSUPPORTED,
			"node %u ASSIGN (%s): the state has no axis for what it is to keep", u->id,
			buffer_name(u->src[0]));
	if (state->op == OP_BUFFER)
		return NODE(OP_ASSIGN, u->dtype, VNIL, state, x);
	arg_axes(state->arg, axes);
	x = NODE(OP_ASSIGN, u->dtype, VNIL, state->src[0], t_move_axis(x, 0, axes[0]));
	return t_move_axis(x, axes[0], 0);
}

/* A custom kernel is made for one shape: it is called once per place of the new axis. */
static UOp *custom(const Batch *b, UOp *u)
{
	int64_t n;
	UOp *part[CUSTOM_LANES], **src = arena_alloc((u->nsrc + 1) * sizeof *src);

	if (!ix_is_const(b->n, &n) || n > CUSTOM_LANES || n == 0)
		die(UNSUPPORTED,
			"node %u CUSTOM (%s): a kernel of one's own is batched by a known size "
			"from 1 to %d "
			"only",
			u->id, custom_name(u->arg), CUSTOM_LANES);
	for (int64_t lane = 0; lane < n; lane++) {
		for (uint32_t i = 0; i < u->nsrc; i++) {
			UOp *v = lanes_of(b, u->src[i]);
			src[i] = v ?
				t_squeeze(t_shrink_axis(v, 0, ix_const(lane), ix_const(lane + 1)),
					0) :
				u->src[i];
		}
		part[lane] = t_unsqueeze(node_new(u->op, u->dtype, u->nsrc, src, u->arg), 0);
	}
	return t_concat(n, part, 0);
}

/* ---- all nodes */

typedef struct { const char *name; UOp *(*fn)(const Batch *b, UOp *u); } Batching;

static const void *batching_named(const char *name)
{
	static const Batching all[] = {
		{"each", each_element},
		{"gather", gather},
		{"scatter", scatter},
		{"assign", assign},
		{"custom", custom},
		{"bind", bind_batched},
		{"carry", carry_batched},
		{"loop", loop_batched},
		{"branch", branch_batched},
		{"pick", pick_batched},
		{"none"},
	};

	for (size_t i = 0; i < sizeof all / sizeof *all; i++)
		if (!strcmp(all[i].name, name))
			return &all[i];
	return NULL;
}

static const RuleNames names = {.lines = VALUES, .named = batching_named};

/* The rule's value, with batched sources. */
static UOp *by_rule(const Batch *b, const Rule *r, UOp *u)
{
	Bound env[MAX_VARS];

	CHECK(rule_match(r, u, env));
	for (uint32_t i = 0; i < u->nsrc; i++)
		env[r->from->src[i]->var].node = batched(b, u->src[i]);
	env[r->g].node = b->n;
	return rule_build(NULL, r->to[0], u, env);
}

static UOp *batch_node(const Batch *b, UOp *u)
{
	const Rule *r = rules_row("vmap", &names, u->op);
	const Batching *batching = r->what;

	if (u->shape && u->shape->rank >= MAX_RANK)
		die(UNSUPPORTED, "node %u %s: with the new axis its rank %d is above %d", u->id,
			op_name(u->op), u->shape->rank + 1, MAX_RANK);
	CHECK(!batching || batching->fn);
	return batching ? batching->fn(b, u) : by_rule(b, r, u);
}

/* What the outputs need; the BINDs whose names it mentions come before it. */
static Nodes nodes_of(size_t nout, UOp *const *out)
{
	const NodeList *binds = &steps_made()->binds;
	UOp **root = arena_alloc((nout + binds->n + 1) * sizeof *root);

	memcpy(root, out, nout * sizeof *root);
	if (binds->n)
		memcpy(root + nout, binds->at, binds->n * sizeof *root);
	Nodes all = walk_many(nout + binds->n, root);
	return binds->n ? nodes_within(all, nout, out, NULL) : all;
}

void vmap_nodes(UOp *n, size_t nin, UOp *const *in, UOp *const *by, size_t nout, UOp *const *out,
	UOp **bout)
{
	Nodes all = nodes_of(nout, out);
	Batch b = {n, NULL, NULL, node_limit()};

	b.to = arena_alloc(b.limit * sizeof *b.to);
	for (size_t i = 0; i < nin; i++)
		b.to[in[i]->id] = by[i];
	find_moving(&b, all);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (b.to[u->id] || !b.moves[u->id])
			continue;
		b.to[u->id] = batch_node(&b, u);
		if (u->note != VNIL)
			node_note(b.to[u->id], u->note);
	}
	for (size_t i = 0; i < nout; i++) {
		UOp *v = lanes_of(&b, out[i]);
		bout[i] = v ? v : out[i];
	}
	free(b.moves);
}
