/* LLVM IR, printed as text. Sections follow the files. */
#ifndef RENDER_LLVM_LLVM_H
#define RENDER_LLVM_LLVM_H
#include "print/print.h"

/* ---- statements.c: statements, the function */

/* For a Dialect: the source of one lowered KERNEL, and NAME_call for a function of such slots. */
const Val *llvm_print(
	Buf *out, const Dialect *d, UOp *kernel, const char *name, UOp *call, bool restricted);
void llvm_caller(Buf *out, const Dialect *d, const char *name, size_t slots, const DType *slot,
	size_t vars, bool grid);

/* A new value, "%t7", which that instruction gives. */
const char *llvm_emit(Printer *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* The block NAME7 begins, to which the one before it goes unless it has gone elsewhere. */
void llvm_label(Printer *p, const char *name, int number);
/* The type of an element in memory, where a bool is a byte, or of lanes of them. */
const char *llvm_stored(const Printer *p, DType d);

/* ---- values.c: expressions */

/* For a Dialect: prints the instructions of u, whose sources have values; the operand that is u. */
const char *llvm_value(Printer *p, UOp *u);
/* the operand that is u, with all that it needs */
const char *llvm_operand(Printer *p, UOp *u);
/* the address of an element of what an INDEX is of: at that place, NULL: at its own; inside: there
 * is such an element */
const char *llvm_address(Printer *p, UOp *index, const char *place, bool inside);
/* a * b + c, rounded once where the processor does that fast */
const char *llvm_mulacc(Printer *p, DType t, const char *a, const char *b, const char *c);

/* ---- lanes.c: values with lanes */

/* "float", "<16 x float>"; "f32", "v16f32" */
const char *llvm_type(const Printer *p, DType d);
const char *llvm_suffix(DType d);
/* that number in each lane of d */
const char *llvm_each(const Printer *p, DType d, const char *number);
/* adds the text of instructions on elements as those on lanes */
void llvm_widen(Buf *out, const char *text, int lanes);
/* the values of these ops */
const char *llvm_broadcast(Printer *p, UOp *u);
const char *llvm_ramp(Printer *p, UOp *u);
const char *llvm_shuffle(Printer *p, UOp *u);
/* lane k of x, which is a d; x with another one there */
const char *llvm_lane(Printer *p, DType d, const char *x, int k);
const char *llvm_put_lane(Printer *p, DType d, const char *x, const char *lane, int k);
/* what is in memory at a place with lanes; gate: of each lane, or NULL */
const char *llvm_load_lanes(Printer *p, UOp *index, const char *gate);
void llvm_store_lanes(Printer *p, UOp *index, const char *value, const char *gate);

/* ---- exact.c: those for what no instruction does, printed before the kernel's */

/* "@max_f32": of an op on sources of dtype t */
const char *llvm_binary(Helpers *h, Op op, DType t);
/* "@f32_to_f16", "@f16_to_f32", the same of bf16; "@f64_to_odd" and "@int_to_odd", which make an
 * f32 that rounds to f16 or bf16 as what it comes from: the integer is a u64. Of so many lanes. */
const char *llvm_rounding(Helpers *h, const char *name, int lanes);
/* "@llvm.sqrt.f32", which is declared with these types */
const char *llvm_declare(Helpers *h, const char *name, const char *to, const char *sources);
#endif
