/* Registers of kernels with vector loops. Where every place of a DEFINE_REG is a constant, or a
 * lane plus a multiple of the loop's size, it becomes variables acc0_0, acc0_1, …, as wide as its
 * widest loop; a narrower loop reads and writes part of a variable. Compilers keep variables in
 * registers, but arrays often not.
 *
 * A register of lanes × lanes elements may also be read by columns, lane * lanes + c: then its rows
 * are transposed, once for all columns. */
#include "index/index.h"
#include "print/vector.h"
#include "index/ix.h"
#include <limits.h>
#include <stdlib.h>

enum { MOST_VARIABLES = 256, MOST_TURNED = 16 };

const VReg *reg_of(const Printer *p, const UOp *storage)
{
	const VReg *r = p->vectors ? map_get(&p->vectors->regs, PKEY(storage)) : NULL;
	return r && !r->array ? r : NULL;
}

static int64_t reg_size(const UOp *reg)
{
	return reg->arg->a[1]->kind == VAL_INT ? reg->arg->a[1]->i : 0;
}

static VReg *reg_planned(Printer *p, UOp *reg)
{
	VReg *r = map_get(&p->vectors->regs, PKEY(reg));
	if (!r) {
		r = arena_alloc(sizeof *r);
		*r = (VReg){.lanes = 1, .narrow = INT_MAX, .array = reg_size(reg) < 2};
		map_put(&p->vectors->regs, PKEY(reg), r);
	}
	return r;
}

/* A place as lane * *stride + *k: stride 0 means no lane, a stride of the number of lanes a column
 * of rows that are vectors. lane NULL: of any vector loop. False when the place has none of these
 * forms. */
static bool lane_place(UOp *e, UOp *lane, int64_t *stride, int64_t *k, int *lanes)
{
	Sum s;
	if (e->op == OP_RAMP) {
		*stride = e->arg->i;
		*lanes = dtype_lanes(e->dtype);
		return ix_is_const(e->src[0], k) && (*stride == 1 || *stride == *lanes);
	}
	sum_of(&s, e);
	*k = s.k;
	*stride = *lanes = 0;
	if (s.n == 0)
		return true;
	if (s.n != 1 || (lane ? s.t[0].m != lane : !is_vector_range(s.t[0].m)))
		return false;
	*stride = s.t[0].c;
	*lanes = lanes_of(s.t[0].m);
	return *stride == 1 || *stride == *lanes;
}

/* Makes the register as wide as its widest loop. */
static void reg_widen(Printer *p, UOp *index)
{
	VReg *r = reg_planned(p, index->src[0]);
	int64_t stride, k, size = reg_size(index->src[0]), square;
	int n;
	if (index->nsrc != 2 || !lane_place(index->src[1], NULL, &stride, &k, &n) || k < 0 ||
		k >= size) {
		r->array = true;
		return;
	}
	if (!stride)
		return;
	square = (int64_t)n * n;
	if (stride == 1)
		r->array |= k % n || k + n > size;
	else
		r->array |= n > MOST_TURNED || k % square >= n || (k / square + 1) * square > size;
	r->columns |= stride > 1;
	r->lanes = n > r->lanes ? n : r->lanes;
	r->narrow = n < r->narrow ? n : r->narrow;
}

/* Columns are read, never written. */
static void reg_stored(Printer *p, const UOp *index)
{
	int64_t stride, k;
	int n;
	if (index->nsrc == 2 && lane_place(index->src[1], NULL, &stride, &k, &n) && stride > 1)
		reg_planned(p, index->src[0])->array = true;
}

static bool is_reg(const UOp *storage) { return storage->op == OP_DEFINE_REG; }

void registers_plan(Printer *p, const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op == OP_INDEX && is_reg(u->src[0]))
			reg_widen(p, u);
		if (u->op == OP_STORE && is_reg(u->src[0]->src[0]))
			reg_stored(p, u->src[0]);
	}
	for (size_t i = 0; i < all->n; i++) {
		if (!is_reg(all->at[i]))
			continue;
		VReg *r = reg_planned(p, all->at[i]);
		r->array |= reg_size(all->at[i]) > MOST_VARIABLES * (int64_t)r->lanes;
		r->array |= r->columns && r->narrow != r->lanes;
	}
}

bool vector_reg(Printer *p, UOp *reg, const char *name)
{
	VReg *r = (VReg *)reg_of(p, reg);
	if (!r)
		return false;
	Buf names = {0};
	r->name = name;
	for (int64_t i = 0; i * r->lanes < reg_size(reg); i++)
		buf_printf(&names, "%s%s_%lld", i ? ", " : "", name, (long long)i);
	print_line(p, "%s %s;",
		r->lanes == 1 ? p->d->type[elem(reg)] : vector_type(p, elem(reg), r->lanes),
		buf_str(&names));
	buf_free(&names);
	return true;
}

/* The variable that holds element k; *part is the element's place in it. */
static const char *reg_variable(const VReg *r, int64_t k, int *part)
{
	*part = (int)(k % r->lanes);
	return arena_printf("%s_%lld", r->name, (long long)(k / r->lanes));
}

/* ---- squares of rows, transposed where their columns are read */

typedef struct { const char *name; uint32_t scope; } Transposed;

