/* Scans in parts (scans.c). */
#ifndef RENDER_ACTIONS_SCANS_H
#define RENDER_ACTIONS_SCANS_H
#include "actions/actions.h"

/* Scans along a range that is split into parts of n. The ranges over which what is before
 * a part is folded: over parts, and within one. */
typedef struct { UOp *range, *part, *within; int64_t n; } ScanParts;
void scan_parts_find(ScanParts *s, const Facts *f, UOp *range, int64_t n);
/* The scan u in parts of `inner` iterations, of which `outer` is the number. */
UOp *scan_in_parts(const ScanParts *s, UOp *u, UOp *outer, UOp *inner);
#endif
