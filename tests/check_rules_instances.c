/* Instances of patterns; see check_rules.h. What can be counted through is, by an odometer of
 * choices; the rest is random, and the same each time. */
#include <math.h>
#include "check_rules.h"
#include "interp/interp.h"

enum { EDGES = 32, SEEDS = 8, ANY_SEEDS = 40, CONSTS = 3 };

/* ---- choices: choose() counts through all of them, one instance after the other */

static struct { int at, n; } trail[64];
static int made, used;

static int choose(int n)
{
	CHECK(n > 0 && used < 64);
	if (used == made) {
		trail[made].at = 0;
		trail[made++].n = n;
	}
	return trail[used++].at;
}

bool instances_next(void)
{
	used = 0;
	while (made && trail[made - 1].at + 1 == trail[made - 1].n)
		made--;
	if (made)
		trail[made - 1].at++;
	return made > 0;
}

/* Random numbers, for what is too much to count through: the same each time. */
static uint64_t state;
static int pick(int n) { return (int)((state = hash_mix(state, 7)) >> 33) % n; }

/* ---- values */

static uint64_t edge[DT_COUNT][EDGES];

static void int_edges(DType d, uint64_t *to)
{
	const int width = 8 * dtype_size(d);
	const uint64_t top = (uint64_t)1 << (width - 1), v[EDGES] = {
		0, 1, -1, top, top - 1, 2, -2, 3, -3, 5, 7, -7, 8, 10, 12, 31, 32, 33, 63, 64,
		100, width - 1, width, width + 1, -width, top + 1, top - 2, top >> 1,
		((uint64_t)1 << width / 2) - 1, (uint64_t)1 << width / 2, -100, top / 3};
	memcpy(to, v, sizeof v);
}

static void float_edges(DType d, uint64_t *to)
{
	static const double v[] = {1, -1, 0.5, -0.5, 2, -2, 3, -3, 0.1, -2.5, 100.25, -7, 255.5,
		-129, 65535, 0x1p31, -0x1p63, 1e-3};
	enum { N = sizeof v / sizeof *v };
	const int width = 8 * dtype_size(d);
	const int man = d == DT_F16 ? 10 : d == DT_BF16 ? 7 : d == DT_F32 ? 23 : 52;
	const uint64_t sign = (uint64_t)1 << (width - 1), least = (uint64_t)1 << man;
	const uint64_t inf = sign - least;
	uint64_t one = 0;

	for (int i = 0; i < N; i++)
		interp_cast(d, &to[i], DT_F64, &v[i], 1);
	interp_cast(d, &one, DT_F64, &v[0], 1);
	const uint64_t special[EDGES - N] = {0, sign, inf, sign | inf, inf | least >> 1,
		inf - 1, sign | (inf - 1), least, sign | least, 1, sign | 1, least - 1,
		one + 1, one - 1};
	memcpy(to + N, special, sizeof special);
}

static void make_edges(void)
{
	for (DType d = 0; d < DT_COUNT; d++)
		if (dtype_float(d))
			float_edges(d, edge[d]);
		else if (d != DT_BOOL)
			int_edges(d, edge[d]);
		else
			for (int i = 0; i < EDGES; i++)
				edge[d][i] = i & 1;
}

static int64_t product_size;    /* elements of the axis that has all combinations */
static uint64_t tried;          /* instances so far */

uint64_t input_value(const UOp *input, int64_t i, int64_t count)
{
	const int k = buffer_name(input)[1] - '0';
	const DType d = input->dtype;
	if (count == product_size && k < 3)
		return edge[d][i >> 5 * k & (EDGES - 1)];
	return edge[d][hash_mix(hash_mix(tried, k), i) % EDGES];
}

/* ---- shapes and args */

static const Shape *base;       /* of the instance */

