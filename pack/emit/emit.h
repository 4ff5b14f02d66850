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
/* Names for it: args->n, args.n */
const char *emit_member(const SizeVar *s);
const char *emit_args_name(const SizeVar *s);
/* The same of a size in an arg. */
void emit_size_val(Emit *e, const Val *v);
/* The functions among PREFIX_max … that text calls; storage: "static" or "inline". */
void emit_size_helpers(Buf *out, const char *storage, const char *prefix, const char *text);

/* ---- data.c: constants */

/* static const T ID[n] = {…}; */
void emit_constant(Buf *out, const Constant *c);

/* ---- list.c: calls, copies and steps */

/* A line's tabs; a whole line. */
void emit_start(Emit *e);
void emit_line(Emit *e, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* Entries from … to-1 of a list. */
void emit_list(Emit *e, const UOp *list, size_t from, size_t to);
/* Leave the function when a condition on sizes that are known now does not hold. */
void emit_checks(Emit *e);

/* ---- threads.c: who runs the items of a kernel */

/* A call of a kernel with a grid, whose items whoever the caller names may share. */
void emit_shared_call(Emit *e, const UOp *call, const Kernel *k);
void emit_threads_header(Buf *out, const Module *m);
void emit_threads_source(Buf *out, const Module *m);
void emit_pool(Buf *out, const Module *m);

/* ---- device.c: functions on GPUs */

/* A variant's buffer gets its memory, and goes back to the caller; a call of a kernel. */
void emit_place(Emit *e, const Buffer *b);
void emit_fetch(Emit *e, const Buffer *b);
void emit_launch(Emit *e, const UOp *call);
/* The sources of kernels; PREFIX_call_on, which chooses among f's variants; NAME_device.h, .c. */
void emit_device_code(Buf *out, const Module *m);
const char *emit_call_on_head(const Module *m, const Function *f);
void emit_call_on(Buf *out, const Module *m, const Function *f);
void emit_device_header(Buf *out, const Module *m);
void emit_device_source(Buf *out, const Module *m);

/* ---- weights.c: where constants are */

/* Decides it, once all functions are there. */
void weights_place(Module *m);
/* The content of NAME_weights.bin; sets its sum, which the source has. */
void emit_weights_file(Buf *out, Module *m);
void emit_weights_object(Buf *out, const Module *m);
void emit_weights_open(Buf *out, const Module *m);
void emit_weights_header(Buf *out, const Module *m);
void emit_weights_source(Buf *out, const Module *m);
/* A constant's first element, as an expression. */
const char *emit_constant_at(const Module *m, const Constant *c);
/* The pointer to a constant that is among them. */
void emit_weight_place(Emit *e, const Buffer *b);

/* ---- template.c: texts in files */

/* Appends the text of that template, with m's name for each NAME. */
void emit_template(Buf *out, const Module *m, const char *name);

/* ---- header.c, source.c, hpp.c: files */

void emit_header(Buf *out, const Module *m);
void emit_source(Buf *out, const Module *m);
void emit_hpp(Buf *out, const Module *m);
/* Whether PREFIX_init_ws takes the arguments, for sizes or weights. */
bool init_takes_args(const Module *m, const Function *f);
/* int PREFIX_call(…) */
const char *emit_call_head(const Module *m, const Function *f);
/* "f32[n,8]" */
const char *emit_shape(const Buffer *b);
#endif
