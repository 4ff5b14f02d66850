/* The calls of a document in their order, for the page: what each reads and writes, where it came
 * from, how long it took; and the buffers, from their first call to their last. */
#include "page.h"
#include <stdlib.h>

/* The rows about origins in one page: a merge may be a part of every call. */
enum { ORIGINS_MOST = 200000, OF_A_CALL = 500, NAME_MOST = 400, ALIGN = 64 };

void page_entries(Entries *out, const UOp *list, int depth)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		if (list_entry(u))
			vec_push(out, ((Entry){u, depth}));
		for (uint32_t k = 0; list_step(u) && k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				page_entries(out, u->src[k], depth + 1);
	}
}

double page_bytes(const UOp *u, const VarEnv *sizes)
{
	double n = u->dtype == DT_NONE ? -1 : dtype_size(u->dtype);
	int64_t v;

	if (!u->shape)
		return -1;
	for (int i = 0; i < u->shape->rank; i++)
		n = ix_eval(u->shape->dim[i], sizes, &v) && n >= 0 ? n * (double)v : -1;
	return n;
}

static bool is_call(const UOp *u) { return u->op == OP_CALL || u->op == OP_MEMCPY; }

/* Whether source k of a call, copy or step is written by it. */
static bool is_written(const UOp *u, uint32_t k)
{
	if (u->op == OP_CALL)
		return k && k <= 64 && call_writes(u) >> (k - 1) & 1;
	return k == 0 && u->op != OP_BIND && u->op != OP_LOOP && u->op != OP_IF;
}

static bool is_buffer(const UOp *u) { return u->op == OP_BUFFER; }

/* ---- entries */

static void put_buffers(Buf *out, const UOp *u, bool written, const uint32_t *index)
{
	const char *comma = "";

	buf_printf(out, ",\"%s\":[", written ? "writes" : "reads");
	for (uint32_t k = 0; k < u->nsrc; k++)
		if (is_buffer(u->src[k]) && is_written(u, k) == written) {
			buf_printf(out, "%s%u", comma, index[u->src[k]->id]);
			comma = ",";
		}
	buf_printf(out, "]");
}

/* The time of call number k from meta.timings, [[number, name, ms] …]; NULL when there is none. */
static const Val *timing_of(const Val **timed, size_t n, size_t k, const char *name)
{
	const Val *row = k < n ? timed[k] : NULL;
	return row && (!name || val_is_str(row->a[1], name)) ? row->a[2] : NULL;
}

/* The rows by the number of the call, of n calls. */
static const Val **timings(const Graph *g, size_t n)
{
	const Val *all = val_get(g->meta, "timings");
	const Val **by = xcalloc(n + 1, sizeof *by);

	for (size_t i = 0; all && all->kind == VAL_ARRAY && i < all->n; i++) {
		const Val *row = all->a[i];
		if (row->kind == VAL_ARRAY && row->n == 3 && row->a[0]->kind == VAL_INT &&
			row->a[0]->i >= 0 && (size_t)row->a[0]->i < n &&
			row->a[2]->kind == VAL_FLOAT && row->a[2]->f >= 0)
			by[row->a[0]->i] = row;
	}
	return by;
}

static void put_text(Buf *out, const char *s)
{
	if (s)
		json_text(out, s, strlen(s), NAME_MOST);
	else
		buf_printf(out, "null");
}

/* [[buffer, op, name, line, into, with, apart] …] */
static void put_origins(Buf *out, const Graph *g, const UOp *call, size_t *left)
{
	const Origin *at;
	size_t n = *left ? origins_of(g, call, &at) : 0;

	buf_printf(out, ",\"from\":[");
	for (size_t i = 0; i < n && i < OF_A_CALL && *left; i++, --*left) {
		const char *const texts[] = {
			at[i].buffer, at[i].op, at[i].name, at[i].loc, at[i].into};
		for (int k = 0; k < 5; k++) {
			buf_printf(out, k ? "," : i ? ",[" : "[");
			put_text(out, texts[k]);
		}
		if (at[i].into) {
			buf_printf(out, ",");
			json_number(out, at[i].with);
			buf_printf(out, ",");
			json_number(out, at[i].without);
		}
		buf_printf(out, "]");
	}
	buf_printf(out, "]");
}

