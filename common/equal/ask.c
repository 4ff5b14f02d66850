/* What a comparison asks of a document before it is run: how often there is time to draw, and what
 * there is to be drawn. */
#include "document/document.h"
#include "shape/regions.h"
#include "equal/parts.h"

const char *input_number(const Graph *g, int k)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input") && k-- == 0)
			return buffer_name(all.at[i]);
	return NULL;
}

bool chooses(const Graph *g)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		const Val *fold = u->arg->kind == VAL_ARRAY && u->arg->n ? u->arg->a[0] : u->arg;
		if (u->op == OP_MAX || u->op == OP_MIN || val_is_str(fold, "MAX") ||
			val_is_str(fold, "MIN"))
			return true;
	}
	return false;
}

enum { ROUNDS = 10, LEAST_ROUNDS = 3 };

int affordable_rounds(const Graph *g)
{
	const double most = 1e7;
	double steps = 0;
	VarEnv env;
	int round = 0;

	if (g->vars == VNIL)
		return 1;
	for (; round < ROUNDS && (round < LEAST_ROUNDS || steps < most); round++)
		if (sizes_draw(g, round, &env))
			steps += count_steps(g, &env);
	return round;
}

enum { EDGE_POINTS = 24, LEAST_EDGE_POINTS = 4 };

int edge_points(const Graph *g, int rounds)
{
	enum { DRAWN = 2048 };
	Nodes all = walk(g->sink);
	int64_t most = 1;

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "input")) {
			int64_t n = shape_max_count(all.at[i]->shape);
			most = n > most ? n : most;
		}
	most = DRAWN / most;
	int least = rounds < LEAST_EDGE_POINTS ? LEAST_EDGE_POINTS : rounds;
	return most > EDGE_POINTS ? EDGE_POINTS : most < least ? least : (int)most;
}

NodeList input_binds(const Graph *g)
{
	Nodes all = walk(g->sink);
	NodeList binds = {0};

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BIND && all.at[i]->src[0]->op == OP_BUFFER &&
			buffer_is(all.at[i]->src[0], "input"))
			vec_push(&binds, all.at[i]);
	return binds;
}

bool is_stepped(const Graph *g)
{
	return g->level > LV_GRAPH ? steps_listed(g) : steps_in(g) != NULL;
}
