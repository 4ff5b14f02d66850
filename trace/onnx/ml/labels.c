/* Labels: the numbers or texts that stand for classes and categories.
 *
 *     classlabels_strings ["no", "yes"]   →   label i64[n], 0 or 1, with these words
 *     LabelEncoder keys → values          →   the place among the keys, then GATHER */
#include "onnx/ml/ml.h"

/* ---- the labels of a classifier */

static const int64_t *int_labels(OnnxCall *c, size_t *n)
{
	const int64_t *v = onnx_attr_int_list(c, "classlabels_int64s", n);

	return v ? v : onnx_attr_int_list(c, "classlabels_ints", n);
}

int64_t ml_label_count(OnnxCall *c)
{
	const Val *words = onnx_attr_words(c, "classlabels_strings");
	size_t n = 0;

	if (!words)
		int_labels(c, &n);
	n = words ? words->n : n;
	if (!n)
		onnx_fail(c, MALFORMED, "it has no labels of classes");
	return n;
}

void ml_set_label(OnnxCall *c, UOp *at)
{
	const Val *words = onnx_attr_words(c, "classlabels_strings");
	size_t n;

	if (words) {
		onnx_set_words(c, 0, at, words);
		return;
	}
	const int64_t *v = int_labels(c, &n);
	UOp *label = table_ints(n, v);
	onnx_set(c, 0, t_gather(label, 1, &at));
}

UOp *ml_best(UOp *scores)
{
	const char *kw = "axis";
	Value x = v_tensor(scores), axis = v_int(1);

	return onnx_lib("argmax", 1, &x, 1, &kw, &axis);
}

/* ---- the place of each element among keys */

static UOp *keys_of(OnnxCall *c, const char *kind, size_t *n)
{
	const char *name = arena_printf("keys_%s", kind);
	const int64_t *ints = !strcmp(kind, "int64s") ? onnx_attr_int_list(c, name, n) : NULL;

	if (ints)
		return table_ints(*n, ints);
	if (strcmp(kind, "floats") || !onnx_attr_has(c, name))
		return NULL;
	const double *v = onnx_attr_float_list(c, name, n);
	return table_numbers(DT_F32, *n, v);
}

/* i64, the last place where x equals a key, or -1; NaN equals NaN */
static UOp *place_among(UOp *x, UOp *keys)
{
	DType dt = dtype_promote(x->dtype, keys->dtype);
	int axis = t_rank(x);
	UOp *y = t_unsqueeze(t_cast(x, dt), axis), *key = t_cast(keys, dt);
	UOp *same = t_eq(y, key);

	if (dtype_float(dt))
		same = t_or(same, t_and(t_ne(y, y), t_ne(key, key)));
	UOp *place = t_arange(DT_I64, shape_count(keys->shape));
	return t_reduce(OP_MAX, t_where(same, place, t_num(DT_I64, -1)), 1, &axis, false);
}

/* The codes of x's words are places of a table that tracing fills. */
static UOp *place_of_words(UOp *x, const Val *words, const Val *keys)
{
	UOp *table = table_ints(words->n, onnx_word_places(words, keys));

	return t_gather(table, 1, &x);
}

static UOp *place_in(OnnxCall *c, const char *words_name, size_t *n)
{
	const Val *words = onnx_words(c, 0), *keys = onnx_attr_words(c, words_name);
	UOp *x = onnx_in(c, 0), *v;

	if (words && !keys)
		onnx_fail(c, MALFORMED, "its input has texts, its keys are others");
	if (words)
		return *n = keys->n, place_of_words(x, words, keys);
	v = onnx_attr_tensor(c, "keys_tensor", NULL);
	v = v ? v : keys_of(c, "int64s", n);
	v = v ? v : keys_of(c, "floats", n);
	int64_t count;
	if (!v || t_rank(v) != 1 || !shape_static(v->shape, &count))
		onnx_fail(c, MALFORMED, "it has no keys for its input, %s", dtype_name(x->dtype));
	*n = count;
	return place_among(x, v);
}

/* ---- what the places stand for */

/* values, with otherwise behind them for place -1 */
static void give_numbers(OnnxCall *c, UOp *at, size_t n, UOp *values, UOp *otherwise)
{
	UOp *size = shape_count(values->shape), *one = ix_const(1);

	if (!size_equal(size, ix_const(n)))
		onnx_fail(c, MALFORMED, "%zu keys for values %s", n, shape_text(values->shape));
	otherwise = t_reshapev(t_cast(otherwise, values->dtype), 1, &one);
	values = t_concat(2, (UOp *[]){ t_reshapev(values, 1, &size), otherwise }, 0);
	at = t_where(t_lt(at, t_num(DT_I64, 0)), t_num(DT_I64, n), at);
	onnx_set(c, 0, t_gather(values, 1, &at));
}

