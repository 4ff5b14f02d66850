/* Small tensors of integers computed from sizes, element by element, as index nodes.
 *
 *     Shape(x f32[n,3]) * 2 + 1   →   [n*2+1, 7]
 *
 * A value is followed through the primitive ops that operators expand to, so operators need no
 * rules of their own. An element may be unknown (NULL) while its neighbours are known. Floats are
 * followed if they are integers. */
#include "onnx/proto.h"
#include <stdlib.h>

enum { MOST_SIZES = 4096 };

typedef struct { size_t n; UOp **at; } Elements;       /* at NULL: not known at all */
typedef VEC(UOp *) Stack;

static ARENA Map known;               /* node → Elements * */


static bool few(const UOp *u, int64_t *n)
{
	return u->shape && shape_static(u->shape, n) && *n <= MOST_SIZES;
}

static Elements *elements_new(size_t n)
{
	Elements *e = arena_alloc(sizeof *e);
	*e = (Elements){n, arena_alloc((n + 1) * sizeof *e->at)};
	return e;
}

static Elements *of(UOp *u) { return map_get(&known, PKEY(u)); }

/* ---- constants */

static Elements *from_array(const Array *a)
{
	int64_t n = array_count(a), v;
	Elements *e = elements_new(n);
	for (int64_t i = 0; i < n; i++) {
		const char *p = (const char *)a->data + i * dtype_size(a->dtype);
		double f = 0;
		if (dtype_float(a->dtype)) {
			interp_cast(DT_F64, &f, a->dtype, p, 1);
			if (!(f > -9e15 && f < 9e15) || f != (double)(int64_t)f)
				continue;
			v = f;
		} else {
			interp_cast(DT_I64, &v, a->dtype, p, 1);
		}
		e->at[i] = ix_const(v);
	}
	return e;
}

/* ---- one element by the ops */

static bool both_known(UOp *a, UOp *b, int64_t *x, int64_t *y)
{
	return ix_is_const(a, x) && ix_is_const(b, y);
}

static UOp *truth(bool known, bool v) { return known ? ix_const(v) : NULL; }

static UOp *compare(Op op, UOp *a, UOp *b)
{
	bool less = ix_prove_lt(a, b), more = ix_prove_lt(b, a);
	if (op == OP_CMPLT)
		return truth(less || ix_prove_le(b, a), less);
	return truth(a == b || less || more, (op == OP_CMPEQ) == (a == b));
}

static UOp *pick(Op op, UOp *a, UOp *b)
{
	if (ix_prove_le(a, b))
		return op == OP_MIN ? a : b;
	if (ix_prove_le(b, a))
		return op == OP_MIN ? b : a;
	return NULL;
}

static bool not_negative(UOp *u) { return ix_prove_le(ix_const(0), u); }
static bool positive(UOp *u) { return ix_prove_lt(ix_const(0), u); }

static UOp *divide(Op op, UOp *a, UOp *b)
{
	int64_t x, y;
	bool whole = op == OP_FLOORDIV || op == OP_FLOORMOD;
	if (op == OP_FDIV)
		return both_known(a, b, &x, &y) && y && x % y == 0 && y != -1 ? ix_const(x / y)
			: ix_is_const(b, &y) && y == 1 ? a : NULL;
	if (!positive(b) || (!whole && !not_negative(a)))
		return NULL;
	return op == OP_FLOORDIV || op == OP_IDIV ? ix_div(a, b) : ix_mod(a, b);
}

static UOp *logic(Op op, UOp *a, UOp *b)
{
	int64_t x, y;
	if (!both_known(a, b, &x, &y))
		return NULL;
	return ix_const(op == OP_AND ? (x & y) : op == OP_OR ? (x | y) : (x ^ y));
}

static UOp *binary(Op op, DType dt, UOp *a, UOp *b)
{
	if (!a || !b)
		return NULL;
	switch (op) {
	case OP_ADD: case OP_MUL: case OP_SUB:
		return dt != DT_BOOL ? ix_op(op, a, b) : logic(op == OP_ADD ? OP_OR : OP_AND, a, b);
	case OP_MAX: case OP_MIN: return pick(op, a, b);
	case OP_FDIV: case OP_FLOORDIV: case OP_FLOORMOD: case OP_IDIV: case OP_MOD:
		return divide(op, a, b);
	case OP_AND: case OP_OR: case OP_XOR: return logic(op, a, b);
	case OP_CMPLT: case OP_CMPEQ: case OP_CMPNE: return compare(op, a, b);
	default: return NULL;
	}
}

/* Sizes stay below about 2^31: a CAST to 32 bits or to a float preserves them. */
static UOp *cast(UOp *u, UOp *a)
{
	int64_t v;
	if (!a)
		return NULL;
	if (u->dtype == DT_BOOL)
		return ix_is_const(a, &v) ? ix_const(v != 0) : positive(a) ? ix_const(1) : NULL;
	if (dtype_int(u->dtype) && ix_is_const(a, &v) && !dtype_float(u->src[0]->dtype)) {
		bool fits = v >= dtype_min(u->dtype) &&
			(v < 0 || (uint64_t)v <= dtype_max(u->dtype));
		return fits ? a : NULL;
	}
	return dtype_size(u->dtype) >= 4 || ix_is_const(a, &v) ? a : NULL;
}

