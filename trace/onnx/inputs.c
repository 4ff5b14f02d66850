/* A model's inputs, and their options on the command line.
 *
 *     input ids: int64 [batch, "seq len"]   →   BUFFER i64 {name: ids, shape: [batch, seq_len]},
 *                                               vars {batch: [1, 2147483647], seq_len: …}
 *     cache: float [batch, past], in a Concat along axis 1
 *                                           →   vars {past: [0, 2147483647]}
 *     x: float ["?", "?"]                   →   vars {x_0: …, x_1: …}
 *     --set batch=8                             the size is 8
 *     --const axes=a.npy                        a const BUFFER instead of the input
 *     --shapes-from @1=a.npy                    still an input; its value is known to shapes */
#include "arrays/arrays.h"
#include "onnx/proto.h"
#ifdef HAVE_ONNX
#include <ctype.h>
#include <errno.h>
#include <stdlib.h>
#include <unistd.h>

enum { MAX_SIZES = 64, LARGEST = INT32_MAX, LONGEST_SEQUENCE = 1 << 16 };

static ARENA const Val *vars, *sequences;
static ARENA Map sizes;               /* by dim_param: index node */
static ARENA Map joined;              /* names of sizes along which a Concat joins an input */
static ARENA const char *only;        /* the name of all open axes, two of them of one input */
static ARENA VEC(UOp *) inputs; /* in the model's order; NULL for one that became a constant */
static ARENA VEC(const char *) given_names;

/* ---- sizes */

/* The options that have names of the model, and the names that they were asked for. */
static const struct { const char *option, *what; const OnnxWords *words; } by_name[] = {
	{"set", "size", &onnx_opt.sets}, {"const", "input", &onnx_opt.consts},
	{"shapes-from", "input", &onnx_opt.shapes_from}};
enum { BY_NAME = sizeof by_name / sizeof *by_name };
static ARENA Map asked[BY_NAME];

/* the VALUE of NAME=VALUE among the words; NULL when there is none */
static const char *word_value(const OnnxWords *words, const char *name)
{
	size_t n = strlen(name);
	for (size_t i = 0; words->n && i < BY_NAME; i++)
		if (by_name[i].words == words)
			map_put(&asked[i], PKEY(val_str(name)), (void *)name);
	for (size_t i = 0; i < words->n; i++)
		if (!strncmp(words->at[i], name, n) && words->at[i][n] == '=')
			return words->at[i] + n + 1;
	return NULL;
}

void onnx_check_options(void)
{
	for (size_t i = 0; i < BY_NAME; i++)
		for (size_t k = 0; k < by_name[i].words->n; k++) {
			const char *word = by_name[i].words->at[k], *eq = strchr(word, '=');
			const Val *name = eq ? val_strn(word, eq - word) : VNIL;
			if (!map_get(&asked[i], PKEY(name)))
				die(USAGE, "--%s %.80s: the model has no such %s, as NAME=… "
					"(sluice info MODEL lists them)", by_name[i].option, word,
					by_name[i].what);
		}
}

static UOp *set_size(const char *text, const char *name)
{
	char *end;
	errno = 0;
	long long v = strtoll(text, &end, 10);
	if (errno || end == text || *end || v < 0)
		die(USAGE, "--set %.80s=%.80s: a size is a number from 0", name, text);
	return ix_const(v);
}

static UOp *new_size(const char *name)
{
	const char *stem = onnx_identifier(name), *id = stem;
	for (unsigned k = 1; val_get(vars, id); k++)
		id = arena_printf("%s_%u", stem, k);
	const char *set = word_value(&onnx_opt.sets, name);
	set = set ? set : word_value(&onnx_opt.sets, id);
	if (set)
		return set_size(set, name);
	if (vars->n == MAX_SIZES)
		die(UNSUPPORTED, "more than %d sizes that are not known; try --set %.80s=N",
			MAX_SIZES, id);
	bool empty = map_get(&joined, PKEY(val_str(name)));
	vars = val_set(vars, id, VARR(val_int(!empty), val_int(LARGEST)));
	const char *err = vars_declare(vars);
	if (err)
		die(MALFORMED, "%s", err);
	return vars_find(id, strlen(id));
}

/* A size such as "past + sequence", made of names of other axes, as exporters write it; NULL when
 * text is not one. */
static UOp *sum_size(const char *text)
{
	const char *err = NULL;
	bool plain = !strcmp(text, onnx_identifier(text));
	return plain || val_get(vars, text) ? NULL : ix_parse(text, strlen(text), &err);
}

static UOp *named_size(const char *name)
{
	const Val *key = val_str(name);
	UOp *u = map_get(&sizes, PKEY(key));
	if (!u && !word_value(&onnx_opt.sets, name))
		u = sum_size(name);
	if (!u)
		u = new_size(name);
	map_put(&sizes, PKEY(key), u);
	return u;
}

