/* Every way in which a rule's pattern can stand in a graph, one after the other: each variable an
 * input, a scalar or a constant of each dtype that the ops take, several shapes, random args.
 *
 *     instances_begin(r);
 *     do
 *             u = instance(r)
 *     while (instances_next()); */
#ifndef CHECK_RULES_H
#define CHECK_RULES_H
#include "rules/rule.h"

void instances_begin(const Rule *r);
bool instances_next(void);
/* NULL where this way makes no node that checks. The size n is the only variable. */
UOp *instance(const Rule *r);
/* Element i of count of an input: edge values, all combinations of those of three inputs where the
 * inputs have one long axis. */
uint64_t input_value(const UOp *input, int64_t i, int64_t count);
#endif
