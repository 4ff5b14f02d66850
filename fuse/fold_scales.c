/* A constant scale after a contraction is folded into the contraction's constant weights, which are
 * then prepared.
 *
 *     y[n,o] = (Σk x[n,k]·w[k,o] + b[o] - m[o]) · s[o] + t[o]
 *     →   w_scaled[k,o] = w[k,o]·s[o]          once
 *         w_shift[o] = (b[o] - m[o])·s[o] + t[o]       once
 *         y[n,o] = Σk x[n,k]·w_scaled[k,o] + w_shift[o]
 *
 * So a batch norm after a convolution or a linear layer costs nothing, however it is written. The
 * pass requires only that a sum of products is followed by products, quotients, sums and
 * differences with values computed from constants, and that these move only with ranges that move
 * the weights. w_scaled has the layout of w: in a scale, the index of each of w's axes becomes that
 * axis. Rounding changes, so --strict leaves it out. */
#include "document/document.h"
#include "fuse.h"
#include <stdlib.h>

/* AXES: the first of a region of axis numbers not used elsewhere */
enum { STEPS = 16, ROUNDS = 4, AXES = BOUND + 2 * MAX_RANK };

/* u becomes op(u, c), or op(c, u) when swapped; c is NULL for NEG */
typedef struct { Op op; UOp *c; bool swapped; } ScaleLink;
/* The chain after a reduction: its links up to top, and whether anything is added before the last
 * scale. */
typedef struct {
	UOp *fold, *weight, *top;
	ScaleLink link[STEPS];
	int n;
	bool shifted, loads;
} ScaleChain;
typedef struct {
	NodeList made;              /* calls that fill prepared buffers */
	Map readers;            /* buffer → calls that load it */
	Map writer;             /* prepared buffer → its kernel, when that is elementwise */
	Map names;              /* names of the document's buffers, by hash */
} Folding;

/* ---- a call's kernel with buffers in place of slots, and back: folding works on buffers */

static UOp *kernel_over(const UOp *call)
{
	Nodes all = walk(call->src[0]);
	NodeList from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM) {
			vec_push(&from, all.at[i]);
			vec_push(&to, step_buffer(call, param_slot(all.at[i])));
		}
	UOp *kernel = substitute(call->src[0], from.n, from.at, to.at);
	node_note(kernel, call->src[0]->note);
	vec_free(&from);
	vec_free(&to);
	return kernel;
}

static UOp *call_over(UOp *kernel)
{
	Nodes all = walk(kernel);
	NodeList from = {0}, to = {0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER) {
			vec_push(&to, param_new(from.n, all.at[i]));
			vec_push(&from, all.at[i]);
		}
	UOp *slots = substitute(kernel, from.n, from.at, to.at);
	Seated s = seat_buffers(slots, from.at);
	node_note(s.kernel, kernel->note);
	UOp *call = seated_call(&s, from.at);
	vec_free(&from);
	vec_free(&to);
	return call;
}

/* ---- users within a kernel, by id */

typedef struct { UOp *user; uint32_t count; } Users;
static ARENA TABLE(Users) users;

static void find_users(UOp *kernel)
{
	Nodes all = walk_brief(kernel);
	table_fit(&users);
	for (size_t i = 0; i < all.n; i++)
		users.at[all.at[i]->id].count = 0;
	for (size_t i = 0; i < all.n; i++)
		for (uint32_t s = 0; s < all.at[i]->nsrc; s++) {
			Users *of = &users.at[all.at[i]->src[s]->id];
			of->user = all.at[i];
			of->count++;
		}
}

/* ---- chains that can be folded */

static UOp *loaded(const UOp *load) { return load->src[0]->src[0]; }

static bool is_constant(const UOp *buffer)
{
	return buffer_is(buffer, "const") || buffer_is(buffer, "prepared");
}

/* Is the value computed from constants only? *loads is set when it reads any. */
static bool is_known(UOp *value, bool *loads)
{
	Nodes all = walk_brief(value);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_VAR || u->op == OP_RREDUCE || u->op == OP_RSCAN ||
			u->op == OP_RSORT)
			return false;
		if (u->op == OP_LOAD && !is_constant(loaded(u)))
			return false;
		*loads |= u->op == OP_LOAD;
	}
	return true;
}

/* The factor of a reduction's product that loads constants and moves with the reduction; NULL when
 * there is none. */
static UOp *weight_of(UOp *fold)
{
	UOp *stack[STEPS], *best = NULL;
	int n = 0;
	if (fold->src[0]->op != OP_MUL)
		return NULL;
	for (stack[n++] = fold->src[0]; n;) {
		UOp *u = stack[--n];
		if (u->op == OP_MUL && n + 2 <= STEPS) {
			stack[n++] = u->src[0];
			stack[n++] = u->src[1];
			continue;
		}
		if (u->op != OP_LOAD || u->nsrc > 1 || !is_constant(loaded(u)) ||
			!(range_mask(u) >> BOUND))
			continue;
		if (!best || buffer_bytes(loaded(u)) > buffer_bytes(loaded(best)))
			best = u;
	}
	return best;
}

