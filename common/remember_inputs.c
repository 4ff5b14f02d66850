/* The order of a document's inputs, as its user wrote them, kept in meta: what nobody reads is left out by the
 * first stage that writes the document again, and walk order is not the user's.
 *
 *     meta {inputs: ["x", "unused", "w"]} */
#include "uop.h"

void inputs_remember(Graph *g)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	size_t n = 0;

	if (val_get(g->meta, "inputs"))
		return;
	const Val **name = arena_alloc((all.n + 1) * sizeof *name);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && !strcmp(buffer_role(all.at[i]), "input"))
			name[n++] = val_str(buffer_name(all.at[i]));
	g->meta = val_set(g->meta, "inputs", val_array(n, name));
}
