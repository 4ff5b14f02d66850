/* A stable argsort as statements. A CPU sorts by the digits of the keys (radix.c); a GPU by a
 * bottom-up merge sort of one row, in the output and a scratch buffer, n log n.
 *
 *     for k<n: y[k] = k
 *     for p<ceil(log2 n):  w = 1<<p;  if w < n:
 *         for k<n: where k == k & -2w, two runs y[i…i+w), y[j…j+w) begin;
 *                  t[k] = the one whose key comes first, the left one when they are equal
 *         for k<n: y[k] = t[k]
 *
 * A NaN is greater than every number; descending order keeps equal elements in their order as
 * well. */
#include "lower/sort.h"

static UOp *op2(Op op, DType dt, UOp *a, UOp *b) { return NODE(op, dt, VNIL, a, b); }
static UOp *less(UOp *a, UOp *b) { return op2(OP_CMPLT, DT_BOOL, a, b); }
static UOp *both(UOp *a, UOp *b) { return op2(OP_AND, DT_BOOL, a, b); }
static UOp *either(UOp *a, UOp *b) { return op2(OP_OR, DT_BOOL, a, b); }
static UOp *smaller(UOp *a, UOp *b) { return op2(OP_MIN, DT_I64, a, b); }

/* u with the counters of the scope, and at for the sorted range */
static UOp *at_place(const Sort *o, UOp *u, UOp *at)
{
	UOp *from[MAX_RANGES], *to[MAX_RANGES];
	const Facts *f = &o->l->facts;
	int n = 0;
	for (int r = 0; r < f->nrange; r++) {
		const Scope *s = o->s;
		while (s && !(s->binds >> r & 1))
			s = s->parent;
		if (!s && f->range[r] != o->range)
			continue;
		from[n] = f->range[r];
		to[n++] = f->range[r] == o->range ? at : s->at[r];
	}
	return substitute(u, n, from, to);
}

UOp *sort_read(const Sort *o, UOp *index, UOp *at, UOp *gate)
{
	UOp *place = at_place(o, index, at);
	if (!gate)
		return NODE(OP_LOAD, index->dtype, VNIL, place);
	return NODE(OP_LOAD, index->dtype, VNIL, place, gate);
}

void sort_write(const Sort *o, UOp *index, UOp *at, UOp *v)
{
	emit(o->l, NODE(OP_STORE, DT_NONE, VNIL, at_place(o, index, at), v));
}

UOp *sort_key(const Sort *o, UOp *at, UOp *gate)
{
	UOp *place = at_place(o, o->load->src[0], at);
	if (o->load->nsrc > 1)
		gate = gate ? both(gate, at_place(o, o->load->src[1], at)) :
			      at_place(o, o->load->src[1], at);
	UOp *key = gate ? NODE(OP_LOAD, o->load->dtype, VNIL, place, gate) :
			  NODE(OP_LOAD, o->load->dtype, VNIL, place);
	DType wide = dtype_acc(key->dtype);
	return let(o->l, wide == key->dtype ? key : NODE(OP_CAST, wide, VNIL, key));
}

static UOp *isnan_of(UOp *x) { return op2(OP_CMPNE, DT_BOOL, x, x); }
static UOp *not_nan(UOp *x) { return op2(OP_CMPEQ, DT_BOOL, x, x); }

/* does b come strictly before a? */
static UOp *comes_first(const Sort *o, UOp *b, UOp *a)
{
	if (o->descending) {
		UOp *t = a;
		a = b;
		b = t;
	}
	UOp *first = less(b, a);
	return dtype_float(a->dtype) ? either(first, both(isnan_of(a), not_nan(b))) : first;
}

void sort_close(const Sort *o, UOp *range)
{
	emit(o->l, NODE(OP_ENDRANGE, DT_NONE, VNIL, range));
}

UOp *sort_open(const Sort *o, int depth, UOp *size)
{
	UOp *r = ix_range(o->l->axis + (int)o->s->depth + depth, "serial", size);
	emit(o->l, r);
	return r;
}

