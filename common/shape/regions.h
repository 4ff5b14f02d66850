/* Steps whose sizes and branches are data: making them, and the regions in which nodes run. */
#ifndef COMMON_SHAPE_REGIONS_H
#define COMMON_SHAPE_REGIONS_H
#include "shape/shape.h"

/* ---- steps.c: for readers that make a graph node by node */

/* The BINDs and CARRYs so far, and a number above all loops' ids; initially zero. versions: there
 * are LOOPs of one id, of which trace/derive/join_loops.c will make one. */
typedef struct { NodeList binds; Map carries; int64_t next_loop; bool versions; } Steps;
/* To be told of each new node: a BIND declares its name, a CARRY waits for its LOOP. Returns NULL,
 * or an error. */
const char *steps_add(Steps *s, UOp *u);
/* What a walk over a LOOP or BIND relies on, where nothing is inferred (level tensor): the form of
 * its arg, and as many sources as that says. Returns NULL, or an error. */
const char *steps_written(Op op, size_t nsrc, const Val *arg);
/* Gives a LOOP or SINK that is about to be made, with the sources and arg that a document lists,
 * what it has in memory besides (graph.h). Returns NULL, or an error. Other ops are left alone. */
const char *steps_complete(const Steps *s, Op op, NodeList *src, const Val **arg);
/* The CARRY of state k of a loop, or NULL. */
UOp *steps_carry(const Steps *s, int64_t loop, int64_t k);
void steps_free(Steps *s);

/* ---- regions.c */

/* The first such step of a graph, or NULL. */
const UOp *steps_in(const Graph *g);

/* The nodes that are computed together: once (the top), in each turn of a LOOP, or when a branch of
 * an IF is taken. A LOOP or IF stands in the list of its own region like any other node. */
typedef struct Region Region;
struct Region {
	UOp *owner;             /* a LOOP or an IF; NULL: the top */
	bool other;             /* of an IF: the branch taken when the condition is false */
	Region *up;             /* the owner's region */
	int depth;
	VEC(UOp *) nodes;       /* sources, and the BINDs that a node mentions, come before users */
};
typedef struct {
	Nodes all;              /* what the roots reach */
	Map binds;              /* name's Val → BIND, as binds_of */
	Region top;
	Region **of;            /* by node id; NULL: not reached */
	Map loops;              /* a loop's id + 1 → LOOP */
	Map body, other;        /* LOOP or IF → its body or the branch of true; that of false */
} Regions;

/* The graph without the BINDs that no output needs. */
Graph *steps_prune(Graph *g);

/* The regions of what the first `wanted` of the roots need, in a graph that regions_check has
 * accepted; the other roots are BINDs, whose names it may mention. A node stands as far out as its
 * loops allow, but in a branch when only that branch uses it, with whatever it alone uses. */
Regions *regions_new(size_t wanted, size_t nroots, UOp *const *roots);
void regions_free(Regions *r);
Region *region_body(const Regions *r, const UOp *loop_or_if);
Region *region_other(const Regions *r, const UOp *branch);
/* Where u needs its source k: in its own region, but for the init of a CARRY (that of the LOOP),
 * for the values of branches, and for what each turn of a LOOP gives. */
Region *region_of_use(const Regions *r, const UOp *u, uint32_t k);

/* Checks the rules between the nodes of a document of level graph (sources, and BINDs that are
 * mentioned, before users): returns NULL, or an error with the node's position in *at and *status.
 * NULL at once when no step of this kind is there. */
const char *regions_check(const Nodes *all, size_t *at, int *status);
#endif
