/* A document as one JSON object, which the page's scripts (model.js) read:
 *
 *     {"file", "name", "level", "sizes": {n: 1}, "meta": [[key, text] …], "merges": 12, "peak",
 *      "reasons": [[kernel, text] …],
 *      "nodes": [[op, dtype, [source …], arg, name, line, shape, bytes] …],
 *      "list": [{"node", "depth", "kernel", "writes", "reads", "ms", "layer", "from"} …],
 *      "kernels": [{"node", "facts", "src", "work"} …],
 *      "buffers": [[node, name, role, first, last, offset] …]}
 *
 * Numbers of nodes are those of `show`. Long args are cut, so that a page is about as large as the
 * document's text. */
#include "io/io.h"
#include "page.h"
#include <stdlib.h>

/* what stands elsewhere in the object */
static const char *const long_keys[] = {"data", "src", "object", NULL};
static const char *const long_meta[] = {"origin", "merges", "timings", "reasons", NULL};

/* Each size variable at its least value; where a profile was made, at the one it was made with. */
static void sizes_choose(const Graph *g, VarEnv *sizes)
{
	const Val *used = val_get(val_get(g->meta, "measured"), "sizes");

	for (size_t i = 0; g->vars->kind == VAL_MAP && i < g->vars->n; i++) {
		const Val *name = g->vars->a[2 * i], *range = g->vars->a[2 * i + 1];
		const Val *v = val_get(used, name->s);
		if (sizes->n == SIZES_MOST || range->kind != VAL_ARRAY || range->n != 2)
			continue;
		v = v && v->kind == VAL_INT ? v : range->a[0];
		sizes->name[sizes->n] = name->s;
		sizes->value[sizes->n++] = v->kind == VAL_INT ? v->i : 0;
	}
}

static void put_sizes(Buf *out, const VarEnv *sizes)
{
	buf_printf(out, "{");
	for (int i = 0; i < sizes->n; i++) {
		buf_printf(out, i ? "," : "");
		json_string(out, sizes->name[i]);
		buf_printf(out, ":%lld", (long long)sizes->value[i]);
	}
	buf_printf(out, "}");
}

/* Operations and bytes a second, where a profile was made. */
static void put_peak(Buf *out, const Val *peak)
{
	bool is = peak && peak->kind == VAL_ARRAY && peak->n == 2 &&
		peak->a[0]->kind == VAL_FLOAT && peak->a[1]->kind == VAL_FLOAT;

	buf_printf(out, ",\"peak\":[");
	for (int i = 0; is && i < 2; i++) {
		buf_printf(out, i ? "," : "");
		json_number(out, peak->a[i]->f);
	}
	buf_printf(out, "]");
}

static bool is_one_of(const Val *key, const char *const *words)
{
	for (; *words; words++)
		if (val_is_str(key, *words))
			return true;
	return false;
}

/* [[key, text] …] of a map */
static void put_facts(Buf *out, const Val *map, const char *const *without)
{
	const char *comma = "";

	buf_printf(out, "[");
	for (size_t i = 0; map && map->kind == VAL_MAP && i < map->n; i++) {
		if (is_one_of(map->a[2 * i], without))
			continue;
		buf_printf(out, "%s[", comma);
		json_text(out, map->a[2 * i]->s, map->a[2 * i]->n, 200);
		buf_printf(out, ",");
		json_value(out, map->a[2 * i + 1], without);
		buf_printf(out, "]");
		comma = ",";
	}
	buf_printf(out, "]");
}

/* [[kernel, text] …]: what chose the actions, where lower --reasons has left it */
static void put_reasons(Buf *out, const Graph *g)
{
	const Val *rows = val_get(g->meta, "reasons");
	const char *comma = "";

	buf_printf(out, ",\n\"reasons\":[");
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++) {
		const Val *row = rows->a[i];
		if (row->kind != VAL_ARRAY || row->n != 2 || row->a[0]->kind != VAL_STR ||
			row->a[1]->kind != VAL_STR)
			continue;
		buf_printf(out, "%s[", comma);
		json_text(out, row->a[0]->s, row->a[0]->n, 400);
		buf_printf(out, ",");
		json_text(out, row->a[1]->s, row->a[1]->n, 600);
		buf_printf(out, "]");
		comma = ",";
	}
	buf_printf(out, "]");
}

/* ---- nodes */

static void put_note(Buf *out, const UOp *u, const char *key)
{
	const Val *v = val_get(u->note, key);

	if (v && v->kind == VAL_STR)
		json_text(out, v->s, v->n, 400);
	else
		buf_printf(out, "0");
}

static const Val *arg_shown(const UOp *u)
{
	return u->op == OP_SINK ? sink_plain_arg(u->arg) : u->op == OP_FUNC ? u->arg->a[1] :
		u->op == OP_PROGRAM ? VNIL : u->arg;
}