static void put_call(Buf *out, const Graph *g, const UOp *call, size_t *left, const uint32_t *index)
{
	const UOp *callee = call->src[0];
	const Val *name = val_get(callee->note, "name");
	const char *layer = *left ? layer_of(g, call) : NULL;

	buf_printf(out, ",\"kernel\":%u,\"layer\":", index[callee->id]);
	put_text(out, layer ? layer : name && name->kind == VAL_STR ? name->s : NULL);
	put_origins(out, g, call, left);
}

void page_list(Buf *out, const Graph *g, const Entries *list, const uint32_t *index,
	const VarEnv *sizes)
{
	const Val **timed = timings(g, list->n);
	size_t number = 0, left = ORIGINS_MOST;

	buf_printf(out, "[");
	for (size_t i = 0; i < list->n; i++) {
		const UOp *u = list->at[i].u;
		const char *name = u->op == OP_CALL ? call_name(u) : NULL;
		const Val *ms = is_call(u) ? timing_of(timed, list->n, number++, name) : NULL;
		buf_printf(out, "%s\n{\"node\":%u,\"depth\":%d", i ? "," : "", index[u->id],
			list->at[i].depth);
		put_buffers(out, u, true, index);
		put_buffers(out, u, false, index);
		if (ms) {
			buf_printf(out, ",\"ms\":");
			json_number(out, ms->f);
		}
		if (u->op == OP_CALL)
			put_call(out, g, u, &left, index);
		buf_printf(out, "}");
	}
	buf_printf(out, "]");
	free(timed);
}

/* ---- buffers */

typedef struct { const UOp *u; int first, last; int64_t at; double bytes; } Life;
typedef struct { Life *at; size_t n; int64_t workspace; } Lives;

static Lives lives_of(
	const Graph *g, const Entries *list, const uint32_t *index, const VarEnv *sizes)
{
	Lives l = {xcalloc(g->all.n + 1, sizeof(Life)), 0, 0};
	uint32_t *of = xcalloc(g->all.n + 1, sizeof *of);       /* by node: the number + 1 */

	for (size_t i = 0; i < g->all.n; i++)
		if (is_buffer(g->all.at[i])) {
			l.at[l.n++] = (Life){g->all.at[i], -1, -1, -1,
				page_bytes(g->all.at[i], sizes)};
			of[i] = l.n;
		}
	for (size_t i = 0; i < list->n; i++)
		for (uint32_t k = 0; k < list->at[i].u->nsrc; k++) {
			const UOp *b = list->at[i].u->src[k];
			Life *life = is_buffer(b) ? &l.at[of[index[b->id]] - 1] : NULL;
			if (life && life->first < 0)
				life->first = i;
			if (life)
				life->last = i;
		}
	free(of);
	return l;
}

/* Where temporaries are: as the document says, or as run will place them at these sizes. */
static void place(Lives *l)
{
	int64_t *size = xcalloc(3 * l->n + 1, sizeof *size), *at = size + l->n, bound;
	size_t *of = (size_t *)(at + l->n), n = 0;
	int *first = xcalloc(2 * l->n + 1, sizeof *first), *last = first + l->n;
	bool planned = false;

	for (size_t i = 0; i < l->n; i++) {
		Life *b = &l->at[i];
		const Val *given = val_get(b->u->arg, "offset");
		bool temp = buffer_is(b->u, "temp") && b->first >= 0;
		if (temp && given && given->kind == VAL_INT) {
			b->at = given->i;
			planned = true;
		} else if (temp && b->bytes >= 0 && b->bytes < 1e15) {
			size[n] = (int64_t)b->bytes;
			first[n] = b->first;
			last[n] = b->last;
			of[n++] = i;
		}
	}
	if (n && !planned)
		memory_plan(n, size, first, last, ALIGN, at, &bound);
	for (size_t i = 0; i < n && !planned; i++)
		l->at[of[i]].at = at[i];
	free(size);
	free(first);
}

void page_buffers(Buf *out, const Graph *g, const Entries *list, const uint32_t *index,
	const VarEnv *sizes)
{
	Lives l = lives_of(g, list, index, sizes);

	place(&l);
	buf_printf(out, "[");
	for (size_t i = 0; i < l.n; i++) {
		const Life *b = &l.at[i];
		buf_printf(out, "%s\n[%u,", i ? "," : "", index[b->u->id]);
		json_string(out, buffer_name(b->u));
		buf_printf(out, ",");
		json_string(out, buffer_role(b->u));
		buf_printf(out, ",%d,%d,%lld]", b->first, b->last, (long long)b->at);
	}
	buf_printf(out, "]");
	free(l.at);
}
