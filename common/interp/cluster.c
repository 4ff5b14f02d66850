/* Computes an elementwise node together with the elementwise nodes that only it reads, block by
 * block, so that their values are never in memory in full. A REDUCE accumulates block by block: a
 * contraction written as EXPAND, MUL, REDUCE takes only the memory of its operands and its result.
 *
 *     MUL [64,48,32] → REDUCE ADD [2]     blocks of MUL over (i, j, k), k innermost;
 *                                         each run of 32 is reduced
 *
 * Axes along which no operand moves are left out; the result is repeated along them. A sum of
 * products whose factors are each read many times goes to interp_contract.
 */
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/value.h"

enum { BLOCK = 1024 };

/* A node of the cluster, or a value that it reads. */
typedef struct {
	UOp *u;
	const ArrayView *leaf;      /* the value; NULL for a node */
	bool whole;             /* of a leaf: its elements are in order, so no copy is needed */
	Strided view;           /* of a leaf: over the cluster's index space, collapsed */
	char *lane;             /* memory for a block */
	const void *now;        /* the elements of the current block, and their step */
	int step;
	uint32_t src[3];        /* the members that are its sources */
} Member;

typedef struct {
	VEC(Member) member;     /* sources before users */
	int rank;               /* the index space */
	int64_t dim[MAX_RANK];
	int axis[MAX_RANK];     /* for each axis of the index space: the axis of the nodes' shape */
} Cluster;

/* The view of v over the index space, with its axes in that order; a scalar is repeated. */
static Strided over_space(const Cluster *c, const ArrayView *v)
{
	Strided s = {.dtype = v->s.dtype, .at = v->s.at, .rank = c->rank};

	for (int i = 0; i < c->rank; i++) {
		s.dim[i] = c->dim[i];
		s.stride[i] = v->s.rank ? v->s.stride[c->axis[i]] : 0;
	}
	return s;
}

static bool all_zero(const Strided *s)
{
	for (int i = 0; i < s->rank; i++)
		if (s->stride[i] != 0 && s->dim[i] != 1)
			return false;
	return true;
}

static void check_shape(const Cluster *c, UOp *u, const ArrayView *v)
{
	for (int i = 0; i < v->s.rank; i++)
		if (v->s.rank != c->rank || v->s.dim[c->axis[i]] != c->dim[i])
			die(MALFORMED, "node %u %s: the shapes of its sources do not match", u->id,
				op_name(u->op));
}

static bool moves(const Cluster *c, int i)
{
	for (size_t k = 0; k < c->member.n; k++) {
		const ArrayView *v = c->member.at[k].leaf;
		if (v && v->s.rank && v->s.stride[c->axis[i]] != 0 && v->s.dim[c->axis[i]] != 1)
			return true;
	}
	return false;
}

/* Sets the leaves' views, once the index space is final. */
static void lay_leaves(Cluster *c)
{
	for (size_t i = 0; i < c->member.n; i++) {
		Member *t = &c->member.at[i];
		Strided s;
		if (!t->leaf)
			continue;
		s = over_space(c, t->leaf);
		t->whole = strided_contiguous(&s);
		if (all_zero(&s)) {
			t->now = s.at;
			t->step = 0;
		}
		t->view = strided_collapse(&s);
	}
}

/* Appends root after its sources. at maps a node to 1 + its member. */
static void gather_members(Cluster *c, UOp *root, const ClusterEnv *env)
{
	VEC(UOp *) stack = {0};
	Map at = {0};

	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[stack.n - 1];
		ArrayView *v = env->get(u, env->ctx);
		size_t waiting = stack.n;
		Member t = {.u = u, .step = 1};

		for (uint32_t i = 0; !v && i < u->nsrc; i++)
			if (!map_get(&at, PKEY(u->src[i])))
				vec_push(&stack, u->src[i]);
		if (stack.n > waiting)
			continue;
		stack.n--;
		if (map_get(&at, PKEY(u)))
			continue;
		if (v)
			check_shape(c, u, v);
		t.leaf = v;
		for (uint32_t i = 0; !v && i < u->nsrc; i++)
			t.src[i] = (uint32_t)(uintptr_t)map_get(&at, PKEY(u->src[i])) - 1;
		vec_push(&c->member, t);
		map_put(&at, PKEY(u), (void *)(uintptr_t)c->member.n);
	}
	vec_free(&stack);
	map_free(&at);
}

/* Computes the block of n elements from pos, member by member; the last one goes to out if given.
 */
static const void *run_block(Cluster *c, int64_t pos, int64_t n, void *out)
{
	for (size_t i = 0; i < c->member.n; i++) {
		Member *t = &c->member.at[i];
		const void *in[3];
		int step[3];

		if (t->leaf && t->step == 0)
			continue;
		if (t->leaf && t->whole) {
			t->now = t->view.at + pos * element_size(t->view.dtype);
			continue;
		}
		t->now = i + 1 == c->member.n && out ? out : t->lane;
		if (t->leaf) {
			strided_copy(&t->view, pos, n, t->lane);
			continue;
		}
		for (uint32_t k = 0; k < t->u->nsrc; k++) {
			in[k] = c->member.at[t->src[k]].now;
			step[k] = c->member.at[t->src[k]].step;
		}
		interp_op(t->u->op, t->u->dtype, t->u->src[t->u->nsrc > 1]->dtype, n,
			(void *)t->now, in, step);
	}
	return c->member.at[c->member.n - 1].now;
}

/* Collects the members of root and removes those of the first `kept` axes of the index space along
 * which nothing moves. */
