/* Many trees at once: their nodes lie in arrays, a cursor for each row and tree starts at the
 * tree's root, and each level moves all cursors by one node.
 *
 *     feature[at], split[at]   →   at = x[row, feature] <= split ? yes[at] : no[at]
 *
 * A leaf leads to itself, so the greatest depth serves all trees. Leaves come first among the
 * nodes: the cursors at the end are places in the table of their weights. */
#include "onnx/ml/ml.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_DEPTH = 1024, MOST_NODES = 1 << 26, MOST_WEIGHTS = 1 << 24 };

/* ---- branches as comparisons by <= */

/* the number below v; of the least there is none, and a comparison with NaN never holds */
static double below(const Forest *f, double v)
{
	if (v == -INFINITY)
		return NAN;
	return f->dt == DT_F64 ? nextafter(v, -INFINITY) : nextafterf((float)v, -INFINITY);
}

/* A search tree over the bounds [from, to) of the intervals in which members lie: bound 2i is the
 * number below value i, bound 2i + 1 is value i. Behind an odd bound's place lie members. */
static int64_t search(Forest *f, const TreeNode *t, const double *value, size_t from, size_t to)
{
	if (from == to)
		return from % 2 ? t->yes : t->no;
	size_t middle = (from + to) / 2;
	TreeNode n = { .feature = t->feature };
	n.split = middle % 2 ? value[middle / 2] : below(f, value[middle / 2]);
	n.yes = search(f, t, value, from, middle);
	n.no = search(f, t, value, middle + 1, to);
	vec_push(&f->node, n);
	return f->node.n - 1;
}

/* Whether the feature is among n sorted values. A NaN is asked about by a split at NaN. */
static TreeNode member(Forest *f, TreeNode t, size_t n, const double *value)
{
	int64_t rest = search(f, &t, value, 0, 2 * n);

	return (TreeNode){ t.feature, t.yes, rest, NAN, t.missing };
}

static TreeNode swapped(TreeNode t)
{
	return (TreeNode){ t.feature, t.no, t.yes, t.split, !t.missing };
}

/* NaN is not equal to anything. */
static TreeNode other_than(Forest *f, TreeNode t)
{
	return member(f, (TreeNode){ t.feature, t.no, t.yes, t.split, false }, 1, &t.split);
}

void forest_branch(OnnxCall *c, Forest *f, int64_t k, const char *mode, TreeNode t, size_t n,
	const double *value)
{
	if (f->node.n + 4 * n > MOST_NODES)
		onnx_fail(c, UNSUPPORTED, "more than %d nodes", MOST_NODES);
	if (!strcmp(mode, "BRANCH_LT") || !strcmp(mode, "BRANCH_GTE"))
		t.split = below(f, t.split);
	if (!strcmp(mode, "BRANCH_GT") || !strcmp(mode, "BRANCH_GTE"))
		t = swapped(t);
	else if (!strcmp(mode, "BRANCH_EQ"))
		t = member(f, t, 1, &t.split);
	else if (!strcmp(mode, "BRANCH_NEQ"))
		t = other_than(f, t);
	else if (!strcmp(mode, "BRANCH_MEMBER"))
		t = member(f, t, n, value);
	else if (strcmp(mode, "BRANCH_LEQ") && strcmp(mode, "BRANCH_LT"))
		onnx_fail(c, MALFORMED, "a node has the mode \"%s\"", mode);
	f->node.at[k] = t;
}

/* ---- the greatest depth */

static bool leaf(const TreeNode *t) { return t->yes == FOREST_NONE; }

static int taller(int a, int b) { return a > b ? a : b; }

/* Heights by a walk with a stack of its own; -1 stands for a node that the walk is below. */
static int height_below(OnnxCall *c, const Forest *f, int64_t root, int *height)
{
	VEC(int64_t) stack = { 0 };

	vec_push(&stack, root);
	while (stack.n) {
		int64_t k = stack.at[stack.n - 1];
		const TreeNode *t = &f->node.at[k];
		if (height[k] > 0) {
			stack.n--;
		} else if (leaf(t)) {
			height[k] = 1;
		} else if (height[t->yes] > 0 && height[t->no] > 0) {
			height[k] = 1 + taller(height[t->yes], height[t->no]);
		} else if (height[t->yes] < 0 || height[t->no] < 0) {
			onnx_fail(c, MALFORMED, "a tree leads back to its own node");
		} else {
			int64_t next = height[t->yes] > 0 ? t->no : t->yes;
			height[k] = -1;
			vec_push(&stack, next);
		}
	}
	vec_free(&stack);
	return height[root];
}

static int depth_of(OnnxCall *c, const Forest *f)
{
	int *height = calloc(f->node.n + 1, sizeof *height), most = 1;

	for (size_t i = 0; i < f->root.n; i++)
		most = taller(most, height_below(c, f, f->root.at[i], height));
	free(height);
	if (most > MOST_DEPTH)
		onnx_fail(c, UNSUPPORTED, "trees of more than %d levels", MOST_DEPTH);
	return most - 1;
}

/* ---- the arrays */

typedef struct { UOp *feature, *split, *yes, *no, *missing, *root; int64_t leaves; int64_t *place; }
	Arrays;

static void number_nodes(const Forest *f, Arrays *a)
{
	int64_t next = 0;

	a->place = arena_alloc((f->node.n + 1) * sizeof *a->place);
	for (int branches = 0; branches < 2; branches++) {
		for (size_t i = 0; i < f->node.n; i++)
			if (leaf(&f->node.at[i]) != branches)
				a->place[i] = next++;
		a->leaves = branches ? a->leaves : next;
	}
}

typedef enum { FEATURE, SPLIT, YES, NO, MISSING } Field;