/* The link from u to its user v; false when v is not a link, or moves where the weight does not. */
static bool link_of(UOp *u, UOp *v, uint64_t mask, bool *loads, ScaleLink *l)
{
	*l = (ScaleLink){v->op, NULL, false};
	if (v->dtype != u->dtype)
		return false;
	if (v->op == OP_NEG)
		return true;
	if (v->op != OP_MUL && v->op != OP_FDIV && v->op != OP_ADD && v->op != OP_SUB)
		return false;
	l->swapped = v->src[1] == u;
	l->c = v->src[!l->swapped];
	if (l->swapped && v->op == OP_FDIV)
		return false;
	return !(range_mask(l->c) & ~mask) && is_known(l->c, loads);
}

static bool is_scale(const ScaleLink *l) { return l->op == OP_MUL || l->op == OP_FDIV; }

static void chain_climb(ScaleChain *c)
{
	UOp *u = c->fold, *at[STEPS];
	uint64_t mask = range_mask(c->weight) & ((1ull << BOUND) - 1);
	int n = 0, last = -1;
	bool loads[STEPS] = {false};
	for (; n < STEPS && users.at[u->id].count == 1; n++) {
		if (!link_of(u, users.at[u->id].user, mask, &loads[n], &c->link[n]))
			break;
		u = at[n] = users.at[u->id].user;
		last = is_scale(&c->link[n]) ? n : last;
	}
	for (int i = 0; i <= last; i++) {
		c->shifted |= c->link[i].op == OP_ADD || c->link[i].op == OP_SUB;
		c->loads |= loads[i] && is_scale(&c->link[i]);
	}
	/* additions after the last scale stay, unless a shift exists to which they can be added */
	c->n = c->shifted ? n : last + 1;
	c->top = c->n ? at[c->n - 1] : NULL;
}

static bool read_once(Folding *f, UOp *kernel, UOp *buffer)
{
	int here = 0;
	Nodes loads = kernel_loads(kernel);
	for (size_t i = 0; i < loads.n; i++)
		here += loaded(loads.at[i]) == buffer;
	return here == 1 && (intptr_t)map_get(&f->readers, PKEY(buffer)) == 1;
}

/* A scale that is a single number saves no load: it is folded when there are more results than
 * weights. */
static bool is_worth(const ScaleChain *c, UOp *kernel)
{
	double results = count_guess(store_buffer(kernel->src[0])->shape);
	return c->loads || results >= count_guess(loaded(c->weight)->shape);
}

static bool chain_find(Folding *f, UOp *kernel, UOp *fold, ScaleChain *c)
{
	*c = (ScaleChain){.fold = fold};
	if (fold->op != OP_RREDUCE || !val_is_str(fold->arg, "ADD"))
		return false;
	if (fold->dtype != DT_F32 && fold->dtype != DT_F64)
		return false;
	c->weight = weight_of(fold);
	if (!c->weight || !read_once(f, kernel, loaded(c->weight)))
		return false;
	chain_climb(c);
	return c->n && is_worth(c, kernel);
}

/* ---- the prepared values */

/* The value that a plain store writes, at the place from which a load of its buffer reads. */
static UOp *value_at(const UOp *store, const UOp *load)
{
	const UOp *place = store->src[0];
	UOp *from[MAX_RANK], *to[MAX_RANK];
	uint32_t n = 0;
	for (uint32_t i = 1; i < place->nsrc; i++)
		if (place->src[i]->op == OP_RANGE) {
			from[n] = place->src[i];
			to[n++] = load->src[0]->src[i];
		}
	return substitute(store->src[1], n, from, to);
}

/* Replaces loads of elementwise prepared buffers by their values, so that one kernel computes them
 * all. */
static UOp *expanded(Folding *f, UOp *value)
{
	for (int round = 0; round < ROUNDS; round++) {
		Nodes all = walk(value);
		NodeList from = {0}, to = {0};
		for (size_t i = 0; i < all.n && all.n < KERNEL_NODES / 2; i++) {
			UOp *u = all.at[i], *k = NULL;
			if (u->op == OP_LOAD)
				k = map_get(&f->writer, PKEY(loaded(u)));
			if (!k)
				continue;
			vec_push(&from, u);
			vec_push(&to, value_at(k->src[0], u));
		}
		value = substitute(value, from.n, from.at, to.at);
		bool done = !from.n;
		vec_free(&from);
		vec_free(&to);
		if (done)
			break;
	}
	return value;
}

