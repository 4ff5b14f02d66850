/* Sets of levels, as ops.def and levels.def write them: for the files that include those tables. */
#ifndef COMMON_GRAPH_LEVEL_SETS_H
#define COMMON_GRAPH_LEVEL_SETS_H
#include "graph/ops.h"

enum { T = 1 << LV_TENSOR, G = 1 << LV_GRAPH, S = 1 << LV_SCHEDULE, L = 1 << LV_LOOPS,
	P = 1 << LV_PROGRAM };
enum { GRAPHS = T | G, KERNELS = S | L | P, LOOPS = L | P, ALL = GRAPHS | KERNELS };
#endif
