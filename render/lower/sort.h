/* A sort as statements: what its two ways share. */
#ifndef RENDER_LOWER_SORT_H
#define RENDER_LOWER_SORT_H
#include "lower/lower.h"

typedef struct {
	Lowering *l;
	Scope *s;
	UOp *load, *range, *n;          /* the key, its range, its length */
	UOp *to, *scratch;              /* INDEXes */
	bool descending;
	UOp *i, *j;                     /* registers: heads of the two runs that are merged */
} Sort;

/* The element of one of the two buffers at a place of the row, and the key there, widened as a
 * reduction's elements are; gate may be NULL. */
UOp *sort_read(const Sort *o, UOp *index, UOp *at, UOp *gate);
void sort_write(const Sort *o, UOp *index, UOp *at, UOp *v);
UOp *sort_key(const Sort *o, UOp *at, UOp *gate);
/* A loop in the row, `depth` loops deep; its end. */
UOp *sort_open(const Sort *o, int depth, UOp *size);
void sort_close(const Sort *o, UOp *range);
/* radix.c: the sort by digits; false, and no statement, where it does not fit the key, the row or
 * the target. */
bool radix_emit(Sort *o);
#endif
