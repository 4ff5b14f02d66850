/* Checkpointing: reverse mode that recomputes values of the forward pass instead of keeping them.
 * The nodes, in order, are cut into segments. The values that the cotangents of a segment need are
 * recomputed from the values at its start, when its first cotangent is known.
 *
 *     h = f(x), y = g(h)     kept: x alone; the backward of f starts with
 *                            h' = f(x'), x' = WHERE(never, 0, x)
 *
 * never is computed from that cotangent and is always false: so h' is not a common subexpression
 * with h, and cannot be computed before it is needed. Buffers of weights are used as they are: a
 * value recomputed from an activation is a new node anyway. */
#include "primitives/primitives.h"
#include "derive/derive.h"
#include <math.h>
#include <stdlib.h>

struct Again {
	Nodes all;
	Map place;
	int n;
	uint32_t *segment;      /* of each node */
	UOp **now;              /* the recomputed node for each node, in segments that are built */
	UOp **never;            /* one per segment, NULL until it is built */
	Map kept;               /* loops and branches, and what runs in loops: not recomputed */
};

static size_t place_in(const Again *a, const UOp *u)
{
	return (size_t)(uintptr_t)map_get(&a->place, PKEY(u)) - 1;
}

/* ---- where to cut */

static double bytes_of(const UOp *u)
{
	return op_movement(u->op) || !u->nsrc || !u->shape ? 0
		: (double)shape_max_count(u->shape) * dtype_size(u->dtype);
}

/* The last node that reads the buffer of each node, through views too. */
static uint32_t *last_reads(const Again *a)
{
	uint32_t *last = xcalloc(a->all.n + 1, sizeof *last);

	for (size_t i = a->all.n; i-- > 0;) {
		const UOp *u = a->all.at[i];
		uint32_t until = op_movement(u->op) && last[i] > i ? last[i] : (uint32_t)i;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			size_t s = place_in(a, u->src[k]);
			last[s] = until > last[s] ? until : last[s];
		}
	}
	return last;
}

/* live[i]: bytes that a cut before node i keeps */
static double *live_bytes(const Again *a)
{
	uint32_t *last = last_reads(a);
	double *live = xcalloc(a->all.n + 2, sizeof *live);

	for (size_t i = 0; i < a->all.n; i++)
		if (last[i] > i) {
			live[i + 1] += bytes_of(a->all.at[i]);
			live[last[i] + 1] -= bytes_of(a->all.at[i]);
		}
	for (size_t i = 1; i <= a->all.n; i++)
		live[i] += live[i - 1];
	free(last);
	return live;
}

/* Segments of equal bytes; each cut is moved by up to half a segment to where the fewest bytes are
 * live. */
static void cut(Again *a, const bool *follows)
{
	double *live = live_bytes(a), *sum = xcalloc(a->all.n + 1, sizeof *sum), share;
	size_t from = 0;

	for (size_t i = 0; i < a->all.n; i++)
		sum[i + 1] = sum[i] + (follows[i] ? bytes_of(a->all.at[i]) : 0);
	share = sum[a->all.n] / a->n;
	for (int k = 1; k <= a->n; k++) {
		size_t best = k == a->n ? a->all.n : from;
		for (size_t i = from + 1; k < a->n && i < a->all.n &&
			sum[i] <= (k + 0.5) * share; i++)
			if (sum[i] >= (k - 0.5) * share && (best == from || live[i] <= live[best]))
				best = i;
		for (; from < best; from++)
			a->segment[from] = k - 1;
	}
	free(live);
	free(sum);
}

/* The number of segments, by default the square root of the number of reductions. */
static int count_segments(Nodes all, const bool *follows, int said)
{
	int count = 0;

	for (size_t i = 0; i < all.n; i++)
		count += follows[i] && (all.at[i]->op == OP_REDUCE || all.at[i]->op == OP_SCAN);
	return said > 0 ? said : (int)ceil(sqrt(count));
}

static void keep_steps(Again *a)
{
	for (size_t i = 0; i < a->all.n; i++) {
		UOp *u = a->all.at[i];
		if (op_info[u->op].cls == CLASS_FLOW)
			map_put(&a->kept, PKEY(u), u);
		if (u->op != OP_LOOP)
			continue;
		Body b = loop_body(a->all, u);
		for (size_t k = 0; k < b.nodes.n; k++)
			map_put(&a->kept, PKEY(b.nodes.at[k]), b.nodes.at[k]);
		body_free(&b);
	}
}

Again *again_plan(Nodes all, const bool *follows, int segments)
{
	Again *a = arena_alloc(sizeof *a);

	*a = (Again){.all = all, .n = count_segments(all, follows, segments)};
	if (a->n < 2)
		return NULL;
	for (size_t i = 0; i < all.n; i++)
		map_put(&a->place, PKEY(all.at[i]), (void *)(uintptr_t)(i + 1));
	a->segment = arena_alloc((all.n + 1) * sizeof *a->segment);
	a->now = arena_alloc((all.n + 1) * sizeof *a->now);
	a->never = arena_alloc(a->n * sizeof *a->never);
	keep_steps(a);
	cut(a, follows);
	return a;
}

/* ---- recomputing */

/* False, since no i8 is above 127. It reads the first element of g (g may be empty), whose value
 * does not matter. */
static UOp *never_by(UOp *g)
{
	UOp *zero = ix_const(0), *one = ix_const(1);

	g = t_reshapev(g, 1, (UOp *[]){shape_count(g->shape)});
	g = t_shrink_axis(t_pad_axis(g, 0, zero, one), 0, zero, one);
	return t_lt(const_int(DT_I16, 127),
		t_cast(t_cast(t_reshape(g, shape_scalar()), DT_I8), DT_I16));
}

static UOp *held_back(UOp *u, UOp *never)
{
	return t_where(never, t_num(u->dtype, 0), u);
}

/* The node that a node of that segment reads instead of u. */
static UOp *source_again(const Again *a, UOp *u, uint32_t segment)
{
	size_t at = place_in(a, u);

	if (!u->nsrc)
		return u->op == OP_BUFFER && buffer_is(u, "input")
			? held_back(u, a->never[segment]) : u;
	return a->segment[at] == segment ? a->now[at] : held_back(u, a->never[segment]);
}

static void build(Again *a, uint32_t segment)
{
	VEC(UOp *) src = {0};

	for (size_t i = 0; i < a->all.n; i++) {
		UOp *u = a->all.at[i];
		if (a->segment[i] != segment)
			continue;
		src.n = 0;
		a->now[i] = u;
		if (map_get(&a->kept, PKEY(u)))
			continue;
		for (uint32_t k = 0; k < u->nsrc; k++)
			vec_push(&src, u->op == OP_ASSIGN && !k ? u->src[0]
				: source_again(a, u->src[k], segment));
		a->now[i] = !u->nsrc ? u : u->op == OP_ASSIGN ? src.at[1] : node_with(u, src.at);
	}
	vec_free(&src);
}

UOp *again_node(Again *a, size_t i, UOp *g)
{
	uint32_t s = a ? a->segment[i] : 0;

	if (!a || s + 1 == (uint32_t)a->n)
		return NULL;
	if (!a->never[s]) {
		a->never[s] = never_by(g);
		build(a, s);
	}
	return a->now[i];
}

void again_end(Again *a)
{
	if (!a)
		return;
	map_free(&a->place);
	map_free(&a->kept);
}
