/* Indexing as NumPy has it: integers, slices, ellipsis, none, and integer tensors.
 *
 *     x[1:, none, -1]     SHRINK, RESHAPE, SHRINK and RESHAPE
 *     x[i, :, j]          GATHER; negative elements of i count from the end; outside reads 0
 *
 * Slices and integers are applied first and move no axis. Then the axes indexed by tensors are
 * moved to the front, as GATHER requires, and the result is moved back to the place of the first
 * of them (it stays in front if another index stands between them). */
#include "text/text.h"

/* the result so far, and which of its axes are indexed by tensors */
typedef struct {
	UOp *x;
	int axis;
	UOp *idx[MAX_RANK];
	int at[MAX_RANK];
	int n;
	bool apart, after;
} Indexing;

/* ---- bounds */

static UOp *bound(const Value *v, const char *what)
{
	UOp *u = value_size(v);
	if (!u || v->kind == V_STR)
		die(MALFORMED, "%s of a slice is %s, expected an integer", what, value_text(v));
	return u;
}

static bool known_negative(UOp *u) { return ix_prove_lt(u, ix_const(0)); }

/* v clipped to lo … hi if that can be proved; else v, which is checked once the sizes are known */
static UOp *clip(UOp *v, UOp *lo, UOp *hi)
{
	return ix_prove_le(v, lo) ? lo : ix_prove_le(hi, v) ? hi : v;
}

static UOp *slice_bound(const Value *v, const char *what, UOp *size, UOp *lo, UOp *hi, UOp *deflt)
{
	if (v->kind == V_NONE)
		return deflt;
	UOp *u = bound(v, what);
	if (known_negative(u))
		u = ix_add(u, size);
	return clip(u, lo, hi);
}

static int64_t slice_step(const Value *v)
{
	if (v->kind == V_NONE)
		return 1;
	if (v->kind == V_SIZE)
		die(UNSUPPORTED, "the step of a slice depends on a size variable");
	if (v->kind != V_NUMBER || !v->is_int)
		die(MALFORMED, "the step of a slice is %s, expected an integer", value_text(v));
	if (!v->i)
		die(MALFORMED, "the step of a slice is 0");
	/* a step longer than any axis takes only the first element, however long it is */
	return v->i > INT32_MAX ? INT32_MAX : v->i < -INT32_MAX ? -INT32_MAX : v->i;
}

static bool is_data(const Value *v)
{
	return v->kind == V_TENSOR && !t_rank(v->u) && dtype_int(v->u->dtype);
}

static SliceBound data_bound(const Value *v, const char *what)
{
	if (is_data(v))
		return (SliceBound){.data = v->u};
	return (SliceBound){.size = v->kind == V_NONE ? NULL : bound(v, what)};
}

static UOp *slice_axis(UOp *x, int axis, const IndexItem *it)
{
	UOp *size = t_dim(x, axis), *zero = ix_const(0), *none = ix_const(-1);
	int64_t step = slice_step(&it->step);
	if (is_data(&it->start) || is_data(&it->stop))
		return t_slice_data(x, axis, data_bound(&it->start, "the start"),
			data_bound(&it->stop, "the stop"), step);
	UOp *last = ix_sub(size, ix_const(1)), *start, *stop;
	if (step > 0) {
		start = slice_bound(&it->start, "the start", size, zero, size, zero);
		stop = slice_bound(&it->stop, "the stop", size, zero, size, size);
		stop = ix_prove_le(stop, start) ? start : stop;
	} else {
		start = slice_bound(&it->start, "the start", size, none, last, last);
		stop = slice_bound(&it->stop, "the stop", size, none, last, none);
		stop = ix_prove_le(start, stop) ? start : stop;
	}
	return t_slice(x, axis, start, stop, step);
}

/* ---- the items in order */

static UOp *at_place(UOp *x, int axis, const Value *v)
{
	UOp *i = value_size(v), *size = t_dim(x, axis);
	if (known_negative(i))
		i = ix_add(i, size);
	if (known_negative(i) || ix_prove_le(size, i))
		die(MALFORMED, "index %s is outside axis %d of %s",
			v->kind == V_NUMBER ? arena_printf("%lld", (long long)v->i) : "given", axis,
			shape_text(x->shape));
	UOp *bounds[MAX_RANK][2];
	for (int d = 0; d < t_rank(x); d++) {
		bounds[d][0] = d == axis ? i : ix_const(0);
		bounds[d][1] = d == axis ? ix_add(i, ix_const(1)) : t_dim(x, d);
	}
	return t_squeeze(t_shrink(x, bounds), axis);
}

static UOp *index_tensor(const Value *v)
{
	UOp *i = value_tensor(v, DT_NONE);
	if (i && v->kind == V_LIST && !v->n)
		i = t_cast(i, DT_I32);
	if (!i || !dtype_int(i->dtype))
		die(MALFORMED, "an index is %s, expected integers", value_text(v));
	return i;
}