static void put_node(Buf *out, const UOp *u, const uint32_t *index, const VarEnv *sizes)
{
	const Val *arg = arg_shown(u);

	buf_printf(out, "[");
	json_string(out, u->op == OP_FUNC ? u->arg->a[0]->s : op_name(u->op));
	buf_printf(out, ",\"%s\",[", u->dtype == DT_NONE ? "" : dtype_name(u->dtype));
	for (size_t s = 0, n = node_sources(u); s < n; s++)
		buf_printf(out, "%s%u", s ? "," : "", index[u->src[s]->id]);
	buf_printf(out, "],");
	if (arg == VNIL)
		buf_printf(out, "0");
	else
		json_value(out, arg, long_keys);
	buf_printf(out, ",");
	put_note(out, u, "name");
	buf_printf(out, ",");
	put_note(out, u, "loc");
	buf_printf(out, ",");
	if (u->shape && u->dtype != DT_NONE)
		json_string(out, shape_text(u->shape));
	else
		buf_printf(out, "0");
	buf_printf(out, ",");
	json_number(out, page_bytes(u, sizes));
	buf_printf(out, "]");
}

static void put_nodes(Buf *out, const Graph *g, const uint32_t *index, const VarEnv *sizes)
{
	buf_printf(out, "[");
	for (size_t i = 0; i < g->all.n; i++) {
		buf_printf(out, i ? ",\n" : "\n");
		put_node(out, g->all.at[i], index, sizes);
	}
	buf_printf(out, "]");
}

/* ---- kernels */

static void put_kernel(Buf *out, UOp *u, const uint32_t *index, const VarEnv *sizes)
{
	UOp *kernel = u->op == OP_PROGRAM && u->nsrc ? u->src[0] : u;
	const Val *src = val_get(u->arg, "src"), *actions = val_get(kernel->arg, "actions");

	buf_printf(out, "{\"node\":%u,\"facts\":", index[u->id]);
	put_facts(out, u->arg, long_keys);
	if (u != kernel && actions) {
		buf_printf(out, ",\"actions\":");
		json_value(out, actions, NULL);
	}
	if (src && src->kind == VAL_STR) {
		buf_printf(out, ",\"src\":");
		json_text(out, src->s, src->n, SIZE_MAX);
	}
	if (kernel->op == OP_KERNEL && val_get(kernel->arg, "target")) {
		buf_printf(out, ",\"work\":");
		json_number(out, count_work(kernel, sizes).operations);
	}
	buf_printf(out, "}");
}

static void put_kernels(Buf *out, const Entries *list, const uint32_t *index, const VarEnv *sizes)
{
	Map seen = {0};
	const char *comma = "";

	buf_printf(out, "[");
	for (size_t i = 0; i < list->n; i++) {
		UOp *callee = list->at[i].u->op == OP_CALL ? list->at[i].u->src[0] : NULL;
		if (!callee || map_get(&seen, PKEY(callee)))
			continue;
		map_put(&seen, PKEY(callee), callee);
		buf_printf(out, "%s\n", comma);
		put_kernel(out, callee, index, sizes);
		comma = ",";
	}
	buf_printf(out, "]");
	map_free(&seen);
}

void page_document(Buf *out, const Graph *g, const char *file)
{
	uint32_t *index = text_index(g);
	const Val *name = val_get(g->meta, "name"), *merges = val_get(g->meta, "merges");
	VarEnv sizes = {0};
	Entries list = {0};

	sizes_choose(g, &sizes);
	if (g->level > LV_GRAPH)
		page_entries(&list, g->all.at[g->all.n - 1], 0);
	buf_printf(out, "{\"file\":");
	json_string(out, file);
	buf_printf(out, ",\"name\":");
	json_string(out, name && name->kind == VAL_STR ? name->s : "");
	buf_printf(out, ",\"level\":\"%s\",\"sizes\":", level_name[g->level]);
	put_sizes(out, &sizes);
	buf_printf(out, ",\"meta\":");
	put_facts(out, g->meta, long_meta);
	put_peak(out, val_get(val_get(g->meta, "measured"), "peak"));
	buf_printf(out, ",\"merges\":%zu", merges && merges->kind == VAL_ARRAY ? merges->n : 0);
	put_reasons(out, g);
	buf_printf(out, ",\n\"nodes\":");
	put_nodes(out, g, index, &sizes);
	buf_printf(out, ",\n\"list\":");
	page_list(out, g, &list, index, &sizes);
	buf_printf(out, ",\n\"kernels\":");
	put_kernels(out, &list, index, &sizes);
	buf_printf(out, ",\n\"buffers\":");
	page_buffers(out, g, &list, index, &sizes);
	buf_printf(out, "}");
	vec_free(&list);
	free(index);
}
