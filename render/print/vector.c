/* Values with lanes as vector types of the compiler, GNU C's as gcc and clang have it:
 *
 *     STORE acc[16 +: 16] = acc + v0 * b[…+: 16]  acc0_1 = mulacc_f32x16(splat_f32x16(v0),
 *                                                   load_f32x16(&b[r2 * 64 + 16]), acc0_1);
 *
 * So are loops of kind "vector" that a document still has.
 *
 * Contiguous elements are loaded and stored at once, a value that is the same in all lanes is
 * computed once, and a register each of whose places is a lane of some vector becomes variables
 * instead of an array. A loop whose body does not allow this (its stores do not move with the lane)
 * stays a loop. */
#include "index/index.h"
#include "print/vector.h"
#include <stdlib.h>

bool is_vector_range(const UOp *u)
{
	int64_t n;
	return u->op == OP_RANGE && val_is_str(u->arg->a[1], "vector") &&
		ix_is_const(u->src[0], &n) && n >= 2 && n <= MOST_LANES && !(n & (n - 1));
}

int lanes_of(const UOp *range)
{
	int64_t n = 0;
	ix_is_const(range->src[0], &n);
	return (int)n;
}

void vectors_begin(Printer *p, const Nodes *all)
{
	static ARENA struct LaneTables tables;
	p->vectors = arena_alloc(sizeof *p->vectors);
	p->vectors->of = &tables;
	registers_plan(p, all);
}

void vectors_end(Printer *p)
{
	struct Vectors *v = p->vectors;
	map_free(&v->regs);
	map_free(&v->transposed);
	map_free(&v->lets);
}

/* ---- statements */

static void print_let(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	if (v->lane && !varies(p, u->src[0])) {
		const char *value = expr_text(p, u->src[0]).s,
			   *name = arena_printf("v%d", p->lets++);
		print_line(p, "const %s %s = %s;", p->d->type[elem(u)], name, value);
		map_put(&p->names, PKEY(u), (void *)name);
		return;
	}
	VText *t = arena_alloc(sizeof *t);
	*t = varies(p, u->src[0]) ? vector_text(p, u->src[0]) :
		elem(u) == DT_BOOL ? (VText){mask_arg(p, u->src[0], 4), PREC_ATOM, 0, 4} :
					   (VText){vector_arg(p, u->src[0]), PREC_ATOM, 0, 0};
	const char *type = elem(u) == DT_BOOL ? mask_type(p, t->mask, v->lanes) :
						 vector_type(p, elem(u), v->lanes);
	const char *name = arena_printf("v%d", p->lets++);
	print_line(p, "const %s %s = %s;", type, name, t->s);
	*t = (VText){name, PREC_ATOM, 0, t->mask};
	map_put(&v->lets, PKEY(u), t);
}

static bool is_place(const UOp *u, const UOp *store)
{
	return u->op == OP_LOAD && u->src[0] == store->src[0] &&
		(u->nsrc == 1 || (store->nsrc > 2 && u->src[1] == store->src[2]));
}

/* The value to store; a sum of products is rounded once where the scalar loop's would be. */
static const char *stored_value(Printer *p, UOp *store)
{
	UOp *value = store->src[1];
	DType d = elem(value);
	if (d == DT_BOOL)
		return arena_printf("(%s)(%s) & 1", vector_type(p, d, p->vectors->lanes),
			mask_arg(p, value, 1));
	if (value->op == OP_ADD && (d == DT_F32 || d == DT_F64) && is_place(value->src[0], store) &&
		value->src[1]->op == OP_MUL && p->d->mulacc[d == DT_F64]) {
		UOp *term = value->src[1];
		const char *a = vector_arg(p, term->src[0]), *b = vector_arg(p, term->src[1]);
		return arena_printf("%s(%s, %s, %s)", vector_fn(p, "mulacc", d), a, b,
			vector_arg(p, value->src[0]));
	}
	return vector_arg(p, value);
}

static void print_store(Printer *p, UOp *u)
{
	struct Vectors *v = p->vectors;
	UOp *gate = u->nsrc > 2 ? u->src[2] : NULL;
	bool each = gate && varies(p, gate);
	varies(p, u->src[0]);
	varies(p, u->src[1]);
	if (each) {
		VText t = vector_cut(p, gate);
		v->gate_mask = t.s;
		v->gate_bytes = t.mask;
		v->gate = gate;
	} else if (gate) {
		p->gate = gate;
		print_line(p, "if (%s) {", expr_text(p, gate).s);
		p->indent++;
		v->scope++;
	}
	const char *value = stored_value(p, u);
	if (reg_of(p, u->src[0]->src[0]))
		store_reg(p, u, value);
	else
		store_memory(p, u, value);
	if (p->gate) {
		p->indent--;
		v->scope++;
		print_line(p, "}");
	}
	p->gate = v->gate = NULL;
	v->gate_mask = NULL;
}

/* ---- regions */

/* The number of statements in the region whose RANGE is statement i, including both ends; 0 when it
 * must be a loop. */
static uint32_t region_length(Printer *p, uint32_t i)
{
	UOp *range = p->kernel->src[i];
	uint32_t k = i + 1;
	for (; k < p->kernel->nsrc && p->kernel->src[k]->op != OP_ENDRANGE; k++) {
		UOp *u = p->kernel->src[k];
		if (u->op != OP_LET && (u->op != OP_STORE || u->src[0]->nsrc != 2))
			return 0;
		if (u->op == OP_STORE && !varies(p, u->src[0]->src[1]))
			return 0;
	}
	return k < p->kernel->nsrc && p->kernel->src[k]->src[0] == range ? k - i + 1 : 0;
}

uint32_t vector_region(Printer *p, uint32_t i)
{
	struct Vectors *v = p->vectors;
	UOp *range = p->kernel->src[i];
	if (!v || !is_vector_range(range))
		return 0;
	v->lane = range;
	v->lanes = lanes_of(range);
	v->of->varies.round++;
	uint32_t n = region_length(p, i);
	v->of->varies.round++;
	for (uint32_t k = 1; k + 1 < n; k++) {
		UOp *u = p->kernel->src[i + k];
		p->texts->round++;
		if (u->op == OP_LET)
			print_let(p, u);
		else
			print_store(p, u);
	}
	v->lane = NULL;
	return n;
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

void vectors_scope(Printer *p)
{
	if (p->vectors)
		p->vectors->scope++;
}
