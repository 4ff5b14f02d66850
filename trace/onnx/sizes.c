/* Small tensors of integers computed from sizes, element by element, as index nodes.
 *
 *     Shape(x f32[n,3]) * 2 + 1   →   [n*2+1, 7]
 *
 * A value is followed through the primitive ops that operators expand to, so operators need no
 * rules of their own. An element may be unknown while its neighbours are known. Truth values are 0
 * and 1, so a choice is arithmetic too. Floats are fractions of a size and a number; a constant is
 * the simplest fraction that rounds to it, as 0.1 is 1/10. */
#include "index/ix.h"
#include "onnx/proto.h"
#include <math.h>
#include <stdlib.h>

enum { MOST_SIZES = 4096, MOST_PARTS = 1 << 20 };

typedef struct { UOp *u; int64_t per; } Element;       /* u / per, per > 0; u NULL: not known */
typedef struct { size_t n; Element *at; } Elements;    /* at NULL: not known at all */
typedef VEC(UOp *) Stack;

static const Element unknown = {NULL, 1};
static ARENA Map known;               /* node → Elements * */


static bool few(const UOp *u, int64_t *n)
{
	return u->shape && shape_static(u->shape, n) && *n <= MOST_SIZES;
}

static Elements *elements_new(size_t n)
{
	Elements *e = arena_alloc(sizeof *e);
	*e = (Elements){n, arena_alloc((n + 1) * sizeof *e->at)};
	for (size_t i = 0; i < n; i++)
		e->at[i] = unknown;
	return e;
}

static Elements *of(UOp *u) { return map_get(&known, PKEY(u)); }

static Element whole(UOp *u) { return (Element){u, 1}; }
static Element number(int64_t v) { return whole(ix_const(v)); }

static bool is_whole(Element a) { return a.u && a.per == 1; }

/* ---- constants */

/* By v's continued fraction. */
bool onnx_fraction(double v, DType dt, int64_t *p, int64_t *q)
{
	int64_t p0 = 0, q0 = 1, p1 = 1, q1 = 0;
	double x = v;

	for (int i = 0; i < 40 && fabs(x) < 9e15; i++) {
		int64_t a = (int64_t)floor(x);
		if (!mul_ok(a, p1, p) || !add_ok(*p, p0, p) || !mul_ok(a, q1, q) ||
			!add_ok(*q, q0, q) || *q > MOST_PARTS)
			return false;
		double f = (double)*p / *q, as = f;
		if (dt != DT_F64) {
			interp_cast(dt, &as, DT_F64, &f, 1);
			interp_cast(DT_F64, &as, dt, &as, 1);
		}
		if (as == v)
			return true;
		p0 = p1;
		q0 = q1;
		p1 = *p;
		q1 = *q;
		x = 1 / (x - a);
	}
	return false;
}

static Element constant(DType dt, const void *at)
{
	int64_t v, q;
	double f = 0;
	if (!dtype_float(dt)) {
		interp_cast(DT_I64, &v, dt, at, 1);
		return number(v);
	}
	interp_cast(DT_F64, &f, dt, at, 1);
	return onnx_fraction(f, dt, &v, &q) ? (Element){ix_const(v), q} : unknown;
}

static Elements *from_array(const Array *a)
{
	int64_t n = array_count(a);
	Elements *e = elements_new(n);
	for (int64_t i = 0; i < n; i++)
		e->at[i] = constant(a->dtype, (char *)a->data + i * dtype_size(a->dtype));
	return e;
}

/* ---- one element by the ops */

static UOp *negated(UOp *u) { return ix_sub(ix_const(0), u); }
static bool not_negative(UOp *u) { return ix_prove_le(ix_const(0), u); }
static bool positive(UOp *u) { return ix_prove_lt(ix_const(0), u); }

/* a*b, unless its bounds are not known */
static UOp *times(UOp *a, UOp *b)
{
	UOp *u = ix_mul(a, b);
	return ix_wild(u) ? NULL : u;
}

/* Puts both over one number of parts. */
static bool align(Element *a, Element *b)
{
	int64_t per;
	if (a->per == b->per)
		return true;
	if (!mul_ok(a->per, b->per, &per) || per > MOST_PARTS)
		return false;
	UOp *x = times(a->u, ix_const(b->per)), *y = times(b->u, ix_const(a->per));
	*a = (Element){x, per};
	*b = (Element){y, per};
	return x && y;
}

static UOp *opposite(UOp *truth) { return ix_sub(ix_const(1), truth); }

static UOp *either(UOp *p, UOp *q) { return opposite(ix_both(opposite(p), opposite(q))); }

/* 1 where a == b, else 0 */
static UOp *same(UOp *a, UOp *b)
{
	UOp *less = ix_less(a, b), *more = ix_less(b, a);
	return less && more ? ix_both(opposite(less), opposite(more)) : NULL;
}

static UOp *compare(Op op, UOp *a, UOp *b)
{
	if (op == OP_CMPLT)
		return ix_less(a, b);
	UOp *u = same(a, b);
	return u && op == OP_CMPNE ? opposite(u) : u;
}

