/* A module as a library: as data that programs find functions in, compiled, for Python, as sources
 * that build themselves. Sections follow the files. */
#ifndef PACK_LIBRARY_LIBRARY_H
#define PACK_LIBRARY_LIBRARY_H
#include "emit/emit.h"

/* A file of the module, by its name in the folder. */
typedef struct { const char *name; Buf text; } File;
typedef VEC(File) Files;

/* ---- table.c: the module as data */

/* NAME_module.h and NAME_module.c. */
void emit_module_header(Buf *out, const Module *m);
void emit_module_source(Buf *out, const Module *m);

/* ---- build.c: compiled */

typedef struct {
	const char *cc, *march;         /* or NULL */
} Compile;
/* Before broker_start: who compiles is a worker of it. */
void build_offer(const Compile *how);
/* Appends lib's files as a shared object; as an archive. Dies with FAILED when the compiler does.
 */
void build_shared(Buf *out, const Module *m, const Files *files);
void build_static(Buf *out, const Module *m, const Files *files);

/* ---- texts.c: what else is in a library's folder */

void emit_python(Buf *out, const Module *m);
void emit_pc(Buf *out, const Module *m);
#endif
