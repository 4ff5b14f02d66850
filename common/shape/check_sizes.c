/* What could not be decided about sizes when a graph was read, kept in meta until the sizes are
 * known. (For what trace made it is there already.)
 *
 *     y of [height//2*2] + x of [height]   →   meta {checks: [["eq", "height//2*2", "height"]]}
 *
 * Below level graph shapes are gone into indices, so nothing there could find it again. */
#include "shape/shape.h"

void checks_remember(Graph *g)
{
	const Val *checks = size_checks();

	if (g->level == LV_GRAPH && checks != VNIL && !val_get(g->meta, "checks"))
		g->meta = val_set(g->meta, "checks", checks);
}
