/* The check before any work: reports everything that the model needs and trace lacks in one
 * message, and rejects models that would never end.
 *
 *     trace: m.onnx: not supported: Foo-12 (node "a"), com.acme:Bar-1 (node "b")
 *
 * Functions call functions; the number of expanded nodes is counted without expanding them. */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { NAMED = 24 };

typedef struct { const Onnx__FunctionProto *fn; uint64_t nodes; bool open; } CountedFunction;
typedef struct { Buf text; Map seen, counted; size_t missing; } Support;
typedef struct { size_t n; Onnx__OperatorSetIdProto **at; } Opsets;

static uint64_t count_nodes(Support *s, size_t n, Onnx__NodeProto *const *node, Opsets opset,
	int depth);

static void miss(Support *s, const Onnx__NodeProto *n, const char *domain, int version)
{
	const Val *what = val_str(
		arena_printf("%.60s%s%.80s-%d", domain, *domain ? ":" : "", n->op_type, version));
	if (map_get(&s->seen, PKEY(what)))
		return;
	map_put(&s->seen, PKEY(what), (void *)what);
	if (s->missing++ >= NAMED)
		return;
	const char *name = n->name && *n->name ? n->name : n->n_output ? n->output[0] : "";
	buf_printf(&s->text, "%s%s (node %.60s)", s->text.n ? ", " : "", what->s, name);
}

static uint64_t count_function(Support *s, const Onnx__FunctionProto *f, int depth)
{
	CountedFunction *c = map_get(&s->counted, PKEY(f));
	if (c && c->open)
		die(MALFORMED, "function %.80s calls itself", f->name);
	if (c)
		return c->nodes;
	c = arena_alloc(sizeof *c);
	*c = (CountedFunction){f, 0, true};
	map_put(&s->counted, PKEY(f), c);
	c->nodes = count_nodes(s, f->n_node, f->node, (Opsets){f->n_opset_import, f->opset_import},
		depth + 1);
	c->open = false;
	return c->nodes;
}

static uint64_t count_bodies(Support *s, const Onnx__NodeProto *n, Opsets opset, int depth)
{
	uint64_t total = 0;
	for (size_t i = 0; i < n->n_attribute; i++) {
		const Onnx__AttributeProto *a = n->attribute[i];
		if (a->g)
			total += count_nodes(s, a->g->n_node, a->g->node, opset, depth + 1);
		for (size_t k = 0; k < a->n_graphs; k++)
			total += count_nodes(
				s, a->graphs[k]->n_node, a->graphs[k]->node, opset, depth + 1);
	}
	return total;
}

static uint64_t count_node(Support *s, const Onnx__NodeProto *n, Opsets opset, int depth)
{
	if (!n->op_type || !*n->op_type)
		die(MALFORMED, "a node has no operator");
	const char *domain = onnx_domain(n);
	const Onnx__FunctionProto *f = onnx_function(domain, n->op_type);
	if (f)
		return count_function(s, f, depth) + 1;
	int version = onnx_opset(opset.n, opset.at, domain);
	if (!version)
		die(MALFORMED,
			"operator %.80s is of domain '%.80s', which the model does not import",
			n->op_type, domain);
	if (!onnx_op_find(domain, n->op_type, version))
		miss(s, n, domain, version);
	return count_bodies(s, n, opset, depth) + 1;
}

static uint64_t count_nodes(Support *s, size_t n, Onnx__NodeProto *const *node, Opsets opset,
	int depth)
{
	uint64_t total = 0;
	if (depth > ONNX_DEPTH)
		die(MALFORMED, "graphs and functions nest more than %d deep", ONNX_DEPTH);
	for (size_t i = 0; i < n; i++)
		total += count_node(s, node[i], opset, depth);
	if (total > ONNX_EXPANDED)
		die(MALFORMED, "its functions come to more than %d nodes", ONNX_EXPANDED);
	return total;
}

const char *onnx_missing(const Onnx__ModelProto *m)
{
	Support s = {0};
	onnx_collect_functions(m);
	count_nodes(&s, m->graph->n_node, m->graph->node,
		(Opsets){m->n_opset_import, m->opset_import}, 0);
	if (s.missing > NAMED)
		buf_printf(&s.text, " and %zu more", s.missing - NAMED);
	const char *text = s.missing ? arena_strdup(buf_str(&s.text)) : NULL;
	buf_free(&s.text);
	map_free(&s.seen);
	map_free(&s.counted);
	return text;
}

void onnx_check_support(const Onnx__ModelProto *m)
{
	const char *missing = onnx_missing(m);
	if (missing)
		die(UNSUPPORTED, "not supported: %s", missing);
}
#endif
