/* layout: level schedule → schedule, for targets with vectors. Constants in the order in which they
 * are read, channels in blocks of a vector, padding stored in buffers. */
#ifndef LAYOUT_H
#define LAYOUT_H
#include "process/process.h"
#include "actions/actions.h"
#include "index/ix.h"

/* ---- passes.c */

/* The whole stage. Each pass (but for scans) returns g itself when the target has no vectors, and
 * all of them when the document has been laid out. */
extern const Pass layout_passes[];
/* All of these passes, for lower, which runs them when they have not been run. */
Graph *layout_all(Graph *g);

/* The call without the buffers that its kernel no longer names. */
UOp *call_compact(UOp *call);

/* ---- roles.c: a contraction in a kernel of level schedule */

/* The contraction with most iterations that folds two loads; c.w is the operand whose buffer is
 * constant, if either is. `facts` are those of the kernel. */
typedef struct {
	Facts facts;
	Contraction c;
} Roles;
/* Looks for a contraction in the kernel of call; false when there is none. */
bool roles_find(Roles *r, UOp *call);
/* The contraction's ranges of one role, as a set. */
uint64_t ranges_with(const Roles *r, Role role);
/* Is w constant, or does a window slide over x, so that w is small beside it? */
bool has_weights(const Roles *r, const UOp *call);
/* The buffer of the call that an INDEX addresses. */
UOp *place_buffer(const UOp *call, const UOp *index);
/* Is the buffer's content known before the first call: is its role const or prepared? */
bool is_constant(const UOp *buffer);
/* The factor of range in a place; 0: the place does not depend on it. False when the place is not
 * linear in it. */
bool place_step(UOp *flat, UOp *range, int64_t *step);
/* The output range along which a kernel's stores are contiguous, or NULL. */
UOp *stored_along(const Facts *f);
/* The ranges of a set, in order of their axes; returns how many. */
int ranges_of(const Facts *f, uint64_t set, UOp **range);

/* ---- parts.c: values that calls of their own compute into buffers over ranges */

UOp *buffer_over(const char *name, const char *role, DType dtype, int n, UOp *const *range);
/* What stands for the value in the call's kernel, once the call has the buffer behind its own. */
UOp *load_over(const UOp *call, const UOp *buffer, UOp *const *range);
/* A call that computes it, of what the kernel of `call` reads; the same of parts, named so. */
UOp *stored_by(const UOp *call, const char *name, UOp *buffer, UOp *value, UOp *const *range);
UOp *parts_call(UOp *call, UOp *buffer, UOp *value, UOp *const *range);

/* ---- the passes */

/* reductions.c: long reductions that leave few elements, split into parts. */
Graph *layout_reductions(Graph *g);
/* narrow.c: two axes of an image as one, which a GPU's groups fill better. */
Graph *layout_narrow(Graph *g);
/* scans.c: long scans beside few others, in parts. */
Graph *layout_scans(Graph *g);
/* ranges.c: ranges of which contractions take quotient and remainder, as two: of outputs; of sums,
 * when roles have been found. */
Graph *layout_ranges(Graph *g);
Graph *layout_sums(Graph *g);
/* swaps.c: contractions of narrow integers as instructions of the target. */
Graph *layout_swaps(Graph *g);
/* ends.c: copies between contractions and inputs or outputs, so that layouts may be chosen for
 * both. */
Graph *layout_ends(Graph *g);
/* The most lanes that divide n channels; 0 when there are too few channels for a vector. */
int block_for(int64_t n);
/* blocks.c: channels of temporaries in blocks; padding in the buffers of padded ones. */
Graph *layout_blocks(Graph *g);
/* winograd.c: 3×3 convolutions by F(4×4, 3×3); its transforms are marked by `winograd` in their
 * arg, and their channels are the range of this axis. */
enum { WINOGRAD_CHANNELS = 5 };
Graph *layout_winograd(Graph *g);
/* order.c: calls that prepare buffers, the largest first. */
void largest_first(size_t n, UOp **call);
/* operands.c: operands of contractions that lie in the wrong order, transposed. */
Graph *layout_operands(Graph *g);
/* online.c: softmax and the product behind it with a running maximum and sum. */
Graph *layout_online(Graph *g);
/* faint.c: weights of an attention that are faint beside the greatest are 0. An EXP2 of at most 1
 * with that in its place. */
Graph *layout_faint(Graph *g);
UOp *without_faint(UOp *e);
/* masks.c: conditions of sums as words, where vectors use them again. */
Graph *layout_masks(Graph *g);
/* fuse_at.c: one action fuse_at */
Graph *layout_fuse_at(Graph *g, const Val *action);
/* slices.c: temporaries passed from call to call in slices that stay in a cache. */
Graph *layout_slices(Graph *g);
/* Temporaries of this many bytes are worth slices: smaller ones stay in a cache anyway. */
int64_t sliced_bytes(void);
/* Of a slice at most: it is on the stack, in a core's second cache. */
int64_t slice_bytes(void);
enum { SLICES_LEAST = 8 };      /* so that threads get even shares */
/* weights.c: constants of contractions copied once, in the order in which they are read. */
Graph *layout_weights(Graph *g);
/* tables.c: large tables that are also looked up, looked up in their copies. */
Graph *layout_tables(Graph *g);

/* ---- actions.c: the actions of the schedule */

/* What is kept while a list is carried out: the calls so far, the names of their ranges after
 * splits, and what was prepared. */
typedef struct { const char *path; Rewriting w; } NamedCall;
typedef struct {
	Graph *g;
	const Val *action;      /* the one at hand */
	VEC(UOp *) call;
	VEC(NamedCall *) named;
	Map made;               /* kernel and buffers of a call that prepares → its buffer */
	Map buffer;             /* name → BUFFER */
	int count[3];           /* buffers so far, by what they hold */
} Schedule;
/* The list that --opt gives, else the one that stands in the SINK; NULL: none. */
const Val *schedule_list(const Graph *g);
/* g after these n actions. */
Graph *layout_actions(Graph *g, size_t n, const Val *const *list);
/* The action at hand cannot be. */
_Noreturn void schedule_refuse(const Schedule *s, const char *why);
/* The buffer of that name; NULL: there is none. */
UOp *buffer_named(const Schedule *s, const char *name);
/* Takes the buffers of a call that is new to it into account. */
void schedule_buffers(Schedule *s, const UOp *call);
/* The name of one of n calls, by a buffer that it writes; NULL: it has none. */
const char *call_path(size_t n, UOp *const *call, size_t i);
/* The ranges of a call, which splits of the schedule begin with. */
void call_ranges(Rewriting *w, UOp *call);

/* ---- stage.c: values in temporaries and prepared buffers */

/* A value of a call's kernel, and the order of the ranges over which it is stored. f are the facts
 * that were found last. */
typedef struct {
	UOp *call;
	Facts f;
	UOp *value, *order[MAX_RANGES];
	int n;
	bool prepared;
} Staging;
/* Why it cannot be, NULL when it can. */
const char *staging_misfit(const Staging *p);
/* As an action, the call having this name and its ranges those of w. */
const Val *staging_action(const Staging *p, const char *call, const Rewriting *w);
/* The actions at hand: on call i, the ranges of which w names. */
UOp *schedule_split(const Schedule *s, UOp *call, Rewriting *w);
void schedule_stage(Schedule *s, size_t i, const Rewriting *w);

#endif
