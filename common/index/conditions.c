/* Conditions on indices: a < b, 0 <= a < n, and conjunctions. A condition is folded if the bounds
 * decide it. Otherwise it has a normal form: terms with positive coefficients on the left, the
 * others on the right, divided by their common factor:
 *
 *     3 + 4*r0 < 2*r1 + 10      ->      r0*2 < r1 + 4
 *     r0//4 < 3                 ->      r0 < 12
 *
 * A conjunction drops conditions that others imply, and is false if two exclude each other. */
#include "index/index.h"
#include "index/ix.h"

static UOp *truth(bool b)
{
	return LEAF(OP_CONST, DT_BOOL, val_bool(b));
}

static UOp *less(UOp *a, UOp *b)
{
	return NODE(OP_CMPLT, DT_BOOL, VNIL, a, b);
}

/* x//c < k becomes x < c*k, and k < x//c becomes c*(k+1)-1 < x. */
static UOp *less_quotient(UOp *a, UOp *b)
{
	UOp *q = a->op == OP_CONST ? b : a;
	int64_t c, k;

	if (q->op != OP_FLOORDIV || !ix_is_const(q->src[1], &c) || c <= 0)
		return less(a, b);
	if (!ix_is_const(q == a ? b : a, &k))
		return less(a, b);
	if (q == a)
		return mul_ok(c, k, &k) ? ix_lt(q->src[0], ix_const(k)) : less(a, b);
	return add_ok(k, 1, &k) && mul_ok(c, k, &k) ? ix_lt(ix_const(k - 1), q->src[0]) :
						      less(a, b);
}

UOp *ix_lt(UOp *a, UOp *b)
{
	Sum d, t, l = {0}, r = {0};
	int64_t g = 0, k;

	if (ix_prove_lt(a, b))
		return truth(true);
	if (ix_prove_le(b, a))
		return truth(false);
	sum_of(&d, a);
	sum_of(&t, b);
	if (ix_wild(a) || ix_wild(b) || !sum_plus(&d, -1, &t) || d.k == INT64_MIN)
		return less(a, b);
	for (int i = 0; i < d.n; i++) {
		if (d.t[i].c == INT64_MIN)
			return less(a, b);
		g = gcd(g, d.t[i].c);
	}
	if (!g)
		return truth(d.k < 0);
	for (int i = 0; i < d.n; i++) {
		Term x = {d.t[i].c / g, d.t[i].m};
		if (x.c > 0)
			sum_term(&l, x.c, x.m);
		else
			sum_term(&r, -x.c, x.m);
	}
	k = -floordiv(d.k, g);                   /* l - r < k */
	if (l.n)
		r.k = k;
	else
		l.k = -k;
	return less_quotient(sum_node(&l), sum_node(&r));
}

UOp *ix_inside(UOp *a, UOp *n)
{
	return ix_and(ix_lt(ix_const(-1), a), ix_lt(a, n));
}

/* How two comparisons are related: 1 if p implies q, -1 if they exclude each other, else 0. */
static int relation(UOp *p, UOp *q)
{
	Sum d, e, t;

	if (p->op != OP_CMPLT || p->src[0]->dtype != DT_I64)
		return 0;
	if (q->op != OP_CMPLT || q->src[0]->dtype != DT_I64)
		return 0;
	if (ix_wild(p->src[0]) || ix_wild(p->src[1]) || ix_wild(q->src[0]) || ix_wild(q->src[1]))
		return 0;
	sum_of(&d, p->src[0]);
	sum_of(&t, p->src[1]);
	if (!sum_plus(&d, -1, &t))
		return 0;
	sum_of(&e, q->src[0]);
	sum_of(&t, q->src[1]);
	if (!sum_plus(&e, -1, &t))
		return 0;
	t = e;
	if (sum_plus(&t, -1, &d) && !t.n && t.k <= 0)
		return 1;
	return sum_plus(&e, 1, &d) && !e.n && e.k > -2 ? -1 : 0;
}