static double field_of(const Arrays *a, const TreeNode *t, int64_t own, Field field)
{
	switch (field) {
	case FEATURE: return leaf(t) ? 0 : t->feature;
	case SPLIT: return leaf(t) ? 0 : t->split;
	case YES: return leaf(t) ? own : a->place[t->yes];
	case NO: return leaf(t) ? own : a->place[t->no];
	default: return !leaf(t) && t->missing;
	}
}

static UOp *one_field(const Forest *f, const Arrays *a, Field field, DType dt)
{
	Array out = array_new(dt, 1, (int64_t[]){ f->node.n });

	for (size_t i = 0; i < f->node.n; i++) {
		int64_t k = a->place[i];
		double v = field_of(a, &f->node.at[i], k, field);
		if (dt == DT_I32)
			((int32_t *)out.data)[k] = v;
		else if (dt == DT_F32)
			((float *)out.data)[k] = v;
		else if (dt == DT_F64)
			((double *)out.data)[k] = v;
		else
			((uint8_t *)out.data)[k] = v != 0;
	}
	UOp *u = array_tensor(&out);
	array_free(&out);
	return u;
}

static Arrays arrays_of(const Forest *f)
{
	Arrays a = { 0 };
	bool any = false;
	int64_t *root = arena_alloc((f->root.n + 1) * sizeof *root);

	number_nodes(f, &a);
	for (size_t i = 0; i < f->node.n; i++)
		any |= !leaf(&f->node.at[i]) && f->node.at[i].missing;
	a.feature = one_field(f, &a, FEATURE, DT_I32);
	a.split = one_field(f, &a, SPLIT, f->dt);
	a.yes = one_field(f, &a, YES, DT_I32);
	a.no = one_field(f, &a, NO, DT_I32);
	a.missing = any ? one_field(f, &a, MISSING, DT_BOOL) : NULL;
	for (size_t i = 0; i < f->root.n; i++)
		root[i] = a.place[f->root.at[i]];
	a.root = t_cast(table_ints(f->root.n, root), DT_I32);
	return a;
}

/* ---- the walk */

/* the leaf of each row in each tree, [n,trees] */
static UOp *leaves_of(OnnxCall *c, const Forest *f, const Arrays *a, UOp *x)
{
	const Shape *s = shape_new(2, (UOp *[]){ t_dim(x, 0), ix_const(f->root.n) });
	UOp *at = t_expand_to(t_unsqueeze(a->root, 0), s);
	UOp *row = t_expand_to(t_iota(DT_I32, s, 0), s);

	for (int level = depth_of(c, f); level > 0; level--) {
		UOp *place[] = { row, t_gather(a->feature, 1, &at) };
		UOp *v = t_gather(x, 2, place), *split = t_gather(a->split, 1, &at);
		UOp *holds = t_not(t_or(t_lt(split, v), t_or(t_ne(v, v), t_ne(split, split))));
		if (a->missing)
			holds = t_or(holds, t_and(t_ne(v, v), t_gather(a->missing, 1, &at)));
		at = t_where(holds, t_gather(a->yes, 1, &at), t_gather(a->no, 1, &at));
	}
	return at;
}

/* ---- the sum over trees */

/* what a target gets from leaves that say nothing of it */
static double nothing(const Forest *f)
{
	return f->how == TREES_MIN ? INFINITY : f->how == TREES_MAX ? -INFINITY : 0;
}

static double joined(const Forest *f, double a, double b)
{
	return f->how == TREES_MIN ? fmin(a, b) : f->how == TREES_MAX ? fmax(a, b) : a + b;
}

/* The weights of each leaf, [leaves,targets]: a table that is far larger than what the model holds
 * is refused. */
static UOp *weights_of(OnnxCall *c, const Forest *f, const Arrays *a)
{
	size_t most = f->weight.n > MOST_WEIGHTS ? f->weight.n : MOST_WEIGHTS;
	if ((size_t)a->leaves > most / f->targets)
		onnx_fail(c, UNSUPPORTED, "%lld leaves of %lld targets", (long long)a->leaves,
			(long long)f->targets);
	size_t n = a->leaves * f->targets;
	double *v = arena_alloc((n + 1) * sizeof *v);

	for (size_t i = 0; i < n; i++)
		v[i] = nothing(f);
	for (size_t i = 0; i < f->weight.n; i++) {
		const TreeWeight *w = &f->weight.at[i];
		if (!leaf(&f->node.at[w->node]))
			continue;
		double *to = &v[a->place[w->node] * f->targets + w->target];
		*to = joined(f, *to, w->weight);
	}
	return t_reshape(table_numbers(f->dt, n, v),
		shape_ints(2, (int64_t[]){ a->leaves, f->targets }));
}

UOp *forest_sums(OnnxCall *c, Forest *f, UOp *x)
{
	int axis = 1;

	if (!f->root.n || f->targets < 1)
		onnx_fail(c, MALFORMED, "it has no trees, or no targets");
	Arrays a = arrays_of(f);
	UOp *at = leaves_of(c, f, &a, x), *y = t_gather(weights_of(c, f, &a), 1, &at);
	if (f->how == TREES_MIN || f->how == TREES_MAX) {
		y = t_reduce(f->how == TREES_MAX ? OP_MAX : OP_MIN, y, 1, &axis, false);
		y = t_where(t_eq(y, t_num(f->dt, nothing(f))), t_num(f->dt, 0), y);
	} else {
		y = t_sum(y, 1, false);
	}
	if (f->how == TREES_AVERAGE)
		y = t_div(y, t_num(f->dt, f->root.n));
	return f->base ? t_add(y, t_cast(f->base, f->dt)) : y;
}
