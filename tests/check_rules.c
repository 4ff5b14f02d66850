/* check_rules [-v]: every rule of the built-in rule sets against the interpreter, and every
 * condition by leaving it out.
 *
 * A rule's pattern is built in every way that checks: each variable an input, a scalar or a
 * constant of each dtype that the ops take, several shapes, random args. Pattern and replacement
 * must come out as the same bits (any NaN is NaN; POW and its like may differ by what the contract
 * allows) on edge values, all combinations of them where the shape is that of one axis.
 * Then each condition is left out in turn: some instance must now differ, be no valid node, or be
 * rewritten without an end. A rule that matches nothing is a fault too.
 *
 *     simplify.rules:12: MUL(f32 x0 [32], f32 0.0): nan becomes 0, x0 = nan
 *
 * Each trial is a process of its own, so that one may die. -v shows what each condition is for. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>
#include "rules.h"

/* The files of rewritings that speak of more than the library has; every other one is found by its
 * name. Files of rows, a line an op, are for other tests. */
extern const RuleNames decompose_names;         /* render/lower_decompose.c */
static const struct { const char *file; const RuleNames *names; } known[] = {
	{"decompose", &decompose_names},
};
static const char *const rows[] = {"grad", "vmap"};      /* grad.bats, vmap.bats */

enum { EDGES = 32, SEEDS = 8, ANY_SEEDS = 40, CONSTS = 3, SIZE_N = 3, SECONDS = 60 };
enum { RIGHT = 0, WRONG = 1, UNUSED = 10 };       /* a trial's exit status; or one of die's */

static bool verbose;

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

static bool next_choice(void)
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
	const int width = 8 * dtype_size(d), man = d == DT_F16 ? 10 : d == DT_BF16 ? 7 : d == DT_F32 ? 23 : 52;
	const uint64_t sign = (uint64_t)1 << (width - 1), least = (uint64_t)1 << man;
	const uint64_t inf = sign - least;
	uint64_t one = 0;

	for (int i = 0; i < N; i++)
		interp_cast(d, &to[i], DT_F64, &v[i], 1);
	interp_cast(d, &one, DT_F64, &v[0], 1);
	const uint64_t special[EDGES - N] = {0, sign, inf, sign | inf, inf | least >> 1,
		inf - 1, sign | (inf - 1), least, sign | least, 1, sign | 1, least - 1, one + 1, one - 1};
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

/* Element i of input k, of count elements. */
static uint64_t value_at(DType d, int k, int64_t i, int64_t count)
{
	if (count == product_size && k < 3)
		return edge[d][i >> 5 * k & (EDGES - 1)];
	return edge[d][hash_mix(hash_mix(tried, k), i) % EDGES];
}

static VEC(Array) inputs;
static VEC(UOp *) input_of;

static Array content(UOp *u, void *ctx)
{
	for (size_t i = 0; i < inputs.n; i++)
		if (input_of.at[i] == u)
			return inputs.at[i];
	int64_t dim[MAX_RANK];
	for (int i = 0; i < u->shape->rank; i++)
		CHECK(ix_eval(u->shape->dim[i], ctx, &dim[i]));
	Array a = array_raw(u->dtype, u->shape->rank, dim);
	for (int64_t i = 0, n = array_count(&a); i < n; i++) {
		uint64_t bits = value_at(u->dtype, buffer_name(u)[1] - '0', i, n);
		memcpy((char *)a.data + i * dtype_size(u->dtype), &bits, dtype_size(u->dtype));
	}
	vec_push(&inputs, a);
	vec_push(&input_of, u);
	return a;
}

static void forget_inputs(void)
{
	for (size_t i = 0; i < inputs.n; i++)
		array_free(&inputs.at[i]);
	inputs.n = input_of.n = 0;
}

/* ---- shapes and args */

static const Shape *base;       /* of the instance */

static const Shape *some_base(void)
{
	static const int64_t dims[][4] = {{0}, {1, 1}, {1, 4}, {2, 0, 3}, {2, 3, 3}, {3, 3, 1, 2}, {3, 2, 3, 4}};
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
	return LEAF(OP_BUFFER, d, VMAP(val_str("name"), val_str(name), val_str("shape"), shape_to_val(s),
		val_str("role"), val_str("input")));
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

/* Constants as views of that shape: spread out, and then turned, cut from more, padded, regrouped. */
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
		pair[i] = how == 2 ? VARR(val_int(1), val_int(dim[i] + 1)) : VARR(val_int(0), val_int(less));
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

/* Any op of level graph: a rule on ANY is tried on all. Sources are all of one sort now and then. */
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
		of = of != DT_NONE ? of : op_info[op].cls == CLASS_COMPARE && i ? src[0]->dtype : pick(DT_COUNT);
		src[i] = constants ? constant(of, pick(EDGES)) : views ? constant_view(of, base) : some_source(of);
	}
	return try_op(op, d, n, src, some_arg(op, n ? src[0] : NULL));
}

