/* --prove, for stage.c. */
#ifndef COMMON_PROCESS_PROVE_PASS_H
#define COMMON_PROCESS_PROVE_PASS_H
#include "graph/graph.h"

/* The document as it is before the first pass. */
void prove_begin(const Graph *g);
/* Proves the document after a pass, and prints what `prove` said on standard error; ends the
 * process with FAILED when it is refuted. */
void prove_pass(const char *pass, const Graph *g);
#endif
