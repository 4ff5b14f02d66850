/* Where a kernel comes from, in the words of whoever wrote the program. `schedule` leaves in
 * meta.origin what each buffer that it makes is computed by, and `fuse` in meta.merges which
 * buffers are no longer stored, because the kernel that writes another one computes them too.
 *
 *     origin: {t3: ["REDUCE", "/layer1/conv1/Conv", "/layer1/conv1/Conv"], t4: ["MAX", …]}
 *     merges: [["t3", "t4", 100, 228]]        →  of the kernel that writes t4: t4, t3
 *
 * meta is free, so that other values there count as none. */
#include "document/document.h"
#include "shape/shape.h"

typedef VEC(Origin) Found;

static const Val *rows_of(const Graph *g)
{
	const Val *rows = val_get(g->meta, "merges");
	return rows && rows->kind == VAL_ARRAY ? rows : NULL;
}

static bool is_row(const Val *row)
{
	return row->kind == VAL_ARRAY && row->n >= 2 && row->a[0]->kind == VAL_STR &&
		row->a[1]->kind == VAL_STR;
}

/* The merges into each buffer: a chain of numbers + 1, the last one first. */
typedef struct { const Val *rows; Map last; uint32_t *next; } Index;

static const Index *index_of(const Graph *g)
{
	static ARENA Index index;
	const Val *rows = rows_of(g);
	if (index.rows == rows)
		return &index;
	map_free(&index.last);
	index.rows = rows;
	index.next = arena_alloc((rows->n + 1) * sizeof *index.next);
	for (size_t i = 0; i < rows->n; i++) {
		uint64_t into = is_row(rows->a[i]) ? PKEY(rows->a[i]->a[1]) : 0;
		index.next[i] = (uintptr_t)map_get(&index.last, into);
		map_put(&index.last, into, (void *)(uintptr_t)(i + 1));
	}
	return &index;
}

static const char *text_at(const Val *row, size_t i)
{
	return row && row->kind == VAL_ARRAY && row->n > i && row->a[i]->kind == VAL_STR ?
		row->a[i]->s : NULL;
}

static double number_at(const Val *row, size_t i)
{
	const Val *v = row->n > i ? row->a[i] : VNIL;
	return v->kind == VAL_INT ? (double)v->i : v->kind == VAL_FLOAT ? v->f : 0;
}

/* What layout makes of a buffer is named after it: t3.packed0 is of t3's. */
static const Val *row_of(const Graph *g, const char *buffer)
{
	const Val *all = val_get(g->meta, "origin"), *row = val_get(all, buffer);
	const char *dot = row ? NULL : strrchr(buffer, '.');
	return dot ? val_get(all, arena_printf("%.*s", (int)(dot - buffer), buffer)) : row;
}

static Origin origin_at(const Graph *g, const char *buffer, const Val *merge)
{
	const Val *row = row_of(g, buffer);
	return (Origin){.buffer = buffer, .op = text_at(row, 0), .name = text_at(row, 1),
		.loc = text_at(row, 2), .into = merge ? merge->a[1]->s : NULL,
		.with = merge ? number_at(merge, 2) : 0,
		.without = merge ? number_at(merge, 3) : 0};
}

size_t origins_of(const Graph *g, const UOp *call, const Origin **at)
{
	static ARENA Found found;
	Map seen = {0};
	found.n = 0;
	for (uint32_t k = 1; k < call->nsrc && call_writes(call) >> (k - 1) & 1; k++)
		vec_push(&found, origin_at(g, buffer_name(call->src[k]), NULL));
	for (size_t i = 0; i < found.n && rows_of(g); i++) {
		const Index *x = index_of(g);
		uint64_t into = PKEY(val_str(found.at[i].buffer));
		for (uintptr_t r = (uintptr_t)map_get(&x->last, into); r; r = x->next[r - 1]) {
			const Val *row = x->rows->a[r - 1];
			if (!is_row(row) || map_get(&seen, PKEY(row)))
				continue;
			map_put(&seen, PKEY(row), (void *)row);
			vec_push(&found, origin_at(g, row->a[0]->s, row));
		}
	}
	map_free(&seen);
	*at = found.at;
	return found.n;
}

static bool folds(const Origin *o)
{
	int op = o->op ? op_find(o->op) : -1;
	return op >= 0 && op_info[op].cls == CLASS_AXES;
}

const char *layer_of(const Graph *g, const UOp *call)
{
	const Origin *at;
	size_t n = origins_of(g, call, &at), main = 0;
	while (main < n && !(folds(&at[main]) && (at[main].name || at[main].loc)))
		main++;
	main = main < n ? main : 0;
	for (; main < n; main++)
		if (at[main].name || at[main].loc)
			return at[main].name ? at[main].name : at[main].loc;
	return NULL;
}