/* u // per towards 0; the remainder has u's sign */
static UOp *truncated(UOp *u, UOp *per)
{
	UOp *below = not_negative(u) ? ix_const(0) : ix_less(u, ix_const(0)), *more;
	more = below ? ix_when(below, ix_sub(per, ix_const(1))) : NULL;
	return more ? ix_div(ix_add(u, more), per) : NULL;
}

static UOp *divide(Op op, UOp *a, UOp *b)
{
	if (!positive(b))
		return NULL;
	if (op == OP_FLOORDIV || op == OP_FLOORMOD)
		return op == OP_FLOORDIV ? ix_div(a, b) : ix_mod(a, b);
	UOp *q = truncated(a, b);
	if (!q || op == OP_IDIV)
		return q;
	return not_negative(a) ? ix_mod(a, b) : ix_sub(a, ix_mul(q, b));
}

static Element quotient(Element a, Element b)
{
	int64_t d, per;
	if (!ix_is_const(b.u, &d) || !d || d == INT64_MIN)
		return unknown;
	if (!mul_ok(a.per, d < 0 ? -d : d, &per) || per > MOST_PARTS)
		return unknown;
	UOp *u = times(a.u, ix_const(d < 0 ? -b.per : b.per));
	int64_t v;
	if (u && ix_is_const(u, &v) && v % per == 0)
		return number(v / per);
	return (Element){u, per};
}

static UOp *logic(Op op, UOp *a, UOp *b)
{
	int64_t x, y;
	if (!ix_is_const(a, &x) || !ix_is_const(b, &y))
		return NULL;
	return ix_const(op == OP_AND ? (x & y) : op == OP_OR ? (x | y) : (x ^ y));
}

static UOp *truth(Op op, UOp *a, UOp *b)
{
	UOp *both = ix_both(a, b);
	switch (op) {
	case OP_ADD: case OP_OR: case OP_MAX: return either(a, b);
	case OP_MUL: case OP_AND: case OP_MIN: return both;
	case OP_XOR: case OP_CMPNE: return ix_both(either(a, b), opposite(both));
	case OP_CMPEQ: return opposite(ix_both(either(a, b), opposite(both)));
	default: return NULL;
	}
}

static Element product(Element a, Element b)
{
	int64_t per, v;
	UOp *u = times(a.u, b.u);
	if (!u || !mul_ok(a.per, b.per, &per) || per > MOST_PARTS)
		return unknown;
	return ix_is_const(u, &v) && v % per == 0 ? number(v / per) : (Element){u, per};
}

/* What bounds do not decide is written with // and %. Of sizes that data gives it is not: as data
 * it is bound to a size of its own, of which more can be proved. */
static UOp *decided(UOp *u, const Element *a, const Element *b)
{
	int64_t v;
	bool plain = !u || u == a->u || u == b->u || ix_is_const(u, &v);
	return plain || !size_is_bound(u) ? u : NULL;
}

static Element binary(Op op, DType dt, Element a, Element b)
{
	if (!a.u || !b.u)
		return unknown;
	if (dt == DT_BOOL)
		return whole(truth(op, a.u, b.u));
	if (op == OP_MUL || op == OP_FDIV)
		return op == OP_MUL ? product(a, b) : quotient(a, b);
	if (!align(&a, &b))
		return unknown;
	switch (op) {
	case OP_ADD: case OP_SUB: return (Element){ix_op(op, a.u, b.u), a.per};
	case OP_MAX: return (Element){decided(ix_max(a.u, b.u), &a, &b), a.per};
	case OP_MIN: return (Element){decided(ix_min(a.u, b.u), &a, &b), a.per};
	case OP_CMPLT: case OP_CMPEQ: case OP_CMPNE:
		return whole(decided(compare(op, a.u, b.u), &a, &b));
	default: break;
	}
	if (a.per != 1)
		return unknown;
	switch (op) {
	case OP_FLOORDIV: case OP_FLOORMOD: case OP_IDIV: case OP_MOD:
		return whole(divide(op, a.u, b.u));
	case OP_AND: case OP_OR: case OP_XOR: return whole(logic(op, a.u, b.u));
	default: return unknown;
	}
}

static Element towards_zero(Element a)
{
	return !a.u || a.per == 1 ? a : whole(truncated(a.u, ix_const(a.per)));
}

/* Sizes stay below about 2^31: a CAST to 32 bits or to a float preserves them. */
static Element cast(UOp *u, Element a)
{
	int64_t v;
	if (!a.u || dtype_float(u->dtype))
		return a;
	if (u->dtype == DT_BOOL)
		return positive(a.u) ? number(1) : whole(compare(OP_CMPNE, a.u, ix_const(0)));
	a = towards_zero(a);
	if (a.u && ix_is_const(a.u, &v) && !dtype_float(u->src[0]->dtype)) {
		bool fits = v >= dtype_min(u->dtype) &&
			(v < 0 || (uint64_t)v <= dtype_max(u->dtype));
		return fits ? a : unknown;
	}
	return dtype_size(u->dtype) >= 4 || (a.u && ix_is_const(a.u, &v)) ? a : unknown;
}