static bool never_negative(const UOp *i)
{
	int64_t v;
	if (i->op == OP_ADD)
		return never_negative(i->src[0]) && never_negative(i->src[1]);
	return i->op == OP_ARANGE || i->op == OP_SORT || i->op == OP_TURN || i->op == OP_SIZE ||
		(const_is_int(i, &v) && v >= 0);
}

/* NumPy's negative indices: i < 0 becomes i + size */
static UOp *wrap(UOp *i, UOp *size)
{
	if (!dtype_signed(i->dtype) || never_negative(i))
		return i;
	i = t_cast(i, DT_I64);
	return t_where(t_lt(i, const_int(DT_I64, 0)), t_add(i, t_size(DT_I64, size)), i);
}

/* A list of numbers is checked now, and its negative numbers count from the end. */
static Value literal_index(const Value *v, int64_t size)
{
	if (v->kind == V_LIST) {
		Value *at = arena_alloc((v->n + 1) * sizeof *at);
		for (size_t i = 0; i < v->n; i++)
			at[i] = literal_index(&v->at[i], size);
		return v_list(v->n, at);
	}
	if (v->kind != V_NUMBER || !v->is_int)
		return *v;
	if (v->i < -size || v->i >= size)
		die(MALFORMED, "index %lld is outside an axis of %lld", (long long)v->i,
			(long long)size);
	return v_int(v->i < 0 ? v->i + size : v->i);
}

static UOp *tensor_index(const Value *v, UOp *size)
{
	int64_t n;
	if (v->kind == V_LIST && ix_is_const(size, &n)) {
		Value known = literal_index(v, n);
		return index_tensor(&known);
	}
	return wrap(index_tensor(v), size);
}

static void add_tensor_index(Indexing *g, const Value *v)
{
	UOp *i;
	if (g->n && g->after)
		g->apart = true;
	g->after = false;
	if (v->kind == V_SIZE || v->kind == V_NUMBER) {
		Value at = *v;
		UOp *u = value_size(&at);
		if (!u)
			die(MALFORMED, "an index is %s, expected integers", value_text(v));
		if (known_negative(u))
			u = ix_add(u, t_dim(g->x, g->axis));
		if (known_negative(u) || ix_prove_le(t_dim(g->x, g->axis), u))
			die(MALFORMED, "an index is outside axis %d of %s", g->axis,
				shape_text(g->x->shape));
		i = size_tensor(u);
	} else {
		i = tensor_index(v, t_dim(g->x, g->axis));
	}
	g->at[g->n] = g->axis++;
	g->idx[g->n++] = i;
}

static void new_axis(Indexing *g)
{
	if (t_rank(g->x) == MAX_RANK)
		die(UNSUPPORTED, "a rank of more than %d", MAX_RANK);
	g->x = t_unsqueeze(g->x, g->axis++);
	g->after = true;
}

/* ---- tensors as indices */

static UOp *gather_at(Indexing *g)
{
	int order[MAX_RANK], n = 0, rank = t_rank(g->x);
	bool used[MAX_RANK] = {false};
	for (int i = 0; i < g->n; i++) {
		order[n++] = g->at[i];
		used[g->at[i]] = true;
	}
	for (int i = 0; i < rank; i++)
		if (!used[i])
			order[n++] = i;
	UOp *y = t_gather(t_permute(g->x, order), g->n, g->idx);
	int k = t_rank(y) - (rank - g->n), first = g->at[0];
	if (g->apart || !first)
		return y;
	/* move the k axes of the indices behind the axes that precede the first indexed one */
	for (int i = 0; i < t_rank(y); i++)
		order[i] = i < first ? k + i : i < first + k ? i - first : i;
	return t_permute(y, order);
}

static bool is_tensor_index(const IndexItem *it)
{
	return it->kind == I_AT && (it->at.kind == V_TENSOR || it->at.kind == V_LIST);
}

static void check_places(const Value *x, size_t n, const IndexItem *items, int *taken)
{
	int ellipses = 0;
	*taken = 0;
	for (size_t i = 0; i < n; i++) {
		ellipses += items[i].kind == I_ELLIPSIS;
		*taken += items[i].kind == I_AT || items[i].kind == I_SLICE;
		if (items[i].kind == I_AT &&
			(items[i].at.kind == V_STR || items[i].at.kind == V_BOOL))
			die(MALFORMED, "an index is %s, expected integers",
				value_text(&items[i].at));
	}
	if (ellipses > 1)
		die(MALFORMED, "more than one ellipsis");
	if (*taken > t_rank(x->u))
		die(MALFORMED, "%d indices for %s", *taken, value_text(x));
}

static UOp *mask_of(const IndexItem *it)
{
	UOp *u = is_tensor_index(it) ? value_tensor(&it->at, DT_NONE) : NULL;
	return u && u->dtype == DT_BOOL ? u : NULL;
}

