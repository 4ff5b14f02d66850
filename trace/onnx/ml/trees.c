/* Ensembles of trees: their attributes, classes and targets. forest.c evaluates them.
 *
 *     nodes_treeids, nodes_nodeids, nodes_truenodeids …   a node by its tree and its number there
 *     class_treeids, class_nodeids, class_weights …       the weights of leaves
 *
 * TreeEnsemble (version 5) numbers all nodes in one list, and leaves in another. */
#include "onnx/ml/ml.h"
#include <stdlib.h>

/* ---- attributes */

typedef struct { size_t n; const int64_t *v; } Ints;
typedef struct { size_t n; const double *v; } Floats;

static Ints ints(OnnxCall *c, const char *name, size_t want)
{
	Ints a;

	a.v = onnx_attr_int_list(c, name, &a.n);
	if (!a.v || (want && a.n != want))
		onnx_fail(c, MALFORMED, "%s has %zu numbers, not %zu", name, a.n, want);
	return a;
}

/* the numbers of a tensor; n is 0 when there is none */
static Floats tensor_floats(OnnxCall *c, const char *name)
{
	static const VarEnv none;
	UOp *u = onnx_attr_tensor(c, name, NULL);
	Floats f = { 0 };
	Array a;

	if (!u)
		return f;
	interp_graph(1, &u, NULL, &none, constant_content, NULL, &a);
	double *v = arena_alloc((array_count(&a) + 1) * sizeof *v);
	interp_cast(DT_F64, v, a.dtype, a.data, f.n = array_count(&a));
	array_free(&a);
	f.v = v;
	return f;
}

/* name, or name_as_tensor */
static Floats floats(OnnxCall *c, const char *name, size_t want)
{
	Floats f = tensor_floats(c, arena_printf("%s_as_tensor", name));

	if (!f.n)
		f.v = onnx_attr_float_list(c, name, &f.n);
	if (want && f.n != want)
		onnx_fail(c, MALFORMED, "%s has %zu numbers, not %zu", name, f.n, want);
	return f;
}

/* ---- nodes by tree and number */

typedef struct { int64_t tree, number, at; } NodeId;
typedef struct { NodeId *at; size_t n; } NodeIds;

static int by_id(const void *a, const void *b)
{
	const NodeId *x = a, *y = b;

	return x->tree != y->tree ? (x->tree > y->tree) - (x->tree < y->tree)
		: (x->number > y->number) - (x->number < y->number);
}

static NodeIds ids_of(OnnxCall *c, Ints tree, Ints number)
{
	NodeIds ids = { arena_alloc((tree.n + 1) * sizeof(NodeId)), tree.n };

	for (size_t i = 0; i < tree.n; i++)
		ids.at[i] = (NodeId){ tree.v[i], number.v[i], i };
	qsort(ids.at, ids.n, sizeof *ids.at, by_id);
	for (size_t i = 1; i < ids.n; i++)
		if (!by_id(&ids.at[i - 1], &ids.at[i]))
			onnx_fail(c, MALFORMED, "node %lld of tree %lld is there twice",
				(long long)ids.at[i].number, (long long)ids.at[i].tree);
	return ids;
}

static int64_t find_node(OnnxCall *c, const NodeIds *ids, int64_t tree, int64_t number)
{
	NodeId key = { tree, number, 0 };
	const NodeId *id = bsearch(&key, ids->at, ids->n, sizeof key, by_id);

	if (!id)
		onnx_fail(c, MALFORMED, "tree %lld has no node %lld", (long long)tree,
			(long long)number);
	return id->at;
}

static int64_t checked(OnnxCall *c, const char *what, int64_t v, int64_t n)
{
	if (v < 0 || v >= n)
		onnx_fail(c, MALFORMED, "%s %lld of %lld", what, (long long)v, (long long)n);
	return v;
}

/* Places beyond the columns read 0 where the number of columns is open. */
static int64_t column_count(const UOp *x)
{
	int64_t n;

	return ix_is_const(x->shape->dim[1], &n) ? n : INT32_MAX;
}

