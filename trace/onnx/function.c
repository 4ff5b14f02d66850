/* A model as a function of the text language: each call expands it with the tensors given.
 *
 *     m = load("gpt2.onnx")
 *     y = m(ids, split(cache, 24))      its inputs in order, lists flattened; or by name
 *     y["logits"]                       one of its outputs
 *
 * Open sizes of the model are taken from the arguments. All calls share its weights. */
#include "onnx/proto.h"
#ifdef HAVE_ONNX
#include <stdlib.h>

struct OnnxModel {
	const char *file, *folder;
	Onnx__ModelProto *proto;
	OnnxScope weights;              /* encloses the scope of each call */
};

OnnxModel *onnx_open(const char *path)
{
	OnnxModel *m = arena_alloc(sizeof *m);
	m->proto = onnx_read(path);
	m->file = onnx_file;
	m->folder = onnx_folder;
	const char *where = process.where;
	process.where = path;
	onnx_check_support(m->proto);
	process.where = where;
	m->weights = (OnnxScope){.n_opset = m->proto->n_opset_import,
		.opset = m->proto->opset_import, .path = ""};
	const Onnx__GraphProto only_weights = {.n_initializer = m->proto->graph->n_initializer,
		.initializer = m->proto->graph->initializer};
	onnx_expand_graph(&m->weights, &only_weights);
	return m;
}

/* ---- arguments */

typedef struct {
	size_t n;
	Onnx__ValueInfoProto **info;
	Value *arg;
	bool *given;
	Map sizes;                      /* by dim_param */
} OnnxBinding;

static void inputs_of(const OnnxModel *m, OnnxBinding *b)
{
	const Onnx__GraphProto *g = m->proto->graph;
	b->info = arena_alloc((g->n_input + 1) * sizeof *b->info);
	b->arg = arena_alloc((g->n_input + 1) * sizeof *b->arg);
	b->given = arena_alloc(g->n_input + 1);
	for (size_t i = 0; i < g->n_input; i++) {
		const char *name = g->input[i]->name;
		if (!name || !*name)
			die(MALFORMED, "input %zu of the model has no name", i);
		if (!map_get(&m->weights.initializers, PKEY(val_str(name))))
			b->info[b->n++] = g->input[i];
	}
}

static void give(OnnxBinding *b, size_t k, const Value *v)
{
	if (k >= b->n)
		die(MALFORMED, "the model takes %zu tensors, got more", b->n);
	if (b->given[k])
		die(MALFORMED, "the model's input %.100s is given twice", b->info[k]->name);
	b->given[k] = true;
	b->arg[k] = *v;
}

static size_t input_named(const OnnxBinding *b, const char *name)
{
	for (size_t k = 0; k < b->n; k++)
		if (!strcmp(b->info[k]->name, name) ||
			!strcmp(onnx_identifier(b->info[k]->name), name))
			return k;
	die(MALFORMED, "the model has no input %.100s", name);
}

static const char *size_text(UOp *size)
{
	const Val *v = size_to_val(size);
	return v->kind == VAL_STR ? v->s : arena_printf("%lld", (long long)v->i);
}

static void size_fits(OnnxBinding *b, const Onnx__TensorShapeProto__Dimension *d, UOp *size,
	const char *name, size_t axis)
{
	UOp *want = NULL;
	bool named = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM;
	if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
		d->dim_value >= 0)
		want = ix_const(d->dim_value);
	if (named && d->dim_param && *d->dim_param) {
		const Val *key = val_str(d->dim_param);
		want = map_get(&b->sizes, PKEY(key));
		if (!want)
			map_put(&b->sizes, PKEY(key), size);
	}
	if (want && !size_equal(want, size))
		die(MALFORMED, "the model's input %.100s: axis %zu is %.100s, not %.100s", name,
			axis, size_text(size), size_text(want));
}