/* Whether an exporter means "unknown" by a dim_param: one without a letter or a digit, or the only
 * one there is, for several axes of one input. Unless --set gives it, each axis is a size of its
 * own then. */
static bool says_nothing(const char *name)
{
	if (word_value(&onnx_opt.sets, name))
		return false;
	for (const char *c = name; *c && (!only || strcmp(name, only)); c++)
		if (isalnum((unsigned char)*c))
			return false;
	return true;
}

const char *onnx_size_name(const Onnx__TensorShapeProto__Dimension *d, const char *input,
	size_t axis)
{
	if (d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM && d->dim_param &&
		!says_nothing(d->dim_param))
		return d->dim_param;
	/* exporters write -1 for an unknown size */
	bool known = d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_VALUE &&
		d->dim_value != -1;
	return known ? NULL : arena_printf("%s_%zu", input, axis);
}

static UOp *size_of(const Onnx__TensorShapeProto__Dimension *d, const char *input, size_t axis)
{
	const char *name = onnx_size_name(d, input, axis);
	if (name)
		return named_size(name);
	if (d->dim_value < 0)
		die(MALFORMED, "size %lld is negative", (long long)d->dim_value);
	return ix_const(d->dim_value);
}

static const Shape *shape_of(const Onnx__TypeProto__Tensor *t, const char *input)
{
	UOp *dim[MAX_RANK];
	const char *err;
	int status = MALFORMED;
	if (!t->shape)
		die(UNSUPPORTED, "its rank is not known; try --shapes-from %.100s=FILE.npy",
			onnx_clean(input));
	if (t->shape->n_dim > MAX_RANK)
		die(UNSUPPORTED, "rank %zu is more than %d", t->shape->n_dim, MAX_RANK);
	for (size_t i = 0; i < t->shape->n_dim; i++)
		dim[i] = size_of(t->shape->dim[i], input, i);
	const Shape *s = shape_checked(t->shape->n_dim, dim, &err, &status);
	if (!s)
		die(status, "%s", err);
	return s;
}

/* ---- one input */

static bool is_optional(const Onnx__TypeProto *t)
{
	return t && t->value_case == ONNX__TYPE_PROTO__VALUE_OPTIONAL_TYPE && t->optional_type;
}

static const Onnx__TypeProto__Tensor *tensor_type(const Onnx__TypeProto *t)
{
	if (is_optional(t))
		t = t->optional_type->elem_type;
	if (!t || t->value_case == ONNX__TYPE_PROTO__VALUE__NOT_SET)
		die(MALFORMED, "it has no type");
	if (t->value_case != ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE || !t->tensor_type)
		die(UNSUPPORTED, "only tensors can be inputs");
	return t->tensor_type;
}

/* The file given for input k: NAME=FILE, or @K=FILE. */
static const char *file_for(const OnnxWords *words, const char *name, const char *clean, size_t k)
{
	const char *file = word_value(words, name);
	file = file ? file : word_value(words, clean);
	return file ? file : word_value(words, arena_printf("@%zu", k));
}

/* An input that the command line gives a file has the sizes in that file. */
static const Shape *file_shape(const char *file, DType dt, const Shape *s)
{
	Array a = npy_read(file, dt);
	if (a.dtype != dt || (s && a.rank != s->rank))
		die(MALFORMED, "'%.200s' holds %s of rank %d", file, dtype_name(a.dtype), a.rank);
	s = shape_ints(a.rank, a.dim);
	array_free(&a);
	return s;
}

/* Tracing depends on whether an optional has a value: FILE.none says that it has none. */
static bool is_empty(const Onnx__ValueInfoProto *info, const char *assumed)
{
	if (!is_optional(info->type))
		return false;
	if (!assumed)
		die(UNSUPPORTED,
			"it is optional, and the graph depends on whether it is there: FILE.npy "
			"or FILE.none; try --shapes-from %.100s=FILE.npy",
			onnx_clean(info->name));
	size_t n = strlen(assumed);
	return n > 5 && !strcmp(assumed + n - 5, ".none");
}

static const Onnx__TypeProto *sequence_type(const Onnx__TypeProto *t)
{
	if (is_optional(t))
		t = t->optional_type->elem_type;
	bool is = t && t->value_case == ONNX__TYPE_PROTO__VALUE_SEQUENCE_TYPE && t->sequence_type;
	return is ? t->sequence_type->elem_type : NULL;
}

/* A sequence has one element per file 0.npy, 1.npy, … in the folder: each is an input of the file's
 * shape. */
