/* Sequences and optionals: lists of values that exist only while tracing.
 *
 *     SequenceConstruct(a, b) → SequenceAt(·, 1)   →   b */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { LONGEST = 1 << 16 };

static const OnnxValue *sequence(OnnxCall *c, int k)
{
	const OnnxValue *v = onnx_value(c, k);
	if (v->kind != ONNX_SEQUENCE)
		onnx_fail(c, MALFORMED, "its input %d is no sequence", k);
	return v;
}

static OnnxValue sequence_new(size_t n, int type)
{
	return (OnnxValue){.kind = ONNX_SEQUENCE, .type = type, .n = n,
		.at = arena_alloc((n + 1) * sizeof(OnnxValue))};
}

/* A place, where negative ones count from the end; it must be below most. */
static size_t place(OnnxCall *c, int k, size_t n, size_t most)
{
	int64_t i = onnx_known_int(c, k);
	i = i < 0 ? i + (int64_t)n : i;
	if (i < 0 || (uint64_t)i >= most)
		onnx_fail(c, MALFORMED, "place %lld is outside a sequence of %zu", (long long)i, n);
	return i;
}

void onnx_SequenceEmpty(OnnxCall *c)
{
	onnx_set_value(c, 0, sequence_new(0, onnx_attr_int(c, "dtype", ONNX_FLOAT)));
}

void onnx_SequenceConstruct(OnnxCall *c)
{
	OnnxValue s = sequence_new(onnx_nin(c), ONNX_FLOAT);
	for (int i = 0; i < onnx_nin(c); i++) {
		onnx_in(c, i);
		s.at[i] = *onnx_value(c, i);
		s.type = s.at[0].type;
		if (s.at[i].type != s.type)
			onnx_fail(c, MALFORMED, "a sequence of %s and %s", onnx_type_name(s.type),
				onnx_type_name(s.at[i].type));
	}
	onnx_set_value(c, 0, s);
}

void onnx_SequenceInsert(OnnxCall *c)
{
	const OnnxValue *s = sequence(c, 0);
	onnx_in(c, 1);
	size_t at = onnx_has(c, 2) ? place(c, 2, s->n, s->n + 1) : s->n;
	if (s->n == LONGEST)
		onnx_fail(c, UNSUPPORTED, "a sequence of more than %d", LONGEST);
	OnnxValue r = sequence_new(s->n + 1, onnx_type(c, 1));
	for (size_t i = 0; i <= s->n; i++)
		r.at[i] = i < at ? s->at[i] : i == at ? *onnx_value(c, 1) : s->at[i - 1];
	onnx_set_value(c, 0, r);
}

void onnx_SequenceErase(OnnxCall *c)
{
	const OnnxValue *s = sequence(c, 0);
	if (!s->n)
		onnx_fail(c, MALFORMED, "the sequence is empty");
	size_t at = onnx_has(c, 1) ? place(c, 1, s->n, s->n) : s->n - 1;
	OnnxValue r = sequence_new(s->n - 1, s->type);
	for (size_t i = 0; i < r.n; i++)
		r.at[i] = s->at[i + (i >= at)];
	onnx_set_value(c, 0, r);
}

void onnx_SequenceAt(OnnxCall *c)
{
	const OnnxValue *s = sequence(c, 0);
	onnx_set_value(c, 0, s->at[place(c, 1, s->n, s->n)]);
}

void onnx_SequenceLength(OnnxCall *c)
{
	onnx_set_typed(c, 0, const_int(DT_I64, sequence(c, 0)->n), ONNX_INT64);
}

/* ---- to and from tensors */

/* The sizes of the pieces; without `split`, each piece has one element. */
static int64_t *pieces(OnnxCall *c, int64_t size, size_t *n)
{
	int64_t *out;
	Array a = {0};
	if (onnx_has(c, 1))
		a = onnx_known(c, 1);
	if (a.rank > 1 || (onnx_has(c, 1) && !dtype_int(a.dtype)))
		onnx_fail(c, MALFORMED, "its split is neither an integer nor a list of them");
	if (onnx_has(c, 1) && a.rank == 1) {
		*n = array_count(&a);
		out = arena_alloc((*n + 1) * sizeof *out);
		interp_cast(DT_I64, out, a.dtype, a.data, *n);
		return out;
	}
	int64_t each = onnx_has(c, 1) ? onnx_known_int(c, 1) : 1;
	if (each < 1 || size / each > LONGEST)
		onnx_fail(c, each < 1 ? MALFORMED : UNSUPPORTED, "pieces of %lld", (long long)each);
	*n = (size + each - 1) / each;
	out = arena_alloc((*n + 1) * sizeof *out);
	for (size_t i = 0; i < *n; i++)
		out[i] = i + 1 < *n ? each : size - (int64_t)i * each;
	return out;
}

