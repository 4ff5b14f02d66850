/* An operator's access to its node: inputs, attributes, outputs. An attribute of a node in a local
 * function may refer to one of the calling node (ref_attr_name); only this file resolves that. */
#include "onnx/proto.h"
#include <stdarg.h>

/* ---- dtypes */

static const struct { const char *name; DType dt; bool narrow;
} types[ONNX_TYPES] = {
	[ONNX_UNDEFINED] = {"undefined", DT_NONE, false},
	[ONNX_FLOAT] = {"float", DT_F32, false},
	[ONNX_UINT8] = {"uint8", DT_U8, false},
	[ONNX_INT8] = {"int8", DT_I8, false},
	[ONNX_UINT16] = {"uint16", DT_U16, false},
	[ONNX_INT16] = {"int16", DT_I16, false},
	[ONNX_INT32] = {"int32", DT_I32, false},
	[ONNX_INT64] = {"int64", DT_I64, false},
	[ONNX_STRING] = {"string", DT_NONE, false},
	[ONNX_BOOL] = {"bool", DT_BOOL, false},
	[ONNX_FLOAT16] = {"float16", DT_F16, false},
	[ONNX_DOUBLE] = {"double", DT_F64, false},
	[ONNX_UINT32] = {"uint32", DT_U32, false},
	[ONNX_UINT64] = {"uint64", DT_U64, false},
	[ONNX_COMPLEX64] = {"complex64", DT_NONE, false},
	[ONNX_COMPLEX128] = {"complex128", DT_NONE, false},
	[ONNX_BFLOAT16] = {"bfloat16", DT_BF16, false},
	[ONNX_FLOAT8E4M3FN] = {"float8e4m3fn", DT_U8, true},
	[ONNX_FLOAT8E4M3FNUZ] = {"float8e4m3fnuz", DT_U8, true},
	[ONNX_FLOAT8E5M2] = {"float8e5m2", DT_U8, true},
	[ONNX_FLOAT8E5M2FNUZ] = {"float8e5m2fnuz", DT_U8, true},
	[ONNX_UINT4] = {"uint4", DT_U8, true},
	[ONNX_INT4] = {"int4", DT_I8, true},
	[ONNX_FLOAT4E2M1] = {"float4e2m1", DT_U8, true},
	[ONNX_FLOAT8E8M0] = {"float8e8m0", DT_U8, true},
	[ONNX_UINT2] = {"uint2", DT_U8, true},
	[ONNX_INT2] = {"int2", DT_I8, true},
};

static bool known_type(int type) { return type > 0 && type < ONNX_TYPES; }

DType onnx_dtype(int type) { return known_type(type) ? types[type].dt : DT_NONE; }
bool onnx_narrow(int type) { return known_type(type) && types[type].narrow; }

const char *onnx_type_name(int type)
{
	return known_type(type) ? types[type].name : arena_printf("%d", type);
}

int onnx_type_of(DType dt)
{
	for (int t = 1; t < ONNX_TYPES; t++)
		if (types[t].dt == dt && !types[t].narrow)
			return t;
	return ONNX_UNDEFINED;
}

UOp *onnx_lib(const char *fn, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval)
{
	const Function *f = function_find(fn);
	CHECK(f);
	Value v = function_call(f, n, pos, nkw, kw, kwval);
	CHECK(v.kind == V_TENSOR);
	return v.u;
}

#ifdef HAVE_ONNX

/* ---- the node */

const char *onnx_op(const OnnxCall *c) { return c->node->op_type; }
int onnx_version(const OnnxCall *c) { return c->version; }
int onnx_nin(const OnnxCall *c) { return c->node->n_input; }
int onnx_nout(const OnnxCall *c) { return c->node->n_output; }

const char *onnx_node_name(const OnnxCall *c)
{
	if (c->node->name && *c->node->name)
		return c->node->name;
	return c->node->n_output && *c->node->output[0] ? c->node->output[0] : "without a name";
}

void onnx_fail(const OnnxCall *c, int status, const char *fmt, ...)
{
	char text[700];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(text, sizeof text, fmt, ap);
	va_end(ap);
	die(status, "%s", text);        /* process.where names the node */
}

/* ---- inputs and outputs */

bool onnx_has(const OnnxCall *c, int k)
{
	return k >= 0 && k < onnx_nin(c) && c->in[k].kind != ONNX_ABSENT &&
		c->in[k].kind != ONNX_EMPTY_OPTIONAL;
}