static void take_nodes(OnnxCall *c, Forest *f, UOp *x, NodeIds *ids)
{
	const Val *mode = onnx_attr_words(c, "nodes_modes");
	size_t n = mode ? mode->n : 0, missing;
	Ints tree = ints(c, "nodes_treeids", n), number = ints(c, "nodes_nodeids", n);
	Ints yes = ints(c, "nodes_truenodeids", n), no = ints(c, "nodes_falsenodeids", n);
	Ints feature = ints(c, "nodes_featureids", n);
	Floats split = floats(c, "nodes_values", n);
	const int64_t *track = onnx_attr_int_list(c, "nodes_missing_value_tracks_true", &missing);

	if (!n)
		onnx_fail(c, MALFORMED, "it has no nodes");
	*ids = ids_of(c, tree, number);
	for (size_t i = 0; i < n; i++) {
		vec_push(&f->node, ((TreeNode){ .yes = FOREST_NONE }));
		if (!i || tree.v[i] != tree.v[i - 1])
			vec_push(&f->root, (int64_t)i);
	}
	for (size_t i = 0; i < n; i++) {
		if (!strcmp(mode->a[i]->s, "LEAF"))
			continue;
		TreeNode t = { .split = split.v[i], .missing = i < missing && track[i] };
		t.feature = checked(c, "feature", feature.v[i], column_count(x));
		t.yes = find_node(c, ids, tree.v[i], yes.v[i]);
		t.no = find_node(c, ids, tree.v[i], no.v[i]);
		forest_branch(c, f, i, mode->a[i]->s, t, 0, NULL);
	}
}

/* The leaves' weights; kind is "class" or "target". Returns whether one target gets them all, and
 * whether one of them is negative. */
static void take_weights(OnnxCall *c, Forest *f, const NodeIds *ids, const char *kind,
	bool *single, bool *negative)
{
	Floats w = floats(c, arena_printf("%s_weights", kind), 0);
	Ints tree = ints(c, arena_printf("%s_treeids", kind), w.n);
	Ints number = ints(c, arena_printf("%s_nodeids", kind), w.n);
	Ints id = ints(c, arena_printf("%s_ids", kind), w.n);

	*single = true;
	*negative = false;
	for (size_t i = 0; i < w.n; i++) {
		TreeWeight t = { find_node(c, ids, tree.v[i], number.v[i]),
			checked(c, kind, id.v[i], f->targets), w.v[i] };
		*single &= t.target == id.v[0];
		*negative |= t.weight < 0;
		vec_push(&f->weight, t);
	}
}

static Forest forest_of(OnnxCall *c, UOp **x)
{
	Forest f = { .how = ml_choice(c, "aggregate_function", TREES_SUM, 4,
		(const char *const[]){ "AVERAGE", "SUM", "MIN", "MAX" }) };

	f.dt = onnx_in(c, 0)->dtype == DT_F64 ? DT_F64 : DT_F32;
	*x = ml_rows(c, 0, f.dt);
	return f;
}

/* base_values, none of them, one, or one for each target */
static void take_base(OnnxCall *c, Forest *f)
{
	Floats base = floats(c, "base_values", 0);

	if (base.n && base.n != 1 && base.n != (size_t)f->targets)
		onnx_fail(c, MALFORMED, "%zu base_values for %lld targets", base.n,
			(long long)f->targets);
	f->base = base.n ? table_numbers(f->dt, base.n, base.v) : NULL;
}

static void forget(Forest *f)
{
	vec_free(&f->node);
	vec_free(&f->root);
	vec_free(&f->weight);
}

/* ---- the operators */

void onnx_TreeEnsembleRegressor(OnnxCall *c)
{
	UOp *x, *y;
	Forest f = forest_of(c, &x);
	NodeIds ids;
	bool single, negative;

	f.targets = onnx_attr_int(c, "n_targets", 1);
	take_nodes(c, &f, x, &ids);
	take_weights(c, &f, &ids, "target", &single, &negative);
	take_base(c, &f);
	y = forest_sums(c, &f, x);
	onnx_set(c, 0, ml_scores(c, t_cast(y, DT_F32)));
	forget(&f);
}

/* Two classes whose trees have weights for one of them only: the sum is the second class's score,
 * which is compared with one half, or with 0 if weights are negative. */
static void two_classes(OnnxCall *c, UOp *sum, bool centred)
{
	UOp *second = t_lt(t_num(sum->dtype, centred ? 0 : 0.5), sum);

	ml_set_label(c, t_cast(t_squeeze(second, 1), DT_I64));
	onnx_set(c, 1, ml_two_scores(c, t_cast(sum, DT_F32), centred));
}

void onnx_TreeEnsembleClassifier(OnnxCall *c)
{
	UOp *x, *y;
	Forest f = forest_of(c, &x);
	NodeIds ids;
	bool single, negative;

	f.targets = ml_label_count(c);
	take_nodes(c, &f, x, &ids);
	take_weights(c, &f, &ids, "class", &single, &negative);
	if (f.targets == 2 && single && f.weight.n && !f.weight.at[0].target) {
		f.targets = 1;
		take_base(c, &f);
		two_classes(c, forest_sums(c, &f, x), negative);
	} else {
		take_base(c, &f);
		y = forest_sums(c, &f, x);
		ml_set_label(c, ml_best(y));
		onnx_set(c, 1, ml_scores(c, t_cast(y, DT_F32)));
	}
	forget(&f);
}