static const Shape *some_base(void)
{
	static const int64_t dims[][4] = {      /* rank, sizes */
		{0}, {1, 1}, {1, 4}, {2, 0, 3}, {2, 3, 3}, {3, 3, 1, 2}, {3, 2, 3, 4}};
	enum { N = sizeof dims / sizeof *dims };
	int k = choose(N + 2);
	UOp *open[2] = {ix_var("n", 1, 8), ix_const(2)};
	if (k == N)
		return shape_ints(1, &product_size);
	return k < N ? shape_ints((int)dims[k][0], dims[k] + 1) : shape_new(2, open);
}

static int64_t size_at(const Shape *s, int i)
{
	int64_t v;
	return ix_is_const(s->dim[i], &v) ? v : -1;
}

/* Some shape of as many elements: axes merged, split and put in. */
static const Val *reshape_arg(const Shape *s)
{
	UOp *d[MAX_RANK];
	int n = s->rank;
	memcpy(d, s->dim, n * sizeof *d);
	for (int k = pick(4); k > 0; k--) {
		int i = pick(n + 1);
		if (n > 1 && pick(2)) {
			i %= n - 1;
			d[i] = ix_mul(d[i], d[i + 1]);
			memmove(d + i + 1, d + i + 2, (--n - i - 1) * sizeof *d);
		} else if (n < 5) {
			int64_t v, by = 1;
			if (i < n && ix_is_const(d[i], &v) && v)
				by = v % 2 ? v : 2;
			memmove(d + i + 1, d + i, (n++ - i) * sizeof *d);
			d[i] = ix_const(by);
			if (by > 1)
				d[i + 1] = ix_const(v / by);
		}
	}
	return shape_to_val(shape_new(n, d));
}

static const Val *expand_arg(const Shape *s)
{
	static const int to[] = {1, 1, 0, 2, 5};
	UOp *d[MAX_RANK];
	for (int i = 0; i < s->rank; i++)
		d[i] = size_at(s, i) == 1 ? ix_const(to[pick(5)]) : s->dim[i];
	return shape_to_val(shape_new(s->rank, d));
}

/* Some of the axes in any order, or (all) a permutation. */
static const Val *axes_arg(const Shape *s, bool all)
{
	int64_t v[MAX_RANK];
	int n = s->rank;
	for (int i = 0; i < n; i++)
		v[i] = i;
	for (int i = n - 1; i > 0 && pick(4); i--) {
		int k = pick(i + 1);
		int64_t t = v[i];
		v[i] = v[k];
		v[k] = t;
	}
	return val_ints(all ? n : pick(n + 1), v);
}

static const Val *pairs_arg(Op op, const Shape *s)
{
	const Val *v[MAX_RANK];
	bool nothing = !pick(4);
	for (int i = 0; i < s->rank; i++) {
		int64_t size = size_at(s, i), from = 0, to = op == OP_PAD ? 0 : size;
		if (!nothing && op == OP_PAD) {
			from = pick(3);
			to = pick(3);
		} else if (!nothing && size > 0) {
			from = pick((int)size + 1);
			to = from + pick((int)(size - from) + 1);
		}
		v[i] = VARR(val_int(from), to < 0 ? size_to_val(s->dim[i]) : val_int(to));
	}
	return val_array(s->rank, v);
}

static const Val *fold_arg(void)
{
	static const char *const fold[] = {"ADD", "MUL", "MAX", "MIN", "SET"};
	return val_str(fold[pick(5)]);
}

static const Val *some_arg(Op op, const UOp *x)
{
	const Shape *s = x ? x->shape : shape_scalar();
	switch (op) {
	case OP_ARANGE: return val_int(pick(6));
	case OP_RESHAPE: return reshape_arg(s);
	case OP_EXPAND: return expand_arg(s);
	case OP_PERMUTE: return axes_arg(s, true);
	case OP_FLIP: return axes_arg(s, false);
	case OP_PAD: case OP_SHRINK: return pairs_arg(op, s);
	case OP_REDUCE: return VARR(fold_arg(), axes_arg(s, false));
	case OP_SCAN: return VARR(fold_arg(), val_int(pick(s->rank + 1)));
	case OP_SORT: return VARR(val_int(pick(s->rank + 1)), val_bool(pick(2)));
	case OP_SCATTER: return fold_arg();
	case OP_COPY: return val_str("cpu");
	default: return VNIL;
	}
}

