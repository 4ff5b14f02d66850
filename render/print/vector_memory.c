/* Loads and stores of values with lanes. Contiguous elements are one vector, at any address; with
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

/* all lanes of a register */
static const char *register_text(Printer *p, UOp *index)
{
	const char *name = map_get(&p->names, PKEY(index->src[0]));
	if (!name)
		die(MALFORMED, "node %u DEFINE_REG: used before it is declared", index->src[0]->id);
	return name;
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

/* gate: what differs between lanes, or NULL */
static const char *load_memory(Printer *p, UOp *u, UOp *gate)
{
	UOp *index = u->src[0];
	DType d = lane_dtype(elem(u));
	if (lane_step(index->src[1]) != 1)
		return load_gathered(p, u, gate ? vector_cut(p, gate).s : NULL);
	const char *place = lane_text(p, index, 0);
	if (!gate)
		return arena_printf("%s(&%s)", vector_fn(p, "load", d), place);
	vector_cut(p, gate);
	return arena_printf("%s(&%s, %s)", vector_fn(p, "load_if", d), place,
		mask_arg(p, gate, dtype_size(d)));
}

VText vector_load(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	DType d = lane_dtype(elem(u));
	UOp *gate = u->nsrc > 1 ? one_lane(u->src[1]) : NULL, *each = NULL;
	const char *s;
	if (gate && varies(gate))
		each = gate;
	if (!reg_is_vector(u->src[0]->src[0]))
		s = load_memory(p, u, each);
	else if (each)
		s = arena_printf("%s(%s, %s, %s)", vector_fn(p, "where", d),
			mask_arg(p, each, dtype_size(d)), register_text(p, u->src[0]), zeros(p, d));
	else
		s = register_text(p, u->src[0]);
	if (gate && !each && gate != p->gate) {
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

/* lanes whose gate is false stay as they are */
static void store_register(Printer *p, UOp *index, const char *value)
{
	struct Vectors *v = p->vectors;
	const char *name = register_text(p, index);
	DType d = lane_dtype(elem(index));
	if (v->gate_mask)
		value = arena_printf("%s(%s, %s, %s)", vector_fn(p, "where", d),
			mask_arg(p, v->gate, dtype_size(d)), value, name);
	print_line(p, "%s = %s;", name, value);
}

void store_lanes(Printer *p, UOp *store, const char *value)
{
	struct Vectors *v = p->vectors;
	UOp *index = store->src[0];
	if (reg_is_vector(index->src[0])) {
		store_register(p, index, value);
		return;
	}
	if (lane_step(index->src[1]) != 1) {
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