static OnnxValue make_sequence(const Onnx__TypeProto *elem, const char *clean, const char *folder)
{
	const Onnx__TypeProto__Tensor *t = tensor_type(elem);
	DType dt = onnx_dtype(t->elem_type);
	VEC(OnnxValue) v = {0};
	VEC(const Val *) names = {0};
	if (!folder)
		die(UNSUPPORTED,
			"it is a sequence, whose length must be known: a folder of 0.npy, 1.npy, "
			"…; try --shapes-from %.100s=FOLDER",
			clean);
	if (dt == DT_NONE)
		die(UNSUPPORTED, "tensors of type %s are not supported",
			onnx_type_name(t->elem_type));
	for (size_t i = 0; i < LONGEST_SEQUENCE; i++) {
		const char *file = arena_printf("%s/%zu.npy", folder, i);
		if (access(file, F_OK))
			break;
		const char *name = name_fresh(arena_printf("%s_%zu", clean, i));
		UOp *u = buffer_new(name, "input", dt, file_shape(file, dt, NULL), NULL, NULL);
		vec_push(&v, ((OnnxValue){.kind = ONNX_TENSOR, .type = t->elem_type, .u = u}));
		vec_push(&names, val_str(name));
	}
	sequences = val_set(sequences, clean, val_array(names.n, names.at));
	vec_free(&names);
	return (OnnxValue){.kind = ONNX_SEQUENCE, .type = t->elem_type, .at = v.at, .n = v.n};
}

static OnnxValue make_input(const Onnx__ValueInfoProto *info, size_t k)
{
	const char *clean = name_fresh(onnx_clean(info->name));
	const char *fixed = file_for(&onnx_opt.consts, info->name, clean, k);
	const char *assumed = file_for(&onnx_opt.shapes_from, info->name, clean, k);
	UOp *u;
	if (is_empty(info, assumed)) {
		vec_push(&given_names, clean);
		vec_push(&inputs, NULL);
		return (OnnxValue){.kind = ONNX_EMPTY_OPTIONAL};
	}
	if (sequence_type(info->type)) {
		vec_push(&given_names, clean);
		vec_push(&inputs, NULL);
		return make_sequence(sequence_type(info->type), clean, assumed);
	}
	const Onnx__TypeProto__Tensor *t = tensor_type(info->type);
	DType dt = onnx_dtype(t->elem_type);
	if (dt == DT_NONE)
		die(UNSUPPORTED, "tensors of type %s are not supported",
			onnx_type_name(t->elem_type));
	vec_push(&given_names, clean);
	if (fixed) {
		u = load_buffer(fixed, NULL, dt, clean, "const");
		if (u->dtype != dt)
			die(MALFORMED, "'%.200s' holds %s, not %s", fixed, dtype_name(u->dtype),
				dtype_name(dt));
		vec_push(&inputs, NULL);
	} else {
		const Shape *s = !t->shape && assumed ? file_shape(assumed, dt, NULL) :
							shape_of(t, info->name);
		u = buffer_new(clean, "input", dt, s, NULL, NULL);
		node_note(u, VMAP(val_str("name"), val_str(info->name)));
		vec_push(&inputs, u);
		if (assumed)
			onnx_assume(u, assumed);
	}
	return (OnnxValue){.kind = ONNX_TENSOR, .type = t->elem_type, .u = u};
}

/* ---- what is asked of all inputs before the first is made */

/* the shape of an input that is a tensor of known rank, else NULL */
static const Onnx__TensorShapeProto *plain_shape(const Onnx__ValueInfoProto *info)
{
	const Onnx__TypeProto *t = info->type;
	bool is = t && t->value_case == ONNX__TYPE_PROTO__VALUE_TENSOR_TYPE && t->tensor_type;
	return is ? t->tensor_type->shape : NULL;
}

static const char *dim_param(const Onnx__TensorShapeProto__Dimension *d)
{
	return d->value_case == ONNX__TENSOR_SHAPE_PROTO__DIMENSION__VALUE_DIM_PARAM ?
		d->dim_param : NULL;
}

/* The dim_param of all axes of all inputs that have one, if one input has it twice. */
static const char *only_name(const Onnx__GraphProto *g)
{
	const char *one = NULL;
	bool twice = false;
	for (size_t i = 0; i < g->n_input; i++) {
		const Onnx__TensorShapeProto *s = plain_shape(g->input[i]);
		size_t here = 0;
		for (size_t k = 0; s && k < s->n_dim; k++) {
			const char *name = dim_param(s->dim[k]);
			if (name && one && strcmp(name, one))
				return NULL;
			one = name ? name : one;
			here += name != NULL;
		}
		twice |= here > 1;
	}
	return twice ? one : NULL;
}

void onnx_name_sizes(const Onnx__GraphProto *g) { only = only_name(g); }

