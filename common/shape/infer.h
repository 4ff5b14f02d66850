/* Shared by infer.c, infer_kernel.c and infer_flow.c: the node to be made, and a function per kind
 * of op. */
#ifndef INFER_H
#define INFER_H
#include "graph/graph.h"

typedef struct {
	Op op;
	DType dt;
	size_t nsrc;
	UOp *const *src;
	const Val *arg;
	const Shape *out;
	int status;
} In;

/* Returns an error for the node. */
#define SAY(...) return arena_printf(__VA_ARGS__)

/* Each returns NULL when the node is right, else an error. */
const char *node_dtype(In *n, DType want);
const char *infer_var(In *n);
const char *infer_param(In *n);
const char *infer_range(In *n);
const char *infer_index(In *n);
const char *infer_load(In *n);
const char *infer_store(In *n);
const char *infer_over_ranges(In *n);
const char *infer_tuple(In *n);
const char *infer_side(In *n);
const char *infer_let(In *n);
const char *infer_exchange(In *n);
const char *infer_define(In *n);
const char *infer_special(In *n);
const char *infer_statement(In *n);
const char *infer_call(In *n);
const char *infer_lanes(In *n);
const char *infer_bind(In *n);
const char *infer_size(In *n);
const char *infer_turn(In *n);
const char *infer_carry(In *n);
const char *infer_loop(In *n);
const char *infer_if(In *n);
const char *infer_pick(In *n);
#endif
