/* Converts documents of level tensor to level graph: broadcasts sources, fills in missing dtypes,
 * calls functions.
 *
 *     ["softmax", nil, [3], {"axis": -1}]    t_softmax of node 3; its nodes get this node's note
 *     ["ADD", nil, [3, 4], nil]              EXPAND where needed, and the dtype of the sources
 *
 * Sources fill a function's parameters in order, skipping those named in arg. A CONST without a
 * dtype is weak, like a number in the text language. ["item", nil, [k], {"index": 0}] selects one
 * result of a function with several (split, topk). In documents of level graph only file names
 * change: they become absolute. */
#include "io/io.h"
#include "trace.h"
#include "shape/regions.h"
#include <stdlib.h>
#include <unistd.h>

/* ---- file names */

static UOp *absolute_file(UOp *u, void *folder)
{
	const Val *file = u->op == OP_BUFFER ? val_get(u->arg, "file") : NULL;
	if (!file || file->kind != VAL_ARRAY || file->n < 3 || file->a[0]->kind != VAL_STR ||
		file->a[0]->s[0] == '/' || data_given(file->a[0]->s) >= 0)
		return u;
	const Val *path = val_str(arena_printf("%s/%s", (char *)folder, file->a[0]->s));
	const Val *at[4] = {path, file->a[1], file->a[2], file->n > 3 ? file->a[3] : NULL};
	UOp *b = LEAF(OP_BUFFER, u->dtype,
		val_set(u->arg, "file", val_array(file->n > 3 ? 4 : 3, at)));
	node_note(b, u->note);
	return b;
}

static char *current_folder(void)
{
	char *folder = getcwd(NULL, 0);
	if (!folder)
		die_errno("the current folder");
	char *copy = arena_strdup(folder);
	free(folder);
	return copy;
}

/* ---- values of nodes */

/* by id, from base on */
typedef struct { Value *of; uint32_t base; char *folder; } Values;

static const Value *source(const Values *v, const UOp *u, size_t i)
{
	return &v->of[u->src[i]->id - v->base];
}

static Value value_of_val(const Val *v)
{
	switch (v->kind) {
	case VAL_BOOL: return v_bool(v->b);
	case VAL_INT: return v_int(v->i);
	case VAL_UINT:
		return (Value){
			.kind = V_NUMBER, .is_int = true, .i = (int64_t)v->u, .f = (double)v->u};
	case VAL_FLOAT: return v_float(v->f);
	case VAL_STR: return v_str(v->s);
	case VAL_ARRAY: break;
	case VAL_NIL: return v_none();
	default: die(MALFORMED, "an argument is neither number, text, bool nor array");
	}
	Value *at = arena_alloc((v->n + 1) * sizeof *at);
	for (size_t i = 0; i < v->n; i++)
		at[i] = value_of_val(v->a[i]);
	return v_list(v->n, at);
}

/* ---- functions */

/* selects one of the values of a function with several results */
static Value item(const Value *x, const Val *arg)
{
	const Val *index = val_get(arg, "index");
	if (x->kind != V_LIST)
		die(MALFORMED, "its source is one value, not several");
	if (!index || index->kind != VAL_INT || index->i < 0 || (uint64_t)index->i >= x->n)
		die(MALFORMED, "index is not one of 0 … %zu", x->n - 1);
	return x->at[index->i];
}

/* The node's dtype is passed to a parameter of that name; the result must have it. */
static Value call(const Function *f, const UOp *u, const Val *arg, size_t n, const Value *pos)
{
	size_t nkw = 0;
	const char **kw = arena_alloc((arg->n + 1) * sizeof *kw);
	Value *val = arena_alloc((arg->n + 1) * sizeof *val);
	for (size_t i = 0; i < arg->n; i++) {
		if (arg->a[2 * i]->kind != VAL_STR)
			die(MALFORMED, "the name of an argument is no text");
		kw[nkw] = arg->a[2 * i]->s;
		val[nkw++] = value_of_val(arg->a[2 * i + 1]);
	}
	if (u->dtype != DT_NONE && !val_get(arg, "dtype") && param_find(f, "dtype") >= 0) {
		kw[nkw] = "dtype";
		val[nkw++] = v_str(dtype_name(u->dtype));
	}
	Value v = function_call(f, n, pos, nkw, kw, val);
	if (u->dtype != DT_NONE && v.kind == V_TENSOR && v.u->dtype != u->dtype)
		die(MALFORMED, "it gives %s", dtype_name(v.u->dtype));
	return v;
}

static Value expand_function(const Values *values, const UOp *u)
{
	const char *name = u->arg->a[0]->s;
	const Val *arg = u->arg->a[1];
	const Function *f = function_find(name);
	if (arg->kind != VAL_MAP && arg->kind != VAL_NIL)
		die(MALFORMED, "its arg is not a map of arguments");
	if (!f && !strcmp(name, "item") && u->nsrc == 1)
		return item(source(values, u, 0), arg);
	if (!f)
		die(MALFORMED, "there is no such function");
	Value *pos = arena_alloc((u->nsrc + 1) * sizeof *pos);
	for (size_t i = 0; i < u->nsrc; i++)
		pos[i] = *source(values, u, i);
	return call(f, u, arg, u->nsrc, pos);
}

/* ---- ops */

static DType leaf_dtype(const UOp *u)
{
	if (u->op == OP_ARANGE || op_info[u->op].takes == TAKES_I64)
		return DT_I64;
	die(MALFORMED, "its dtype is missing");
}

/* the dtype that weak sources take: that of the first strong source whose dtype must equal
 * theirs */
