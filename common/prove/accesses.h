/* Internals of the proofs: what a kernel touches, in the order in which it does. */
#ifndef ACCESSES_H
#define ACCESSES_H
#include "index/index.h"
#include "prove/prove.h"

/* A place that a statement reads or writes. `at` is the statement's number among the KERNEL's
 * sources. The scratch place of an RSORT counts as written. */
typedef struct {
	UOp *index, *gate;      /* gate: NULL without one */
	UOp *value;             /* of a STORE; NULL for a LOAD and for scratch */
	uint32_t at;
	bool store;
} Access;
typedef struct { const Access *at; size_t n; } Accesses;

/* The places that a KERNEL touches, in the order of its statements, those that a statement reads
 * before the one that it writes. A LET reads where it stands, not where it is used. Cached; in the
 * arena. */
Accesses kernel_accesses(UOp *kernel);
/* Whether a check, by its name, was asked before of the same kernel with as many buffers that are
 * not told from each other; from now on it was. */
bool proved_before(const ProvedCall *c, const char *check);
/* The PARAM, DEFINE_REG or DEFINE_LOCAL in which a place lies. */
static inline UOp *memory_of(const Access *a) { return a->index->src[0]; }
/* The buffer of a call in which it lies; NULL for memory of the kernel's own. */
const UOp *access_buffer(const UOp *call, const Access *a);
/* The LETs that a statement uses, of those that it uses by others the first; until the next
 * call. */
Nodes lets_in(UOp *statement);
/* Whether u numbers items of which there is one: it is 0. */
bool is_only_item(const UOp *u);
/* As ix_plain, but for LETs that are no index arithmetic, or occur in one of n conditions; and
 * where there is one item, its number is 0. The array stays as it is until arena_reset. */
UOp *index_open(UOp *u, size_t n, UOp *const *cond);
/* Its text, for messages. */
const char *index_text(UOp *u);
#endif
