/* Level graph → level schedule: one kernel for each op, views composed into loads. Passes are in
 * schedule.c. */
#ifndef SCHEDULE_H
#define SCHEDULE_H
#include "graph/graph.h"

/* ---- simplify.c */

/* Applies the rules to a fixed point and removes dead nodes. Level graph in and out. */
Graph *simplify(Graph *g);

/* ---- bind_buffers.c */

/* Level graph in and out. Afterwards each output, each sort key and each ASSIGN's new content is a
 * node that gets a buffer (a CONTIGUOUS is put over a view or a constant), nodes that are only
 * another name for one are removed (DETACH, REDUCE over nothing, a second CONTIGUOUS), and no chain
 * of views is longer than VIEW_CHAIN. meta.devices lists the devices that COPY names. */
Graph *bind_buffers(Graph *g);
enum { VIEW_CHAIN = 64 };

/* True when the value of u has a buffer of its own: not a view, a constant, an ARANGE or an alias.
 * A BUFFER has one. */
bool has_buffer(const UOp *u);
/* u, or under ASSIGNs the new content that is their value. */
UOp *content(UOp *u);
/* The same, looking through RESHAPEs as well: the node whose buffer holds the elements of u in u's
 * order, if that has a buffer. */
UOp *content_flat(UOp *u);

/* ---- find_inside.c */

enum { INSIDE_NODES = 64 };      /* of a reduction, at most */
/* For each node (by id) whether it is computed inside the only reduction that reads it. The table
 * has node_limit() entries and lives in the arena. */
uint8_t *find_inside(const Nodes *all);

/* ---- index_views.c */

/* A kernel being made. buffer[k] is what slot k stands for; slot 0 is the one it writes. */
typedef struct {
	UOp *const *home;         /* by id of a graph node: its BUFFER, or NULL */
	const uint8_t *inside;    /* the table of find_inside */
	VEC(UOp *) buffer;
} Body;

/* The PARAM that stands for buffer in the kernel; a new slot when it has none yet. */
UOp *body_param(Body *b, UOp *buffer);
/* The value of graph node u at idx (one index for each of its axes, none for a scalar) as a
 * kernel's expression: a LOAD through its views, a constant, an index, or the expression of a
 * contraction's inner nodes. */
UOp *value_at(Body *b, UOp *u, UOp *const *idx);
/* Elementwise node u at idx, whose sources are read by value_at. */
UOp *op_at(Body *b, UOp *u, UOp *const *idx);
/* v where gate holds, else 0 (false); gate NULL: v. A LOAD gets the gate itself, so that it does
 * not touch memory where the gate is false. */
UOp *gated(UOp *v, UOp *gate);

/* ---- build_kernels.c */

/* The STORE that computes graph node u into slot 0 of b (b->buffer.at[0] is set), for every op but
 * SCATTER. A SORT needs scratch memory of its own size in slot 1. */
UOp *build_store(Body *b, UOp *u);
/* The STORE that copies graph node x, cast to the dtype of slot 0. */
UOp *build_copy(Body *b, UOp *x);
/* The STORE of a SCATTER into slot 0, which holds its x already. */
UOp *build_scatter(Body *b, UOp *u);

/* ---- list_steps.c */

/* A graph with loops, branches and sizes that data gives, to level schedule: the calls of each
 * region, segment by segment, as bind_buffers and make_kernels make them, with the steps between
 * (common/README.md). */
Graph *list_steps(Graph *g);

/* ---- list_constants.c */

/* Of nodes in order, by id: whether a node is a constant or depends on constants alone, element by
 * element and through views. The caller frees it. */
uint8_t *list_constants(const Nodes *all);

/* ---- list_updates.c */

/* The graph with each ASSIGN in its SINK, behind the outputs if it is none, and read by nothing
 * else. Returns g, changed. */
Graph *list_updates(Graph *g);

/* ---- list_turns.c */

/* Of the loops being listed, by id + 1: the name (a Val) of the turn; the limit, where it is a size
 * (a UOp). */
typedef struct { Map name, limit; } Turns;
/* The size that a loop's turn is in its region's kernels, declared when it is first asked for. */
const Val *turn_name(Turns *t, int64_t loop);
/* An i64 scalar that is computed of sizes and turns, as a size; else NULL. */
UOp *scalar_size(const Turns *t, const UOp *u);
/* GATHER u of x, which stands for its first source, as a view, if its place is a size that is
 * proved to be inside in all turns; else NULL. */
UOp *slice_of(const Turns *t, const UOp *u, UOp *x);
/* The loop's region, with the condition that its limit sets where that is a size. */
UOp *with_turn_check(const Turns *t, int64_t loop, UOp *region);
/* The rows of two lists of checks; a may be none. */
const Val *rows_joined(const Val *a, const Val *b);

/* ---- make_kernels.c, order_calls.c */

/* Level graph (as bind_buffers leaves it) to level schedule: a CALL for each node that gets a
 * buffer, in the order of the nodes, then a MEMCPY for each output that is another's buffer,
 * then one for each state's new content. */
Graph *make_kernels(Graph *g);
/* Level schedule. Where nothing reads a state's old content afterwards, its new content is written
 * in place and the MEMCPY at the end is removed; the writing call may move to after the last reader
 * for this. */
Graph *order_calls(Graph *g);
#endif
