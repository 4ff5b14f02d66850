/* Sequences and optionals: lists of values that exist only while tracing. One whose length, or
 * whose place at hand, is not known is a tensor, its elements along a new first axis.
 *
 *     SequenceConstruct(a, b) → SequenceAt(·, 1)         →   b
 *     SplitToSequence(x [n,4]) → SequenceAt(·, i)        →   x[i:i+1] */
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

/* ---- lists of open length: the elements in u, and those behind them */

static const Shape *element_shape(const OnnxValue *s)
{
	UOp *dim[MAX_RANK];
	if (!s->u)
		return s->n ? s->at[0].u->shape : NULL;
	for (int d = 1; d < t_rank(s->u); d++)
		dim[d - 1] = t_dim(s->u, d);
	return shape_new(t_rank(s->u) - 1, dim);
}

UOp *onnx_stacked(OnnxCall *c, const OnnxValue *s)
{
	UOp **part = arena_alloc((s->n + 1) * sizeof *part);
	const Shape *one = element_shape(s);
	size_t n = 0;
	if (!one)
		onnx_fail(c, UNSUPPORTED, "an empty sequence, whose elements have no shape");
	if (s->u)
		part[n++] = s->u;
	for (size_t k = 0; k < s->n; k++) {
		UOp *u = s->at[k].u;
		if (t_rank(u) != one->rank || u->dtype != (s->u ? s->u : s->at[0].u)->dtype)
			onnx_fail(c, UNSUPPORTED, "a sequence, of a length that is not known, of "
				"elements %s and %s", shape_text(one), shape_text(u->shape));
		part[n++] = t_unsqueeze(u, 0);
	}
	return n == 1 ? part[0] : t_concat(n, part, 0);
}

static OnnxValue list_of(UOp *u, int type)
{
	return (OnnxValue){.kind = ONNX_SEQUENCE, .type = type, .u = u};
}

/* A place as an i64 scalar, wrapped; the length when input k is missing. */
static UOp *open_place(OnnxCall *c, int k, UOp *length)
{
	UOp *n = t_size(DT_I64, length);
	if (!onnx_has(c, k))
		return n;
	UOp *i = t_reshape(t_cast(onnx_in(c, k), DT_I64), shape_scalar());
	return i->op == OP_TURN ? i : t_wrap_index(i, length);
}

static OnnxValue open_insert(OnnxCall *c, const OnnxValue *s)
{
	UOp *u = onnx_stacked(c, s), *n = t_dim(u, 0), *at;
	at = t_bind("place", open_place(c, 2, n), ix_const(0), n);
	return list_of(t_concat(3, (UOp *[]){t_shrink_axis(u, 0, ix_const(0), at),
		t_unsqueeze(onnx_in(c, 1), 0), t_shrink_axis(u, 0, at, n)}, 0), s->type);
}

static OnnxValue open_erase(OnnxCall *c, const OnnxValue *s)
{
	UOp *u = onnx_stacked(c, s), *n = t_dim(u, 0), *less = ix_sub(n, ix_const(1)), *at;
	if (!onnx_has(c, 1))
		return list_of(t_shrink_axis(u, 0, ix_const(0), less), s->type);
	at = t_arange(DT_I64, less);
	at = t_add(at, t_cast(t_not(t_lt(at, open_place(c, 1, n))), DT_I64));
	return list_of(t_take_inside(u, at, 0), s->type);
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

static bool place_known(OnnxCall *c, int k)
{
	Array a;
	return !onnx_has(c, k) || onnx_try_known(c, k, &a);
}

/* ---- lists */

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
	if (!place_known(c, 2) || (s->u && onnx_has(c, 2))) {
		onnx_set_value(c, 0, open_insert(c, s));
		return;
	}
	size_t at = onnx_has(c, 2) ? place(c, 2, s->n, s->n + 1) : s->n;
	if (s->n == LONGEST)
		onnx_fail(c, UNSUPPORTED, "a sequence of more than %d", LONGEST);
	OnnxValue r = sequence_new(s->n + 1, onnx_type(c, 1));
	r.u = s->u;
	for (size_t i = 0; i <= s->n; i++)
		r.at[i] = i < at ? s->at[i] : i == at ? *onnx_value(c, 1) : s->at[i - 1];
	onnx_set_value(c, 0, r);
}

void onnx_SequenceErase(OnnxCall *c)
{
	const OnnxValue *s = sequence(c, 0);
	if (s->u || !place_known(c, 1)) {
		onnx_set_value(c, 0, open_erase(c, s));
		return;
	}
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
	if (!s->u && place_known(c, 1)) {
		onnx_set_value(c, 0, s->at[place(c, 1, s->n, s->n)]);
		return;
	}
	UOp *u = onnx_stacked(c, s), *n = t_dim(u, 0), *at;
	at = t_bind("place", open_place(c, 1, n), ix_const(0), ix_sub(n, ix_const(1)));
	u = t_shrink_axis(u, 0, at, ix_add(at, ix_const(1)));
	onnx_set_typed(c, 0, t_squeeze(u, 0), s->type);
}

void onnx_SequenceLength(OnnxCall *c)
{
	const OnnxValue *s = sequence(c, 0);
	UOp *n = ix_const((int64_t)s->n);
	onnx_set_typed(c, 0, onnx_size_node(s->u ? ix_add(t_dim(s->u, 0), n) : n), ONNX_INT64);
}

/* ---- to and from tensors */

/* Whether pieces lose the axis. ONNX lets keepdims count where there is no `split`; it counts with
 * the scalar 1 too, for ONNX Runtime takes it so, and exporters write unbind() in this form. */
