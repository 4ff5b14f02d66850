/* A module as a library, made by the system's compiler. */
#ifndef PACK_LIBRARY_H
#define PACK_LIBRARY_H
#include "module/module.h"

typedef struct { const char *name; Buf bytes; } PackedFile;
/* Before the broker starts. cc: --cc, or NULL: cc, gcc or clang of PATH; march: --march, or NULL.
 */
void library_offer(const char *cc, const char *march);
/* Compiles those of the n files whose names end in .c or .S, and puts libNAME.so (shared) or
 * libNAME.a into out. Dies with FAILED and the compiler's first line. */
void library_make(const char *name, bool shared, size_t n, const PackedFile *file, Buf *out);
#endif