static bool has_arg(Op op) { return op_info[op].cls >= CLASS_AXES || op == OP_ARANGE; }

/* ---- instances of a pattern; NULL where the choices do not make one */

static int ninputs;

static UOp *try_op(Op op, DType d, int n, UOp **src, const Val *arg)
{
	const char *err;
	int status;
	return node_try(op, d, n, src, arg, &err, &status);
}

static UOp *input(DType d, const Shape *s)
{
	char name[] = {'x', '0' + ninputs++, 0};
	return LEAF(OP_BUFFER, d, VMAP(val_str("name"), val_str(name), val_str("role"),
		val_str("input"), val_str("shape"), shape_to_val(s)));
}

static UOp *constant(DType d, int k) { return const_bits(d, &edge[d][k]); }

/* The dtype of source i of op, when the node's is d; DT_NONE: any. */
static DType source_dtype(Op op, DType d, int i)
{
	switch (op_info[op].cls) {
	case CLASS_COMPARE: case CLASS_CASTING: return DT_NONE;
	case CLASS_INDEXING: return i ? DT_NONE : d;
	default: return op == OP_WHERE && !i ? DT_BOOL : op == OP_SORT ? DT_NONE : d;
	}
}

/* A constant as a view of that shape: spread out, then flipped, cut from more, padded, reshaped. */
static UOp *spread(UOp *c, int n, const int64_t *dim)
{
	int64_t one[MAX_RANK];
	for (int i = 0; i < n; i++)
		one[i] = 1;
	UOp *r = NODE(OP_RESHAPE, c->dtype, val_ints(n, one), c);
	return NODE(OP_EXPAND, c->dtype, val_ints(n, dim), r);
}

static UOp *constant_view(DType d, const Shape *s)
{
	UOp *c = constant(d, pick(EDGES));
	int64_t dim[MAX_RANK], n = s->rank, count = 1;
	const Val *pair[MAX_RANK];
	int how = pick(6);
	for (int i = 0; i < n; i++) {
		if ((dim[i] = size_at(s, i)) < 0)
			return c;
		count *= dim[i];
		bool less = how == 1 && dim[i];
		pair[i] = how == 2 ? VARR(val_int(1), val_int(dim[i] + 1)) :
			VARR(val_int(0), val_int(less));
		dim[i] += how == 2 ? 1 : less ? -1 : 0;
	}
	switch (how) {
	case 1: return NODE(OP_PAD, d, val_array(n, pair), spread(c, n, dim));
	case 2: return NODE(OP_SHRINK, d, val_array(n, pair), spread(c, n, dim));
	case 3: return NODE(OP_FLIP, d, axes_arg(s, false), spread(c, n, dim));
	case 4: return NODE(OP_RESHAPE, d, shape_to_val(s), spread(c, 1, &count));
	default: return spread(c, n, dim);
	}
}

static UOp *some_source(DType d)
{
	switch (pick(6)) {
	case 0: case 1: return input(d, base);
	case 2: return input(d, shape_scalar());
	case 3: case 4: return constant(d, pick(EDGES));
	default: return constant_view(d, base);
	}
}

/* Any op of level graph: a rule on ANY is tried on all. Now and then all sources are constants, or
 * views of them. */