static bool loses_axis(OnnxCall *c)
{
	Array a;
	bool one = !onnx_has(c, 1) || (!t_rank(onnx_in(c, 1)) && onnx_try_known(c, 1, &a) &&
		onnx_known_int(c, 1) == 1);
	return one && !onnx_attr_int(c, "keepdims", 1);
}

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

/* Pieces of one length along an axis whose size is not known: [pieces, …, length, …]. */
static void split_open(OnnxCall *c, UOp *x, int axis)
{
	UOp *size = t_dim(x, axis), *each = ix_const(1), *n;
	bool drop = loses_axis(c);
	size_t count;
	if (onnx_has(c, 1) && (t_rank(onnx_in(c, 1)) ||
		!onnx_try_sizes(onnx_in(c, 1), 1, &each, &count)))
		onnx_fail(c, UNSUPPORTED, "pieces of lengths of their own of an axis of %s%s",
			shape_text(shape_new(1, &size)), onnx_size_advice(size));
	n = ix_div(size, each);
	if (!size_equal(ix_mul(n, each), size))
		onnx_fail(c, UNSUPPORTED, "an axis of %s in pieces of %s%s",
			shape_text(shape_new(1, &size)), shape_text(shape_new(1, &each)),
			onnx_size_advice(size));
	x = t_move_axis(t_split_axis(x, axis, n, each), axis, 0);
	onnx_set_value(c, 0, list_of(drop ? t_squeeze(x, axis + 1) : x, onnx_type(c, 0)));
}

void onnx_SplitToSequence(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(x));
	int64_t size, start = 0;
	size_t n;
	if (!ix_is_const(t_dim(x, axis), &size)) {
		split_open(c, x, axis);
		return;
	}
	int64_t *len = pieces(c, size, &n);
	bool drop = loses_axis(c);
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
	if (s->u) {
		UOp *u = onnx_stacked(c, s);
		int at = onnx_attr_axis(c, "axis", 0, t_rank(u) - !fresh);
		u = t_move_axis(u, 0, at);
		onnx_set_typed(c, 0, fresh ? u : t_merge_axes(u, at, 2), s->type);
		return;
	}
	if (!s->n)
		onnx_fail(c, MALFORMED, "the sequence is empty");
	int axis = onnx_attr_axis(c, "axis", 0, t_rank(s->at[0].u) + fresh);
	for (size_t i = 0; i < s->n; i++)
		part[i] = fresh ? t_unsqueeze(s->at[i].u, axis) : s->at[i].u;
	onnx_set_typed(c, 0, t_concat(s->n, part, axis), s->type);
}

/* ---- SequenceMap: the body is expanded for each element */

enum { MAX_BODY = 256 };

static UOp *map_body(const OnnxTurns *t, UOp *turn, const OnnxValue *none, OnnxValue *out)
{
	OnnxCall *c = t->c;
	OnnxValue in[MAX_BODY];
	int64_t k;
	for (int i = 0; i < onnx_nin(c); i++) {
		const OnnxValue *v = onnx_value(c, i);
		in[i] = *v;
		if (v->kind != ONNX_SEQUENCE)
			continue;
		if (const_is_int(turn, &k))
			in[i] = v->at[k];
		else
			in[i] = (OnnxValue){.kind = ONNX_TENSOR, .type = v->type,
				.u = t_take_inside(onnx_stacked(c, v), turn, 0)};
	}
	onnx_body(c, "body", (size_t)onnx_nin(c), in, out, MAX_BODY);
	return NULL;
}

/* A sequence of open length: its elements are of one shape, and so are those of the result. */
static void map_open(OnnxCall *c, int n)
{
	OnnxValue out[MAX_BODY];
	UOp *length = NULL;
	for (int i = 0; i < onnx_nin(c); i++) {
		const OnnxValue *v = onnx_value(c, i);
		if (v->kind != ONNX_SEQUENCE)
			continue;
		UOp *own = t_dim(onnx_stacked(c, v), 0);
		length = length ? length : own;
		if (!size_equal(own, length))
			onnx_fail(c, UNSUPPORTED, "its sequences have %s and %s elements",
				shape_text(shape_new(1, &length)), shape_text(shape_new(1, &own)));
	}
	OnnxTurns t = {.c = c, .body = map_body, .values = n, .length = length,
		.limit = onnx_size_node(length)};
	onnx_turns(&t, out);
	for (int i = 0; i < n; i++)
		onnx_set_value(c, i, list_of(out[i].u, out[i].type));
}

static bool any_open(OnnxCall *c)
{
	bool any = false;
	for (int i = 0; i < onnx_nin(c); i++)
		any |= onnx_value(c, i)->kind == ONNX_SEQUENCE && onnx_value(c, i)->u;
	return any;
}

void onnx_SequenceMap(OnnxCall *c)
{
	OnnxValue out[MAX_BODY], result[MAX_BODY];
	const OnnxValue *first = sequence(c, 0);
	OnnxTurns t = {.c = c};
	int n = onnx_body_outputs(c, "body");
	if (n > MAX_BODY || onnx_nin(c) > MAX_BODY)
		onnx_fail(c, UNSUPPORTED, "more than %d values", MAX_BODY);
	if (any_open(c)) {
		map_open(c, n);
		return;
	}
	for (int i = 0; i < n; i++)
		result[i] = sequence_new(first->n, ONNX_FLOAT);
	for (int i = 0; i < onnx_nin(c); i++)
		if (onnx_value(c, i)->kind == ONNX_SEQUENCE && onnx_value(c, i)->n != first->n)
			onnx_fail(c, MALFORMED, "its sequences have %zu and %zu elements",
				first->n, onnx_value(c, i)->n);
	for (size_t k = 0; k < first->n; k++) {
		map_body(&t, const_int(DT_I64, (int64_t)k), NULL, out);
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
