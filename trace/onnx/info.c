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

bool onnx_describe(const char *file, Buf *out)
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
	if (missing)
		buf_printf(out, "%-13s%s\n", "missing", missing);
	process.where = NULL;
	return !missing;
}
#else

bool onnx_describe(const char *file, Buf *out)
{
	return true;
}
#endif
