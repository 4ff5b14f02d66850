/* A case in which an index is not inside: values are drawn for ranges, sizes and what is loaded,
 * and everything above them is computed by the interpreter's operations; then one of them is moved
 * to where the index, taken as linear, leaves the buffer. */
#include "interp/interp.h"
#include "prove/digits.h"
#include "prove/places.h"
#include <stdlib.h>

enum { STEPS = 8000000, FEW = 1 << 16, SHOWN = 8 };

typedef struct {
	Known *k;
	Nodes all;              /* the values that count, sources first */
	uint64_t *value;        /* their bytes, one each */
	int64_t *at;            /* by node id: the place in all, from 1 */
	UOp *index, *size;
	size_t n;
	UOp *const *cond;
	uint64_t random;
	size_t left;            /* how many nodes may still be computed */
	const VarEnv *sizes;    /* some that meet the document's checks; NULL: there are none */
} Case;

static uint64_t draw(Case *c)
{
	c->random ^= c->random << 13;
	c->random ^= c->random >> 7;
	c->random ^= c->random << 17;
	return c->random;
}

static int64_t as_int(const UOp *u, uint64_t bits)
{
	int size = dtype_size(u->dtype) * 8;
	if (size < 64 && dtype_signed(u->dtype))
		return (int64_t)(bits << (64 - size)) >> (64 - size);
	return (int64_t)bits;
}

static int64_t value_of(const Case *c, const UOp *u)
{
	return as_int(u, c->value[c->at[u->id] - 1]);
}

static bool is_leaf(const UOp *u)
{
	return !op_elementwise(u->op) && u->op != OP_CONST && u->op != OP_LET;
}

/* The place of a size among those of e; e->n where it is none of them. */
static int size_number(const VarEnv *e, const UOp *u)
{
	int i = 0;
	while (i < e->n && !val_is_str(u->arg->a[0], e->name[i]))
		i++;
	return i;
}

/* Whether the sizes meet the document's checks; those that were not drawn are as in c->sizes. */
static bool sizes_meet(const Case *c)
{
	enum { MOST = sizeof c->sizes->name / sizeof *c->sizes->name };
	VarEnv e = c->sizes ? *c->sizes : (VarEnv){0};

	for (size_t i = 0; i < c->all.n; i++) {
		const UOp *u = c->all.at[i];
		int k = u->op == OP_VAR ? size_number(&e, u) : MOST;
		if (k == MOST)
			continue;
		e.name[k] = u->arg->a[0]->s;
		e.value[k] = value_of(c, u);
		e.n += k == e.n;
	}
	return checks_hold(c->k->graph, &e);
}

/* Some value of a leaf; -1 < it < size for ranges. Ends are likely. */
static bool draw_leaf(Case *c, UOp *u, int64_t *v)
{
	Span s = span_of(c->k, u);
	if (u->op == OP_VAR && c->sizes && draw(c) % 2) {
		int i = size_number(c->sizes, u);
		*v = i < c->sizes->n ? c->sizes->value[i] : s.lo;
		return true;
	}
	if (u->op == OP_RANGE || u->op == OP_SPECIAL) {
		int64_t n = value_of(c, u->src[0]);
		if (n <= 0)
			return false;
		s = (Span){0, n - 1};
	}
	if (span_empty(s) || dtype_float(u->dtype))
		s = (Span){0, 0};
	uint64_t width = (uint64_t)(s.hi - s.lo), near = draw(c) % 4;
	switch (draw(c) % 4) {
	case 0: *v = (int64_t)(s.lo + (near < width ? near : 0)); break;
	case 1: *v = (int64_t)(s.hi - (near < width ? near : 0)); break;
	case 2:
		*v = (int64_t)(draw(c) % 64) - 16;
		if (*v >= s.lo && *v <= s.hi)
			break;
		/* fallthrough */
	default: *v = (int64_t)(s.lo + (width == UINT64_MAX ? draw(c) : draw(c) % (width + 1)));
	}
	return true;
}

static void compute(Case *c, UOp *u, uint64_t *out)
{
	const void *in[3];
	const int step[3] = {0, 0, 0};
	uint64_t bytes = 0;

	for (uint32_t i = 0; i < u->nsrc && i < 3; i++)
		in[i] = &c->value[c->at[u->src[i]->id] - 1];
	interp_op(u->op, u->dtype, u->src[u->op == OP_WHERE]->dtype, 1, &bytes, in, step);
	*out = bytes;
}