/* NULL where d has no such constant. */
static UOp *literal(const Val *v, DType d)
{
	const Val *n = v->kind == VAL_BOOL ? val_bool(v->b) : v->kind == VAL_INT ? val_int(v->i) : val_float(v->f);
	n = v->kind == VAL_BOOL && d != DT_BOOL ? NULL : const_normal(d, n);
	return n ? LEAF(OP_CONST, d, n) : NULL;
}

static UOp *instance(const Ex *e, DType d, UOp **env);

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
		src[k] = instance(e->src[i], of, env);
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

static UOp *instance(const Ex *e, DType d, UOp **env)
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

/* ---- comparison */

static void print(Buf *b, const UOp *u)
{
	if (u->op == OP_BUFFER || u->op == OP_CONST) {
		buf_printf(b, "%s ", dtype_name(u->dtype));
		if (u->op == OP_CONST)
			val_print(b, u->arg);
		else
			buf_printf(b, "%s %s", buffer_name(u), shape_text(u->shape));
		return;
	}
	buf_printf(b, "%s(", op_name(u->op));
	for (uint32_t i = 0; i < u->nsrc; i++) {
		buf_printf(b, i ? ", " : "");
		print(b, u->src[i]);
	}
	buf_printf(b, ")");
	if (u->arg != VNIL)
		val_print(b, u->arg);
	if (op_info[u->op].cls == CLASS_CASTING)
		buf_printf(b, ":%s", dtype_name(u->dtype));
}

static void element(Buf *b, DType d, const Array *a, int64_t i)
{
	double f;
	uint64_t bits = 0;
	memcpy(&bits, (const char *)a->data + i * dtype_size(d), dtype_size(d));
	interp_cast(DT_F64, &f, d, &bits, 1);
	if (dtype_float(d))
		buf_printf(b, "%.17g", f == f ? f : NAN);
	else
		val_print(b, const_bits(d, &bits)->arg);
}

/* Units in the last place that the contract leaves to u's ops. */
static int64_t leeway(UOp *u)
{
	int64_t ulp = 0;
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		switch (all.at[i]->op) {
		case OP_POW: case OP_EXP2: case OP_LOG2: case OP_SIN: ulp = 4; break;
		case OP_FDIV: case OP_RECIP: case OP_SQRT: ulp = ulp ? ulp : 1; break;
		default: break;
		}
	return ulp;
}

static bool equal(DType d, uint64_t a, uint64_t b, int64_t ulp)
{
	double x, y;
	if (a == b || !dtype_float(d))
		return a == b;
	interp_cast(DT_F64, &x, d, &a, 1);
	interp_cast(DT_F64, &y, d, &b, 1);
	if (x != x || y != y)
		return x != x && y != y;
	/* neighbours of one sign have neighbouring bits; 0 and inf stay what they are */
	return x != 0 && isfinite(x) && signbit(x) == signbit(y) && llabs((int64_t)(a - b)) <= ulp;
}

static const Rule *rule;
static bool without;            /* one of its conditions */
static UOp *current;

static void where(Buf *b)
{
	buf_printf(b, "%s: ", rule->where);
	print(b, current);
}

static _Noreturn void wrong(Buf *b)
{
	printf("%s\n", buf_str(b));
	fflush(stdout);
	_exit(WRONG);
}

/* The values of the inputs that go with element i of count. */
static void print_inputs(Buf *b, int64_t i, int64_t count)
{
	for (size_t k = 0; k < inputs.n; k++) {
		int64_t n = array_count(&inputs.at[k]);
		if (n != 1 && n != count)
			continue;
		buf_printf(b, ", %s = ", buffer_name(input_of.at[k]));
		element(b, inputs.at[k].dtype, &inputs.at[k], n == 1 ? 0 : i);
	}
}

static uint64_t bits_at(DType d, const Array *a, int64_t i)
{
	uint64_t bits = 0;
	memcpy(&bits, (char *)a->data + i * dtype_size(d), dtype_size(d));
	return bits;
}

/* a: of the pattern; twice: the same with a rounding more; b: of the replacement */
static void compare_elements(UOp *u, const Array *a, const Array *twice, const Array *b)
{
	const int64_t ulp = leeway(u), n = array_count(a);
	Buf text = {0};
	for (int64_t i = 0; i < n; i++) {
		uint64_t y = bits_at(u->dtype, b, i);
		if (equal(u->dtype, bits_at(u->dtype, a, i), y, ulp) ||
		    equal(u->dtype, bits_at(u->dtype, twice, i), y, ulp))
			continue;
		where(&text);
		buf_printf(&text, ": ");
		element(&text, u->dtype, a, i);
		buf_printf(&text, " becomes ");
		element(&text, u->dtype, b, i);
		print_inputs(&text, i, n);
		wrong(&text);
	}
}

/* a·b + c may be rounded once or twice. Without a condition that is a difference, since there may be
 * rules for the sake of it. */
static UOp *round_twice(UOp *u, void *unused)
{
	if (u->op != OP_MULACC || without)
		return u;
	return NODE(OP_ADD, u->dtype, VNIL, NODE(OP_MUL, u->dtype, VNIL, u->src[0], u->src[1]), u->src[2]);
}