/* ---- TreeEnsemble: all nodes in one list, leaves in another */

typedef struct { Ints feature, yes, no, yes_leaf, no_leaf, missing; Floats mode, split, members; }
	Lists;

static Floats numbers(OnnxCall *c, const char *name, size_t want)
{
	Floats f = tensor_floats(c, name);

	if (f.n != want)
		onnx_fail(c, MALFORMED, "%s has %zu numbers, not %zu", name, f.n, want);
	return f;
}

static Lists lists_of(OnnxCall *c)
{
	Lists l = { .feature = ints(c, "nodes_featureids", 0) };
	size_t n = l.feature.n;

	l.yes = ints(c, "nodes_truenodeids", n);
	l.no = ints(c, "nodes_falsenodeids", n);
	l.yes_leaf = ints(c, "nodes_trueleafs", n);
	l.no_leaf = ints(c, "nodes_falseleafs", n);
	l.mode = numbers(c, "nodes_modes", n);
	l.split = numbers(c, "nodes_splits", n);
	l.missing.v = onnx_attr_int_list(c, "nodes_missing_value_tracks_true", &l.missing.n);
	l.members = tensor_floats(c, "membership_values");
	return l;
}

static int by_value(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/* The next set of values; a NaN ends each. */
static size_t next_members(Floats *rest, double **set)
{
	size_t n = 0;

	while (n < rest->n && rest->v[n] == rest->v[n])
		n++;
	*set = arena_alloc((n + 1) * sizeof **set);
	memcpy(*set, rest->v, n * sizeof **set);
	qsort(*set, n, sizeof **set, by_value);
	rest->v += n + (n < rest->n);
	rest->n -= n + (n < rest->n);
	return n;
}

static const char *mode_of(OnnxCall *c, double mode)
{
	static const char *const modes[] = { "BRANCH_LEQ", "BRANCH_LT", "BRANCH_GTE", "BRANCH_GT",
		"BRANCH_EQ", "BRANCH_NEQ", "BRANCH_MEMBER" };

	if (!(mode >= 0 && mode < 7))
		onnx_fail(c, MALFORMED, "a node has the mode %g", mode);
	return modes[(int)mode];
}

/* Leaf k is the node behind all branches. */
static int64_t child(OnnxCall *c, const Lists *l, bool is_leaf, int64_t k, size_t leaves)
{
	int64_t branches = l->feature.n;

	return is_leaf ? branches + checked(c, "leaf", k, leaves)
		: checked(c, "node", k, branches);
}

static void take_lists(OnnxCall *c, Forest *f, Lists *l, int64_t columns, size_t leaves)
{
	for (size_t i = 0; i < l->feature.n + leaves; i++)
		vec_push(&f->node, ((TreeNode){ .yes = FOREST_NONE }));
	for (size_t i = 0; i < l->feature.n; i++) {
		const char *mode = mode_of(c, l->mode.v[i]);
		double *set = NULL;
		bool some = !strcmp(mode, "BRANCH_MEMBER");
		size_t n = some ? next_members(&l->members, &set) : 0;
		TreeNode t = { .feature = checked(c, "feature", l->feature.v[i], columns),
			.split = l->split.v[i], .missing = i < l->missing.n && l->missing.v[i] };
		t.yes = child(c, l, l->yes_leaf.v[i], l->yes.v[i], leaves);
		t.no = child(c, l, l->no_leaf.v[i], l->no.v[i], leaves);
		forest_branch(c, f, i, mode, t, n, set);
	}
}

void onnx_TreeEnsemble(OnnxCall *c)
{
	UOp *x;
	Forest f = forest_of(c, &x);
	Lists l = lists_of(c);
	Ints roots = ints(c, "tree_roots", 0), target = ints(c, "leaf_targetids", 0);
	Floats weight = numbers(c, "leaf_weights", target.n);

	f.targets = onnx_attr_int(c, "n_targets", 1);
	take_lists(c, &f, &l, column_count(x), target.n);
	for (size_t i = 0; i < roots.n; i++)
		vec_push(&f.root, checked(c, "root", roots.v[i], l.feature.n));
	for (size_t i = 0; i < target.n; i++)
		vec_push(&f.weight, ((TreeWeight){ l.feature.n + i,
			checked(c, "target", target.v[i], f.targets), weight.v[i] }));
	UOp *y = ml_scores(c, forest_sums(c, &f, x));
	onnx_set(c, 0, t_cast(y, onnx_in(c, 0)->dtype));
	forget(&f);
}