static bool in_bounds(UOp *value)
{
	int64_t lo, hi, size;
	Nodes all = walk(value);
	for (size_t i = 0; i < all.n; i++) {
		UOp *place = all.at[i]->op == OP_LOAD ? all.at[i]->src[0] : NULL;
		for (uint32_t k = 1; place && k < place->nsrc; k++) {
			UOp *dim = place->src[0]->shape->dim[k - 1];
			ix_bounds(place->src[k], &lo, &hi);
			if (!ix_is_const(dim, &size) || lo < 0 || hi >= size)
				return false;
		}
	}
	return true;
}

static uint64_t name_key(const char *s) { return hash_bytes(s, strlen(s), 0) | 1; }

static UOp *buffer_new(Folding *f, UOp *weights, const char *what, const Shape *shape)
{
	const char *base = buffer_name(weights), *name;
	if (strlen(base) > 200)
		base = "weights";
	name = arena_printf("%s_%s", base, what);
	for (int i = 2; map_get(&f->names, name_key(name)); i++)
		name = arena_printf("%s_%s%d", base, what, i);
	map_put(&f->names, name_key(name), f);
	return LEAF(OP_BUFFER, weights->dtype,
		VMAP(val_str("name"), val_str(name), val_str("shape"), shape_to_val(shape),
			val_str("role"), val_str("prepared")));
}

static UOp *place_at(UOp *buffer, UOp *const *index)
{
	UOp *src[MAX_RANK + 1] = {buffer};
	memcpy(src + 1, index, buffer->shape->rank * sizeof *src);
	return node_new(OP_INDEX, buffer->dtype, buffer->shape->rank + 1, src, VNIL);
}

/* place: the element of its buffer to which the value goes */
static void kernel_add(Folding *f, UOp *place, UOp *value, const Val *note)
{
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place, expanded(f, value));
	UOp *kernel = NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str("kernel")), store);
	node_note(kernel, note);
	vec_push(&f->made, call_over(kernel));
}

/* The chain's links applied to the weights, over axes of their own; NULL when a scale does not move
 * with the weights' axes. */
static UOp *scaled(const ScaleChain *c, UOp *const *axis)
{
	UOp *place = c->weight->src[0], *from[MAX_RANK], *to[MAX_RANK];
	DType dt = c->weight->dtype;
	uint32_t n = 0;
	for (uint32_t k = 1; k < place->nsrc; k++) {
		if (!range_mask(place->src[k]) || range_mask(place->src[k]) >> BOUND)
			continue;
		from[n] = place->src[k];
		to[n++] = axis[k - 1];
	}
	UOp *value = NODE(OP_LOAD, dt, VNIL, place_at(place->src[0], axis));
	for (int i = 0; i < c->n; i++) {
		const ScaleLink *l = &c->link[i];
		if (is_scale(l)) {
			UOp *by = substitute(l->c, n, from, to);
			if (range_mask(by) & ((1ull << AXES) - 1) || !in_bounds(by))
				return NULL;
			value = NODE(l->op, dt, VNIL, value, by);
		} else if (l->op == OP_NEG || (l->op == OP_SUB && l->swapped)) {
			value = NODE(OP_NEG, dt, VNIL, value);
		}
	}
	return value;
}

/* A load of scaled weights in place of the load of the weights; NULL when they cannot be scaled. */
static UOp *weight_new(Folding *f, const ScaleChain *c, const Val *note)
{
	UOp *place = c->weight->src[0], *buffer = place->src[0];
	UOp *axis[MAX_RANK], *loop[MAX_RANK], *src[MAX_RANK + 1];
	int rank = buffer->shape->rank;
	for (int k = 0; k < rank; k++) {
		UOp *dim = buffer->shape->dim[k];
		int64_t one;
		bool fixed = ix_is_const(dim, &one) && one == 1;
		axis[k] = fixed ? ix_const(0) : ix_range(AXES + k, "loop", dim);
		loop[k] = fixed ? ix_const(0) : ix_range(k, "loop", dim);
	}
	UOp *value = scaled(c, axis);
	if (!value)
		return NULL;
	value = substitute(value, rank, axis, loop);
	UOp *to = buffer_new(f, buffer, "scaled", buffer->shape);
	kernel_add(f, place_at(to, loop), value, note);
	memcpy(src, place->src, place->nsrc * sizeof *src);
	src[0] = to;
	UOp *index = node_new(OP_INDEX, to->dtype, place->nsrc, src, VNIL);
	return NODE(OP_LOAD, to->dtype, VNIL, index);
}

