/* The description of a model for info, made before any of it is expanded. */
#include "onnx/proto.h"
#include <stdlib.h>
#ifdef HAVE_ONNX

typedef struct { const char *name; size_t n; } Counted;
typedef struct { Map at; VEC(Counted *) order; } Counts;

static void count_nodes(Counts *c, size_t n, Onnx__NodeProto *const *node)
{
	for (size_t i = 0; i < n; i++) {
		const Val *key = val_str(node[i]->op_type);
		Counted *e = map_get(&c->at, PKEY(key));
		if (!e) {
			e = arena_alloc(sizeof *e);
			*e = (Counted){onnx_clean(key->s), 0};
			map_put(&c->at, PKEY(key), e);
			vec_push(&c->order, e);
		}
		e->n++;
		/* onnx_missing has checked that the nesting is finite */
		for (size_t k = 0; k < node[i]->n_attribute; k++)
			if (node[i]->attribute[k]->g)
				count_nodes(c, node[i]->attribute[k]->g->n_node,
					node[i]->attribute[k]->g->node);
	}
}

static int more_first(const void *a, const void *b)
{
	const Counted *x = *(Counted *const *)a, *y = *(Counted *const *)b;
	return x->n != y->n ? (x->n < y->n) - (x->n > y->n) : strcmp(x->name, y->name);
}

static void put_operators(Buf *out, const Onnx__ModelProto *m)
{
	Counts c = {0};
	count_nodes(&c, m->graph->n_node, m->graph->node);
	if (c.order.n)
		qsort(c.order.at, c.order.n, sizeof *c.order.at, more_first);
	buf_printf(out, "%-13s", "operators");
	for (size_t i = 0; i < c.order.n; i++)
		buf_printf(out, "%s%s %zu",
			!i	      ? "" :
				i % 8 ? ", " :
					",\n             ",
			c.order.at[i]->name, c.order.at[i]->n);
	buf_printf(out, "\n");
	vec_free(&c.order);
	map_free(&c.at);
}

/* ---- inputs and outputs as the model's file has them */

typedef struct { Map seen; Buf text; } OpenSizes;

/* The name that a size variable gets; a sum of them is none of its own. */
static const char *open_size(OpenSizes *sizes, const char *name)
{
	const Val *id = val_str(onnx_identifier(name));
	if (strpbrk(name, "+*-/()"))
		return onnx_clean(name);
	if (!map_get(&sizes->seen, PKEY(id)))
		buf_printf(&sizes->text, "%s%s", sizes->text.n ? ", " : "", id->s);
	map_put(&sizes->seen, PKEY(id), (void *)id);
	return id->s;
}

/* input names sizes without a name; NULL for an output */
static void put_shape(Buf *out, const Onnx__TensorShapeProto *s, const char *input,
	OpenSizes *sizes)
{
	for (size_t i = 0; i < s->n_dim; i++) {
		const Onnx__TensorShapeProto__Dimension *d = s->dim[i];
		bool number =
			d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE,
		     named = d->value_case ==
				ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM &&
			d->dim_param && *d->dim_param;
		const char *name = input ? onnx_size_name(d, input, i) :
			named		 ? d->dim_param :
					   NULL;
		buf_printf(out, "%s", i ? "," : "[");
		if (name)
			buf_printf(out, "%s", open_size(sizes, name));
		else if (number && d->dim_value >= 0)
			buf_printf(out, "%lld", (long long)d->dim_value);
		else
			buf_printf(out, "?");
	}
	buf_printf(out, "%s", s->n_dim ? "]" : "");
}

static void put_type(Buf *out, const Onnx__TypeProto *t, const char *input, OpenSizes *sizes)
{
	if (t && t->value_case == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE && t->optional_type) {
		buf_printf(out, "optional ");
		t = t->optional_type->elem_type;
	}
	if (t && t->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE && t->sequence_type) {
		buf_printf(out, "sequence of ");
		t = t->sequence_type->elem_type;
	}
	if (!t || t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !t->tensor_type) {
		bool map = t && t->value_case == ONNX__TYPE_PROTO__VALUE_MAP_TYPE;
		buf_printf(out, "%s", map ? "map" : "?");
		return;
	}
	DType dt = onnx_dtype(t->tensor_type->elem_type);
	buf_printf(out, "%s", dt == DT_NONE ? onnx_type_name(t->tensor_type->elem_type) :
					      dtype_name(dt));
	if (t->tensor_type->shape)
		put_shape(out, t->tensor_type->shape, input, sizes);
	else
		buf_printf(out, "[...]");
}

static bool is_weight(const Onnx__GraphProto *g, const char *name)
{
	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name && !strcmp(g->initializer[i]->name, name))
			return true;
	return false;
}

static void put_values(Buf *out, const char *title, size_t n, Onnx__ValueInfoProto *const *v,
	const Onnx__GraphProto *g, OpenSizes *sizes)
{
	for (size_t i = 0; i < n; i++) {
		const char *name = v[i]->name ? v[i]->name : "";
		if (is_weight(g, name))
			continue;
		buf_printf(out, "%-13s%s ", title, onnx_clean(name));
		put_type(out, v[i]->type, v == g->input ? name : NULL, sizes);
		buf_printf(out, "\n");
		title = "";
	}
}

static void put_ends(Buf *out, const Onnx__GraphProto *g)
{
	OpenSizes sizes = {0};
	onnx_name_sizes(g);
	put_values(out, "inputs", g->n_input, g->input, g, &sizes);
	if (sizes.text.n)
		buf_printf(out, "%-13s%s\n", "open sizes", buf_str(&sizes.text));
	put_values(out, "outputs", g->n_output, g->output, g, &sizes);
	buf_free(&sizes.text);
	map_free(&sizes.seen);
}

void onnx_describe_refusal(Buf *out, const char *file, const char *where, const char *text)
{
	const char *try = strstr(text, "; try ");
	size_t n = strlen(onnx_file), length = try ? (size_t)(try - text) : strlen(text);
	if (!strncmp(where, onnx_file, n) && where[n] == ':')
		where += n + 2;
	buf_printf(out, "%-13s%s%s%.*s\n", "not traced", where, *where ? ": " : "", (int)length,
		text);
	if (try)
		buf_printf(out, "%-13ssluice trace %s %s\n", "try", file,
			try + strlen("; try "));
}

bool onnx_describe(const char *file, Buf *out, Buf *ends)
{
	process.where = file;
	Onnx__ModelProto *m = onnx_read(file);
	const char *missing = onnx_missing(m), *sep = " ";
	buf_printf(out, "%-13sIR %lld, opset", "format", (long long)m->ir_version);
	for (size_t i = 0; i < m->n_opset_import; i++, sep = ", ") {
		const char *domain = m->opset_import[i]->domain;
		buf_printf(out, "%s%s%s%lld", sep, domain && *domain ? onnx_clean(domain) : "",
			domain && *domain ? " " : "", (long long)m->opset_import[i]->version);
	}
	buf_printf(out, "\n");
	if (m->producer_name && *m->producer_name)
		buf_printf(out, "%-13s%s %s\n", "made by", onnx_clean(m->producer_name),
			m->producer_version && *m->producer_version ?
				onnx_clean(m->producer_version) :
				"");
	put_operators(out, m);
	put_ends(ends, m->graph);
	if (missing)
		buf_printf(ends, "%-13s%s\n", "missing", missing);
	process.where = NULL;
	return !missing;
}
#else

bool onnx_describe(const char *file, Buf *out, Buf *ends)
{
	return true;
}

void onnx_describe_refusal(Buf *out, const char *file, const char *where, const char *text)
{
}
#endif
