/* The plan of memory: each temporary lies in the workspace, and two that are alive at the same time
 * lie apart. A temporary is alive from the first call that uses it to the last.
 *
 *     t0 at 0, 256 bytes, K0 to K2; t1 at 128, K2 to K3        K2 would find one in the other
 */
#include "document/document.h"
#include "prove/prove.h"
#include <stdlib.h>

enum { ALIGN = 64 };

typedef struct { const UOp *buffer; int64_t at, end; uint32_t first, last; } Life;
typedef VEC(Life) Lives;

/* The offset of a temporary, or -1 when it has none. */
static int64_t offset_of(const UOp *b)
{
	const Val *v = val_get(b->arg, "offset");
	if (!v || v == VNIL)
		return -1;
	if (v->kind != VAL_INT || v->i < 0 || v->i % ALIGN)
		die(MALFORMED, "buffer %.80s: its offset is not a multiple of %d bytes in the "
			"workspace", buffer_name(b), ALIGN);
	return v->i;
}

/* The workspace's bytes, or INT64_MAX when the document does not say. */
static int64_t workspace_of(const Graph *g)
{
	const Val *w = val_get(g->meta, "workspace");
	bool said = w && w->kind == VAL_ARRAY && w->n && w->a[0]->kind == VAL_INT;
	return said ? w->a[0]->i : INT64_MAX;
}

static void born(Lives *l, const Graph *g, const UOp *b, uint32_t call)
{
	int64_t at = offset_of(b), most = shape_max_count(b->shape), bytes, end;
	if (at < 0)
		return;
	if (!mul_ok(most, (int64_t)dtype_size(b->dtype), &bytes) || !add_ok(at, bytes, &end) ||
		end > workspace_of(g))
		die(MALFORMED, "buffer %.80s: %s %s at offset %lld does not fit the workspace",
			buffer_name(b), dtype_name(b->dtype), shape_text(b->shape), (long long)at);
	vec_push(l, ((Life){b, at, end, call, call}));
}

static void lives_of(Lives *l, const Graph *g)
{
	Map index = {0};
	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		const UOp *call = g->sink->src[k];
		for (uint32_t i = call->op == OP_CALL; i < call->nsrc; i++) {
			const UOp *b = call->src[i];
			intptr_t at = (intptr_t)map_get(&index, PKEY(b)) - 1;
			if (at >= 0)
				l->at[at].last = k;
			else if (buffer_is(b, "temp"))
				born(l, g, b, k);
			if (at < 0 && l->n && l->at[l->n - 1].buffer == b)
				map_put(&index, PKEY(b), (void *)(intptr_t)l->n);
		}
	}
	map_free(&index);
}

static int by_place(const void *a, const void *b)
{
	const Life *x = *(Life *const *)a, *y = *(Life *const *)b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x < y ? -1 : x > y;
}

/* Puts x into the list of those alive, which is ordered by place and whose members are apart, so
 * that only its neighbours can overlap it. */
static void put_alive(const Life **alive, size_t *n, const Life *x)
{
	size_t i = *n;
	for (; i && by_place(&alive[i - 1], &x) > 0; i--)
		alive[i] = alive[i - 1];
	alive[i] = x;
	++*n;
	for (int side = 0; side < 2; side++) {
		const Life *y = side ? (i + 1 < *n ? alive[i + 1] : NULL) : i ? alive[i - 1] : NULL;
		if (y && x->at < y->end && y->at < x->end)
			die(MALFORMED, "buffers %.80s and %.80s overlap in the workspace, at bytes "
				"%lld to %lld and %lld to %lld, and K%u needs both",
				buffer_name(x->buffer), buffer_name(y->buffer), (long long)x->at,
				(long long)x->end, (long long)y->at, (long long)y->end, x->first);
	}
}

/* Lives are in the order of their first calls. Empty ones overlap nothing. */
void prove_workspace(const Graph *g)
{
	Lives l = {0};
	lives_of(&l, g);
	const Life **alive = xcalloc(l.n + 1, sizeof *alive);
	size_t n = 0;
	for (size_t i = 0; i < l.n; i++) {
		size_t kept = 0;
		for (size_t k = 0; k < n; k++)
			if (alive[k]->last >= l.at[i].first)
				alive[kept++] = alive[k];
		n = kept;
		if (l.at[i].end > l.at[i].at)
			put_alive(alive, &n, &l.at[i]);
	}
	free(alive);
	vec_free(&l);
}