/* A mask becomes one index for each of its axes: the places where it is true. */
static size_t masks_found(size_t n, const IndexItem *items, IndexItem *out)
{
	size_t m = 0;
	for (size_t i = 0; i < n; i++) {
		UOp *mask = mask_of(&items[i]), *at = mask ? t_nonzero_places(mask) : NULL;
		int rank = mask ? t_rank(mask) : 1;
		if (mask && !rank)
			die(UNSUPPORTED, "a mask of rank 0 as an index");
		if (m + rank > 2 * MAX_RANK)
			die(UNSUPPORTED, "more than %d indices", 2 * MAX_RANK);
		for (int k = 0; k < rank; k++) {
			out[m] = items[i];
			if (mask)
				out[m] = (IndexItem){.kind = I_AT, .mask = t_dim(mask, k),
					.at = v_tensor(t_squeeze(
					t_shrink_axis(at, 0, ix_const(k), ix_const(k + 1)), 0))};
			m++;
		}
	}
	return m;
}

static Value index_tensor_value(const Value *x, size_t given, const IndexItem *items_given)
{
	Indexing g = {.x = x->u};
	int taken;
	bool gather = false;
	IndexItem *items = arena_alloc((given + 1 + 2 * MAX_RANK) * sizeof *items);
	size_t n = masks_found(given, items_given, items);
	check_places(x, n, items, &taken);
	for (size_t i = 0; i < n; i++)
		gather |= is_tensor_index(&items[i]);
	for (size_t i = 0; i < n; i++) {
		const IndexItem *it = &items[i];
		if (it->kind == I_NEW) {
			new_axis(&g);
		} else if (it->kind == I_ELLIPSIS) {
			g.axis += t_rank(x->u) - taken;
			g.after = true;
		} else if (it->kind == I_SLICE) {
			g.x = slice_axis(g.x, g.axis++, it);
			g.after = true;
		} else if (gather) {
			if (it->mask && !size_equal(it->mask, t_dim(g.x, g.axis)))
				die(MALFORMED, "a mask of %s for axis %d of %s",
					shape_text(shape_new(1, &it->mask)), g.axis,
					shape_text(g.x->shape));
			add_tensor_index(&g, &it->at);
		} else if (value_size(&it->at)) {
			g.x = at_place(g.x, g.axis, &it->at);
		} else {
			die(MALFORMED, "an index is %s, expected integers", value_text(&it->at));
		}
	}
	return v_tensor(g.n ? gather_at(&g) : g.x);
}

/* ---- lists */

static int64_t list_bound(const Value *v, int64_t n, int64_t lo, int64_t hi, int64_t deflt)
{
	if (v->kind == V_NONE)
		return deflt;
	if (v->kind != V_NUMBER || !v->is_int)
		die(MALFORMED, "a bound of a slice is %s, expected an integer", value_text(v));
	int64_t i = v->i < 0 ? v->i + n : v->i;
	return i < lo ? lo : i > hi ? hi : i;
}

static Value element_named(const Value *x, const char *name)
{
	for (size_t i = 0; x->names && i < x->n; i++)
		if (!strcmp(x->names[i], name))
			return x->at[i];
	die(MALFORMED, "there is nothing named \"%.100s\" in %s", name, value_text(x));
}

static Value index_list(const Value *x, const IndexItem *it)
{
	int64_t n = x->n;
	if (it->kind == I_AT && it->at.kind == V_STR)
		return element_named(x, it->at.s);
	if (it->kind == I_AT && it->at.kind == V_NUMBER && it->at.is_int) {
		int64_t i = it->at.i < 0 ? it->at.i + n : it->at.i;
		if (i < 0 || i >= n)
			die(MALFORMED, "index %lld is outside a list of %lld", (long long)it->at.i,
				(long long)n);
		return x->at[i];
	}
	if (it->kind != I_SLICE)
		die(MALFORMED, "a list takes an integer or a slice");
	int64_t step = slice_step(&it->step), lo = step < 0 ? -1 : 0, hi = step < 0 ? n - 1 : n;
	int64_t start = list_bound(&it->start, n, lo, hi, step < 0 ? hi : lo);
	int64_t stop = list_bound(&it->stop, n, lo, hi, step < 0 ? lo : hi);
	Value *at = arena_alloc((n + 1) * sizeof *at);
	size_t k = 0;
	for (int64_t i = start; step > 0 ? i < stop : i > stop; i += step)
		at[k++] = x->at[i];
	return v_list(k, at);
}

Value index_value(const Value *x, size_t n, const IndexItem *items)
{
	if (x->kind == V_LIST && n == 1 && items[0].kind != I_NEW && !is_tensor_index(&items[0]))
		return index_list(x, &items[0]);
	if (x->kind == V_LIST || x->kind == V_ROWS) {
		Value tensor = v_tensor(value_tensor(x, DT_NONE));
		return index_tensor_value(&tensor, n, items);
	}
	if (x->kind != V_TENSOR)
		die(MALFORMED, "%s has no elements", value_text(x));
	return index_tensor_value(x, n, items);
}
