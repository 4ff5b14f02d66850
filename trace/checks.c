/* What is to be checked when the sizes are known.
 *
 *     x[n], a window of 3      →   meta {checks: [["le", 3, "n"]]}   →   vars {n: [3, …]}
 *
 * A check of one size variable alone says where that begins, and the graph is read again with sizes
 * that go by it. */
#include "io/io.h"
#include "shape/regions.h"
#include "trace.h"

/* The conditions that the nodes ask for, whoever reads them. */
static const Val *checks_of_nodes(const Graph *g)
{
	Nodes all = walk(g->sink);
	sizes_defer();
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		const Shape *shape;
		int status;
		if (op_info[u->op].cls != CLASS_FLOW && u->op != OP_SINK)
			node_infer(u->op, u->dtype, u->nsrc, u->src, u->arg, &shape, &status);
	}
	const Val *rows = size_checks();
	size_checks_reset();
	return rows;
}

static bool has_row(const Val *rows, const Val *row)
{
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		if (rows->a[i] == row)
			return true;
	return false;
}

/* Conditions on sizes that could not be decided are checked by run: meta {checks: [["eq", "n*2",
 * "m"], …]}. Where there are steps, those of a node are checked where it is computed. */
Graph *note_checks(Graph *g)
{
	const Val *old = val_get(g->meta, "checks"), *own = size_checks();
	size_checks_reset();
	if (own == VNIL)
		return g;
	const Val *nodes = steps_in(g) ? checks_of_nodes(g) : VNIL;
	VEC(const Val *) all = {0};
	for (size_t i = 0; old && old->kind == VAL_ARRAY && i < old->n; i++)
		vec_push(&all, old->a[i]);
	for (size_t i = 0; i < own->n; i++)
		if (!has_row(nodes, own->a[i]) && !has_row(old, own->a[i]))
			vec_push(&all, own->a[i]);
	if (!all.n)
		return g;
	g->meta = val_set(g->meta, "checks", val_array(all.n, all.at));
	vec_free(&all);
	return g;
}

/* The checks that do not hold for all sizes, in the sizes' normal form. */
static const Val *open_checks(const Val *rows)
{
	const char *err;
	VEC(const Val *) open = {0};
	for (size_t i = 0; i < rows->n; i++) {
		const Val *row = rows->a[i];
		UOp *a = size_from_val(row->a[1], &err), *b = size_from_val(row->a[2], &err);
		if (!check_holds(row))
			vec_push(&open, a && b ? VARR(row->a[0], size_to_val(a), size_to_val(b))
					: row);
	}
	const Val *r = val_array(open.n, open.at);
	vec_free(&open);
	return r;
}

Graph *raise_sizes(Graph *g)
{
	Buf out = {0};
	if (!checks_raise(g))
		return g;
	wire_write(&out, g);
	void *old = arena_aside(), *bytes = arena_alloc(out.n);
	memcpy(bytes, out.s, out.n);
	arena_drop(old);
	g = wire_read(bytes, out.n, NULL, 0);
	buf_free(&out);
	size_checks_reset();
	g->meta = val_set(g->meta, "checks", open_checks(val_get(g->meta, "checks")));
	return g;
}