/* t_floor and t_ceil: a fraction x, truncated to t, and one less or more where t is not beyond
 * it. */
static bool rounds(UOp *u, Element x, Element less_or_more, Element t, Element *out)
{
	UOp *c = u->src[0], *part = u->src[2];
	int64_t step;
	if (part->op != OP_TRUNC || c->op != OP_CMPLT || !x.u || !is_whole(less_or_more) ||
		!is_whole(t) || !ix_is_const(ix_sub(less_or_more.u, t.u), &step))
		return false;
	UOp *from = part->src[0], *per = ix_const(x.per);
	bool floors = c->src[0] == from && c->src[1] == part && step == -1,
	     ceils = c->src[0] == part && c->src[1] == from && step == 1;
	if (floors)
		*out = whole(ix_div(x.u, per));
	if (ceils)
		*out = whole(negated(ix_div(negated(x.u), per)));
	return floors || ceils;
}

static Element choose(Element c, Element a, Element b)
{
	int64_t v;
	if (c.u && ix_is_const(c.u, &v))
		return v ? a : b;
	if (a.u == b.u && a.per == b.per)
		return a;
	if (!c.u || !a.u || !b.u || !align(&a, &b))
		return unknown;
	UOp *x = ix_when(c.u, a.u), *y = ix_when(opposite(c.u), b.u);
	return x && y ? (Element){ix_add(x, y), a.per} : unknown;
}

static Element element(UOp *u, const Element *s)
{
	switch (u->op) {
	case OP_CAST: return cast(u, s[0]);
	case OP_TRUNC: return towards_zero(s[0]);
	case OP_NEG: return s[0].u ? (Element){negated(s[0].u), s[0].per} : unknown;
	case OP_MULACC: return binary(OP_ADD, u->dtype, binary(OP_MUL, u->dtype, s[0], s[1]), s[2]);
	case OP_WHERE: return choose(s[0], s[1], s[2]);
	default: return u->nsrc == 2 ? binary(u->op, u->src[0]->dtype, s[0], s[1]) : unknown;
	}
}

static Element nth(const Elements *e, size_t i)
{
	return !e->at ? unknown : e->at[e->n == 1 ? 0 : i];
}

static Elements *elementwise(UOp *u, size_t n)
{
	Elements *e = elements_new(n), *src[3], *x = NULL;
	Element s[3];
	for (uint32_t k = 0; k < u->nsrc; k++)
		src[k] = of(u->src[k]);
	if (u->op == OP_WHERE && u->src[2]->op == OP_TRUNC)
		x = of(u->src[2]->src[0]);
	for (size_t i = 0; i < n; i++) {
		for (uint32_t k = 0; k < u->nsrc; k++)
			s[k] = nth(src[k], i);
		if (!x || !rounds(u, nth(x, i), s[1], s[2], &e->at[i]))
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
		e->at[i] = k < 0 ? number(0) : s->at[k];
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
		e->at[i] = whole(ix_add(pair[0][0], ix_const(i)));
	return e;
}

/* A size as a value, or a value that is bound to one. */
static Elements *one_size(UOp *u)
{
	const char *err = NULL;
	Elements *e = elements_new(1);
	UOp *size = size_from_val(u->op == OP_BIND ? u->arg->a[0] : u->arg, &err);
	e->at[0] = size ? whole(size) : unknown;
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
			e->at[i] = number(start);
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
			all = all && idx->at && place >= 0 && is_whole(idx->at[place]) &&
				ix_is_const(idx->at[place].u, &v);
			from[j] = all ? v : 0;
		}
		for (int d = k; d < t_rank(u->src[0]); d++)
			from[d] = at[rank + d - k];
		if (!all)
			continue;
		int64_t place = ravel(u->src[0], from);
		e->at[i] = place < 0 ? number(0) : x->at[place];
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
	if (u->op == OP_SIZE || u->op == OP_BIND)
		return one_size(u);
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

UOp *onnx_try_fraction(UOp *u, int64_t *per)
{
	Elements *e = follow(u);
	if (!e->at || e->n != 1)
		return NULL;
	*per = e->at[0].per;
	return e->at[0].u;
}

bool onnx_try_sizes(UOp *u, size_t max, UOp **dim, size_t *n)
{
	Elements *e = follow(u);
	if (!e->at || e->n > max)
		return false;
	for (size_t i = 0; i < e->n; i++) {
		if (!is_whole(e->at[i]))
			return false;
		dim[i] = e->at[i].u;
	}
	*n = e->n;
	return true;
}

UOp *onnx_sizes(int n, UOp *const *dim)
{
	int64_t v[MAX_RANK];
	UOp *part[MAX_RANK] = {0}, *u;
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
		for (int k = 0; k < n; k++)
			e->at[k] = whole(dim[k]);
		map_put(&known, PKEY(u), e);
	}
	return u;
}
