/* Documents of any level: building and verifying them, naming kernels, planning memory. Sections
 * follow the files. */
#ifndef COMMON_DOCUMENT_DOCUMENT_H
#define COMMON_DOCUMENT_DOCUMENT_H
#include "shape/shape.h"

/* ---- document.c: builds a document from its parts, for wire.c and text_parse.c */

enum { READ_RAW = 1 };   /* keep equal nodes distinct, and dead ones (show, diff) */
typedef struct Doc Doc;
/* A key that occurs twice among a map's keys and values, or NULL. */
const Val *val_key_twice(size_t n, const Val *const *kv);
/* vars and meta are maps or VNIL. Declares the vars; if they are wrong, returns NULL and sets *err.
 */
Doc *doc_begin(Level level, const Val *vars, const Val *meta, int flags, const char **err);
/* Adds the next node; op and dtype are text (dtype NULL: nil). Returns NULL, or a message ("node 17
 * ADD (h): …") and sets *status. */
const char *doc_node(Doc *d, const char *op, size_t nop, const char *dtype, size_t ndtype,
	size_t nsrc, const uint64_t *src, const Val *arg, const Val *note, int *status);
/* The finished document; if it does not end with a SINK, NULL, and *err is set. */
Graph *doc_end(Doc *d, const char **err);

/* ---- verify.c: checks a document */

/* Dies with MALFORMED (or UNSUPPORTED) and a message with the node, op and name when g breaks a
 * rule of its level. */
void verify(const Graph *g);
/* check_prepared.c: checks the rules for prepared buffers, at levels after graph; verify calls it.
 */
void check_prepared(const Graph *g);
/* check_list.c: checks the rules for lists with steps (segments.c), of all nodes of a document of a
 * level after graph; verify calls it before anything that goes through regions. */
void check_list(const Nodes *all);
/* True when a CALL or MEMCPY writes prepared buffers: it runs once, before the calls that run each
 * time. */
bool call_prepares(const UOp *call);

/* origins.c: what a call computes, in the words of the program: the op and its name and line (NULL:
 * unknown) for each buffer that it writes, then for each that was merged into it: into which, and
 * the costs of the two together and apart. Valid until it is called again. */
typedef struct {
	const char *buffer, *op, *name, *loc, *into;
	double with, without;
} Origin;
size_t origins_of(const Graph *g, const UOp *call, const Origin **at);
/* The name of what takes the most of it, as a reduction; NULL when none is known. */
const char *layer_of(const Graph *g, const UOp *call);

/* count_work.c: how many arithmetic operations on numbers (no indices; a multiply-add is two) one
 * run of a compiled kernel makes, and how many bytes it loads and stores. */
typedef struct { double operations, bytes; } KernelWork;
KernelWork count_work(UOp *kernel, const VarEnv *env);

/* lanes.c: the loops that a KERNEL with lanes means; itself where it has none */
UOp *lanes_as_loops(UOp *kernel);
/* lane_parts.c: a kernel whose vectors in registers are arrays, parts of which are loaded. */
UOp *lane_parts(UOp *kernel);

/* count_steps.c: about how many steps a call of the document takes, with these values of the size
 * variables. */
double count_steps(const Graph *g, const VarEnv *env);

/* ---- segments.c: documents whose lists have steps besides calls and copies */

/* Whether g's list has BINDs, LOOPs, IFs and the like. */
bool steps_listed(const Graph *g);
/* Applies fn to each segment of g, a maximal run of calls and copies, as a document of its own, and
 * returns g with what came out; a g without steps is one segment. In a segment a buffer that the
 * rest of g uses too has the role `output` if the segment writes it, else `input`. Names of new
 * buffers and kernels become distinct. */
Graph *segments_map(Graph *g, Graph *(*fn)(Graph *segment, void *ctx), void *ctx);

/* ---- name_kernel.c */

/* The names in a schedule so far, initially zero. kernel_named returns the KERNEL with a name
 * distinct from those of the others; kernels that differ only in their names become one. */
typedef struct { Map named, taken; } KernelNames;
UOp *kernel_named(KernelNames *n, UOp *kernel);
void kernel_names_free(KernelNames *n);
/* The same for all kernels of a schedule. */
Graph *name_kernels(Graph *g);

/* ---- memplan.c: packs temporaries by lifetime */

/* Computes offsets for n temporaries of size[i] bytes, alive in calls first[i]..last[i], so that
 * none that are alive at the same time overlap. Returns the workspace size; *bound gets the largest
 * sum alive at once. The starts of large ones are staggered within their page, which may cost 4 KB
 * each. */
int64_t memory_plan(size_t n, const int64_t *size, const int *first, const int *last, int align,
	int64_t *offset, int64_t *bound);
/* plan_memory.c: sets the offsets of a schedule's temporaries and meta.workspace. With symbolic
 * sizes this is left to run. */
Graph *plan_memory(Graph *g);
#endif
