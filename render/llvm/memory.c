/* Loads and stores as LLVM IR: of an element, of lanes side by side, lane by lane, or only of those
 * lanes whose gate is true:
 *
 *     LOAD x[e]               →  load float, float* %t0
 *     LOAD x[RAMP e 1]        →  load <16 x float>, <16 x float>* %t1, align 4
 *     LOAD x[RAMP e 1] gate   →  call <16 x float> @llvm.masked.load.v16f32.p0v16f32(…)
 *     LOAD x[RAMP e 40]       →  16 loads and insertelements
 *
 * A gate of one lane is a branch. */
#include "llvm/llvm.h"

DType llvm_stored(DType d)
{
	return dtype_element(d) == DT_BOOL ? dtype_in_lanes(DT_U8, dtype_lanes(d)) : d;
}

/* ---- places */

/* Are they successive elements? */
static bool contiguous(const UOp *place)
{
	return place->op == OP_RAMP && place->arg->i == 1;
}

/* The address of the element at a place, "float* %t1", or of those at the lanes of places,
 * "<8 x float*> %t1"; inside: it is there. */
static const char *element(Printer *p, UOp *index, DType d, const char *place, bool inside)
{
	const char *t = llvm_type(p, dtype_element(llvm_stored(index->dtype)));
	const char *at = llvm_emit(p, "getelementptr%s %s, %s* %s, %s %s",
		inside ? " inbounds" : "", t, t,
		(const char *)map_get(&p->names, PKEY(index->src[0])), llvm_type(p, d), place);

	return dtype_lanes(d) == 1 ? arena_printf("%s* %s", t, at) :
		arena_printf("<%d x %s*> %s", dtype_lanes(d), t, at);
}

static const char *lane_address(Printer *p, UOp *index, int k)
{
	UOp *e = index->src[1];
	return element(p, index, DT_I64, e->op != OP_RAMP ?
		llvm_lane(p, e->dtype, llvm_operand(p, e), k) :
		llvm_emit(p, "add i64 %s, %lld", llvm_operand(p, e->src[0]),
			(long long)k * (long long)e->arg->i), true);
}

/* The address of an element, of successive ones as a vector, or those of lanes. */
static const char *address(Printer *p, UOp *index, bool inside)
{
	UOp *place = place_of(p, index), *e = contiguous(place) ? place->src[0] : place;
	const char *t = llvm_type(p, llvm_stored(index->dtype));
	const char *at = element(p, index, e->dtype, llvm_operand(p, e), inside);

	return e == place ? at :
		arena_printf("%s* %s", t, llvm_emit(p, "bitcast %s to %s*", at, t));
}

/* ---- loads, or stores of a value */

static const char *move_whole(Printer *p, DType d, const char *at, const char *value)
{
	const char *t = llvm_type(p, d), *align = dtype_lanes(d) == 1 ? "" :
		arena_printf(", align %d", dtype_size(dtype_element(d)));

	if (!value)
		return llvm_emit(p, "load %s, %s%s", t, at, align);
	llvm_do(p, "store %s %s, %s%s", t, value, at, align);
	return NULL;
}

static const char *move_masked(Printer *p, UOp *index, const char *gate, const char *value)
{
	DType d = llvm_stored(index->dtype), e = dtype_element(d);
	bool line = contiguous(index->src[1]);
	int n = dtype_lanes(d), bytes = dtype_size(e);
	const char *t = llvm_type(p, d), *all = llvm_suffix(d), *at = address(p, index, false);
	const char *to = line ? arena_printf("%s.p0%s", all, all) :
		arena_printf("%s.v%dp0%s", all, n, llvm_suffix(e));

	if (!value)
		return llvm_emit(p, "call %s @llvm.masked.%s.%s(%s, i32 %d, <%d x i1> %s, "
			"%s zeroinitializer)", t, line ? "load" : "gather", to, at, bytes, n, gate,
			t);
	llvm_do(p, "call void @llvm.masked.%s.%s(%s %s, %s, i32 %d, <%d x i1> %s)",
		line ? "store" : "scatter", to, t, value, at, bytes, n, gate);
	return NULL;
}

static const char *move(Printer *p, UOp *index, UOp *gate, const char *value)
{
	UOp *place = place_of(p, index);
	DType d = llvm_stored(index->dtype);
	const char *x = "undef", *one, *at;

	if (gate && dtype_lanes(gate->dtype) > 1)
		return move_masked(p, index, llvm_operand(p, gate), value);
	if (dtype_lanes(d) == 1 || contiguous(place))
		return move_whole(p, d, address(p, index, true), value);
	for (int k = 0; k < dtype_lanes(d); k++) {
		one = value ? llvm_lane(p, d, value, k) : NULL;
		at = lane_address(p, index, k);
		one = move_whole(p, dtype_element(d), at, one);
		x = value ? x : llvm_with_lane(p, d, x, one, k);
	}
	return x;
}

/* ---- LOAD, STORE, PREFETCH */

/* The block of what a gate of one lane is for, or -1. */
static int gate_begin(Printer *p, UOp *gate)
{
	return gate && dtype_lanes(gate->dtype) == 1 ? llvm_branch(p, gate) : -1;
}

/* Sources have values before it: they begin no block between this one and its own. */
const char *llvm_load(Printer *p, UOp *u)
{
	UOp *gate = u->nsrc > 1 && u->src[1] != p->gate ? u->src[1] : NULL;
	DType d = llvm_stored(u->dtype);
	const char *before = p->block, *x;
	int n = gate_begin(p, gate);

	x = move(p, u->src[0], gate, NULL);
	if (n >= 0) {
		llvm_label(p, "done", n);
		x = llvm_emit(p, "phi %s [%s, %%then%d], [%s, %%%s]", llvm_type(p, d), x, n,
			llvm_each(p, d, dtype_float(d) && !dtype_half(d) ? "0.0" : "0"), before);
	}
	return llvm_cast(p, u->dtype, d, x);
}

void llvm_store(Printer *p, UOp *u)
{
	UOp *index = u->src[0], *gate = u->nsrc > 2 ? u->src[2] : NULL;
	int n = gate_begin(p, gate);

	p->gate = n >= 0 ? gate : NULL;
	move(p, index, gate, llvm_cast(p, llvm_stored(index->dtype), index->dtype,
		llvm_operand(p, stored_value(u))));
	if (n >= 0)
		llvm_label(p, "done", n);
	p->gate = NULL;
}

/* The place need not be one that there is. */
void llvm_prefetch(Printer *p, UOp *u)
{
	UOp *index = u->src[0];

	if (dtype_lanes(index->dtype) > 1)
		die(MALFORMED, "node %u PREFETCH: of lanes", u->id);
	llvm_do(p, "call void @llvm.prefetch.p0i8(i8* %s, i32 %d, i32 %d, i32 1)",
		llvm_emit(p, "bitcast %s to i8*", address(p, index, false)),
		val_is_str(u->arg, "store"), val_is_str(u->arg, "second") ? 2 : 3);
}
