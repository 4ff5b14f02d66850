/* Whether two documents, at any two levels, mean the same. */
#ifndef COMMON_EQUAL_EQUAL_H
#define COMMON_EQUAL_EQUAL_H
#include "graph/graph.h"

typedef enum { EQUAL_SAME = 0, EQUAL_REFUTED = 1, EQUAL_UNKNOWN = 3 } EqualVerdict;

/* Compares b with a, which it was made from, by both verdicts (README.md), and appends to *report
 * what was shown, what refutes it, or why it cannot be told. seed: of everything drawn. Both have
 * passed verify(). */
EqualVerdict equal_documents(const Graph *a, const Graph *b, uint64_t seed, Buf *report);
#endif
