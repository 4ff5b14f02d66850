/* Tensors of texts, as far as their words are known while tracing: labels of classes, categories.
 * Such a tensor is carried by the words' places in a list.
 *
 *     ["no", "yes"]   →   i64 [0, 1], with the words "no", "yes"
 *
 * All inputs of a node share one list, so that equal words have equal codes. */
#include "io/io.h"
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { LONGEST_WORD = 1 << 16 };

static const Val *word_of(const ProtobufCBinaryData *b)
{
	if (b->len > LONGEST_WORD)
		die(UNSUPPORTED, "a text of %zu bytes", b->len);
	if (b->len && (memchr(b->data, 0, b->len) || !utf8_ok((const char *)b->data, b->len)))
		die(UNSUPPORTED, "a text that is not UTF-8");
	return val_strn(b->len ? (const char *)b->data : "", b->len);
}

static const Val *words_of(size_t n, const ProtobufCBinaryData *text)
{
	const Val **at = arena_alloc((n + 1) * sizeof *at);
	for (size_t i = 0; i < n; i++)
		at[i] = word_of(&text[i]);
	return val_array(n, at);
}

const Val *onnx_attr_words(const OnnxCall *c, const char *name)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	return a && a->n_strings ? words_of(a->n_strings, a->strings) : NULL;
}

const Val *onnx_words(OnnxCall *c, int k) { return onnx_value(c, k)->words; }

void onnx_set_words(OnnxCall *c, int k, UOp *codes, const Val *words)
{
	onnx_set_value(c, k, (OnnxValue){.kind = ONNX_TENSOR, .type = ONNX_STRING, .u = codes,
		.words = words});
}

/* ---- lists */

/* The place of each word, plus one; the caller frees it. */
static Map places_of(const Val *words)
{
	Map at = {0};
	for (size_t i = words->n; i-- > 0;)
		map_put(&at, PKEY(words->a[i]), (void *)(uintptr_t)(i + 1));
	return at;
}

const int64_t *onnx_word_places(const Val *words, const Val *among)
{
	Map at = places_of(among);
	int64_t *out = arena_alloc((words->n + 1) * sizeof *out);
	for (size_t i = 0; i < words->n; i++)
		out[i] = (int64_t)(uintptr_t)map_get(&at, PKEY(words->a[i])) - 1;
	map_free(&at);
	return out;
}

static const Val *joined(const Val *a, const Val *b)
{
	const int64_t *at = onnx_word_places(b, a), *first = onnx_word_places(b, b);
	const Val **all = arena_alloc((a->n + b->n + 1) * sizeof *all);
	size_t n = a->n;
	memcpy(all, a->a, n * sizeof *all);
	for (size_t i = 0; i < b->n; i++)
		if (at[i] < 0 && first[i] == (int64_t)i)
			all[n++] = b->a[i];
	return val_array(n, all);
}

void onnx_share_words(OnnxCall *c)
{
	const Val *all = NULL;
	for (int k = 0; k < onnx_nin(c); k++)
		if (c->in[k].type == ONNX_STRING && c->in[k].words)
			all = all && all != c->in[k].words ? joined(all, c->in[k].words) :
							     c->in[k].words;
	for (int k = 0; all && k < onnx_nin(c); k++) {
		OnnxValue *v = &c->in[k];
		if (v->type != ONNX_STRING || !v->words || v->words == all)
			continue;
		UOp *code = table_ints(v->words->n, onnx_word_places(v->words, all));
		v->u = t_gather(code, 1, &v->u);
		v->words = all;
	}
}

/* ---- data */

OnnxValue onnx_text(size_t n, const ProtobufCBinaryData *text, const Shape *s)
{
	const Val *all = words_of(n, text);
	const Val *words = joined(val_array(0, NULL), all);
	UOp *u = table_ints(n, onnx_word_places(all, words));
	return (OnnxValue){.kind = ONNX_TENSOR, .type = ONNX_STRING, .u = t_reshape(u, s),
		.words = words};
}
#endif