static void prepare(Cluster *c, UOp *root, const ClusterEnv *env, int kept)
{
	int64_t n = 1;

	gather_members(c, root, env);
	for (int i = 0; i < kept; i++)
		if (c->dim[i] > 1 && !moves(c, i))
			c->dim[i] = 1;
	lay_leaves(c);
	for (int i = 0; i < c->rank && n < BLOCK; i++)
		n *= c->dim[i];
	for (size_t i = 0; i < c->member.n; i++)
		c->member.at[i].lane = xmalloc((n < BLOCK ? n : BLOCK) * 8 + 1);
}

static void finish(Cluster *c)
{
	for (size_t i = 0; i < c->member.n; i++)
		free(c->member.at[i].lane);
	vec_free(&c->member);
}

static ArrayView *run_map(Cluster *c, UOp *u, int rank, const int64_t *dim)
{
	ArrayView *out = value_new(u->dtype, rank, dim);
	int64_t n = strided_count(&out->s);

	for (int64_t pos = 0; pos < n; pos += BLOCK)
		run_block(c, pos, n - pos < BLOCK ? n - pos : BLOCK,
			value_data(out) + pos * element_size(u->dtype));
	return out;
}

/* Rounds acc into one element of the output. */
static void put_result(UOp *u, ArrayView *out, int64_t place, const void *acc)
{
	char *to = value_data(out) + place * element_size(u->dtype);

	element_cast(u->dtype, to, dtype_acc(u->dtype), acc, 1);
}

/* Reduces each run of len elements of the index space into the next output element. Blocks start
 * where runs do, so that equal runs give equal bits. */
static ArrayView *run_reduce(Cluster *c, UOp *u, int rank, const int64_t *dim, int64_t len)
{
	ArrayView *out = value_new(u->dtype, rank, dim);
	const Op op = (Op)op_find(u->arg->a[0]->s);
	const int size = element_size(u->dtype);
	int64_t count = strided_count(&out->s), total = count * len, place = 0, left = len;
	int64_t block = len && len < BLOCK ? BLOCK / len * len : BLOCK, n;
	uint64_t none = 0, acc;

	interp_identity(op, u->dtype, &none);
	acc = none;
	for (int64_t i = 0; len == 0 && i < count; i++)
		put_result(u, out, i, &none);
	for (int64_t pos = 0; pos < total;) {
		n = len < BLOCK ? block : left < BLOCK ? left : BLOCK;
		n = total - pos < n ? total - pos : n;
		const Member *last = &c->member.at[c->member.n - 1];
		const char *x = run_block(c, pos, n, NULL);
		for (pos += n; n > 0;) {
			int64_t m = n < left ? n : left;
			interp_fold(op, u->dtype, m, &acc, x, last->step);
			x += m * size * last->step;
			n -= m;
			left -= m;
			if (left)
				continue;
			put_result(u, out, place++, &acc);
			acc = none;
			left = len;
		}
	}
	return out;
}

/* Sets the index space of a REDUCE: the axes that stay, then those that are reduced. Returns the
 * number of elements reduced into one. */
static int64_t reduce_space(Cluster *c, UOp *u, const int64_t *xdim, int rank)
{
	int axes[MAX_RANK], n = arg_axes(u->arg, axes);
	bool folded[MAX_RANK] = {false};
	Strided inner = {.rank = 0};

	for (int i = 0; i < n; i++)
		folded[axes[i]] = true;
	c->rank = 0;
	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < rank; i++) {
			if (folded[i] != (pass == 1))
				continue;
			if (pass)
				inner.dim[inner.rank++] = xdim[i];
			c->axis[c->rank] = i;
			c->dim[c->rank++] = xdim[i];
		}
	return strided_count(&inner);
}

static void map_space(Cluster *c, const int64_t *dim)
{
	for (int i = 0; i < c->rank; i++) {
		c->axis[i] = i;
		c->dim[i] = dim[i];
	}
}

int64_t cluster_count(UOp *u, int rank, const int64_t *dim, const ClusterEnv *env)
{
	Cluster c = {.rank = rank};
	Strided s = {.rank = rank};

	map_space(&c, dim);
	prepare(&c, u, env, rank);
	if (rank)
		memcpy(s.dim, c.dim, rank * sizeof *s.dim);
	finish(&c);
	return strided_count(&s);
}

/* Computes the result over the kept axes that are left, and repeats it along those that were left
 * out. */
static ArrayView *run(Cluster *c, UOp *u, int rank, const int64_t *dim, int kept, int64_t len)
{
	int64_t left[MAX_RANK];
	ArrayView *out;

	for (int i = 0; i < rank; i++)
		left[i] = dim[i];
	for (int i = 0; i < kept; i++)
		left[c->axis[i]] = c->dim[i];
	Strided space = {.rank = rank};
	memcpy(space.dim, left, sizeof left);
	interp_bound((double)strided_count(&space) * len, "node %u %s", u->id, op_name(u->op));
	out = u->op == OP_REDUCE ? run_reduce(c, u, rank, left, len) : run_map(c, u, rank, left);
	strided_expand(&out->s, dim);
	return out;
}

ArrayView *cluster_run(UOp *u, int rank, const int64_t *dim, const int64_t *xdim,
	const ClusterEnv *env)
{
	Cluster c = {.rank = rank};
	int kept = rank;
	int64_t len = 1;
	ArrayView *out = u->op == OP_REDUCE ? product_run(u, rank, dim, xdim, env) : NULL;

	if (out)
		return out;
	if (u->op == OP_REDUCE) {
		len = reduce_space(&c, u, xdim, rank);
		kept = rank - (int)u->arg->a[1]->n;
	} else {
		map_space(&c, dim);
	}
	prepare(&c, u->op == OP_REDUCE ? u->src[0] : u, env, kept);
	out = run(&c, u, rank, dim, kept, len);
	finish(&c);
	return out;
}
