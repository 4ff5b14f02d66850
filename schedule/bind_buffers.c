/* Decides which nodes get a buffer, and marks them in the graph: a value that must be in memory but
 * would have no buffer gets a CONTIGUOUS, and nodes that are only another name for their source are
 * removed.
 *
 *     y = PERMUTE(x)       SINK(y)      →   SINK(CONTIGUOUS(PERMUTE x))
 *     SORT(EXPAND(c))                   →   SORT(CONTIGUOUS(EXPAND c))
 *     ADD(DETACH(a), CONTIGUOUS(MUL …)) →   ADD(a, MUL …)          MUL has a buffer anyway */
#include "index/index.h"
#include "schedule.h"
#include "shape/regions.h"
#include <stdlib.h>

/* ---- values in memory */

bool has_buffer(const UOp *u)
{
	OpClass c = op_info[u->op].cls;
	return op_elementwise(u->op) || c == CLASS_AXES || c == CLASS_INDEXING ||
		u->op == OP_BUFFER || u->op == OP_CONTIGUOUS || u->op == OP_COPY ||
		u->op == OP_CUSTOM;
}

UOp *content(UOp *u)
{
	while (u->op == OP_ASSIGN)
		u = u->src[1];
	return u;
}

UOp *content_flat(UOp *u)
{
	for (u = content(u); u->op == OP_RESHAPE; u = content(u->src[0]))
		;
	return u;
}

static UOp *stored(UOp *u)
{
	if (u->op == OP_ASSIGN || has_buffer(u))
		return u;
	UOp *c = NODE(OP_CONTIGUOUS, u->dtype, VNIL, u);
	node_note(c, u->note);
	return c;
}

/* ---- one node at a time */

typedef struct {
	VEC(uint16_t) chain;    /* by id: movement ops above the last buffer */
	VEC(const Val *) devices;
} Bind;

static int chain_of(const Bind *b, const UOp *u)
{
	return u->id < b->chain.n ? b->chain.at[u->id] : 0;
}

static UOp *bind_movement(Bind *b, UOp *u)
{
	int n = chain_of(b, content(u->src[0])) + 1;
	if (n > VIEW_CHAIN) {
		UOp *src = stored(u->src[0]);
		u = node_with(u, &src);
		n = 1;
	}
	while (b->chain.n <= u->id)
		vec_push(&b->chain, 0);
	b->chain.at[u->id] = n;
	return u;
}

/* Does a REDUCE or SCAN over these axes take one element each? Then it equals its source. */
static bool one_element(const UOp *u)
{
	const Val *axes = u->arg->a[1], *const *at = axes->kind == VAL_ARRAY ? axes->a : &axes;
	size_t n = axes->kind == VAL_ARRAY ? axes->n : 1;
	for (size_t i = 0; i < n; i++) {
		int64_t size;
		if (!ix_is_const(u->src[0]->shape->dim[at[i]->i], &size) || size != 1)
			return false;
	}
	return true;
}

/* A sort reads its keys repeatedly, by place: they must be loads. */
static UOp *bind_sort(UOp *u)
{
	UOp *base = content(u->src[0]);
	while (op_movement(base->op))
		base = content(base->src[0]);
	if (has_buffer(base))
		return u;
	UOp *key = stored(u->src[0]);
	return node_with(u, &key);
}

/* The new content must not be in another state's buffer, which may change before it is copied. */
static UOp *bind_assign(UOp *u)
{
	UOp *x = content(u->src[1]);
	bool other = x != u->src[0] && x->op == OP_BUFFER && buffer_is(x, "state");
	x = other ? NODE(OP_CONTIGUOUS, u->dtype, VNIL, u->src[1]) : stored(u->src[1]);
	return node_with(u, (UOp *[]){u->src[0], x});
}

static UOp *bind_copy(Bind *b, UOp *u)
{
	size_t i = 0;
	while (i < b->devices.n && b->devices.at[i] != u->arg)
		i++;
	if (i == b->devices.n)
		vec_push(&b->devices, u->arg);
	return has_buffer(content(u->src[0])) ? u->src[0] : u;
}

/* The outputs, and the inputs of a CUSTOM, must be in memory without gaps; for the latter in any
 * shape. */
static UOp *bind_all(UOp *u)
{
	VEC(UOp *) src = {0};
	for (uint32_t i = 0; i < u->nsrc; i++) {
		bool lies = u->op == OP_CUSTOM && has_buffer(content_flat(u->src[i]));
		vec_push(&src, lies ? u->src[i] : stored(u->src[i]));
	}
	UOp *bound = node_with(u, src.at);
	vec_free(&src);
	return bound;
}

static UOp *bind_node(UOp *u, void *ctx)
{
	Bind *b = ctx;
	if (op_movement(u->op))
		return bind_movement(b, u);
	switch (u->op) {
	case OP_DETACH: return u->src[0];
	case OP_CONTIGUOUS: return has_buffer(content(u->src[0])) ? u->src[0] : u;
	case OP_COPY: return bind_copy(b, u);
	case OP_REDUCE:
	case OP_SCAN: return one_element(u) ? u->src[0] : u;
	case OP_SORT: return bind_sort(u);
	case OP_ASSIGN: return bind_assign(u);
	case OP_CUSTOM:
	case OP_SINK: return bind_all(u);
	default: return u;
	}
}

Graph *bind_buffers(Graph *g)
{
	Bind b = {0};
	/* list_steps does it segment by segment */
	if (steps_in(g))
		return g;
	g->sink = walk_replace(g->sink, bind_node, &b);
	g->all = (Nodes){0};
	if (b.devices.n)
		g->meta = val_set(g->meta, "devices", val_array(b.devices.n, b.devices.at));
	vec_free(&b.chain);
	vec_free(&b.devices);
	return g;
}