/* Declares the sizes that are plain names first, so that sums of them are recognized. */
static void declare_plain(const Onnx__ValueInfoProto *info)
{
	const Onnx__TensorShapeProto *s = plain_shape(info);
	for (size_t i = 0; s && i < s->n_dim; i++) {
		const char *name = dim_param(s->dim[i]);
		if (name && *name && !says_nothing(name) && !strcmp(name, onnx_identifier(name)))
			named_size(name);
	}
}

static int64_t axis_of_concat(const Onnx__NodeProto *n)
{
	for (size_t i = 0; i < n->n_attribute; i++)
		if (n->attribute[i]->name && !strcmp(n->attribute[i]->name, "axis"))
			return n->attribute[i]->i;
	return INT64_MAX;
}

enum { DEEPEST = 48 };

/* Remembers the axes along which a Concat of g, or of a body in it, joins an input to others: such
 * an input is a cache, which is empty at first. Other inputs have an element at least, so that
 * x[:, :1] is one element and not perhaps none. */
static void find_joined(const Map *infos, const Onnx__GraphProto *g, int depth)
{
	for (size_t i = 0; depth < DEEPEST && i < g->n_node; i++) {
		const Onnx__NodeProto *n = g->node[i];
		for (size_t k = 0; k < n->n_attribute; k++)
			if (n->attribute[k]->g)
				find_joined(infos, n->attribute[k]->g, depth + 1);
		if (!n->op_type || strcmp(n->op_type, "Concat") || n->n_input < 2)
			continue;
		for (size_t k = 0; k < n->n_input; k++) {
			const Onnx__ValueInfoProto *x = map_get(infos, PKEY(val_str(n->input[k])));
			const Onnx__TensorShapeProto *s = x ? plain_shape(x) : NULL;
			int64_t axis = axis_of_concat(n);
			axis += axis < 0 && s ? (int64_t)s->n_dim : 0;
			if (!s || axis < 0 || axis >= (int64_t)s->n_dim)
				continue;
			const char *name = onnx_size_name(s->dim[axis], x->name, axis);
			if (name)
				map_put(&joined, PKEY(val_str(name)), (void *)x);
		}
	}
}

static bool has_initializer(const Map *names, const char *name)
{
	return map_get(names, PKEY(val_str(name)));
}

void onnx_make_inputs(OnnxScope *s, const Onnx__GraphProto *g)
{
	Map weights = {0}, infos = {0};
	const char *where = process.where;
	vars = sequences = VNIL;
	for (size_t i = 0; i < g->n_initializer; i++)
		if (g->initializer[i]->name)
			map_put(&weights, PKEY(val_str(g->initializer[i]->name)),
				g->initializer[i]);
	onnx_name_sizes(g);
	for (size_t i = 0; i < g->n_input; i++)
		if (g->input[i]->name)
			map_put(&infos, PKEY(val_str(g->input[i]->name)), g->input[i]);
	find_joined(&infos, g, 0);
	map_free(&infos);
	for (size_t i = 0; i < g->n_input; i++)
		if (g->input[i]->name && !has_initializer(&weights, g->input[i]->name))
			declare_plain(g->input[i]);
	for (size_t i = 0; i < g->n_input; i++) {
		Onnx__ValueInfoProto *info = g->input[i];
		if (!info->name || !*info->name)
			die(MALFORMED, "input %zu has no name", i);
		if (has_initializer(&weights, info->name))
			continue;
		process.where = arena_printf("%.300s: input %.200s", onnx_file, info->name);
		onnx_bind(s, info->name, make_input(info, inputs.n));
		process.where = where;
	}
	map_free(&weights);
	map_free(&sizes);
	map_free(&joined);
}

const Val *onnx_vars(void) { return vars; }

/* ---- meta: inputs and sized, in the form of remember_inputs.c, and the values that shapes need */

const Val *onnx_inputs_meta(const Val *meta)
{
	const Val **name = arena_alloc((inputs.n + 1) * sizeof *name),
		**sized = arena_alloc((inputs.n + 1) * sizeof *sized);
	size_t n = 0;
	int64_t count;
	for (size_t i = 0; i < inputs.n; i++) {
		const UOp *u = inputs.at[i];
		name[i] = val_str(given_names.at[i]);
		if (u &&
			(!shape_static(u->shape, &count) ||
				val_get(onnx_assumed(), given_names.at[i])))
			sized[n++] = VARR(
				name[i], val_str(dtype_name(u->dtype)), val_get(u->arg, "shape"));
	}
	meta = val_set(meta, "inputs", val_array(inputs.n, name));
	if (n)
		meta = val_set(meta, "sized", val_array(n, sized));
	if (sequences != VNIL)
		meta = val_set(meta, "sequences", sequences);
	if (onnx_assumed() != VNIL)
		meta = val_set(meta, "assumed", onnx_assumed());
	return meta;
}
#endif
