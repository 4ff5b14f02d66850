/* What the files of the interpreter share: loops over elements, conversions of the small floats. */
#ifndef INTERP_H
#define INTERP_H
#include "graph/ops.h"

/* The function that interp_op calls for op on sources of sdt; NULL for the casts. */
InterpFn interp_function(Op op, DType sdt);

/* one element of so many bytes: 1, 2, 4 or 8 */
static inline void element_copy(char *to, const char *from, int size)
{
	switch (size) {
	case 1: *to = *from; break;
	case 2: memcpy(to, from, 2); break;
	case 4: memcpy(to, from, 4); break;
	default: memcpy(to, from, 8);
	}
}

/* Dies with FAILED when so many elements would take an interpreter days; fmt and what follows say
 * whose they are. */
void interp_bound(double elements, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A running fold: acc = op(acc, x[i]) and out[i] = acc, rounded to dt; strides in elements. acc as in interp_fold. */
void interp_scan(Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs, void *out, ptrdiff_t os);
/* acc = the identity of op (one element of dtype_acc(dt)) */
void interp_identity(Op op, DType dt, void *acc);
/* ---- contract.c */
enum { MAX_CONTRACT = 64 };
/* An axis of size n along which the operands and the output move by so many elements; sum: out does not move. */
typedef struct { int64_t n, a, b, out; bool sum; } ContractAxis;
/* out = the sums of a·b over the axes that are summed, all of dtype dt, which is not bool. Products and sums are made
 * in double, or as integers of 64 bits. Each place of out is written once; without a place to sum, with 0. */
void interp_contract(DType dt, int rank, const ContractAxis *axis, const void *a, const void *b, void *out);

/* bytes of an array's elements; dies with MALFORMED when there are 2^62 elements or more, FAILED when too many bytes */
size_t array_size(DType dt, int rank, const int64_t *dim);

#endif
