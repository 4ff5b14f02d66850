/* Between the files that write pages. */
#ifndef COMMON_SHOW_PAGE_H
#define COMMON_SHOW_PAGE_H
#include "document/document.h"

/* ---- json.c: JSON that may stand in a <script> of a page: there is no < in it */

/* What is longer than `most` bytes ends with "…", and not within a character. */
void json_text(Buf *out, const char *s, size_t n, size_t most);
void json_string(Buf *out, const char *s);
void json_number(Buf *out, double v);                        /* null when it is not finite */
/* A value in the text form, as a string; maps without these keys (the last one NULL). */
void json_value(Buf *out, const Val *v, const char *const *without);

/* ---- page_list.c: the calls of a document in their order, and where its memory is */

/* A CALL, MEMCPY or step, and how deep in REGIONs it is. */
typedef struct { const UOp *u; int depth; } Entry;
typedef VEC(Entry) Entries;
/* The entries of the SINK's list, each step followed by those of its regions. */
void page_entries(Entries *out, const UOp *list, int depth);
/* The JSON arrays of entries (with times, origins, work) and of buffers (with lifetimes). */
void page_list(Buf *out, const Graph *g, const Entries *list, const uint32_t *index,
	const VarEnv *sizes);
void page_buffers(Buf *out, const Graph *g, const Entries *list, const uint32_t *index,
	const VarEnv *sizes);
/* The bytes of a value of those sizes; -1 when they are not known. */
double page_bytes(const UOp *u, const VarEnv *sizes);

/* ---- page_document.c: a document as one JSON object */

void page_document(Buf *out, const Graph *g, const char *file);
#endif
