/* Proofs that a document of a level after graph does what a document may do, and nothing else:
 * every place inside its buffer, items that write apart, memory that is planned right. */
#ifndef COMMON_PROVE_PROVE_H
#define COMMON_PROVE_PROVE_H
#include "index/index.h"

/* Proves g by the table of checks (prove.c). At levels before schedule there is nothing to prove.
 * When something cannot be shown, dies with MALFORMED and one line that names call, kernel, place
 * and cause. g has passed verify(). */
void prove_document(const Graph *g);

/* g with a gate at each LOAD and STORE whose place cannot be proved: what is outside is then read
 * as 0 (false), and not written. What cannot have a gate stays as it is: ranges, sorts, PROGRAMs.
 */
Graph *guard_places(Graph *g);

/* Proofs hold for sizes up to 65536 (a variable's own limits, if they are lower). When one of these
 * is larger, proves the places again for just these sizes. */
void prove_sizes(const Graph *g, const VarEnv *sizes);

/* What prove_document has shown of the places of a kernel, the first time that it was called: of
 * how many indices by the bounds of their values alone, by these under gates and IFs, and with
 * symbols; and the milliseconds that it took. */
typedef struct { uint32_t call; const UOp *kernel; size_t bounds, gates, symbols; double ms; }
	PlacesShown;
size_t places_shown(const PlacesShown **at);

/* ---- for the checks of this room */

/* A call of a document: its number K (its place in the SINK) and the KERNEL it calls; NULL for a
 * MEMCPY and a CUSTOM. */
typedef struct { const Graph *graph; uint32_t number; UOp *call, *kernel; } ProvedCall;

/* A row of the table: a check of the whole document, or of one call after another in their order;
 * one of them may be NULL. */
typedef struct {
	const char *name;
	void (*document)(const Graph *g);
	void (*call)(const ProvedCall *c);
} ProofCheck;

/* The KERNEL that a CALL runs, also as a PROGRAM; else NULL. */
UOp *call_kernel(const UOp *call);
/* Dies with MALFORMED and "K3 r_64_48: message". */
_Noreturn void prove_fault(const ProvedCall *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* places.c: each index inside its buffer, sizes of ranges not negative */
void prove_places(const ProvedCall *c);
#endif
