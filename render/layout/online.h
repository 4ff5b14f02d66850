/* What online.c and online_calls.c share. */
#ifndef LAYOUT_ONLINE_H
#define LAYOUT_ONLINE_H
#include "document/document.h"
#include "layout/layout.h"

/* The three calls that become six, and what was found in them. */
typedef struct {
	UOp *scores, *soft, *product;
	int lead;                       /* the axes of scores before rows and keys */
	UOp *loop[3][MAX_RANK];         /* by call: its range of each axis of scores */
	UOp *load[2];                   /* of the scores, of the weights */
	UOp *x, *scale;                 /* what the softmax is of; c, NULL: 1 */
	bool by_recip;                  /* e * RECIP(Σ) instead of e / Σ */
	UOp *fold, *weighed;            /* the product's sum, its other factor */
	int64_t rows, keys;             /* of a block */
	UOp *blocks, *parts;            /* of keys, of rows */
	bool rows_left, keys_left;      /* is the last block of either not whole? */
	UOp *rest[MAX_RANK];            /* the other ranges of the product's sum */
	int nrest;
} Attention;
/* The pass: how many calls touch each buffer; the calls so far; how many buffers were made. */
typedef struct { Map readers; VEC(UOp *) out; int count, padded; } Online;

/* The only STORE of a call's kernel, if it has no gate; else NULL. */
static inline UOp *call_store(const UOp *call)
{
	const UOp *k = call->src[0];
	return k->nsrc == 1 && k->src[0]->nsrc == 2 ? k->src[0] : NULL;
}
/* exp2((x - max x) * scale), scale NULL: 1: the range along which that is the greatest, and these;
 * NULL: e is none (faint.c). */
const UOp *softmax_power(const UOp *e, UOp **x, UOp **scale);
/* Puts the calls in place of the three behind those so far. */
void online_calls(Online *o, const Attention *a);
#endif
