/* Values with lanes as vector types of the compiler, GNU C's as gcc and clang have it:
 *
 *     STORE acc[RAMP 16 1] acc[…] + BROADCAST v0 * b[…]
 *     →  acc1 = mulacc_f32x16(splat_f32x16(v0), load_f32x16(&b[r2 * 64 + 16]), acc1); */
#include "print/vector.h"

void vectors_begin(Printer *p)
{
	static ARENA struct LaneTables tables;
	p->vectors = arena_alloc(sizeof *p->vectors);
	p->vectors->of = &tables;
}

void vectors_end(Printer *p)
{
	struct Vectors *v = p->vectors;
	map_free(&v->lets);
}

/* ---- statements */

bool vector_reg(Printer *p, UOp *reg, const char *name)
{
	if (!p->vectors || !reg_is_vector(reg))
		return false;
	print_line(p, "%s %s;", vector_type(p, reg->dtype, (int)reg->arg->a[1]->i), name);
	return true;
}

static void print_let(Printer *p, UOp *u)
{
	VText *t = arena_alloc(sizeof *t);
	*t = varies(u->src[0]) ? vector_text(p, u->src[0]) :
		elem(u) == DT_BOOL ? (VText){mask_arg(p, u->src[0], 4), PREC_ATOM, 0, 4} :
					   (VText){vector_arg(p, u->src[0]), PREC_ATOM, 0, 0};
	int lanes = p->vectors->lanes;
	const char *type = elem(u) == DT_BOOL ? mask_type(p, t->mask, lanes) :
						 vector_type(p, elem(u), lanes);
	const char *name = arena_printf("v%d", p->lets++);
	print_line(p, "const %s %s = %s;", type, name, t->s);
	*t = (VText){name, PREC_ATOM, 0, t->mask, true};
	map_put(&p->vectors->lets, PKEY(u), t);
}

static const char *value_text(Printer *p, UOp *value)
{
	DType d = elem(value);
	if (d == DT_BOOL)
		return arena_printf("(%s)(%s) & 1", vector_type(p, d, p->vectors->lanes),
			mask_arg(p, value, 1));
	return vector_arg(p, value);
}

static void print_store(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	UOp *gate = u->nsrc > 2 ? u->src[2] : NULL;
	bool each = gate && varies(gate);
	if (each) {
		v->gate_mask = vector_cut(p, gate).s;
		v->gate = gate;
	} else if (gate) {
		gate = one_lane(gate);
		p->gate = gate;
		print_line(p, "if (%s) {", expr_text(p, gate).s);
		p->indent++;
	}
	store_lanes(p, u, value_text(p, stored_value(u)));
	if (p->gate) {
		p->indent--;
		print_line(p, "}");
	}
	p->gate = v->gate = NULL;
	v->gate_mask = NULL;
}

bool vector_statement(Printer *p, UOp *u)
{
	const UOp *lanes = u->op == OP_STORE ? u->src[0] : u;
	if (!p->vectors || (u->op != OP_LET && u->op != OP_STORE) || !has_lanes(lanes))
		return false;
	p->vectors->lanes = dtype_lanes(lanes->dtype);
	if (u->op == OP_LET)
		print_let(p, u);
	else
		print_store(p, u);
	return true;
}

void vectors_fence(Printer *p)
{
	if (p->vectors && p->vectors->streams)
		print_line(p, "%s();", vector_fence(p));
}
