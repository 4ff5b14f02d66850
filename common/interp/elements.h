/* Declarations shared by the files of the interpreter: loops over elements, and products of arrays.
 */
#ifndef INTERP_H
#define INTERP_H
#include "graph/graph.h"

/* What floats are, and how they are computed, in place of IEEE arithmetic: each is a word of 64
 * bits, whatever its dtype, of which 0 is zero. Integers and bools stay what they are. */
typedef struct {
	InterpFn fn[OP_COUNT];  /* the elementwise ops on floats */
	/* CAST and BITCAST where one of the dtypes is a float */
	void (*cast)(DType to, void *out, DType from, const void *in, size_t n);
	void (*bitcast)(DType to, void *out, DType from, const void *in, size_t n);
	void (*constant)(DType dt, void *bits);         /* a CONST's bits become its word */
	uint64_t (*key)(uint64_t word);                 /* the order in which SORT has them */
} Arithmetic;
extern const Arithmetic *arithmetic;    /* NULL: IEEE */

/* The bytes of an element in memory; CAST, and the value of a CONST, in the current arithmetic. */
static inline int element_size(DType d)
{
	return arithmetic && dtype_float(d) ? (int)sizeof(uint64_t) : dtype_size(d);
}
void element_cast(DType to, void *out, DType from, const void *in, size_t n);
void element_const(const UOp *u, void *bytes8);
/* Whether interp_contract takes a dtype. */
static inline bool contractible(DType d)
{
	return d != DT_BOOL && !(arithmetic && dtype_float(d));
}

/* What steps whose sizes and branches are data go by, as they come up: the size of a BIND, the
 * limit of a LOOP, the number of each turn, a condition. Somebody may follow them, and give
 * another. NULL: nobody does. */
extern int64_t (*steps_follow)(Op step, int64_t v);
static inline int64_t step_goes_by(Op step, int64_t v)
{
	return steps_follow ? steps_follow(step, v) : v;
}

/* The function that interp_op calls for op on sources of sdt; NULL for the casts. */
InterpFn interp_function(Op op, DType sdt);

/* Copies one element of 1, 2, 4 or 8 bytes. */
static inline void element_copy(char *to, const char *from, int size)
{
	switch (size) {
	case 1: *to = *from; break;
	case 2: memcpy(to, from, 2); break;
	case 4: memcpy(to, from, 4); break;
	default: memcpy(to, from, 8);
	}
}

/* Dies with FAILED when interpreting that many elements would take days; fmt and the arguments
 * after it name the node or kernel. */
void interp_bound(double elements, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A scan: acc = op(acc, x[i]) and out[i] = acc, rounded to dt, for each i; strides in elements. acc
 * as in interp_fold. */
void interp_scan(
	Op op, DType dt, size_t n, void *acc, const void *x, ptrdiff_t xs, void *out, ptrdiff_t os);
/* acc = the identity of op (one element of dtype_acc(dt)) */
void interp_identity(Op op, DType dt, void *acc);
/* ---- contract.c */
enum { MAX_CONTRACT = 64 };
/* An axis of size n. a, b and out are the strides of the operands and of the output in elements;
 * sum: the axis is summed, and out does not move along it. */
typedef struct { int64_t n, a, b, out; bool sum; } ContractAxis;
/* out = the sums of a·b over the summed axes, all of dtype dt, which is not bool. Products and sums
 * are computed in double or in 64-bit integers. Each element of out is written once, with 0 if a
 * summed axis is empty. */
void interp_contract(
	DType dt, int rank, const ContractAxis *axis, const void *a, const void *b, void *out);

/* The size of an array's elements in bytes; dies with MALFORMED for 2^62 elements or more, and with
 * FAILED when the bytes overflow. */
size_t array_size(DType dt, int rank, const int64_t *dim);

#endif
