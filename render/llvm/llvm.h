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
/* The type of an element in memory, where a bool is a byte. */
const char *llvm_stored(const Printer *p, DType d);

/* ---- values.c: expressions */

/* For a Dialect: prints the instructions of u, whose sources have values; the operand that is u. */
const char *llvm_value(Printer *p, UOp *u);
/* the address of the element that an INDEX means */
const char *llvm_address(Printer *p, UOp *index);
/* a * b + c, rounded once where the processor does that fast */
const char *llvm_mulacc(Printer *p, DType t, const char *a, const char *b, const char *c);

/* ---- exact.c: those for what no instruction does, printed before the kernel's */

/* "@max_f32": of an op on sources of dtype t */
const char *llvm_binary(Helpers *h, Op op, DType t);
/* "@f32_to_f16", "@f16_to_f32", the same of bf16; "@f64_to_odd" and "@int_to_odd", which make an
 * f32 that rounds to f16 or bf16 as what it comes from: the integer is a u64 */
const char *llvm_rounding(Helpers *h, const char *name);
/* "@llvm.sqrt.f32", which is declared; sources: their types */
const char *llvm_intrinsic(Helpers *h, const char *name, DType to, const char *sources);
#endif