/* Values of all nodes; leaves are drawn, or kept where `drawn` is false. */
static bool fill(Case *c, bool drawn)
{
	c->left = c->left > c->all.n ? c->left - c->all.n : 0;
	if (drawn)
		c->sizes = c->k->sizes ? c->k->sizes
			: sample_sizes(c->k->graph, (int)(draw(c) >> 40));
	for (size_t i = 0; i < c->all.n; i++) {
		UOp *u = c->all.at[i];
		int64_t v = 0;
		if (u->op == OP_CONST) {
			const_get(u, &c->value[i]);
		} else if (u->op == OP_LET) {
			c->value[i] = c->value[c->at[u->src[0]->id] - 1];
		} else if (!is_leaf(u)) {
			compute(c, u, &c->value[i]);
		} else if (drawn) {
			if (!draw_leaf(c, u, &v))
				return false;
			c->value[i] = (uint64_t)v;
		}
		if (u->op == OP_LOAD && u->nsrc > 1 && !value_of(c, u->src[1]))
			c->value[i] = 0;
	}
	return true;
}

static bool is_inside(const Case *c)
{
	int64_t v = value_of(c, c->index);
	return v >= 0 && (!c->size || v < value_of(c, c->size));
}

static bool is_loaded(const Case *c, const UOp *u)
{
	return u->op == OP_LOAD && u->src[0]->op == OP_INDEX &&
		(u->nsrc < 2 || value_of(c, u->src[1]));
}

static bool same_place(const Case *c, const UOp *a, const UOp *b)
{
	bool same = a->src[0] == b->src[0] && a->nsrc == b->nsrc;
	for (uint32_t i = 1; i < a->nsrc && same; i++)
		same = value_of(c, a->src[i]) == value_of(c, b->src[i]);
	return same;
}

/* Whether LOADs of one place, to which the kernel does not store, give one value. */
static bool loads_agree(const Case *c)
{
	for (size_t i = 0; i < c->all.n; i++)
		for (size_t k = 0; k < i && is_loaded(c, c->all.at[i]); k++) {
			UOp *a = c->all.at[i], *b = c->all.at[k];
			if (is_loaded(c, b) && same_place(c, a->src[0], b->src[0]) &&
				value_of(c, a) != value_of(c, b) && !value_loads(c->k, a))
				return false;
		}
	return true;
}

/* Whether leaves are what they can be, the conditions and the checks hold, and the index is
 * outside. */
static bool shows(const Case *c)
{
	for (size_t i = 0; i < c->all.n; i++) {
		UOp *u = c->all.at[i];
		Span s = span_of(c->k, u);
		int64_t v = value_of(c, u);
		if ((u->op == OP_RANGE || u->op == OP_SPECIAL) &&
			(v < 0 || v >= value_of(c, u->src[0])))
			return false;
		if (u->op == OP_VAR && (v < s.lo || v > s.hi))
			return false;
	}
	for (size_t i = 0; i < c->n; i++)
		if (!value_of(c, c->cond[i]))
			return false;
	return !is_inside(c) && loads_agree(c) && sizes_meet(c);
}

/* Moves leaf i to where the index would just leave the buffer. */
static bool aim(Case *c, size_t i)
{
	UOp *u = c->all.at[i];
	uint64_t was = c->value[i];
	int64_t e = value_of(c, c->index), to = draw(c) & 1 || !c->size ? -1 : value_of(c, c->size);

	c->value[i] = was + 1;
	fill(c, false);
	int64_t slope = (int64_t)((uint64_t)value_of(c, c->index) - (uint64_t)e);
	c->value[i] = was;
	int64_t far = (int64_t)((uint64_t)to - (uint64_t)e);
	if (!slope || (slope == -1 && far == INT64_MIN))
		return false;
	int64_t steps = far / slope;
	if (steps * slope != far && (far < 0) == (to < 0))
		steps += (far < 0) == (slope < 0) ? 1 : -1;
	c->value[i] = was + (uint64_t)steps;
	Span s = span_of(c->k, u);
	if (as_int(u, c->value[i]) < s.lo || as_int(u, c->value[i]) > s.hi)
		c->value[i] = was;
	fill(c, false);
	return shows(c);
}