/* The variable with column k % lanes of the square that begins at variable k / lanes. */
static const char *column(Printer *p, const UOp *reg, int64_t k)
{
	struct Vectors *v = p->vectors;
	const VReg *r = reg_of(p, reg);
	int64_t first = k / (r->lanes * r->lanes) * r->lanes;
	const Val *key = val_str(arena_printf("%s_%lld", r->name, (long long)first));
	Transposed *t = map_get(&v->transposed, PKEY(key));
	if (!t || t->scope != v->scope) {
		Buf rows = {0};
		for (int i = 0; i < r->lanes; i++)
			buf_printf(
				&rows, "%s%s_%lld", i ? ", " : "", r->name, (long long)first + i);
		t = arena_alloc(sizeof *t);
		*t = (Transposed){arena_printf("t%d", p->temps++), v->scope};
		const char *fn = transpose_fn(p, lane_dtype(elem(reg)), r->lanes);
		print_line(p, "%s %s[%d] = {%s};", vector_type(p, elem(reg), r->lanes), t->name,
			r->lanes, buf_str(&rows));
		print_line(p, "%s(%s);", fn, t->name);
		buf_free(&rows);
		map_put(&v->transposed, PKEY(key), t);
	}
	return arena_printf("%s[%d]", t->name, (int)(k % r->lanes));
}

/* ---- places */

const char *vector_place(Printer *p, UOp *index)
{
	const VReg *r = reg_of(p, index->src[0]);
	int64_t stride, k;
	int part, n;
	if (!r)
		return NULL;
	if (!r->name)
		die(MALFORMED, "node %u DEFINE_REG: used before it is declared", index->src[0]->id);
	CHECK(lane_place(index->src[1], NULL, &stride, &k, &n));
	const char *name = stride > 1 ? column(p, index->src[0], k) : reg_variable(r, k, &part);
	if (r->lanes == 1)
		return name;
	if (!stride)
		return arena_printf("%s[%d]", name, part);
	UOp *lane = stride > 1 ? ix_div(ix_sub(index->src[1], ix_const(k)), ix_const(stride)) :
							 ix_add(index->src[1], ix_const(part - k));
	return arena_printf("%s[%s]", name, expr_text(p, lane).s);
}

/* A varying place's first element, and the distance to the next lane's. */
static int64_t varying_place(Printer *p, const VReg *r, UOp *index, int64_t *stride)
{
	int64_t k;
	int n;
	if (!r->name || !lane_place(index->src[1], p->vectors->lane, stride, &k, &n))
		die(MALFORMED, "node %u INDEX: a counter or register is used where it has no value",
			index->id);
	return k;
}

const char *load_reg(Printer *p, UOp *index)
{
	struct Vectors *v = p->vectors;
	const VReg *r = reg_of(p, index->src[0]);
	int64_t stride, k = varying_place(p, r, index, &stride);
	int part;
	if (stride > 1)
		return column(p, index->src[0], k);
	const char *name = reg_variable(r, k, &part);
	if (r->lanes == v->lanes)
		return name;
	return arena_printf("__builtin_shufflevector(%s, %s, %s)", name, name,
		number_list(v->lanes, part, r->lanes));
}

/* ---- stores */

/* ", 16, 17, 2, 3": n places, of which count, beginning with `first`, are those of a second
 * vector */
static const char *places(int n, int first, int count)
{
	Buf b = {0};
	for (int i = 0; i < n; i++)
		buf_printf(&b, ", %d", i >= first && i < first + count ? n + i - first : i);
	char *s = arena_strdup(buf_str(&b));
	buf_free(&b);
	return s;
}

/* stores n lanes into a wider variable from place `part` on; the other lanes stay */
static void store_part(Printer *p, const UOp *reg, const char *name, int part, const char *value)
{
	struct Vectors *v = p->vectors;
	const VReg *r = reg_of(p, reg);
	const char *narrow =
		vector_variable(p, vector_type(p, elem(reg), v->lanes), value);
	const char *wide = arena_printf("__builtin_shufflevector(%s, %s, %s)", narrow, narrow,
		number_list(r->lanes, 0, v->lanes));
	wide = vector_variable(p, vector_type(p, elem(reg), r->lanes), wide);
	print_line(p, "%s = __builtin_shufflevector(%s, %s%s);", name, name, wide,
		places(r->lanes, part, v->lanes));
}

void store_reg(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	const VReg *r = reg_of(p, index->src[0]);
	int64_t stride, k = varying_place(p, r, index, &stride);
	int part;
	v->scope++;
	const char *name = reg_variable(r, k, &part);
	if (v->gate_mask) {
		DType d = lane_dtype(elem(index));
		UOp *old = NODE(OP_LOAD, index->dtype, VNIL, index);
		const char *before = d == elem(index) || elem(index) != DT_BOOL ?
			vector_arg(p, old) :
			arena_printf("(%s)(%s) & 1", vector_type(p, DT_BOOL, v->lanes),
				mask_arg(p, old, 1));
		value = arena_printf("%s(%s, %s, %s)", vector_fn(p, "where", d),
			mask_arg(p, v->gate, dtype_size(d)), value, before);
	}
	if (r->lanes == v->lanes)
		print_line(p, "%s = %s;", name, value);
	else
		store_part(p, index->src[0], name, part, value);
}
