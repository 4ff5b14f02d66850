/* check_views SEED COUNT: chains of movement ops against one step after another.
 *
 * Random chains over fixed and symbolic shapes are composed by views_index; at every element the
 * place and the gate must be those found by undoing each op with numbers. views_print runs on each
 * chain too. */
#include "shape/shape.h"
#include "index/ix.h"
#include <stdlib.h>

static UOp *n, *m, *range[MAX_RANK];
static int64_t n_is, m_is, at[MAX_RANK];
static bool symbolic;
static int wrong;

static int pick(int k) { return rand() % k; }

static int64_t value(UOp *u)
{
	if (u->op == OP_CONST)
		return u->dtype == DT_BOOL ? u->arg->b : u->arg->i;
	if (u->op == OP_VAR)
		return u == n ? n_is : m_is;
	for (int i = 0; u->op == OP_RANGE; i++)
		if (range[i] == u)
			return at[i];
	int64_t a = value(u->src[0]), b = value(u->src[1]);
	switch (u->op) {
	case OP_ADD: return a + b;
	case OP_MUL: return a * b;
	case OP_CMPLT: return a < b;
	case OP_AND: return a && b;
	default: {
		int64_t q = a / b - (a % b && (a < 0) != (b < 0));
		return u->op == OP_FLOORDIV ? q : a - q * b;
	}
	}
}

/* ---- the reference: one op undone */

static void undo_reshape(const Shape *in, const Shape *out, const int64_t *i, int64_t *to)
{
	int64_t flat = 0;
	for (int k = 0; k < out->rank; k++)
		flat = flat * value(out->dim[k]) + i[k];
	for (int k = in->rank - 1; k >= 0; k--) {
		to[k] = flat % value(in->dim[k]);
		flat /= value(in->dim[k]);
	}
}

static bool undo(UOp *u, const int64_t *i, int64_t *to)
{
	const Shape *in = u->src[0]->shape;
	int axis[MAX_RANK],
		count = u->op == OP_PERMUTE || u->op == OP_FLIP ? arg_axes(u->arg, axis) : 0;
	UOp *pair[MAX_RANK][2];
	bool real = true;
	if (u->op == OP_PAD || u->op == OP_SHRINK)
		arg_pairs(u->arg, pair);
	if (u->op == OP_RESHAPE)
		undo_reshape(in, u->shape, i, to);
	for (int k = 0; k < in->rank && u->op != OP_RESHAPE; k++) {
		int64_t size = value(in->dim[k]);
		if (u->op == OP_PERMUTE)
			to[axis[k]] = i[k];
		else if (u->op == OP_EXPAND)
			to[k] = size == 1 ? 0 : i[k];
		else if (u->op == OP_FLIP)
			to[k] = i[k];
		else
			to[k] = i[k] + (u->op == OP_PAD ? -1 : 1) * value(pair[k][0]);
		real &= u->op != OP_PAD || (to[k] >= 0 && to[k] < size);
	}
	for (int k = 0; k < count && u->op == OP_FLIP; k++)
		to[axis[k]] = value(in->dim[axis[k]]) - 1 - i[axis[k]];
	return real;
}

static bool undo_all(UOp *u, int64_t *i)
{
	int64_t to[MAX_RANK];
	for (; op_movement(u->op); u = u->src[0]) {
		if (!undo(u, i, to))
			return false;
		memcpy(i, to, sizeof to);
	}
	return true;
}

/* ---- random chains */

static UOp *random_size(void)
{
	return symbolic && !pick(3) ? (pick(2) ? n : m) : ix_const(1 + pick(6));
}

static const Val *shape_val(int rank, UOp *const *dim)
{
	const Val *v[MAX_RANK];
	for (int i = 0; i < rank; i++)
		v[i] = size_to_val(dim[i]);
	return val_array(rank, v);
}

/* sizes split in two or joined with the one before */
static const Val *random_reshape(const Shape *s)
{
	UOp *dim[3 * MAX_RANK];
	int k = 0;
	for (int i = 0; i < s->rank; i++) {
		int64_t c = 0;
		int f = ix_is_const(s->dim[i], &c) && c > 3 ? 2 + pick(c - 2) : 1;
		if (f > 1 && c % f == 0) {
			dim[k++] = ix_const(f);
			dim[k++] = ix_const(c / f);
		} else if (k && !pick(3)) {
			dim[k - 1] = ix_mul(dim[k - 1], s->dim[i]);
		} else {
			dim[k++] = s->dim[i];
		}
		if (!pick(8))
			dim[k++] = ix_const(1);
	}
	if (!pick(6)) {
		dim[0] = shape_count(s);
		k = 1;
	}
	return k > 7 ? NULL : shape_val(k, dim);
}

