/* Loads and stores of vector loops. Contiguous elements are one vector, at any address; with
 * another step, or places that were themselves loaded, access is lane by lane. A lane whose gate is
 * false touches no memory:
 *
 *     load_f32x16(&x[r0 * 40])     load_if_f32x16(&x[r0 * 40], t0)     __extension__ (f32x16){…} */
#include "print/vector.h"

static const char *type_of(Printer *p, const UOp *u)
{
	return vector_type(p, elem(u), p->vectors->lanes);
}

/* the place of lane k */
static const char *lane_text(Printer *p, UOp *index, int k)
{
	UOp *one = NODE(OP_INDEX, elem(index), VNIL, index->src[0], at_lane(p, index->src[1], k));
	expr_text(p, one);
	return expr_place(p, one);
}

/* ---- loads */

/* 0 as an element: C++ does not make an element of fewer bits from an int */
static const char *zero_element(Printer *p, DType d)
{
	return dtype_size(d) < 4 ? arena_printf("(%s)0", p->d->type[d]) : zero_text(d);
}

static const char *zeros(Printer *p, DType d)
{
	return arena_printf("%s(%s)", vector_fn(p, "splat", d), zero_text(d));
}

/* lane by lane from memory: {x[…], x[…], …} */
static const char *load_gathered(Printer *p, UOp *u, const char *mask)
{
	struct Vectors *v = p->vectors;
	const char *none = zero_element(p, lane_dtype(elem(u)));
	Buf b = {0};
	for (int k = 0; k < v->lanes; k++) {
		const char *s = lane_text(p, u->src[0], k);
		s = mask ? arena_printf("%s[%d] ? %s : %s", mask, k, s, none) : s;
		buf_printf(&b, "%s%s", k ? ", " : "", s);
	}
	const char *s = arena_printf("__extension__ (%s){%s}", type_of(p, u), buf_str(&b));
	buf_free(&b);
	return s;
}

/* The condition, for each lane, under which the place may be accessed: its own gate and, when the
 * store's gate differs between lanes, that one. A variable; NULL: there is no gate, or it is the
 * same for all lanes. */
static const char *load_mask(Printer *p, UOp *u, int *bytes)
{
	struct Vectors *v = p->vectors;
	UOp *gate = u->nsrc > 1 && varies(p, u->src[1]) ? u->src[1] : NULL;
	if (!gate || gate == v->gate) {
		*bytes = v->gate ? v->gate_bytes : 0;
		return v->gate_mask;
	}
	VText t = vector_cut(p, gate);
	*bytes = t.mask;
	if (!v->gate)
		return t.s;
	const char *both = arena_printf("%s & %s", t.s, mask_arg(p, v->gate, t.mask));
	return vector_variable(p, mask_type(p, t.mask, v->lanes), both);
}

static const char *load_memory(Printer *p, UOp *u, const char *mask, int bytes)
{
	UOp *index = u->src[0];
	DType d = lane_dtype(elem(u));
	if (lane_step(p, index->src[1]) != 1)
		return load_gathered(p, u, mask);
	const char *place = lane_text(p, index, 0);
	if (!mask)
		return arena_printf("%s(&%s)", vector_fn(p, "load", d), place);
	static const DType of[] = {[1] = DT_I8, [2] = DT_I16, [4] = DT_I32, [8] = DT_I64};
	if (bytes != dtype_size(d))
		mask = vector_cast(p, of[dtype_size(d)], of[bytes], mask);
	return arena_printf("%s(&%s, %s)", vector_fn(p, "load_if", d), place, mask);
}

VText vector_load(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	DType d = lane_dtype(elem(u));
	UOp *gate = u->nsrc > 1 && u->src[1] != p->gate && !varies(p, u->src[1]) ? u->src[1] : NULL;
	int bytes = 0;
	const char *s;
	if (reg_of(p, u->src[0]->src[0])) {
		s = varies(p, u->src[0]) ? load_reg(p, u->src[0]) :
					   vector_arg(p, NODE(OP_LOAD, elem(u), VNIL, u->src[0]));
		if (u->nsrc > 1 && varies(p, u->src[1]))
			s = arena_printf("%s(%s, %s, %s)", vector_fn(p, "where", d),
				mask_arg(p, u->src[1], dtype_size(d)), s, zeros(p, d));
	} else {
		const char *mask = load_mask(p, u, &bytes);
		s = load_memory(p, u, mask, bytes);
	}
	if (gate) {
		expr_text(p, gate);
		s = arena_printf("(%s ? %s : %s)", expr_at(p, gate, PREC_EQ), s, zeros(p, d));
	}
	if (elem(u) == DT_BOOL)
		return (VText){arena_printf("(%s)(%s != 0)", mask_type(p, 1, v->lanes), s),
			PREC_UNARY, 0, 1};
	return (VText){s, PREC_ATOM, 0, 0};
}

/* ---- stores */

/* each lane to its own place, in order */
static void store_scattered(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	value = vector_variable(p, vector_type(p, elem(index), v->lanes), value);
	for (int k = 0; k < v->lanes; k++) {
		const char *gate = v->gate_mask ? arena_printf("if (%s[%d]) ", v->gate_mask, k) :
						  "";
		print_line(p, "%s%s = %s[%d];", gate, lane_text(p, index, k), value, k);
	}
}

void store_memory(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	if (lane_step(p, index->src[1]) != 1) {
		store_scattered(p, store, value);
		return;
	}
	const char *place = lane_text(p, index, 0);
	bool past = val_is_str(store->arg, "nt") && !v->gate_mask;
	const char *fn = vector_fn(p, v->gate_mask ? "store_if" : past ? "stream" : "store",
		lane_dtype(elem(index)));
	v->streams |= past;
	if (v->gate_mask)
		print_line(p, "%s(&%s, %s, %s);", fn, place, value,
			mask_arg(p, v->gate, dtype_size(elem(index))));
	else
		print_line(p, "%s(&%s, %s);", fn, place, value);
}