static void compare(UOp *u, UOp *v)
{
	static const VarEnv env = {1, {"n"}, {SIZE_N}};
	UOp *both[3] = {u, walk_replace(u, round_twice, NULL), v};
	Array out[3];
	Buf text = {0};
	if (u->dtype != v->dtype || !shape_equal(u->shape, v->shape)) {
		where(&text);
		buf_printf(&text, ": %s %s becomes %s %s", dtype_name(u->dtype), shape_text(u->shape),
			dtype_name(v->dtype), shape_text(v->shape));
		wrong(&text);
	}
	interp_graph(3, both, &env, content, (void *)&env, out);
	compare_elements(u, &out[0], &out[1], &out[2]);
	for (int i = 0; i < 3; i++)
		array_free(&out[i]);
	forget_inputs();
}

/* ---- trials */

/* A set of this rule alone. */
static Rules alone(Rule *r)
{
	Rules one = {.n = 1, .at = r};
	for (int op = 0; op < OP_COUNT; op++)
		if (r->from->kind == EX_ANY || r->from->op == (Op)op)
			vec_push(&one.by_op[op], 0);
	return one;
}

static void say_where(void *unused)
{
	Buf b = {0};
	if (current)
		where(&b);
	printf("%s: it dies\n", buf_str(&b));
	fflush(stdout);
}

/* Every instance of r: once, as far as the rule goes, and to its end. */
static _Noreturn void try_rule(Rule *r)
{
	Rules one = alone(r);
	size_t once, more, applied = 0;
	unsigned seen = 0;
	product_size = (int64_t)1 << 5 * (leaves(r->from, &seen) < 3 ? leaves(r->from, &seen) : 3);
	die_cleanup(say_where, NULL);
	do {
		UOp *env[MAX_VARS] = {0};
		ninputs = 0;
		tried++;
		base = some_base();
		if (!(current = instance(r->from, DT_NONE, env)))
			continue;
		UOp *v = rewrite_once(current, &one, &once);
		if (!once)
			continue;
		applied++;
		compare(current, v);
		compare(current, rewrite(current, &one, &more));
	} while (next_choice());
	if (verbose)
		printf("%s: %zu instances\n", r->where, applied);
	fflush(stdout);
	_exit(applied ? RIGHT : UNUSED);
}

/* Its status; negative: the signal that ended it. */
static int trial(Rule *r, bool less)
{
	int status, null = open("/dev/null", O_WRONLY);
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		if (less) {
			dup2(null, 2);
			if (!verbose)
				dup2(null, 1);
		}
		alarm(SECONDS);
		rule = r;
		without = less;
		try_rule(r);
	}
	close(null);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void print_condition(const Rule *r, const Cond *c)
{
	printf("%s%s(", c->negate ? "!" : "", c->row->name);
	for (int i = 0; i < c->row->nargs; i++)
		printf("%s%s", i ? ", " : "", c->arg[i] == SELF ? "self" : r->var[c->arg[i]]);
	printf(")");
}

static int faults, conditions;

static void check_sound(Rule *r)
{
	int status = trial(r, false);
	faults += status != RIGHT;
	if (status == UNUSED)
		printf("%s: the rule applies to no instance\n", r->where);
	else if (status < 0)
		printf("%s: ended by signal %d\n", r->where, -status);
}

static void check_needed(Rule *r, int k)
{
	Rule without = *r;
	memmove(&without.cond[k], &without.cond[k + 1], (--without.nconds - k) * sizeof *without.cond);
	if (verbose) {
		printf("without ");
		print_condition(r, &r->cond[k]);
		printf(": ");
	}
	int status = trial(&without, true);
	conditions++;
	if (status > 0 && status <= MALFORMED)
		return;
	faults++;
	printf("%s: without ", r->where);
	print_condition(r, &r->cond[k]);
	if (status < 0)
		printf(" a trial is ended by signal %d\n", -status);
	else
		printf(" nothing is wrong: the condition is not needed, or no instance shows it\n");
}

static bool has_rows(const char *file)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i], file))
			return true;
	return false;
}

static Rules *rules_of(const char *file)
{
	const RuleNames *names = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].file, file))
			names = known[i].names;
	return rules_add_builtin(NULL, file, names);
}

/* A section's condition asks what a target would rather have: its rules are sound wherever they
 * stand. */
static void check_rule(Rule *r)
{
	r->when = NULL;
	check_sound(r);
	for (int c = 0; c < r->nconds; c++)
		check_needed(r, c);
}

int main(int argc, char **argv)
{
	const char *file;
	size_t n = 0;
	verbose = argc > 1 && !strcmp(argv[1], "-v");
	die_stage = "check_rules";
	make_edges();
	CHECK(!vars_declare(VMAP(val_str("n"), VARR(val_int(1), val_int(8)))));
	for (size_t i = 0; (file = rules_builtin_name(i)); i++) {
		Rules *all = has_rows(file) ? NULL : rules_of(file);
		for (size_t k = 0; all && k < all->n; k++, n++)
			check_rule(&all->at[k]);
	}
	printf("%zu rules, %d conditions, %d faults\n", n, conditions, faults);
	return faults > 0 || !n;
}
