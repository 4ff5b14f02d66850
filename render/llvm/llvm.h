/* LLVM IR, printed as text. Sections follow the files. */
#ifndef RENDER_LLVM_LLVM_H
#define RENDER_LLVM_LLVM_H
#include "print/print.h"

/* ---- statements.c: statements, the function */

/* For a Dialect. */
void llvm_body(Printer *p, const Nodes *all);
void llvm_head(Printer *p, Buf *out, const char *name);
void llvm_caller(Buf *out, const Dialect *d, const char *name, size_t slots, UOp *const *buffer,
	size_t vars, bool grid);

/* An instruction, and the declaration of what it calls of LLVM's. */
const char *llvm_line(Printer *p, bool value, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* One that gives a new value, "%t7"; one that gives none. */
#define llvm_emit(p, ...) llvm_line(p, true, __VA_ARGS__)
#define llvm_do(p, ...) ((void)llvm_line(p, false, __VA_ARGS__))
/* The block NAME7 begins, to which the one before it goes unless it has gone elsewhere. */
void llvm_label(Printer *p, const char *name, int number);
/* The block THEN7 begins if that is true, else it goes on at DONE7; returns the number. */
int llvm_branch(Printer *p, UOp *cond);

/* ---- values.c: expressions */

/* For a Dialect: prints the instructions of u, whose sources have values; the operand that is u. */
const char *llvm_value(Printer *p, UOp *u);
/* the operand that is u, with all that it needs */
const char *llvm_operand(Printer *p, UOp *u);
/* lane k of x, which is a d; x with another one there */
const char *llvm_lane(Printer *p, DType d, const char *x, int k);
const char *llvm_with_lane(Printer *p, DType d, const char *x, const char *one, int k);

/* ---- memory.c: loads and stores */

/* the dtype of what is in memory, where a bool is a byte */
DType llvm_stored(DType d);
const char *llvm_load(Printer *p, UOp *u);
void llvm_store(Printer *p, UOp *u);
void llvm_prefetch(Printer *p, UOp *u);

/* ---- instructions.c: instructions.def */

/* "float", "<16 x float>"; "f32", "v16f32" */
const char *llvm_type(const Printer *p, DType d);
const char *llvm_suffix(DType d);
/* that number in each lane of d */
const char *llvm_each(const Printer *p, DType d, const char *number);
/* Declares LLVM's own functions that instructions call. */
void llvm_declare(Printer *p, const char *text);
/* The value of an op that the table has; NULL: it has none. */
const char *llvm_op(Printer *p, UOp *u);
/* x as another dtype: by one CONVERSION, or by way of f32 */
const char *llvm_cast(Printer *p, DType to, DType from, const char *x);
#endif