/* one step of a merge: place k of the pass with runs of w */
static void merge_step(const Sort *o, UOp *k, UOp *w)
{
	Lowering *l = o->l;
	UOp *zero = ix_const(0), *two = op2(OP_MUL, DT_I64, w, ix_const(2));
	UOp *lo = let(l, op2(OP_AND, DT_I64, k, NODE(OP_NEG, DT_I64, VNIL, two)));
	UOp *mid = let(l, smaller(op2(OP_ADD, DT_I64, lo, w), o->n));
	UOp *hi = let(l, smaller(op2(OP_ADD, DT_I64, lo, two), o->n));
	UOp *begins = NODE(OP_IF, DT_NONE, VNIL, op2(OP_CMPEQ, DT_BOOL, k, lo));
	emit(l, begins);
	emit(l, store_at(o->i, zero, lo));
	emit(l, store_at(o->j, zero, mid));
	emit(l, NODE(OP_ENDIF, DT_NONE, VNIL, begins));
	UOp *i = let(l, load_at(o->i, zero)), *j = let(l, load_at(o->j, zero));
	UOp *left = let(l, less(i, mid)), *right = let(l, less(j, hi));
	UOp *a = let(l, sort_read(o, o->to, i, left)), *b = let(l, sort_read(o, o->to, j, right));
	UOp *ka = sort_key(o, a, left), *kb = sort_key(o, b, right);
	UOp *no_left = op2(OP_CMPEQ, DT_BOOL, left, const_num(DT_BOOL, 0));
	UOp *take = let(l, both(right, either(no_left, comes_first(o, kb, ka))));
	UOp *one = ix_const(1);
	sort_write(o, o->scratch, k, NODE(OP_WHERE, DT_I64, VNIL, take, b, a));
	UOp *from_left = NODE(OP_WHERE, DT_I64, VNIL, take, zero, one);
	UOp *from_right = NODE(OP_WHERE, DT_I64, VNIL, take, one, zero);
	emit(l, store_at(o->i, zero, op2(OP_ADD, DT_I64, i, from_left)));
	emit(l, store_at(o->j, zero, op2(OP_ADD, DT_I64, j, from_right)));
}

static int passes(const UOp *n)
{
	int64_t lo, hi;
	int p = 0;
	ix_bounds((UOp *)n, &lo, &hi);
	while (p < 62 && INT64_C(1) << p < hi)
		p++;
	return p;
}

static void merge_emit(Sort *o)
{
	Lowering *l = o->l;
	UOp *k = sort_open(o, 1, o->n);
	sort_write(o, o->to, k, k);
	sort_close(o, k);
	UOp *p = sort_open(o, 1, ix_const(passes(o->n)));
	UOp *w = let(l, op2(OP_SHL, DT_I64, ix_const(1), p));
	UOp *needed = NODE(OP_IF, DT_NONE, VNIL, less(w, o->n));
	emit(l, needed);
	emit(l, o->i = make_reg(l, DT_I64, 1));
	emit(l, o->j = make_reg(l, DT_I64, 1));
	emit(l, store_at(o->i, ix_const(0), ix_const(0)));
	emit(l, store_at(o->j, ix_const(0), ix_const(0)));
	k = sort_open(o, 2, o->n);
	merge_step(o, k, w);
	sort_close(o, k);
	k = sort_open(o, 2, o->n);
	sort_write(o, o->to, k, sort_read(o, o->scratch, k, NULL));
	sort_close(o, k);
	emit(l, NODE(OP_ENDIF, DT_NONE, VNIL, needed));
	sort_close(o, p);
}

void sort_emit(Lowering *l, Scope *s, UOp *store)
{
	UOp *sort = store->src[1];
	Sort o = {.l = l,
		.s = s,
		.load = sort->src[0],
		.range = sort->src[1],
		.n = sort->src[1]->src[0],
		.to = store->src[0],
		.scratch = sort->src[2],
		.descending = sort->arg->b};
	if (!radix_emit(&o))
		merge_emit(&o);
}