bool onnx_wants(const OnnxCall *c, int k)
{
	return k >= 0 && k < onnx_nout(c) && *c->node->output[k];
}

UOp *onnx_in(OnnxCall *c, int k)
{
	if (!onnx_has(c, k))
		onnx_fail(c, MALFORMED, "its input %d is missing", k);
	if (c->in[k].kind != ONNX_TENSOR)
		onnx_fail(c, MALFORMED, "its input %d is a sequence, not a tensor", k);
	return c->in[k].u;
}

UOp *onnx_in_or(OnnxCall *c, int k, UOp *other) { return onnx_has(c, k) ? onnx_in(c, k) : other; }

const OnnxValue *onnx_value(OnnxCall *c, int k)
{
	static const OnnxValue absent;
	return k >= 0 && k < onnx_nin(c) ? &c->in[k] : &absent;
}

int onnx_type(OnnxCall *c, int k) { return onnx_value(c, k)->type; }

void onnx_set_value(OnnxCall *c, int k, OnnxValue v)
{
	CHECK(k >= 0);
	if ((size_t)k < c->n_out)
		c->out[k] = v;
}

void onnx_set_typed(OnnxCall *c, int k, UOp *u, int type)
{
	onnx_set_value(c, k, (OnnxValue){.kind = ONNX_TENSOR, .type = type, .u = u});
}

void onnx_set(OnnxCall *c, int k, UOp *u)
{
	int type = onnx_type_of(u->dtype);
	const Val *words = NULL;
	for (int i = 0; i < onnx_nin(c); i++)
		if (onnx_narrow(c->in[i].type) && onnx_dtype(c->in[i].type) == u->dtype) {
			type = c->in[i].type;
			break;
		}
	for (int i = 0; i < onnx_nin(c) && u->dtype == DT_I64; i++)
		if (c->in[i].type == ONNX_STRING)
			words = c->in[i].words;
	if (words)
		onnx_set_words(c, k, u, words);
	else
		onnx_set_typed(c, k, u, type);
}

/* ---- attributes */

static const Onnx__AttributeProto *own_attr(const OnnxCall *c, const char *name)
{
	for (size_t i = 0; i < c->node->n_attribute; i++)
		if (c->node->attribute[i]->name && !strcmp(c->node->attribute[i]->name, name))
			return c->node->attribute[i];
	return NULL;
}

const Onnx__AttributeProto *onnx_attr(const OnnxCall *c, const char *name)
{
	const Onnx__AttributeProto *a;
	while ((a = own_attr(c, name)) && a->ref_attr_name && *a->ref_attr_name) {
		OnnxScope *s = c->scope;
		while (s->outer)
			s = s->outer;
		if (!s->caller)
			onnx_fail(c, MALFORMED,
				"attribute %.80s refers to one of a function, and there is none",
				name);
		name = a->ref_attr_name;
		c = s->caller;
	}
	return a;
}

bool onnx_attr_has(const OnnxCall *c, const char *name) { return onnx_attr(c, name) != NULL; }

_Noreturn static void wrong_attr(const OnnxCall *c, const char *name, const char *want)
{
	onnx_fail(c, MALFORMED, "attribute %.80s is not %s", name, want);
}

int64_t onnx_attr_int(const OnnxCall *c, const char *name, int64_t otherwise)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (a && a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT)
		wrong_attr(c, name, "an integer");
	return a ? a->i : otherwise;
}

double onnx_attr_float(const OnnxCall *c, const char *name, double otherwise)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (a && a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT)
		wrong_attr(c, name, "a number");
	return a ? a->f : otherwise;
}

static const char *text_of(const OnnxCall *c, const char *name, const ProtobufCBinaryData *b)
{
	if (b->len > 4096 || (b->len && memchr(b->data, 0, b->len)))
		wrong_attr(c, name, "a text");
	return arena_printf("%.*s", (int)b->len, b->len ? (const char *)b->data : "");
}

const char *onnx_attr_str(const OnnxCall *c, const char *name, const char *otherwise)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (a && a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING)
		wrong_attr(c, name, "a text");
	return a ? text_of(c, name, &a->s) : otherwise;
}

static void fits(const OnnxCall *c, const char *name, size_t n, int max)
{
	if (n > (size_t)max)
		onnx_fail(c, MALFORMED, "attribute %.80s has %zu elements, at most %d make sense",
			name, n, max);
}

const int64_t *onnx_attr_int_list(const OnnxCall *c, const char *name, size_t *n)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (a && a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS)
		wrong_attr(c, name, "a list of integers");
	static const int64_t none[1];
	*n = a ? a->n_ints : 0;
	return a ? (a->n_ints ? a->ints : none) : NULL;
}

