/* Keeps the conditions on sizes that could not be decided when a graph was read in meta until the
 * sizes are known. (Documents made by trace have them already.)
 *
 *     y of [height//2*2] + x of [height]   →   meta {checks: [["eq", "height//2*2", "height"]]}
 *
 * Where a loop or branch is, conditions belong to it: whoever computes a node compares its sources.
 *
 * At later levels shapes have become indices, from which the conditions could not be derived again.
 */
#include "shape/regions.h"

void checks_remember(Graph *g)
{
	const Val *checks = size_checks();

	if (g->level == LV_GRAPH && !steps_in(g) && checks != VNIL && !val_get(g->meta, "checks"))
		g->meta = val_set(g->meta, "checks", checks);
}
