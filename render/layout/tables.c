/* A large table that is looked up by index, and of which there is a copy in panels (an embedding
 * whose words are also scored), is looked up in the copy, or both would stay in memory.
 *
 *     pack[p,k,l] = w[k, min(48*p, n-48) + l];  y[i,j] = w[ids[i], j]
 *     →   y[i,j] = pack[j // 48, ids[i], j - min(48 * (j // 48), n-48)] */
#include "document/document.h"
#include "target/target.h"
#include "layout/layout.h"

/* A table and its copy: the copy's axes by number in the table, the last one in panels of `width`;
 * `first` is the first column of a panel, `number` of it. */
typedef struct { UOp *from, *packed, *number, *first; int axis[MAX_RANK], n; int64_t width; } Table;
typedef VEC(Table) Tables;

/* ---- copies in panels */

/* The axis of the place at which u stands, -1: none. */
static int axis_of_index(const UOp *place, const UOp *u)
{
	for (uint32_t k = 1; k < place->nsrc; k++)
		if (place->src[k] == u)
			return (int)k - 1;
	return -1;
}

/* The place in a table from which the call copies: STORE(INDEX(to, r…), LOAD(INDEX(from, …))). */
static const UOp *copied_from(const UOp *call)
{
	if (!call_has_kernel(call) || call->nsrc != 3 || call->src[0]->nsrc != 1)
		return NULL;
	const UOp *store = call->src[0]->src[0], *load = store->src[1];
	if (store->nsrc != 2 || load->op != OP_LOAD || load->nsrc != 1 ||
		store->src[0]->nsrc != load->src[0]->nsrc + 1)
		return NULL;
	for (uint32_t k = 1; k < store->src[0]->nsrc; k++)
		if (store->src[0]->src[k]->op != OP_RANGE)
			return NULL;
	return load->src[0];
}

/* Is what the call prepares a copy in panels of all of a table? */
static bool table_find(Table *t, UOp *call)
{
	const UOp *from = copied_from(call), *to;
	if (!from)
		return false;
	to = call->src[0]->src[0]->src[0];
	int last = (int)to->nsrc - 1;
	UOp *lane = to->src[last], *zero = ix_const(0);
	*t = (Table){.from = place_buffer(call, from), .packed = place_buffer(call, to),
		.number = to->src[1], .n = last - 1, .width = range_size(lane)};
	for (int i = 0; i + 1 < t->n; i++)
		if ((t->axis[i] = axis_of_index(from, to->src[2 + i])) < 0)
			return false;
	int column = 0;
	while (column < t->n && !(range_mask(from->src[1 + column]) >> range_axis(lane) & 1))
		column++;
	if (column == t->n)
		return false;
	t->axis[t->n - 1] = column;
	t->first = substitute(from->src[1 + column], 1, &lane, &zero);
	return ix_add(t->first, lane) == from->src[1 + column];
}

/* Is it large, so that a lookup in the copy costs little more? It has more than the second cache
 * holds, in rows of more than a page. */
static bool is_large(const Table *t)
{
	int64_t columns, count;
	return ix_is_const(t->from->shape->dim[t->axis[t->n - 1]], &columns) &&
		columns >= target->machine.page / 4 && shape_static(t->packed->shape, &count) &&
		count >= target->machine.cache[1] / 4;
}

static void find_tables(Tables *tables, const UOp *sink)
{
	Table t;
	for (uint32_t i = 0; i < sink->nsrc; i++)
		if (call_prepares(sink->src[i]) && table_find(&t, sink->src[i]) && is_large(&t))
			vec_push(tables, t);
}

/* ---- lookups */

static bool is_lookup(const UOp *load, const UOp *call, const UOp *table)
{
	if (load->op != OP_LOAD || load->src[0]->op != OP_INDEX ||
		load->src[0]->src[0]->op != OP_PARAM || place_buffer(call, load->src[0]) != table)
		return false;
	Nodes all = walk(load->src[0]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD)
			return true;
	return false;
}

/* The same element of the copy. */
static UOp *looked_up(UOp *load, const Table *t, int64_t slot)
{
	UOp *const *of = load->src[0]->src + 1, *at[MAX_RANK + 1];
	UOp *column = of[t->axis[t->n - 1]], *number = ix_div(column, ix_const(t->width));
	at[0] = param_new(slot, t->packed);
	at[1] = number;
	for (int i = 0; i + 1 < t->n; i++)
		at[2 + i] = of[t->axis[i]];
	at[1 + t->n] = ix_sub(column, substitute(t->first, 1, (UOp **)&t->number, &number));
	UOp *place = node_new(OP_INDEX, load->dtype, 2 + t->n, at, VNIL);
	return load->nsrc > 1 ? NODE(OP_LOAD, load->dtype, VNIL, place, load->src[1]) :
		NODE(OP_LOAD, load->dtype, VNIL, place);
}

static UOp *look_up_in_copy(UOp *call, const Table *t)
{
	Nodes all = walk(call->src[0]);
	VEC(UOp *) from = {0};
	VEC(UOp *) to = {0};
	for (size_t i = 0; call->op == OP_CALL && i < all.n; i++)
		if (is_lookup(all.at[i], call, t->from)) {
			vec_push(&from, all.at[i]);
			vec_push(&to, looked_up(all.at[i], t, (int)call->nsrc - 1));
		}
	if (from.n) {
		explain(call->src[0], "%s is looked up in its panels", buffer_name(t->from));
		UOp *kernel = substitute(call->src[0], from.n, from.at, to.at);
		call = call_compact(call_with_buffer(call, kernel, t->packed));
	}
	vec_free(&from);
	vec_free(&to);
	return call;
}

Graph *layout_tables(Graph *g)
{
	Tables tables = {0};
	VEC(UOp *) out = {0};
	find_tables(&tables, g->sink);
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		for (size_t t = 0; t < tables.n && !call_prepares(call); t++)
			call = look_up_in_copy(call, &tables.at[t]);
		vec_push(&out, call);
	}
	g = graph_with_calls(g, out.n, out.at);
	vec_free(&tables);
	vec_free(&out);
	return g;
}
