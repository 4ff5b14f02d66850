/* Proofs that a document of a level after graph does what a document may do, and nothing else:
 * every place inside its buffer, items that write apart, memory that is planned right. */
#ifndef COMMON_PROVE_PROVE_H
#define COMMON_PROVE_PROVE_H
#include "index/index.h"

/* g with a gate at each LOAD and STORE whose place cannot be proved: what is outside is then read
 * as 0 (false), and not written. What cannot have a gate stays as it is: ranges, sorts, PROGRAMs.
 */
Graph *guard_places(Graph *g);

/* Proofs hold for sizes up to 65536 (a variable's own limits, if they are lower). When one of these
 * is larger, proves the places again for just these sizes; of a document with steps, which has
 * them when it runs, only a segment's. */
void prove_sizes(const Graph *g, const VarEnv *sizes);

/* Proves a document that has just been read and has passed verify() by the table of checks
 * (prove.c), segment by segment, and gives it back. At levels before schedule there is nothing to
 * prove. When something cannot be shown, dies with MALFORMED and one line that names call, kernel,
 * place and cause. With --guard, and where the project's own stages have just made it of one that
 * was proved, what cannot be shown is no fault: places get gates (guard.c), and items, registers
 * and barriers are taken at their word. */
Graph *prove_admit(Graph *g);

/* What prove_admit has shown of the places of a kernel, the first time that it was called: of
 * how many indices by the bounds of their values alone, by these under gates and IFs, and with
 * symbols; and the milliseconds that it took. */
typedef struct { uint32_t call; const UOp *kernel; size_t bounds, gates, symbols; double ms; }
	PlacesShown;
size_t places_shown(const PlacesShown **at);

/* ---- for the checks of this room */

/* A call of a document: its number K (its place in the SINK) and the KERNEL it calls; NULL for a
 * MEMCPY and a CUSTOM. */
typedef struct { const Graph *graph; uint32_t number; UOp *call, *kernel; } ProvedCall;

ProvedCall proved_call(const Graph *g, uint32_t number);

/* A row of the table: a check of the whole document, or of one call after another in their order;
 * one of them may be NULL. `order`: it is about the order in which items touch memory, not about
 * which memory that is. */
typedef struct {
	const char *name;
	void (*document)(const Graph *g);
	void (*call)(const ProvedCall *c);
	bool order;
} ProofCheck;

/* The KERNEL that a CALL runs, also as a PROGRAM, without lanes; else NULL. */
UOp *call_kernel(const UOp *call);
/* Dies with MALFORMED and "K3 r_64_48: message". */
_Noreturn void prove_fault(const ProvedCall *c, const char *fmt, ...)
	__attribute__((format(printf, 2, 3)));

/* calls.c: slots have the buffers that their kernels expect, what is written may be written, and
 * nothing is read before it is written */
void prove_calls(const Graph *g);
/* and temporaries that are alive together lie apart, within the workspace */
void prove_workspace(const Graph *g);
/* calls.c: the sizes of a kernel's grid are those of its SPECIALs. The size of dimension d, as a
 * node; whether a SPECIAL has an allowed name, and which dimension it is. */
void prove_grid(const ProvedCall *c);
UOp *grid_size(const UOp *kernel, bool local, int d);
bool special_axis(const UOp *special, bool *local, int *d);
/* registers.c: registers and arrays are read where they have been written; names stand for
 * something where they are used */
void prove_registers(const ProvedCall *c);
/* barriers.c: what an item writes to memory of its group, others touch after a BARRIER alone; no
 * lane of a vector touches what another one writes */
void prove_barriers(const ProvedCall *c);
void prove_lanes(const ProvedCall *c);
/* slices.c: calls that share slices touch what is another slice's only where nobody writes it */
void prove_slices(const Graph *g);
/* apart.c: no item writes a place that another one touches at the same time, but for the same
 * value */
void prove_apart(const ProvedCall *c);
/* places.c: each index inside its buffer, sizes of ranges not negative */
void prove_places(const ProvedCall *c);
#endif
