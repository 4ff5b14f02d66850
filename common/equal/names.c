/* Expansions of an op, taken back. What `decompose` writes EXP2(x) as keeps the op's name in its
 * note, of: "EXP2"; what x is, is found here: the value deepest below the expansion of which, by
 * IEEE arithmetic at some points, it is that function. A polynomial is so judged at these points
 * (and by `make accuracy` at all), and then compared by its op. One that is no such function of any
 * value is left as it stands.
 *
 *     MUL @{of: "EXP2"} ← … ← MAX(x, -150) ← x       at x = -20 … 20 it is EXP2(x), and EXP2 of
 *                                                    MAX(x, -150) too: x is the deepest */
#include <math.h>
#include <stdlib.h>
#include "equal/parts.h"

enum { POINTS = 12, TRIES = 2 * POINTS, MOST_CONE = 600, MOST_SOURCES = 2 };
typedef uint64_t Lane[TRIES];

/* The nodes from which a root is computed, sources before users. */
typedef struct {
	UOp *root;
	Op op;
	VEC(UOp *) node;
	Map at;                 /* node → 1 + its place */
	Lane *lane;
	bool *known;
	UOp *cut[MOST_SOURCES];
	Lane point[MOST_SOURCES];
} Cone;

static bool is_inner(const UOp *u)
{
	return op_elementwise(u->op) || u->op == OP_LET || u->op == OP_BROADCAST;
}

/* A value with lanes is computed as in one of them. */
static DType element(const UOp *u) { return dtype_element(u->dtype); }

static const UOp *broadcast_of(const UOp *u)
{
	return u->op == OP_BROADCAST ? u->src[0] : u;
}

static int by_id(const void *a, const void *b)
{
	const UOp *x = *(UOp *const *)a, *y = *(UOp *const *)b;

	return (x->id > y->id) - (x->id < y->id);
}

static void cone_open(Cone *c, UOp *root, Op op)
{
	c->root = root;
	c->op = op;
	vec_push(&c->node, root);
	map_put(&c->at, PKEY(root), root);
	for (size_t i = 0; i < c->node.n && c->node.n < MOST_CONE; i++) {
		UOp *u = c->node.at[i];
		for (uint32_t k = 0; is_inner(u) && k < u->nsrc; k++)
			if (!map_get(&c->at, PKEY(u->src[k]))) {
				vec_push(&c->node, u->src[k]);
				map_put(&c->at, PKEY(u->src[k]), u);
			}
	}
	qsort(c->node.at, c->node.n, sizeof *c->node.at, by_id);
	for (size_t i = 0; i < c->node.n; i++)
		map_put(&c->at, PKEY(c->node.at[i]), (void *)(uintptr_t)(i + 1));
	c->lane = xcalloc(c->node.n, sizeof *c->lane);
	c->known = xcalloc(c->node.n, sizeof *c->known);
}

static void cone_close(Cone *c)
{
	vec_free(&c->node);
	map_free(&c->at);
	free(c->lane);
	free(c->known);
}

static bool takes_positive(Op op) { return op == OP_LOG2 || op == OP_POW; }

/* Values at which an op is told from others. One that is for positive numbers is tried at their
 * opposites too. */
static double try_value(Op op, uint32_t source, int i)
{
	double t = (i % (takes_positive(op) ? POINTS : TRIES) + 0.37) / POINTS;

	if (takes_positive(op) && source == 0 && i >= POINTS)
		return -try_value(op, source, i - POINTS);

	if (op == OP_LOG2 || (op == OP_POW && source == 0))
		return exp2(8 * t - 4);
	return op == OP_POW ? 6 * t - 3 : 15 * t - 15;
}

static void put_points(Cone *c)
{
	const int size = dtype_size(element(c->root));

	for (uint32_t k = 0; k < (uint32_t)op_info[c->op].max_src; k++)
		for (int i = 0; i < TRIES; i++) {
			int other = k ? i * 7 % POINTS : i;
			double v = try_value(c->op, k, other);
			if (c->cut[k] && is_const(broadcast_of(c->cut[k])))
				const_is_float(broadcast_of(c->cut[k]), &v);
			interp_cast(element(c->root), (char *)c->point[k] + i * size, DT_F64, &v,
				1);
		}
}