static UOp *some_node(DType d)
{
	Op op = choose(OP_COUNT);
	UOp *src[4];
	if (!(op_info[op].levels >> LV_GRAPH & 1) || op == OP_CUSTOM || op == OP_SINK)
		return NULL;
	state = choose(ANY_SEEDS);
	if (op == OP_CONST || op == OP_BUFFER)
		return op == OP_CONST ? constant(d, pick(EDGES)) : input(d, base);
	int n = op_info[op].max_src < 0 ? op_info[op].min_src + pick(2) : op_info[op].min_src;
	bool constants = !pick(3), views = !constants && !pick(4);
	for (int i = 0; i < n; i++) {
		DType of = source_dtype(op, d, i);
		if (of == DT_NONE)
			of = op_info[op].cls == CLASS_COMPARE && i ? src[0]->dtype : pick(DT_COUNT);
		src[i] = constants ? constant(of, pick(EDGES)) :
			views ? constant_view(of, base) : some_source(of);
	}
	return try_op(op, d, n, src, some_arg(op, n ? src[0] : NULL));
}

/* NULL where d has no such constant. */
static UOp *literal(const Val *v, DType d)
{
	const Val *n = v->kind == VAL_BOOL ? val_bool(v->b) :
		v->kind == VAL_INT ? val_int(v->i) : val_float(v->f);
	n = v->kind == VAL_BOOL && d != DT_BOOL ? NULL : const_normal(d, n);
	return n ? LEAF(OP_CONST, d, n) : NULL;
}

static UOp *build(const Ex *e, DType d, UOp **env);

/* The sources in the order of the pattern, or the other way round where there are two. */
static UOp *op_instance(const Ex *e, DType d, UOp **env)
{
	UOp *src[8];
	bool turned = e->nsrc == 2 && e->src[0] != e->src[1] && choose(2);
	DType same = DT_NONE;
	for (int k = 0; k < e->nsrc; k++) {
		int i = turned ? 1 - k : k;
		DType of = source_dtype(e->op, d, k);
		if (of == DT_NONE && op_info[e->op].cls == CLASS_COMPARE)
			of = same = same == DT_NONE ? choose(DT_COUNT) : same;
		src[k] = build(e->src[i], of, env);
		if (!src[k])
			return NULL;
	}
	if (has_arg(e->op))
		state = choose(SEEDS);
	return try_op(e->op, d, e->nsrc, src, some_arg(e->op, e->nsrc ? src[0] : NULL));
}

static UOp *leaf(DType d)
{
	switch (choose(2 + CONSTS)) {
	case 0: return input(d, base);
	case 1: return input(d, shape_scalar());
	default: return constant(d, (int)(hash_mix(d, tried) % EDGES));
	}
}

static UOp *build(const Ex *e, DType d, UOp **env)
{
	UOp *u;
	if (e->kind == EX_VAR && env[e->var])
		return env[e->var];
	if (e->dtype != DT_NONE && d != DT_NONE && d != e->dtype)
		return NULL;
	d = d != DT_NONE ? d : e->dtype != DT_NONE ? e->dtype : choose(DT_COUNT);
	switch (e->kind) {
	case EX_VAR: u = leaf(d); break;
	case EX_LITERAL: u = literal(&e->literal, d); break;
	case EX_ANY: u = some_node(d); break;
	default: u = op_instance(e, d, env);
	}
	if (e->var != NONE)
		env[e->var] = u;
	return u;
}

static int leaves(const Ex *e, unsigned *seen)
{
	if (e->kind == EX_VAR)
		*seen |= 1u << e->var;
	for (int i = 0; e->kind == EX_OP && i < e->nsrc; i++)
		leaves(e->src[i], seen);
	return e->kind == EX_ANY ? 2 : __builtin_popcount(*seen);
}

void instances_begin(const Rule *r)
{
	unsigned seen = 0;
	int n = leaves(r->from, &seen);
	make_edges();
	product_size = (int64_t)1 << 5 * (n < 3 ? n : 3);
	used = made = 0;
	tried = 0;
}

UOp *instance(const Rule *r)
{
	UOp *env[MAX_VARS] = {0};
	ninputs = 0;
	tried++;
	base = some_base();
	return build(r->from, DT_NONE, env);
}