/* The conditions joined by an AND; false when there are too many. */
static bool conditions(UOp *u, UOp **cond, int *n)
{
	UOp *stack[IX_TERMS + 2];
	int top = 0;

	for (stack[top++] = u; top; ) {
		UOp *x = stack[--top];
		if (*n + top + 2 > IX_TERMS)
			return false;
		if (x->op == OP_AND) {
			stack[top++] = x->src[1];
			stack[top++] = x->src[0];
		} else {
			cond[(*n)++] = x;
		}
	}
	return true;
}

static bool is_truth(UOp *u, bool b)
{
	return u->op == OP_CONST && u->arg == val_bool(b);
}

UOp *ix_and(UOp *a, UOp *b)
{
	UOp *cond[IX_TERMS], *keep[IX_TERMS] = {a};
	int n = 0, kept = 0;

	if (a == b || is_truth(b, true) || is_truth(a, false))
		return a;
	if (is_truth(a, true) || is_truth(b, false))
		return b;
	if (!conditions(a, cond, &n) || !conditions(b, cond, &n))
		return NODE(OP_AND, DT_BOOL, VNIL, a, b);
	for (int i = 0; i < n; i++) {
		bool needed = true;
		for (int j = 0; j < n && needed; j++) {
			bool same = cond[i] == cond[j];
			int rel = i == j ? 0 : same ? 1 : relation(cond[j], cond[i]);
			if (rel < 0)
				return truth(false);
			needed = !rel || (j > i && (same || relation(cond[i], cond[j]) > 0));
		}
		if (needed)
			keep[kept++] = cond[i];
	}
	UOp *u = keep[0];
	for (int i = 1; i < kept; i++)
		u = NODE(OP_AND, DT_BOOL, VNIL, u, keep[i]);
	return u;
}

UOp *ix_op(Op op, UOp *a, UOp *b)
{
	switch (op) {
	case OP_ADD: return ix_add(a, b);
	case OP_SUB: return ix_sub(a, b);
	case OP_MUL: return ix_mul(a, b);
	case OP_FLOORDIV: return ix_div(a, b);
	case OP_FLOORMOD: return ix_mod(a, b);
	default: return NULL;
	}
}

/* What u is with these sources, of which one is true or false: NULL, the same op. */
static UOp *decided(const UOp *u, UOp *const *src)
{
	bool yes;

	if (u->op == OP_WHERE && (is_truth(src[0], true) || is_truth(src[0], false))) {
		UOp *is = src[is_truth(src[0], true) ? 1 : 2];
		return is->shape == u->shape ? is : NULL;
	}
	if (u->op == OP_WHERE && is_truth(src[1], true) && is_truth(src[2], false))
		return src[0]->shape == u->shape ? src[0] : NULL;
	if (u->op != OP_LOAD || u->nsrc != 2)
		return NULL;
	yes = is_truth(src[1], true);
	if (!yes && (!is_truth(src[1], false) || dtype_lanes(u->dtype) > 1))
		return NULL;
	return yes ? NODE(OP_LOAD, u->dtype, u->arg, src[0]) : const_num(u->dtype, 0);
}

UOp *ix_remake(UOp *u, UOp *const *src)
{
	UOp *is = u->op == OP_WHERE || u->op == OP_LOAD ? decided(u, src) : NULL;

	if (is)
		return is;
	if (u->op == OP_AND && u->dtype == DT_BOOL && src[0]->shape == src[1]->shape)
		return ix_and(src[0], src[1]);
	if (u->op == OP_CMPLT && src[0]->dtype == DT_I64 && src[0]->shape == shape_scalar())
		return ix_lt(src[0], src[1]);
	if (u->dtype != DT_I64 || u->shape != shape_scalar())
		return node_with(u, src);
	return op_info[u->op].index ? ix_op(u->op, src[0], src[1]) : node_with(u, src);
}
