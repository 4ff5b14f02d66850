/* What a module looks like in C. Sections follow the files. */
#ifndef PACK_EMIT_EMIT_H
#define PACK_EMIT_EMIT_H
#include "module/module.h"

/* Text of a function as it is written. */
typedef struct {
	Buf *out;
	const Module *m;
	const Function *f;
	int tabs;
	VEC(const Val *) checks;        /* conditions on sizes that are not known yet */
	Map known;                      /* names of sizes that are */
	Map appended;                   /* buffers that APPEND has extended so far */
} Emit;

/* ---- sizes.c: sizes as C */

/* Appends u, a size, as an expression of type int64_t. name gives a size variable's text; NULL: its
 * identifier in the function. */
void emit_size(Emit *e, UOp *u, const char *(*name)(const SizeVar *s));
/* The same of a size in an arg. */
void emit_size_val(Emit *e, const Val *v);
/* The functions among PREFIX_max … that text calls. */
void emit_size_helpers(Buf *out, const char *prefix, const char *text);

/* ---- data.c: constants */

/* static const T ID[n] = {…}; */
void emit_constant(Buf *out, const Constant *c);

/* ---- list.c: calls, copies and steps */

/* A line, indented. */
void emit_line(Emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Entries from … to-1 of a list. */
void emit_list(Emit *e, const UOp *list, size_t from, size_t to);
/* Leave the function when a condition on sizes that are known now does not hold. */
void emit_checks(Emit *e);

/* ---- header.c, source.c: files */

void emit_header(Buf *out, const Module *m);
void emit_source(Buf *out, const Module *m);
/* "f32[n,8]" */
const char *emit_shape(const Buffer *b);
#endif
