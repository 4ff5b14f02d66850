/* Documents of any level: put together, checked, named, their memory planned.  Sections follow the files. */
#ifndef COMMON_DOCUMENT_DOCUMENT_H
#define COMMON_DOCUMENT_DOCUMENT_H
#include "shape/shape.h"

/* ---- document.c: a document put together from its parts, each checked, for wire.c and text.c ------------- */

enum { READ_RAW = 1 };   /* keep equal nodes apart and dead ones too (show, diff); no stage does */
typedef struct Doc Doc;
/* A key that stands twice in a map's keys and values, or NULL. */
const Val *val_key_twice(size_t n, const Val *const *kv);
/* vars and meta: maps or VNIL. Declares the vars; *err gets the reason when they are wrong (then NULL). */
Doc *doc_begin(Level level, const Val *vars, const Val *meta, int flags, const char **err);
/* The next node; op and dtype as text (dtype NULL: nil). Returns NULL, or the message ("node 17 ADD (h): …") and *status. */
const char *doc_node(Doc *d, const char *op, size_t nop, const char *dtype, size_t ndtype, size_t nsrc,
	const uint64_t *src, const Val *arg, const Val *note, int *status);
/* The whole; NULL and *err when there is no SINK at the end. */
Graph *doc_end(Doc *d, const char **err);

/* ---- verify.c: a graph against levels.def -------------------------------------------------------------- */

/* Dies with MALFORMED (or UNSUPPORTED) naming node, op and name, when g breaks a rule of its level. */
void verify(const Graph *g);
/* check_prepared.c: the rules of buffers of role prepared, for a level below graph; verify calls it. */
void check_prepared(const Graph *g);
/* True when a CALL or MEMCPY writes prepared buffers: it runs once, before the first of the calls that run each time. */
bool call_prepares(const UOp *call);

/* ---- name_kernel.c ------------------------------------------------------------------------------------------------------- */

/* A schedule's names so far; starts as zeros. kernel_named gives the KERNEL under its own name, distinct from those of
 * the others: equal kernels, whatever their names were, are one. */
typedef struct { Map named, taken; } KernelNames;
UOp *kernel_named(KernelNames *n, UOp *kernel);
void kernel_names_free(KernelNames *n);
/* The same for all kernels of a schedule. */
Graph *name_kernels(Graph *g);

/* ---- memplan.c: temporaries packed by lifetime -------------------------------------------------------------------------- */

/* n temporaries of size[i] bytes, alive in calls first[i]..last[i]: offsets so that none that live together overlap.
 * Returns the workspace size; *bound gets the greatest sum alive at once. Large ones do not all start at the same
 * place of a page, which may cost 4 KB each. */
int64_t memory_plan(size_t n, const int64_t *size, const int *first, const int *last, int align, int64_t *offset, int64_t *bound);
/* plan_memory.c: offsets for the temporaries of a schedule, meta.workspace; symbolic ones are left to run. */
Graph *plan_memory(Graph *g);
#endif