static const Val *random_cut(UOp *size)
{
	int64_t c;
	if (ix_is_const(size, &c)) {
		int64_t from = pick(2) ? 0 : pick(c);
		return VARR(val_int(from), val_int(from + 1 + pick(c - from)));
	}
	if (!ix_prove_lt(ix_const(2), size))
		return VARR(val_int(0), size_to_val(size));
	return VARR(val_int(pick(2)), size_to_val(ix_sub(size, ix_const(pick(2)))));
}

static UOp *random_step(UOp *u)
{
	static const Op ops[] = {
		OP_PERMUTE, OP_FLIP, OP_PAD, OP_SHRINK, OP_EXPAND, OP_RESHAPE, OP_RESHAPE};
	const Shape *s = u->shape;
	const Val *v[MAX_RANK];
	UOp *dim[MAX_RANK];
	int64_t c;
	int k = 0, first = s->rank ? pick(s->rank) : 0;
	Op op = ops[pick(7)];
	for (int i = 0; i < s->rank; i++) {
		dim[i] = s->dim[i];
		if (op == OP_EXPAND && ix_is_const(dim[i], &c) && c == 1 && pick(2))
			dim[i] = random_size();
		if (op == OP_PERMUTE)
			v[k++] = val_int((i + first) % s->rank);
		else if (op == OP_FLIP && pick(2))
			v[k++] = val_int(i);
		else if (op == OP_PAD)
			v[k++] = VARR(val_int(pick(3)), val_int(pick(3)));
		else if (op == OP_SHRINK)
			v[k++] = random_cut(dim[i]);
	}
	const Val *arg = op == OP_RESHAPE ? random_reshape(s) :
		op == OP_EXPAND		  ? shape_val(s->rank, dim) :
					    val_array(k, v);
	UOp *next = arg ? NODE(op, DT_F32, arg, u) : u;
	return shape_max_count(next->shape) < 5000 ? next : u;
}

/* ---- the comparison */

static UOp *top, *source, *place[MAX_RANK], *gate;

static void check_element(void)
{
	int64_t i[MAX_RANK];
	memcpy(i, at, sizeof i);
	bool real = undo_all(top, i), right = real == (!gate || value(gate));
	for (int k = 0; k < source->shape->rank && real && right; k++)
		right = value(place[k]) == i[k];
	if (right)
		return;
	Buf b = {0};
	Graph g = {.level = LV_GRAPH,
		.vars = VNIL,
		.meta = VNIL,
		.sink = NODE(OP_SINK, DT_NONE, VNIL, top)};
	text_print(&b, &g);
	printf("wrong:\n%s", buf_str(&b));
	buf_free(&b);
	wrong++;
}

static void each_element(int k)
{
	if (k == top->shape->rank) {
		check_element();
		return;
	}
	int64_t size = value(top->shape->dim[k]);
	for (at[k] = 0; at[k] < size && wrong < 3; at[k]++)
		each_element(k + 1);
}

static void random_case(int seed)
{
	UOp *dim[3];
	Buf text = {0};
	srand(seed);
	arena_reset();
	vars_declare(VMAP(val_str("n"), VARR(val_int(2), val_int(6)), val_str("m"),
		VARR(val_int(3), val_int(5))));
	n = vars_find("n", 1);
	m = vars_find("m", 1);
	symbolic = pick(2);
	int rank = 1 + pick(3);
	for (int i = 0; i < rank; i++)
		dim[i] = random_size();
	top = LEAF(OP_BUFFER, DT_F32,
		VMAP(val_str("name"), val_str("x"), val_str("shape"), shape_val(rank, dim),
			val_str("role"), val_str("input")));
	for (int i = 2 + pick(6); i > 0; i--)
		top = random_step(top);
	for (int i = 0; i < top->shape->rank; i++)
		range[i] = ix_range(i, "loop", top->shape->dim[i]);
	source = views_index(top, range, place, &gate);
	Graph g = {.level = LV_GRAPH,
		.vars = VNIL,
		.meta = VNIL,
		.sink = NODE(OP_SINK, DT_NONE, VNIL, top)};
	views_print(&text, &g);
	buf_free(&text);
	for (n_is = 2; n_is <= 6; n_is += symbolic ? 2 : 9)
		for (m_is = 3; m_is <= 5; m_is += symbolic ? 1 : 9)
			each_element(0);
}

int main(int argc, char **argv)
{
	process.stage = "check_views";
	int seed = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 1000;
	for (int i = 0; i < count && wrong < 3; i++)
		random_case(seed * 7919 + i);
	return wrong ? FAILED : DONE;
}
