/* Registers of kernels with lanes. Where every place of a DEFINE_REG is a number, or a lane plus
 * one that is a multiple of the lanes, it becomes variables acc0_0, acc0_1, …, as wide as its
 * widest access; a narrower one reads and writes part of a variable. Compilers keep variables in
 * registers, but arrays often not. */
#include "index/index.h"
#include "print/vector.h"
#include <stdlib.h>

enum { MOST_VARIABLES = 256 };

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
		*r = (VReg){.lanes = 1, .array = reg_size(reg) < 2};
		map_put(&p->vectors->regs, PKEY(reg), r);
	}
	return r;
}

/* The first element of a place in a register; false when it is no number, or the lanes are not
 * side by side from a multiple of theirs on. */
static bool reg_place(const UOp *index, int64_t *k)
{
	UOp *place = index->nsrc == 2 ? index->src[1] : NULL;
	int n = dtype_lanes(index->dtype);
	if (!place || (n > 1 && lane_step(place) != 1))
		return false;
	return ix_is_const(n > 1 ? place->src[0] : place, k) && *k >= 0 && *k % n == 0 &&
		*k + n <= reg_size(index->src[0]);
}

/* Makes the register as wide as its widest access. */
static void reg_widen(Printer *p, UOp *index)
{
	VReg *r = reg_planned(p, index->src[0]);
	int64_t k;
	int n = dtype_lanes(index->dtype);
	r->array |= !reg_place(index, &k);
	r->lanes = n > r->lanes ? n : r->lanes;
}

void registers_plan(Printer *p, const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		if (u->op == OP_INDEX && u->src[0]->op == OP_DEFINE_REG)
			reg_widen(p, u);
	}
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i], *index = u->op == OP_STORE ? u->src[0] : NULL;
		UOp *reg = index ? index->src[0] : u;
		if (reg->op != OP_DEFINE_REG)
			continue;
		VReg *r = reg_planned(p, reg);
		r->array |= reg_size(reg) > MOST_VARIABLES * (int64_t)r->lanes;
		r->parts |= index && dtype_lanes(index->dtype) < r->lanes;
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
		buf_printf(&names, "%s%s_%lld%s", i ? ", " : "", name, (long long)i,
			r->parts ? " = {0}" : "");
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

/* ---- places */

/* The variable that holds the place's elements, of which the first is part *part. */
static const char *place_in(const UOp *index, const VReg *r, int *part)
{
	int64_t k;
	if (!r->name || !reg_place(index, &k))
		die(MALFORMED, "node %u DEFINE_REG: used before it is declared", index->src[0]->id);
	return reg_variable(r, k, part);
}

const char *vector_place(Printer *p, UOp *index)
{
	const VReg *r = reg_of(p, index->src[0]);
	int part;
	if (!r)
		return NULL;
	const char *name = place_in(index, r, &part);
	return r->lanes == 1 ? name : arena_printf("%s[%d]", name, part);
}

const char *load_reg(Printer *p, UOp *index)
{
	const VReg *r = reg_of(p, index->src[0]);
	int part, lanes = p->vectors->lanes;
	const char *name = place_in(index, r, &part);
	if (r->lanes == lanes)
		return name;
	return arena_printf("__builtin_shufflevector(%s, %s, %s)", name, name,
		number_list(lanes, part, r->lanes));
}

/* ---- stores */

/* ", 16, 17, 2, 3": n places, of which count, beginning with `first`, are those of a second
 * vector */
static const char *places(int n, int first, int count)
{
	Buf b = {0};
	for (int i = 0; i < n; i++)
		buf_printf(&b, ", %d", i >= first && i < first + count ? n + i - first : i);
	return buf_keep(&b);
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
	int part;
	const char *name = place_in(index, r, &part);
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