static DType strong_dtype(const Values *v, const UOp *u)
{
	size_t first = u->op == OP_WHERE, last = u->op == OP_GATHER ? 1 : u->nsrc;
	for (size_t i = first; i < last; i++) {
		/* the indices of a SCATTER */
		if (u->op == OP_SCATTER && i > 0 && i + 1 < u->nsrc)
			continue;
		if (source(v, u, i)->kind == V_TENSOR)
			return source(v, u, i)->u->dtype;
	}
	return op_info[u->op].cls == CLASS_COMPARE ? DT_NONE : u->dtype;
}

static DType node_dtype(const UOp *u, UOp *const *src)
{
	OpClass cls = op_info[u->op].cls;
	if (u->dtype != DT_NONE || cls == CLASS_ROOT)
		return u->dtype;
	if (cls == CLASS_COMPARE)
		return DT_BOOL;
	if (u->op == OP_LOOP || u->op == OP_IF)
		return DT_NONE;
	if (u->op == OP_SORT)
		return DT_I64;
	if (cls == CLASS_CASTING || !u->nsrc)
		return leaf_dtype(u);
	return src[u->op == OP_WHERE && u->nsrc > 1]->dtype;
}

static void broadcast_sources(const UOp *u, UOp **src)
{
	const Shape *s = shape_scalar();
	for (size_t i = 0; i < u->nsrc; i++) {
		const Shape *both = src[i]->shape ? shape_broadcast(s, src[i]->shape) : NULL;
		if (!both)
			die(MALFORMED, "shapes %s and %s do not match", shape_text(s),
				shape_text(src[i]->shape));
		s = both;
	}
	for (size_t i = 0; i < u->nsrc; i++)
		if (t_rank(src[i]))
			src[i] = t_expand_to(src[i], s);
}

static void take_sources(const Values *v, const UOp *u, UOp **src)
{
	DType weak = strong_dtype(v, u);
	for (size_t i = 0; i < u->nsrc; i++) {
		const Value *x = source(v, u, i);
		src[i] = x->kind == V_LIST ? NULL :
			u->op == OP_PICK && x->kind == V_TENSOR ? x->u : value_tensor(x, weak);
		if (!src[i] && x->kind == V_LIST)
			die(MALFORMED, "source %zu is %zu values; take one with item", i, x->n);
		if (!src[i])
			die(MALFORMED, "source %zu has no value", i);
	}
}

/* The op on these sources; a LOOP and the SINK get what they have in memory besides. */
static UOp *make_op(Values *v, const UOp *u, UOp *const *src)
{
	NodeList all = {0};
	const Val *arg = u->arg;
	int status = MALFORMED;
	UOp *made = NULL;
	for (uint32_t i = 0; i < u->nsrc; i++)
		vec_push(&all, src[i]);
	const char *err = steps_complete(steps_made(), u->op, &all, &arg);
	if (!err)
		made = node_try(u->op, node_dtype(u, src), all.n, all.at, arg, &err, &status);
	if (made)
		err = steps_add(steps_made(), made);
	if (err)
		die(status, "%s", err);
	vec_free(&all);
	return made;
}

static Value expand_op(Values *v, const UOp *u)
{
	UOp **src = arena_alloc((u->nsrc + 1) * sizeof *src);
	if (u->op == OP_CONST && u->dtype == DT_NONE) {
		Value x = value_of_val(u->arg);
		if (x.kind != V_NUMBER && x.kind != V_BOOL)
			die(MALFORMED, "its arg is no number");
		return x;
	}
	take_sources(v, u, src);
	if (op_elementwise(u->op) && u->nsrc > 1)
		broadcast_sources(u, src);
	if (u->op == OP_ASSIGN && u->nsrc == 2)
		src[1] = t_expand_to(src[1], src[0]->shape);
	return v_tensor(absolute_file(make_op(v, u, src), v->folder));
}

static const char *node_where(const UOp *u, size_t at)
{
	const Val *name = u->op == OP_BUFFER ? val_get(u->arg, "name") : val_get(u->note, "name");
	const char *op = u->op == OP_FUNC ? u->arg->a[0]->s : op_name(u->op);
	const char *known = name && name->kind == VAL_STR ? arena_printf(" (%.60s)", name->s) : "";
	return arena_printf("node %zu %.60s%s", at, op, known);
}

static const Val *node_place(const UOp *u, size_t at)
{
	const Val *note = u->note;
	return val_get(note, "loc") ? note :
				      val_set(note, "loc", val_str(arena_printf("node %zu", at)));
}

static Value expand_node(Values *v, const UOp *u, size_t at)
{
	uint32_t start = node_limit();
	process.where = node_where(u, at);
	Value x = u->op == OP_FUNC ? expand_function(v, u) : expand_op(v, u);
	process.where = NULL;
	if (u->op == OP_FUNC)
		note_nodes(&x, start, node_place(u, at));
	else if (x.kind == V_TENSOR && u->op != OP_CONST)
		node_note(x.u, u->note);
	return x;
}

Graph *read_tensor(Graph *doc)
{
	Values v = {.folder = current_folder()};
	if (doc->level != LV_TENSOR) {
		doc->sink = walk_replace(doc->sink, absolute_file, v.folder);
		return doc;
	}
	Nodes all = doc->all;
	buffers_reset();
	v.base = all.at[0]->id;
	v.of = xcalloc(all.at[all.n - 1]->id - v.base + 1, sizeof *v.of);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER)
			name_take(buffer_name(all.at[i]));
	for (size_t i = 0; i < all.n; i++)
		v.of[all.at[i]->id - v.base] = expand_node(&v, all.at[i], i);
	Graph *g = arena_alloc(sizeof *g);
	*g = (Graph){.level = LV_GRAPH, .vars = doc->vars, .meta = doc->meta};
	g->sink = v.of[all.at[all.n - 1]->id - v.base].u;
	free(v.of);
	return g;
}