static UOp *element(UOp *u, UOp **s)
{
	int64_t c;
	switch (u->op) {
	case OP_CAST: return cast(u, s[0]);
	case OP_TRUNC: return s[0];
	case OP_NEG: return s[0] ? ix_sub(ix_const(0), s[0]) : NULL;
	case OP_MULACC: return binary(OP_ADD, u->dtype, binary(OP_MUL, u->dtype, s[0], s[1]), s[2]);
	case OP_WHERE:
		if (s[0] && ix_is_const(s[0], &c))
			return c ? s[1] : s[2];
		return s[1] == s[2] ? s[1] : NULL;
	default: return u->nsrc == 2 ? binary(u->op, u->src[0]->dtype, s[0], s[1]) : NULL;
	}
}

static Elements *elementwise(UOp *u, size_t n)
{
	Elements *e = elements_new(n), *src[3];
	UOp *s[3];
	for (uint32_t k = 0; k < u->nsrc; k++)
		src[k] = of(u->src[k]);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < u->nsrc; k++)
			s[k] = !src[k]->at ? NULL : src[k]->at[src[k]->n == 1 ? 0 : i];
		e->at[i] = element(u, s);
	}
	return e;
}

/* ---- movement: the place of an element in its source */

static void unravel(const UOp *u, int64_t i, int64_t *at)
{
	for (int d = t_rank((UOp *)u) - 1; d >= 0; d--) {
		int64_t n = shape_dim(u->shape, d);
		at[d] = i % n;
		i /= n;
	}
}

static int64_t ravel(const UOp *u, const int64_t *at)
{
	int64_t i = 0;
	for (int d = 0; d < u->shape->rank; d++) {
		int64_t n = shape_dim(u->shape, d);
		if (at[d] < 0 || at[d] >= n)
			return -1;
		i = i * n + at[d];
	}
	return i;
}

static bool pairs_known(UOp *u, int64_t (*v)[2])
{
	UOp *pair[MAX_RANK][2];
	arg_pairs(u->arg, pair);
	for (int d = 0; d < t_rank(u); d++)
		if (!ix_is_const(pair[d][0], &v[d][0]) || !ix_is_const(pair[d][1], &v[d][1]))
			return false;
	return true;
}

/* Maps *at to the place in the source; false when that is not known. */
static bool move_back(UOp *u, int64_t *at)
{
	int axes[MAX_RANK];
	int64_t v[MAX_RANK][2], to[MAX_RANK];
	int n = 0, rank = t_rank(u);
	switch (u->op) {
	case OP_EXPAND:
		for (int d = 0; d < rank; d++)
			if (shape_dim(u->src[0]->shape, d) == 1)
				at[d] = 0;
		return true;
	case OP_PERMUTE:
		arg_axes(u->arg, axes);
		for (int d = 0; d < rank; d++)
			to[axes[d]] = at[d];
		memcpy(at, to, rank * sizeof *at);
		return true;
	case OP_FLIP:
		n = arg_axes(u->arg, axes);
		for (int k = 0; k < n; k++)
			at[axes[k]] = shape_dim(u->shape, axes[k]) - 1 - at[axes[k]];
		return true;
	case OP_PAD: case OP_SHRINK:
		if (!pairs_known(u, v))
			return false;
		for (int d = 0; d < rank; d++)
			at[d] += u->op == OP_PAD ? -v[d][0] : v[d][0];
		return true;
	default: return false;
	}
}

static Elements *moved(UOp *u, size_t n)
{
	Elements *e = elements_new(n), *s = of(u->src[0]);
	int64_t at[MAX_RANK];
	for (size_t i = 0; s->at && i < n; i++) {
		unravel(u, i, at);
		if (!move_back(u, at))
			return e;
		int64_t k = ravel(u->src[0], at);
		e->at[i] = k < 0 ? ix_const(0) : s->at[k];
	}
	return e;
}

/* A window of an ARANGE of any size: element i is the start plus i. */
static Elements *window(UOp *u, size_t n)
{
	UOp *pair[MAX_RANK][2];
	Elements *e = elements_new(n);
	arg_pairs(u->arg, pair);
	for (size_t i = 0; i < n; i++)
		e->at[i] = ix_add(pair[0][0], ix_const(i));
	return e;
}