/* Computes a node of the cone from its sources; false when one of them is not known. */
static bool compute(Cone *c, UOp *u, Lane *out)
{
	const void *in[3];
	int step[3];

	if (is_const(u)) {
		uint64_t bits;
		const_get(u, &bits);
		for (int i = 0; i < TRIES; i++)
			memcpy((char *)out + i * dtype_size(u->dtype), &bits, dtype_size(u->dtype));
		return true;
	}
	if (!is_inner(u))
		return false;
	for (uint32_t k = 0; k < u->nsrc; k++) {
		uintptr_t at = (uintptr_t)map_get(&c->at, PKEY(u->src[k]));
		if (!at || !c->known[at - 1])
			return false;
		in[k] = c->lane[at - 1];
		step[k] = 1;
	}
	if (u->op == OP_LET || u->op == OP_BROADCAST)
		memcpy(out, in[0], sizeof *out);
	else
		interp_op(u->op, element(u), element(u->src[u->nsrc > 1]), TRIES, out, in, step);
	return true;
}

static double value_at(const Cone *c, const void *lane, int i)
{
	double v;

	interp_cast(DT_F64, &v, element(c->root),
		(const char *)lane + i * dtype_size(element(c->root)), 1);
	return v;
}

/* Whether the root does not see the sign of its first source: then that is below an |x|. */
static bool is_even(const Cone *c)
{
	const void *lane = c->lane[c->node.n - 1];

	for (int i = 0; i < POINTS; i++)
		if (value_at(c, lane, i) != value_at(c, lane, i + POINTS))
			return false;
	return true;
}

/* Whether the root is the op of the cuts. */
static bool matches(Cone *c)
{
	const double near = element(c->root) == DT_F64 ? 1e-11 : 1e-5;
	const void *in[3] = {c->point[0], c->point[1], c->point[0]};
	Lane want;

	put_points(c);
	for (size_t i = 0; i < c->node.n; i++) {
		UOp *u = c->node.at[i];
		c->known[i] = false;
		for (int k = 0; k < MOST_SOURCES; k++)
			if (u == c->cut[k]) {
				memcpy(c->lane[i], c->point[k], sizeof *c->lane);
				c->known[i] = true;
			}
		c->known[i] = c->known[i] || compute(c, u, &c->lane[i]);
	}
	if (!c->known[c->node.n - 1])
		return false;
	interp_op(c->op, element(c->root), element(c->root), TRIES, want, in, (int[]){1, 1, 1});
	for (int i = 0; i < (takes_positive(c->op) ? POINTS : TRIES); i++) {
		double a = value_at(c, want, i), b = value_at(c, c->lane[c->node.n - 1], i);
		if (!(fabs(a - b) <= near * fmax(fabs(a), c->op == OP_SIN ? 1 : 0)))
			return false;
	}
	return !takes_positive(c->op) || !is_even(c);
}

static bool can_be_source(const Cone *c, const UOp *u, uint32_t k)
{
	return u->dtype == c->root->dtype && u != c->root &&
		(k == 1 || !is_const(broadcast_of(u)));
}

/* The deepest sources of which the root is the op. */
static bool find_sources(Cone *c)
{
	const bool two = op_info[c->op].max_src == 2;

	for (size_t i = 0; i < c->node.n; i++) {
		c->cut[0] = c->node.at[i];
		if (!can_be_source(c, c->cut[0], 0))
			continue;
		for (size_t k = 0; k < (two ? c->node.n : 1); k++) {
			c->cut[1] = two ? c->node.at[k] : NULL;
			if ((!two || (k != i && can_be_source(c, c->cut[1], 1))) && matches(c))
				return true;
		}
	}
	return false;
}

/* A source is used by its LET where it has one. */
static UOp *named(const Cone *c, UOp *u)
{
	for (size_t i = 0; i < c->node.n; i++)
		if (c->node.at[i]->op == OP_LET && c->node.at[i]->src[0] == u)
			return c->node.at[i];
	return u;
}

UOp *equal_named(UOp *u)
{
	const Val *of = val_get(u->note, "of");
	int op = of && of->kind == VAL_STR ? op_find(of->s) : -1;
	Cone c = {0};
	UOp *src[MOST_SOURCES], *r = u;

	if (op < 0 || !op_info[op].c || !dtype_float(u->dtype) || op_info[op].max_src < 1 ||
		op_info[op].max_src > MOST_SOURCES)
		return u;
	cone_open(&c, u, (Op)op);
	if (find_sources(&c)) {
		for (int k = 0; k < op_info[op].max_src; k++)
			src[k] = named(&c, c.cut[k]);
		r = node_new((Op)op, u->dtype, op_info[op].max_src, src, VNIL);
	}
	cone_close(&c);
	return r;
}