void onnx_SplitToSequence(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x));
	int64_t size = shape_dim(x->shape, axis), start = 0;
	size_t n;
	int64_t *len = pieces(c, size, &n);
	bool drop = !onnx_has(c, 1) && !onnx_attr_int(c, "keepdims", 1);
	OnnxValue s = sequence_new(n, onnx_type(c, 0));
	for (size_t i = 0; i < n; i++) {
		if (len[i] < 0 || len[i] > size - start)
			onnx_fail(c, MALFORMED, "its pieces are longer than the axis, %lld",
				(long long)size);
		UOp *u = t_shrink_axis(x, axis, ix_const(start), ix_const(start + len[i]));
		s.at[i] = (OnnxValue){
			.kind = ONNX_TENSOR, .type = s.type, .u = drop ? t_squeeze(u, axis) : u};
		start += len[i];
	}
	if (start != size)
		onnx_fail(c, MALFORMED, "its pieces come to %lld, the axis has %lld",
			(long long)start, (long long)size);
	onnx_set_value(c, 0, s);
}

void onnx_ConcatFromSequence(OnnxCall *c)
{
	const OnnxValue *s = sequence(c, 0);
	UOp **part = arena_alloc((s->n + 1) * sizeof *part);
	bool fresh = onnx_attr_int(c, "new_axis", 0);
	if (!s->n)
		onnx_fail(c, MALFORMED, "the sequence is empty");
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(s->at[0].u) + fresh);
	for (size_t i = 0; i < s->n; i++)
		part[i] = fresh ? t_unsqueeze(s->at[i].u, axis) : s->at[i].u;
	onnx_set_typed(c, 0, t_concat(s->n, part, axis), s->type);
}

/* ---- SequenceMap: the body is expanded for each element */

enum { MAX_BODY = 256 };

void onnx_SequenceMap(OnnxCall *c)
{
	OnnxValue in[MAX_BODY], out[MAX_BODY], result[MAX_BODY];
	const OnnxValue *first = sequence(c, 0);
	int n = onnx_body_outputs(c, "body"), nin = onnx_nin(c);
	if (n > MAX_BODY || nin > MAX_BODY)
		onnx_fail(c, UNSUPPORTED, "more than %d values", MAX_BODY);
	for (int i = 0; i < n; i++)
		result[i] = sequence_new(first->n, ONNX_FLOAT);
	for (size_t k = 0; k < first->n; k++) {
		for (int i = 0; i < nin; i++) {
			const OnnxValue *v = onnx_value(c, i);
			if (v->kind == ONNX_SEQUENCE && v->n != first->n)
				onnx_fail(c, MALFORMED, "its sequences have %zu and %zu elements",
					first->n, v->n);
			in[i] = v->kind == ONNX_SEQUENCE ? v->at[k] : *v;
		}
		onnx_body(c, "body", nin, in, out, MAX_BODY);
		for (int i = 0; i < n; i++) {
			result[i].at[k] = out[i];
			result[i].type = out[i].type;
		}
	}
	for (int i = 0; i < n; i++)
		onnx_set_value(c, i, result[i]);
}

/* ---- optionals: a value, or an empty one */

void onnx_Optional(OnnxCall *c)
{
	const OnnxValue *v = onnx_value(c, 0);
	onnx_set_value(
		c, 0, v->kind == ONNX_ABSENT ? (OnnxValue){.kind = ONNX_EMPTY_OPTIONAL} : *v);
}

void onnx_OptionalHasElement(OnnxCall *c)
{
	onnx_set_typed(c, 0, const_int(DT_BOOL, onnx_has(c, 0)), ONNX_BOOL);
}

void onnx_OptionalGetElement(OnnxCall *c)
{
	if (!onnx_has(c, 0))
		onnx_fail(c, MALFORMED, "its input is an optional without a value");
	onnx_set_value(c, 0, *onnx_value(c, 0));
}
#endif