/* The sum of what the chain adds, multiplied by the scales that follow. */
static UOp *shift_value(const ScaleChain *c)
{
	UOp *t = NULL;
	DType dt = c->fold->dtype;
	for (int i = 0; i < c->n; i++) {
		const ScaleLink *l = &c->link[i];
		if (!t && l->op == OP_ADD)
			t = l->c;
		else if (!t && l->op == OP_SUB)
			t = l->swapped ? l->c : NODE(OP_NEG, dt, VNIL, l->c);
		else if (t && l->op == OP_NEG)
			t = NODE(OP_NEG, dt, VNIL, t);
		else if (t)
			t = NODE(l->op, dt, VNIL, l->swapped ? l->c : t, l->swapped ? t : l->c);
	}
	return t;
}

/* the value, prepared: a load from a buffer over its own ranges */
static UOp *shift_new(Folding *f, UOp *weights, UOp *value, const Val *note)
{
	bool loads = false;
	if (!is_known(value, &loads) || !loads)
		return value;
	Loops l = kernel_loops(value);
	UOp *loop[MAX_RANK], *dim[MAX_RANK];
	for (int i = 0; i < l.n; i++) {
		dim[i] = l.at[i]->src[0];
		loop[i] = ix_range(i, "loop", dim[i]);
	}
	UOp *to = buffer_new(f, weights, "shift", shape_new(l.n, dim));
	kernel_add(f, place_at(to, loop), substitute(value, l.n, l.at, loop), note);
	return NODE(OP_LOAD, to->dtype, VNIL, place_at(to, l.at));
}

/* ---- the pass */

static UOp *folded(Folding *f, const UOp *call, UOp *kernel, ScaleChain *c)
{
	UOp *buffer = loaded(c->weight), *weight = weight_new(f, c, kernel->note);
	if (!weight)
		return NULL;
	UOp *value = substitute(c->fold, 1, &c->weight, &weight);
	if (c->shifted) {
		UOp *shift = shift_new(f, buffer, shift_value(c), kernel->note);
		value = NODE(OP_ADD, value->dtype, VNIL, value, shift);
	}
	explain("%s: the constant scale behind it is folded into %s", step_label(call),
		buffer_name(buffer));
	UOp *r = substitute(kernel, 1, &c->top, &value);
	node_note(r, kernel->note);
	return call_over(r);
}

static bool reads_constants(const UOp *call, const StepFacts *is)
{
	for (uint32_t k = 0; k < is->nread; k++)
		if (is_constant(step_buffer(call, is->read[k])))
			return true;
	return false;
}

static UOp *visit(Folding *f, UOp *call)
{
	const StepFacts *is = step_facts(call);
	ScaleChain c;
	if (!is->kernel || !is->folds || call_prepares(call) || !reads_constants(call, is))
		return call;
	UOp *kernel = kernel_over(call);
	Nodes all = walk(kernel);
	find_users(kernel);
	for (size_t i = 0; i < all.n; i++) {
		UOp *r = chain_find(f, kernel, all.at[i], &c) ? folded(f, call, kernel, &c) : NULL;
		/* one contraction in each kernel */
		if (r)
			return r;
	}
	return call;
}

static void read_step(Folding *f, UOp *call)
{
	const StepFacts *is = step_facts(call);
	for (uint32_t k = 0; k < is->nread; k++) {
		uint64_t key = PKEY(step_buffer(call, is->read[k]));
		map_put(&f->readers, key, (void *)((intptr_t)map_get(&f->readers, key) + 1));
	}
	if (!is->kernel || !call_prepares(call) || is->folds || is->scan || is->sort)
		return;
	if (is->kernel->nsrc == 1 && store_is_plain(is->kernel->src[0]))
		map_put(&f->writer, PKEY(call->src[1]), kernel_over(call));
}

static void read_names(Folding *f, UOp *sink)
{
	Nodes all = walk_brief(sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER)
			map_put(&f->names, name_key(buffer_name(all.at[i])), f);
}

Graph *fold_scales(Graph *g)
{
	Folding f = {0};
	NodeList each = {0}, order = {0};
	if (fuse_opt.strict)
		return g;
	read_names(&f, g->sink);
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		read_step(&f, g->sink->src[i]);
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		vec_push(&each, visit(&f, g->sink->src[i]));
	size_t first = 0;
	while (first < each.n && call_prepares(each.at[first]))
		vec_push(&order, each.at[first++]);
	for (size_t i = 0; i < f.made.n; i++)
		vec_push(&order, f.made.at[i]);
	for (size_t i = first; i < each.n; i++)
		vec_push(&order, each.at[i]);
	g = graph_with_calls(g, order.n, order.at);
	vec_free(&each);
	vec_free(&order);
	vec_free(&f.made);
	map_free(&f.readers);
	map_free(&f.writer);
	map_free(&f.names);
	return g;
}
