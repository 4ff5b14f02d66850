/* Stores that lie apart, next to each other, as whole vectors. Where each lane has a row of its
 * own and the places of a row are written out, the stores of one place after another fill memory
 * without gaps; lanes that go to places apart are moved one by one, whole vectors at once:
 *
 *     y[RAMP p 3] a        y[RAMP p 1]     a0 b0 c0 a1
 *     y[RAMP p+1 3] b  →   y[RAMP p+4 1]   b1 c1 a2 b2
 *     y[RAMP p+2 3] c      y[RAMP p+8 1]   c2 a3 b3 c3
 *
 * each made by shuffles of a and b, of that and c, …, for rows of at most half a vector. */
#include "index/index.h"
#include "lower/lower.h"
#include "target/target.h"

enum { LONGEST = MOST_LANES / 2 };

/* The stores of a row's n places, by their numbers among the statements, and what they store. */
typedef struct { uint32_t at[LONGEST]; UOp *column[LONGEST]; int n, found, made; } Row;
typedef struct {
	UOp *kernel;
	VEC(Row) rows;
	int64_t lets;
	VEC(UOp *) out;
} Interleaving;

static bool is_parted(const UOp *s)
{
	return s->op == OP_RANGE || s->op == OP_ENDRANGE || s->op == OP_IF || s->op == OP_ENDIF ||
		s->op == OP_BARRIER;
}

static UOp *buffer_of(const UOp *store) { return store->src[0]->src[0]; }
static UOp *place_of(const UOp *store) { return store->src[0]->src[1]; }

/* The places from one lane to the next, where s may be a store of a row's place; else 0. */
static int step_of(const UOp *s)
{
	if (s->op != OP_STORE || s->nsrc > 2 || s->arg != VNIL ||
		buffer_of(s)->op != OP_PARAM || place_of(s)->op != OP_RAMP)
		return 0;
	DType d = s->src[1]->dtype;
	int lanes = dtype_lanes(d), bytes = dtype_size(buffer_of(s)->dtype);
	int64_t step = place_of(s)->arg->i;
	return bytes >= 4 && lanes * bytes <= target->vector && step >= 2 && 2 * step <= lanes ?
		(int)step : 0;
}

/* Is s the store of the k-th place of the row that begins with `first`? */
static bool continues(const UOp *first, const UOp *s, int k)
{
	int64_t apart;
	return step_of(s) == step_of(first) && s->src[1]->dtype == first->src[1]->dtype &&
		ix_is_const(ix_sub(place_of(s)->src[0], place_of(first)->src[0]), &apart) &&
		apart == k;
}

/* The row whose first place statement i stores, in one piece of straight code. */
static bool find_row(const UOp *kernel, uint32_t i, Row *row)
{
	const UOp *first = kernel->src[i];
	*row = (Row){.n = step_of(first)};
	for (; row->n && i < kernel->nsrc && !is_parted(kernel->src[i]); i++) {
		const UOp *s = kernel->src[i];
		if (s->op != OP_STORE || buffer_of(s) != buffer_of(first))
			continue;
		if (!continues(first, s, row->found))
			return false;
		row->at[row->found++] = i;
		if (row->found == row->n)
			return true;
	}
	return false;
}

static bool is_read(const Nodes *all, const UOp *buffer)
{
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_LOAD && all->at[i]->src[0]->src[0] == buffer)
			return true;
	return false;
}

static UOp *put_let(Interleaving *w, UOp *value)
{
	UOp *let = NODE(OP_LET, value->dtype, val_int(++w->lets), value);
	vec_push(&w->out, let);
	return let;
}

/* Vector k of the rows' elements with those of column c; it has those of the columns before. */
static UOp *with_column(Interleaving *w, UOp *has, UOp *column, int c, int k, int step)
{
	int n = dtype_lanes(column->dtype);
	const Val *lane[MOST_LANES];
	for (int l = 0; l < n; l++) {
		int at = k * n + l, row = at / step;
		lane[l] = val_int(at % step == c ? n + row : c == 1 ? row : l);
	}
	return put_let(w, NODE(OP_SHUFFLE, column->dtype, val_array(n, lane), has, column));
}

static void put_row(Interleaving *w, const UOp *first, UOp *const *column, int step)
{
	DType d = column[0]->dtype;
	int n = dtype_lanes(d);
	for (int k = 0; k < step; k++) {
		UOp *v = column[0];
		for (int c = 1; c < step; c++)
			v = with_column(w, v, column[c], c, k, step);
		UOp *place = NODE(OP_RAMP, dtype_in_lanes(DT_I64, n), val_int(1),
			ix_add(place_of(first)->src[0], ix_const(k * n)));
		UOp *index = NODE(OP_INDEX, d, VNIL, buffer_of(first), place);
		vec_push(&w->out, NODE(OP_STORE, DT_NONE, VNIL, index, v));
	}
}

/* The value of a row's place stays where it is; what stores them all stands behind the last. */
static void put_place(Interleaving *w, Row *row, uint32_t i)
{
	UOp *store = w->kernel->src[i];
	row->column[row->made++] = put_let(w, store->src[1]);
	if (row->made == row->n)
		put_row(w, w->kernel->src[row->at[0]], row->column, row->n);
}

/* The row of which statement i stores a place, or NULL. */
static Row *row_of(const Interleaving *w, uint32_t i)
{
	for (size_t k = 0; k < w->rows.n; k++)
		for (int c = 0; c < w->rows.at[k].n; c++)
			if (w->rows.at[k].at[c] == i)
				return &w->rows.at[k];
	return NULL;
}

UOp *kernel_interleaved(UOp *kernel, bool alias)
{
	Nodes all = walk(kernel);
	Interleaving w = {.kernel = kernel};
	for (uint32_t i = 0; i < kernel->nsrc && !alias; i++) {
		Row row;
		if (step_of(kernel->src[i]) && !row_of(&w, i) &&
			!is_read(&all, buffer_of(kernel->src[i])) && find_row(kernel, i, &row))
			vec_push(&w.rows, row);
	}
	w.lets = w.rows.n ? last_let(&all) : 0;
	for (uint32_t i = 0; i < kernel->nsrc && w.rows.n; i++) {
		Row *row = row_of(&w, i);
		if (row)
			put_place(&w, row, i);
		else
			vec_push(&w.out, kernel->src[i]);
	}
	if (w.rows.n)
		kernel = node_like(kernel, w.out.n, w.out.at, kernel->arg);
	vec_free(&w.rows);
	vec_free(&w.out);
	return kernel;
}