static bool search(Case *c, size_t steps)
{
	for (c->left = steps; c->left; ) {
		if (!fill(c, true))
			continue;
		if (shows(c))
			return true;
		for (size_t i = draw(c) % 2; i < c->all.n; i += 2)
			if (is_leaf(c->all.at[i]) && dtype_int(c->all.at[i]->dtype) && aim(c, i))
				return true;
	}
	return false;
}

/* Searches for as long as the document has something left for it. */
static bool search_some(Case *c)
{
	Effort *e = effort();
	size_t steps = e->cases < FEW ? FEW : e->cases < STEPS ? e->cases : STEPS;
	bool found = search(c, steps);
	size_t used = steps - c->left;
	e->cases -= used < e->cases ? used : e->cases;
	return found;
}

/* ---- as text */

static const char *leaf_name(const UOp *u)
{
	if (u->op == OP_VAR)
		return u->arg->a[0]->s;
	if (u->op == OP_SPECIAL)
		return u->arg->s;
	if (u->op == OP_RANGE)
		return arena_printf("r%lld", (long long)u->arg->a[0]->i);
	return NULL;
}

static void print_case(Buf *b, const Case *c)
{
	int shown = 0;
	for (size_t i = 0; i < c->all.n && shown < SHOWN; i++) {
		const UOp *u = c->all.at[i];
		if (!is_leaf(u) || !dtype_int(u->dtype))
			continue;
		const char *name = leaf_name(u);
		buf_printf(b, "%s%.40s=%lld", shown++ ? " " : " at ", name ? name : op_name(u->op),
			(long long)value_of(c, u));
	}
}

static void print_bounds(Buf *b, Known *k, UOp *index)
{
	Span s = span_of(k, index);
	buf_printf(b, " cannot be proved: it is from %lld to %lld", (long long)s.lo,
		(long long)s.hi);
}

static void print_size(Buf *b, const Case *c, bool found)
{
	int64_t v;
	if (!c->size) {
		buf_printf(b, ", which is no size");
		return;
	}
	Buf text = {0};
	ix_print(&text, c->size, NULL, NULL);
	buf_printf(b, ", and the size is %.200s", buf_str(&text));
	if (found && !ix_is_const(c->size, &v))
		buf_printf(b, " = %lld", (long long)value_of(c, c->size));
	buf_free(&text);
}

/* What is evaluated for a node: a leaf is looked into for its size or its gate only. */
static Nodes nodes_of(Case *c)
{
	VEC(UOp *) roots = {0};
	VEC(UOp *) keep = {0};

	vec_push(&roots, c->index);
	if (c->size)
		vec_push(&roots, c->size);
	for (size_t i = 0; i < c->n; i++)
		vec_push(&roots, c->cond[i]);
	Nodes all = walk_many(roots.n, roots.at);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->shape && all.at[i]->op != OP_INDEX && all.at[i]->op != OP_PARAM)
			vec_push(&keep, all.at[i]);
	Nodes r = {arena_alloc((keep.n + 1) * sizeof *keep.at), keep.n};
	memcpy(r.at, keep.at, keep.n * sizeof *keep.at);
	vec_free(&roots);
	vec_free(&keep);
	return r;
}

const char *witness(Known *k, UOp *index, UOp *size, size_t n, UOp *const *cond, bool *found)
{
	Case c = {.k = k, .index = index, .size = size, .n = n, .cond = cond};
	Buf b = {0};

	c.random = 88172645463325252;    /* any seed but 0 */
	c.all = nodes_of(&c);
	c.value = arena_alloc((c.all.n + 1) * sizeof *c.value);
	c.at = arena_alloc(node_limit() * sizeof *c.at);
	for (size_t i = 0; i < c.all.n; i++)
		c.at[c.all.at[i]->id] = i + 1;
	*found = search_some(&c);
	Buf text = {0};
	ix_print(&text, index, NULL, NULL);
	buf_printf(&b, "%.300s", buf_str(&text));
	if (*found) {
		buf_printf(&b, " is %lld", (long long)value_of(&c, index));
		print_case(&b, &c);
	} else {
		print_bounds(&b, k, index);
	}
	print_size(&b, &c, *found);
	const char *r = arena_strdup(buf_str(&b));
	buf_free(&text);
	buf_free(&b);
	return r;
}
