/* Lanes as a target has them. A register of n × n elements whose rows were stored may be read by
 * columns, which no instruction does: its rows are transposed by shuffles of pairs, once for all
 * columns. For each power of two d, the off-diagonal d × d blocks of each 2d × 2d block change
 * places, with two shuffles for each pair of rows:
 *
 *     a0 a1 a2 a3      a0 a1 c0 c1      a0 b0 c0 d0
 *     b0 b1 b2 b3      b0 b1 d0 d1      a1 b1 c1 d1
 *     c0 c1 c2 c3  →   a2 a3 c2 c3  →   a2 b2 c2 d2
 *     d0 d1 d2 d3      b2 b3 d2 d3      a3 b3 c3 d3
 *
 * Before that, stores that lie apart become whole vectors (interleave.c); after it lanes are as
 * many as a register holds (widths.c). */
#include "index/index.h"
#include "lower/lower.h"
#include "target/target.h"
#include <stdlib.h>

enum { MOST_TURNED = 16 };

/* A square of a register whose columns are the values of LETs, until it is stored to. */
typedef struct { UOp *reg; int64_t first; UOp *column[MOST_TURNED]; } Square;
typedef struct {
	VEC(Square) square;
	int64_t lets;
	VEC(UOp *) out;
} Legal;

/* What nodes of the statement at hand become; LETs in the new list. */
static ARENA Stands made, lets;

/* ---- columns */

/* Whether u loads a column: its number, and where its square begins. */
static bool is_column(const UOp *u, int64_t *first, int64_t *column)
{
	const UOp *index = u->src[0], *reg, *place;
	int64_t n = dtype_lanes(u->dtype), k, size;

	if (u->op != OP_LOAD || n < 2 || n > MOST_TURNED || u->nsrc > 1)
		return false;
	reg = index->src[0];
	place = index->src[1];
	if (reg->op != OP_DEFINE_REG || place->op != OP_RAMP || place->arg->i != n ||
		!ix_is_const(place->src[0], &k) || reg->arg->a[1]->kind != VAL_INT)
		return false;
	size = reg->arg->a[1]->i;
	*first = k / (n * n) * n * n;
	*column = k - *first;
	return k >= 0 && *column < n && *first + n * n <= size;
}

static UOp *put_let(Legal *w, UOp *value)
{
	UOp *let = NODE(OP_LET, value->dtype, val_int(++w->lets), value);
	vec_push(&w->out, let);
	return let;
}

/* The lanes of a row after the exchange, as places in the row and its partner; upper: the
 * partner's. */
static UOp *exchanged(Legal *w, UOp *a, UOp *b, int d, bool upper)
{
	int n = dtype_lanes(a->dtype);
	const Val *lane[MOST_TURNED];

	for (int l = 0; l < n; l++)
		lane[l] = val_int(upper ? l & d ? n + l : l + d : l & d ? n + l - d : l);
	return put_let(w, NODE(OP_SHUFFLE, a->dtype, val_array(n, lane), a, b));
}

static Square *transposed(Legal *w, UOp *reg, int64_t first, int n)
{
	Square s = {reg, first, {NULL}};
	DType d = dtype_in_lanes(reg->dtype, n), places = dtype_in_lanes(DT_I64, n);

	for (size_t i = 0; i < w->square.n; i++)
		if (w->square.at[i].reg == reg && w->square.at[i].first == first &&
			w->square.at[i].column[0]->dtype == d)
			return &w->square.at[i];
	for (int i = 0; i < n; i++) {
		UOp *place = NODE(OP_RAMP, places, val_int(1), ix_const(first + i * n));
		UOp *index = NODE(OP_INDEX, d, VNIL, reg, place);
		s.column[i] = put_let(w, NODE(OP_LOAD, d, VNIL, index));
	}
	for (int by = n / 2; by; by /= 2)
		for (int i = 0; i < n; i++) {
			UOp *a = s.column[i], *b = i & by ? NULL : s.column[i + by];
			if (!b)
				continue;
			s.column[i] = exchanged(w, a, b, by, false);
			s.column[i + by] = exchanged(w, a, b, by, true);
		}
	vec_push(&w->square, s);
	return &w->square.at[w->square.n - 1];
}

/* The register is another one now. */
static void forget(Legal *w, const UOp *reg)
{
	size_t n = 0;
	for (size_t i = 0; i < w->square.n; i++)
		if (w->square.at[i].reg != reg)
			w->square.at[n++] = w->square.at[i];
	w->square.n = n;
}

/* ---- statements */

static UOp *known(void *ctx, UOp *u)
{
	UOp *is = stands_for(u->op == OP_LET ? &lets : &made, u);
	(void)ctx;
	return is || (u->op != OP_LET && u->op != OP_RANGE && u->nsrc) ? is : u;
}

static UOp *legal_of(Legal *w, UOp *u, UOp *const *src)
{
	int64_t first, column;
	if (is_column(u, &first, &column))
		return transposed(w, u->src[0]->src[0], first, dtype_lanes(u->dtype))
			->column[column];
	return node_with(u, src);
}

static void make(void *ctx, UOp *u, UOp *const *src)
{
	stands_put(&made, u, legal_of(ctx, u, src));
}

/* A statement's source, of which the LETs it needs are put before the statement. */
static UOp *remade(Legal *w, UOp *root)
{
	static const Remaking remaking = {known, make};
	return walk_remake(root, &remaking, w);
}

static void put_statement(Legal *w, UOp *s)
{
	UOp *r = s, **src = arena_alloc((s->nsrc + 1) * sizeof *src);

	table_round(&made);
	if (s->op == OP_LET || s->op == OP_STORE) {
		for (uint32_t i = 0; i < s->nsrc; i++)
			src[i] = remade(w, s->src[i]);
		r = node_with(s, src);
	} else if (s->op == OP_RANGE || s->op == OP_ENDRANGE || s->op == OP_IF ||
		s->op == OP_ENDIF) {
		w->square.n = 0;        /* a scope begins or ends */
	}
	if (s->op == OP_LET && r != s)
		stands_put(&lets, s, r);
	vec_push(&w->out, r);
	if (s->op == OP_STORE)
		forget(w, s->src[0]->src[0]);
}

static UOp *kernel_legal(const KernelUse *use)
{
	UOp *r = kernel_interleaved(use->kernel, use->alias);
	Nodes all = walk(r);
	Legal w = {0};
	int64_t first, column;
	bool any = false;

	for (size_t i = 0; i < all.n; i++)
		any |= all.at[i]->nsrc && is_column(all.at[i], &first, &column);
	w.lets = any ? last_let(&all) : 0;
	table_round(&lets);
	for (uint32_t i = 0; any && i < r->nsrc; i++)
		put_statement(&w, r->src[i]);
	if (any)
		r = node_like(r, w.out.n, w.out.at, r->arg);
	vec_free(&w.square);
	vec_free(&w.out);
	return kernel_widths(r);
}

Graph *lower_legalise(Graph *g) { return target->vectors ? kernels_map(g, kernel_legal) : g; }
