/* What rounding a document's constants does to its outputs. */
#ifndef PACK_LOSS_H
#define PACK_LOSS_H
#include "graph/graph.h"

/* Before the broker starts: n operands of `run`, or none: random inputs. They have to live on. */
void loss_offer(size_t n, const char *const *operands);
/* Runs both, and prints a line for each output on standard error: how far it is apart. exact has
 * this user's mark. Dies as run does. */
void loss_print(const Graph *exact, const Graph *rounded);
#endif