int onnx_attr_ints(const OnnxCall *c, const char *name, int64_t *out, int max)
{
	size_t n;
	const int64_t *v = onnx_attr_int_list(c, name, &n);
	if (!v)
		return -1;
	fits(c, name, n, max);
	memcpy(out, v, n * sizeof *v);
	return n;
}

const double *onnx_attr_float_list(const OnnxCall *c, const char *name, size_t *n)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	*n = a ? a->n_floats : 0;
	if (a && a->has_type && a->type != ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS)
		wrong_attr(c, name, "a list of numbers");
	if (!a)
		return NULL;
	double *out = arena_alloc((*n + 1) * sizeof *out);
	for (size_t i = 0; i < *n; i++)
		out[i] = a->floats[i];
	return out;
}

int onnx_attr_floats(const OnnxCall *c, const char *name, double *out, int max)
{
	size_t n;
	const double *v = onnx_attr_float_list(c, name, &n);
	if (!v)
		return -1;
	fits(c, name, n, max);
	memcpy(out, v, n * sizeof *v);
	return n;
}

int onnx_attr_strs(const OnnxCall *c, const char *name, const char **out, int max)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (!a)
		return -1;
	fits(c, name, a->n_strings, max);
	for (size_t i = 0; i < a->n_strings; i++)
		out[i] = text_of(c, name, &a->strings[i]);
	return a->n_strings;
}

/* Old models may omit the kind: then it is told by the field that is set. */
static int attr_kind(const Onnx__AttributeProto *a)
{
	if (a->has_type)
		return a->type;
	return a->has_f ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT
		: a->has_i ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT
		: a->has_s ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING
		: a->n_floats ? ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS
		: ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS;
}

Value onnx_attr_value(const OnnxCall *c, const char *name)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	Value *at = arena_alloc((a->n_ints + a->n_floats + 1) * sizeof *at);
	switch (attr_kind(a)) {
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INT: return v_int(a->i);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOAT: return v_float(a->f);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__STRING: return v_str(text_of(c, name, &a->s));
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__INTS:
		for (size_t i = 0; i < a->n_ints; i++)
			at[i] = v_int(a->ints[i]);
		return v_list(a->n_ints, at);
	case ONNX__ATTRIBUTE_PROTO__ATTRIBUTE_TYPE__FLOATS:
		for (size_t i = 0; i < a->n_floats; i++)
			at[i] = v_float(a->floats[i]);
		return v_list(a->n_floats, at);
	}
	wrong_attr(c, name, "a number, a text or a list of numbers");
}

UOp *onnx_attr_tensor(OnnxCall *c, const char *name, int *type)
{
	const Onnx__AttributeProto *a = onnx_attr(c, name);
	if (!a)
		return NULL;
	if (!a->t)
		wrong_attr(c, name, "a tensor");
	OnnxValue v = onnx_tensor(a->t, onnx_wants(c, 0) ? c->node->output[0] : name);
	if (type)
		*type = v.type;
	return v.u;
}

/* ---- axes */

static int one_axis(const OnnxCall *c, int64_t axis, int rank)
{
	if (axis < -rank || axis >= rank)
		onnx_fail(c, MALFORMED, "axis %lld is outside a tensor of rank %d", (long long)axis,
			rank);
	return axis < 0 ? axis + rank : axis;
}

int onnx_attr_axis(const OnnxCall *c, const char *name, int64_t otherwise, int rank)
{
	return one_axis(c, onnx_attr_int(c, name, otherwise), rank);
}

int onnx_axes(const OnnxCall *c, int n, const int64_t *v, int rank, int *axes)
{
	bool seen[2 * MAX_RANK] = {false};
	CHECK(rank <= 2 * MAX_RANK);
	for (int i = 0; i < n; i++) {
		axes[i] = one_axis(c, v[i], rank);
		if (seen[axes[i]])
			onnx_fail(c, MALFORMED, "axis %d is named twice", axes[i]);
		seen[axes[i]] = true;
	}
	return n;
}

int onnx_axes_given(OnnxCall *c, const char *attr, int k, int rank, int *axes)
{
	int64_t v[MAX_RANK];
	int n = onnx_attr_ints(c, attr, v, MAX_RANK);
	if (n < 0 && onnx_has(c, k))
		n = onnx_known_ints(c, k, v, MAX_RANK);
	return n < 0 ? n : onnx_axes(c, n, v, rank, axes);
}
#endif