static void give_words(OnnxCall *c, UOp *at, size_t n, const Val *values)
{
	const Val **all = arena_alloc((n + 1) * sizeof *all);

	if (values->n != n)
		onnx_fail(c, MALFORMED, "%zu keys for %zu values", n, values->n);
	memcpy(all, values->a, n * sizeof *all);
	all[n] = val_str(onnx_attr_str(c, "default_string", "_Unused"));
	values = val_array(n + 1, all);
	UOp *code = table_ints(n + 1, onnx_word_places(values, values));
	at = t_where(t_lt(at, t_num(DT_I64, 0)), t_num(DT_I64, n), at);
	onnx_set_words(c, 0, t_gather(code, 1, &at), values);
}

static void encode(OnnxCall *c)
{
	size_t n, count;
	UOp *at = place_in(c, "keys_strings", &n), *v = onnx_attr_tensor(c, "values_tensor", NULL);
	const Val *words = onnx_attr_words(c, "values_strings");
	const int64_t *ints = onnx_attr_int_list(c, "values_int64s", &count);

	if (words) {
		give_words(c, at, n, words);
	} else if (v) {
		UOp *other = onnx_attr_tensor(c, "default_tensor", NULL);
		give_numbers(c, at, n, v, other ? other :
			t_num(v->dtype, dtype_float(v->dtype) ? -0.0 : -1));
	} else if (ints) {
		int64_t other = onnx_attr_int(c, "default_int64", -1);
		give_numbers(c, at, n, table_ints(count, ints), const_int(DT_I64, other));
	} else {
		const double *f = ml_floats(c, "values_floats", &count);
		double other = onnx_attr_float(c, "default_float", -0.0);
		give_numbers(c, at, n, table_numbers(DT_F32, count, f), t_num(DT_F32, other));
	}
}

/* Texts to the places of a list and back: the first LabelEncoder, and CategoryMapper. */
static void map_words(OnnxCall *c, const char *words_name, UOp *keys)
{
	const Val *words = onnx_attr_words(c, words_name);
	int64_t other = onnx_attr_int(c, "default_int64", -1);

	if (!words)
		onnx_fail(c, MALFORMED, "it has no %s", words_name);
	if (onnx_words(c, 0)) {
		UOp *at = place_of_words(onnx_in(c, 0), onnx_words(c, 0), words);
		give_numbers(c, at, words->n, keys ? keys : t_arange(DT_I64, ix_const(words->n)),
			const_int(DT_I64, other));
	} else {
		keys = keys ? keys : t_arange(DT_I64, ix_const(words->n));
		give_words(c, place_among(onnx_in(c, 0), keys), words->n, words);
	}
}

void onnx_LabelEncoder(OnnxCall *c)
{
	if (onnx_version(c) < 2)
		map_words(c, "classes_strings", NULL);
	else
		encode(c);
}

void onnx_CategoryMapper(OnnxCall *c)
{
	size_t n;
	const int64_t *v = onnx_attr_int_list(c, "cats_int64s", &n);

	map_words(c, "cats_strings", v ? table_ints(n, v) : NULL);
}

/* ---- one column for each category */

void onnx_OneHotEncoder(OnnxCall *c)
{
	const Val *keys = onnx_attr_words(c, "cats_strings");
	UOp *x = onnx_in(c, 0), *at;
	size_t n;

	if (keys) {
		if (!onnx_words(c, 0))
			onnx_fail(c, MALFORMED, "its categories are texts, its input is none");
		n = keys->n;
		at = place_of_words(x, onnx_words(c, 0), keys);
	} else {
		const int64_t *v = onnx_attr_int_list(c, "cats_int64s", &n);
		if (!v || !n)
			onnx_fail(c, MALFORMED, "it has no categories");
		at = place_among(t_cast(x, DT_I64), table_ints(n, v));
	}
	UOp *same = t_eq(t_unsqueeze(at, t_rank(at)), t_arange(DT_I64, ix_const(n)));
	onnx_set(c, 0, t_cast(same, DT_F32));
}

/* ---- the map of classes to probabilities */

/* A map of labels to scores for each row is an array, with the labels of its columns. */
void onnx_ZipMap(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0);
	const Val *words = onnx_attr_words(c, "classlabels_strings");
	size_t n = 0;

	if (!words) {
		const int64_t *v = int_labels(c, &n);
		const Val **at = arena_alloc((n + 1) * sizeof *at);
		for (size_t i = 0; i < n; i++)
			at[i] = val_int(v[i]);
		words = val_array(n, at);
	}
	if (t_rank(x) < 1 || !size_equal(t_dim(x, -1), ix_const(words->n)))
		onnx_fail(c, MALFORMED, "%zu labels for scores %s", words->n,
			shape_text(x->shape));
	onnx_set_value(c, 0, (OnnxValue){ .kind = ONNX_TENSOR, .type = onnx_type_of(x->dtype),
		.u = x, .words = words });
}