static OnnxValue argument(OnnxBinding *b, size_t k)
{
	const Onnx__TypeProto *type = b->info[k]->type;
	const char *name = b->info[k]->name;
	if (!b->given[k])
		die(MALFORMED, "the model's input %.100s is missing", name);
	if (!type || type->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !type->tensor_type)
		die(UNSUPPORTED, "the model's input %.100s is no tensor", name);
	const Onnx__TypeProto__Tensor *t = type->tensor_type;
	DType dt = onnx_dtype(t->elem_type);
	if (dt == DT_NONE)
		die(UNSUPPORTED, "tensors of type %s are not supported",
			onnx_type_name(t->elem_type));
	UOp *u = value_tensor(&b->arg[k], dt);
	if (!u || u->dtype != dt)
		die(MALFORMED, "the model's input %.100s is %s, got %s", name, dtype_name(dt),
			value_text(&b->arg[k]));
	if (t->shape && t->shape->n_dim != (size_t)t_rank(u))
		die(MALFORMED, "the model's input %.100s has rank %zu, got %s", name,
			t->shape->n_dim, shape_text(u->shape));
	for (size_t i = 0; t->shape && i < t->shape->n_dim; i++)
		size_fits(b, t->shape->dim[i], t_dim(u, i), name, i);
	return (OnnxValue){.kind = ONNX_TENSOR, .type = t->elem_type, .u = u};
}

/* ---- results */

static Value result(const OnnxValue *v, const char *name)
{
	Value *at;
	if (v->kind == ONNX_TENSOR)
		return v_tensor(v->u);
	if (v->kind != ONNX_SEQUENCE)
		return v_none();
	if (v->u)
		die(UNSUPPORTED, "the model's output %.100s is a sequence whose length is not "
			"known", name);
	at = arena_alloc((v->n + 1) * sizeof *at);
	for (size_t i = 0; i < v->n; i++)
		at[i] = result(&v->at[i], name);
	return v_list(v->n, at);
}

static Value results(OnnxScope *s, const Onnx__GraphProto *g)
{
	Value *at = arena_alloc((g->n_output + 1) * sizeof *at);
	const char **names = arena_alloc((g->n_output + 1) * sizeof *names);
	for (size_t i = 0; i < g->n_output; i++) {
		names[i] = g->output[i]->name ? g->output[i]->name : "";
		const OnnxValue *v = onnx_lookup(s, names[i]);
		if (!v)
			die(MALFORMED, "the model's output %.100s is made by no node", names[i]);
		at[i] = result(v, names[i]);
	}
	if (g->n_output == 1)
		return at[0];
	Value list = v_list(g->n_output, at);
	list.names = names;
	return list;
}

Value onnx_apply(OnnxModel *m, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval)
{
	const Onnx__GraphProto *g = m->proto->graph;
	OnnxScope s = {.outer = &m->weights, .n_opset = m->weights.n_opset,
		.opset = m->weights.opset, .path = ""};
	const Onnx__GraphProto nodes = {.n_node = g->n_node, .node = g->node,
		.n_sparse_initializer = g->n_sparse_initializer};
	OnnxBinding b = {0};
	size_t k = 0;
	inputs_of(m, &b);
	for (size_t i = 0; i < n; i++)
		for (size_t j = 0; j < (pos[i].kind == V_LIST ? pos[i].n : 1); j++)
			give(&b, k++, pos[i].kind == V_LIST ? &pos[i].at[j] : &pos[i]);
	for (size_t i = 0; i < nkw; i++)
		give(&b, input_named(&b, kw[i]), &kwval[i]);
	for (size_t i = 0; i < b.n; i++)
		onnx_bind(&s, b.info[i]->name, argument(&b, i));
	onnx_file = m->file;
	onnx_folder = m->folder;
	onnx_collect_functions(m->proto);
	bool agree = reading.sizes_agree;
	reading.sizes_agree = true;
	onnx_expand_graph(&s, &nodes);
	reading.sizes_agree = agree;
	Value v = results(&s, g);
	map_free(&s.values);
	map_free(&b.sizes);
	return v;
}
#else

OnnxModel *onnx_open(const char *path)
{
	read_onnx(path);
	return NULL;
}

Value onnx_apply(OnnxModel *m, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval)
{
	return v_none();
}
#endif
