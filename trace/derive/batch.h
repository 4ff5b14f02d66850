/* A graph over a new axis (vmap_nodes.c), for loops and branches. */
#ifndef BATCH_H
#define BATCH_H
#include "derive/derive.h"

typedef struct {
	UOp *n;
	UOp **to;               /* by the id of the original node: the batched one, or NULL */
	uint8_t *moves;         /* the same: whether it is to be batched */
	uint32_t limit;
} Batch;

/* ---- vmap_nodes.c */

UOp *lanes_of(const Batch *b, const UOp *u);     /* the batched node, or NULL */
UOp *batched(const Batch *b, UOp *u);            /* that, or u repeated along the axis */

/* ---- vmap_steps.c */

/* Sets moves, given the nodes that have the axis from the start; the caller frees it. */
void find_moving(Batch *b, Nodes all);
UOp *bind_batched(const Batch *b, UOp *u);
UOp *carry_batched(const Batch *b, UOp *u);
UOp *loop_batched(const Batch *b, UOp *u);
UOp *branch_batched(const Batch *b, UOp *u);
UOp *pick_batched(const Batch *b, UOp *u);
#endif