static Elements *reduced(UOp *u, size_t n)
{
	Elements *e = elements_new(n), *s = of(u->src[0]);
	int op = op_find(u->arg->a[0]->s), axes[MAX_RANK], k = arg_axes(u->arg->a[1], axes);
	int64_t at[MAX_RANK], start;
	bool *begun = arena_alloc(n + 1);
	if (!s->at || !const_is_int(const_identity(op, u->dtype), &start))
		return e;
	if (!s->n)
		for (size_t i = 0; i < n; i++)
			e->at[i] = ix_const(start);
	for (size_t i = 0; i < s->n; i++) {
		unravel(u->src[0], i, at);
		for (int d = 0; d < k; d++)
			at[axes[d]] = 0;
		int64_t to = ravel(u, at);
		e->at[to] = begun[to] ? binary(op, u->dtype, e->at[to], s->at[i]) : s->at[i];
		begun[to] = true;
	}
	return e;
}

static Elements *gathered(UOp *u, size_t n)
{
	Elements *e = elements_new(n), *x = of(u->src[0]), *idx;
	int k = u->nsrc - 1, rank = t_rank(u->src[1]);
	int64_t at[MAX_RANK], v;
	for (size_t i = 0; x->at && i < n; i++) {
		int64_t from[MAX_RANK];
		bool all = true;
		unravel(u, i, at);
		for (int j = 0; j < k; j++) {
			idx = of(u->src[1 + j]);
			int64_t place = ravel(u->src[1 + j], at);
			all = all && idx->at && place >= 0 && idx->at[place] &&
				ix_is_const(idx->at[place], &v);
			from[j] = v;
		}
		for (int d = k; d < t_rank(u->src[0]); d++)
			from[d] = at[rank + d - k];
		if (!all)
			continue;
		int64_t place = ravel(u->src[0], from);
		e->at[i] = place < 0 ? ix_const(0) : x->at[place];
	}
	return e;
}

/* ---- one node, after its sources */

static Elements *evaluate(UOp *u)
{
	int64_t n = 0;
	if (!few(u, &n))
		return elements_new(0);
	if (u->op == OP_SHRINK && u->src[0]->op == OP_ARANGE)
		return window(u, n);
	if (op_elementwise(u->op) && u->op != OP_BITCAST)
		return elementwise(u, n);
	switch (u->op) {
	case OP_RESHAPE: case OP_CONTIGUOUS: case OP_DETACH: case OP_COPY: return of(u->src[0]);
	case OP_EXPAND:
	case OP_PERMUTE:
	case OP_PAD:
	case OP_SHRINK:
	case OP_FLIP:
		return moved(u, n);
	case OP_REDUCE: return reduced(u, n);
	case OP_GATHER: return gathered(u, n);
	default: return elements_new(n);
	}
}

/* The elements of a node that does not need its sources; NULL when it does. */
static Elements *at_once(UOp *u)
{
	Array a;
	int64_t n;
	bool arange = u->op == OP_SHRINK && u->src[0]->op == OP_ARANGE;
	if (!few(u, &n) && u->op != OP_ARANGE) {
		Elements *none = elements_new(0);
		none->at = NULL;
		return none;
	}
	if (arange || u->op == OP_ARANGE) {
		Elements *none = elements_new(0);
		none->at = NULL;
		return arange && !onnx_known_tensor(u, &a) ? window(u, n)
			: onnx_known_tensor(u, &a) && few(u, &n) ? from_array(&a) : none;
	}
	return onnx_known_tensor(u, &a) ? from_array(&a) : u->nsrc ? NULL : elements_new(n);
}

static bool sources_done(UOp *u, Stack *s)
{
	bool done = true;
	for (uint32_t i = 0; i < u->nsrc; i++)
		if (!of(u->src[i])) {
			vec_push(s, u->src[i]);
			done = false;
		}
	return done;
}

static Elements *follow(UOp *root)
{
	Stack stack = {0};
	vec_push(&stack, root);
	while (stack.n) {
		UOp *u = stack.at[stack.n - 1];
		Elements *e = of(u);
		if (!e && !(e = at_once(u)) && sources_done(u, &stack))
			e = evaluate(u);
		if (!e)
			continue;
		if (!of(u))
			map_put(&known, PKEY(u), e);
		stack.n--;
	}
	vec_free(&stack);
	return of(root);
}

bool onnx_try_sizes(UOp *u, size_t max, UOp **dim, size_t *n)
{
	Elements *e = follow(u);
	if (!e->at || e->n > max)
		return false;
	for (size_t i = 0; i < e->n; i++)
		if (!(dim[i] = e->at[i]))
			return false;
	*n = e->n;
	return true;
}

UOp *onnx_sizes(int n, UOp *const *dim)
{
	int64_t v[MAX_RANK];
	UOp *part[MAX_RANK], *u;
	int fixed = 0;
	CHECK(n <= MAX_RANK);
	while (fixed < n && ix_is_const(dim[fixed], &v[fixed]))
		fixed++;
	if (fixed == n)
		return table_ints(n, v);
	for (int i = 0; i < n; i++)
		part[i] = t_reshapev(t_size(DT_I64, dim[i]), 1, (UOp *[]){ix_const(1)});
	u = t_concat(n, part, 0);
	if (!of(u)) {
		Elements *e = elements_new(n);
		memcpy(e->at, dim, n * sizeof *dim);
		map_put(&known, PKEY(u), e);
	}
	return u;
}
