/* Converts a TensorProto to a value: data in the model's file or in a file beside it is referred
 * to, other data is decoded.
 *
 *     raw_data, 1 KB or more     BUFFER {file: [model.onnx, offset, bytes]}
 *     external location          BUFFER {file: [folder/location, offset, bytes]}
 *     float_data, int32_data …   BUFFER {data: bytes}
 *     one element                CONST */
#include "io/io.h"
#include "onnx/proto.h"
#ifdef HAVE_ONNX
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* the bytes of a tensor: in memory, or at a place in a file */
typedef struct { const uint8_t *p; const char *path; int64_t offset; size_t n; } Bytes;

/* A checked shape; dims may be the model's own */
static const Shape *checked_shape(size_t n, const int64_t *dims)
{
	UOp *d[MAX_RANK];
	const char *err;
	int status = MALFORMED;
	if (n > MAX_RANK)
		die(UNSUPPORTED, "rank %zu is more than %d", n, MAX_RANK);
	for (size_t i = 0; i < n; i++) {
		if (dims[i] < 0)
			die(MALFORMED, "size %lld is negative", (long long)dims[i]);
		d[i] = ix_const(dims[i]);
	}
	const Shape *s = shape_checked(n, d, &err, &status);
	if (!s)
		die(status, "%s", err);
	return s;
}

static int type_bits(int type)
{
	switch (type) {
	case ONNX_UINT4: case ONNX_INT4: case ONNX_FLOAT4E2M1: return 4;
	case ONNX_UINT2: case ONNX_INT2: return 2;
	default: return 8 * dtype_size(onnx_dtype(type));
	}
}

/* ---- external data */

static const char *external(const Onnx__TensorProto *t, const char *key)
{
	for (size_t i = 0; i < t->n_external_data; i++)
		if (t->external_data[i]->key && t->external_data[i]->value &&
			!strcmp(t->external_data[i]->key, key))
			return t->external_data[i]->value;
	return NULL;
}

static int64_t external_number(const Onnx__TensorProto *t, const char *key, int64_t otherwise)
{
	const char *s = external(t, key);
	char *end;
	if (!s)
		return otherwise;
	errno = 0;
	long long v = strtoll(s, &end, 10);
	if (errno || end == s || *end || v < 0)
		die(MALFORMED, "the %s of its external data is '%.40s'", key, s);
	return v;
}

/* Must be relative, without "..", and lead to a file below the model's folder, links resolved. */
static const char *external_path(const char *location)
{
	if (*location == '/' || !*location)
		die(MALFORMED, "its external data lies at '%.200s', which is no relative path",
			location);
	for (const char *p = location; *p; p += strcspn(p, "/"), p += *p == '/')
		if (!strncmp(p, "..", 2) && (p[2] == '/' || !p[2]))
			die(MALFORMED,
				"its external data lies at '%.200s', outside the model's folder",
				location);
	char *full = realpath(arena_printf("%s/%s", onnx_folder, location), NULL);
	if (!full)
		die_errno("cannot open '%.200s'", location);
	size_t n = strlen(onnx_folder);
	if (strncmp(full, onnx_folder, n) || (full[n] != '/' && n > 1))
		die(MALFORMED,
			"its external data '%.200s' is a link that leads out of the model's folder",
			location);
	char *copy = arena_strdup(full);
	free(full);
	return copy;
}

static Bytes external_bytes(const Onnx__TensorProto *t, size_t need)
{
	struct stat st;
	const char *location = external(t, "location");
	if (!location)
		die(MALFORMED, "its external data has no location");
	Bytes b = {.path = external_path(location), .offset = external_number(t, "offset", 0)};
	b.n = external_number(t, "length", need);
	if (stat(b.path, &st))
		die_errno("cannot open %s", b.path);
	if (!S_ISREG(st.st_mode))
		die(MALFORMED, "its external data '%.200s' is no regular file", location);
	if (b.offset > st.st_size || (size_t)(st.st_size - b.offset) < b.n)
		die(MALFORMED, "its external data ends beyond the end of '%.200s'", location);
	return b;
}

/* ---- typed fields */

static void put_ints(uint8_t *out, int size, size_t n, const int32_t *v)
{
	for (size_t i = 0; i < n; i++)
		memcpy(out + i * size, &v[i], size);
}

static Bytes typed_bytes(const Onnx__TensorProto *t, int type, size_t need)
{
	size_t narrow = type_bits(type) < 8 ? 1 : type_bits(type) / 8;
	const void *p = NULL;
	size_t n = 0;
	switch (type) {
	case ONNX_FLOAT: p = t->float_data; n = 4 * t->n_float_data; break;
	case ONNX_DOUBLE: p = t->double_data; n = 8 * t->n_double_data; break;
	case ONNX_INT64: p = t->int64_data; n = 8 * t->n_int64_data; break;
	case ONNX_UINT64: p = t->uint64_data; n = 8 * t->n_uint64_data; break;
	case ONNX_UINT32: {
		uint8_t *out = arena_alloc(4 * t->n_uint64_data + 1);
		for (size_t i = 0; i < t->n_uint64_data; i++)
			memcpy(out + 4 * i, &t->uint64_data[i], 4);
		return (Bytes){.p = out, .n = 4 * t->n_uint64_data};
	}
	default: {
		uint8_t *out = arena_alloc(narrow * t->n_int32_data + 1);
		put_ints(out, narrow, t->n_int32_data, t->int32_data);
		return (Bytes){.p = out, .n = narrow * t->n_int32_data};
	}
	}
	return (Bytes){.p = p, .n = n};
}

static Bytes find_bytes(const Onnx__TensorProto *t, int type, size_t need)
{
	if (t->data_location == ONNX__TENSOR_PROTO__DATA_LOCATION__EXTERNAL || t->n_external_data)
		return external_bytes(t, need);
	if (t->doc_string) {
		Bytes b = {.path = onnx_file};
		char *rest;
		b.offset = strtoll(t->doc_string, &rest, 10);
		b.n = strtoull(rest + 1, NULL, 10);
		return b;
	}
	if (t->has_raw_data)
		return (Bytes){.p = t->raw_data.data, .n = t->raw_data.len};
	return typed_bytes(t, type, need);
}

/* The bytes in memory, at least n of them; used when they must be decoded. */
static const uint8_t *load(const Bytes *b)
{
	size_t n;
	if (!b->path)
		return b->p;
	const uint8_t *p = data_map(b->path, &n);
	if ((size_t)b->offset > n || n - b->offset < b->n)
		die(MALFORMED, "its data ends beyond the end of the file");
	return p + b->offset;
}

/* ---- packed: two or four elements per byte, the low bits first */

static uint8_t *unpack(const uint8_t *p, size_t count, int bits, bool is_signed)
{
	uint8_t *out = arena_alloc(count + 1);
	int per = 8 / bits;
	for (size_t i = 0; i < count; i++) {
		int v = p[i / per] >> (bits * (i % per)) & ((1 << bits) - 1);
		out[i] = is_signed && v >> (bits - 1) ? v - (1 << bits) : v;
	}
	return out;
}

/* ---- the value */

static UOp *one_element(DType dt, const Shape *s, const uint8_t *p)
{
	uint8_t bytes[8] = {0};
	memcpy(bytes, p, dtype_size(dt));
	if (dt == DT_BOOL)
		bytes[0] = bytes[0] != 0;
	return t_reshape(const_bits(dt, bytes), s);
}

static const uint8_t *as_bools(const uint8_t *p, size_t n)
{
	uint8_t *out = arena_alloc(n + 1);
	for (size_t i = 0; i < n; i++)
		out[i] = p[i] != 0;
	return out;
}

static OnnxValue text_tensor(const Onnx__TensorProto *t)
{
	const Shape *s = checked_shape(t->n_dims, t->dims);
	int64_t count = 0;
	CHECK(shape_static(s, &count));
	if ((size_t)count != t->n_string_data)
		die(MALFORMED, "a tensor %s of texts has %zu", shape_text(s), t->n_string_data);
	return onnx_text(count, t->string_data, s);
}

static OnnxValue read_tensor_proto(const Onnx__TensorProto *t, const char *stem)
{
	int type = t->has_data_type ? t->data_type : ONNX_UNDEFINED;
	DType dt = onnx_dtype(type);
	int64_t count = 0;
	if (t->segment)
		die(UNSUPPORTED, "tensors in segments are not supported");
	if (type == ONNX_STRING)
		return text_tensor(t);
	if (dt == DT_NONE)
		die(type > 0 && type < ONNX_TYPES ? UNSUPPORTED : MALFORMED,
			"tensors of type %s are not supported", onnx_type_name(type));
	const Shape *s = checked_shape(t->n_dims, t->dims);
	CHECK(shape_static(s, &count));
	int bits = type_bits(type);
	if (count > (INT64_MAX >> 7))
		die(MALFORMED, "a tensor of %lld elements", (long long)count);
	size_t need = ((size_t)count * bits + 7) / 8;
	OnnxValue v = {.kind = ONNX_TENSOR, .type = type};
	Bytes b = find_bytes(t, type, need);
	if (b.n < need || (b.n > need && !b.path))
		die(MALFORMED, "a tensor %s of %s has %zu bytes, not %zu", shape_text(s),
			onnx_type_name(type), b.n, need);
	bool in_place = b.path && bits >= 8 && dt != DT_BOOL && count > 1;
	const uint8_t *p = in_place ? NULL : load(&b);
	if (p && bits < 8)
		p = unpack(p, count, bits, dtype_signed(dt));
	else if (p && dt == DT_BOOL)
		p = as_bools(p, count);
	size_t bytes = count * dtype_size(dt);
	if (count == 1)
		v.u = one_element(dt, s, p);
	else if (in_place)
		v.u = buffer_new(name_fresh(onnx_clean(stem)), "const", dt, s, NULL,
			VARR(val_str(b.path), val_int(b.offset), val_int(bytes)));
	else
		v.u = buffer_new(name_fresh(onnx_clean(stem)), "const", dt, s,
			val_bin(count ? p : (const uint8_t *)"", bytes), NULL);
	return v;
}

/* A body may be expanded more than once: its tensors stay the same. */
OnnxValue onnx_tensor(const Onnx__TensorProto *t, const char *stem)
{
	static ARENA Map made;
	OnnxValue *v = map_get(&made, PKEY(t));
	if (!v) {
		v = arena_alloc(sizeof *v);
		*v = read_tensor_proto(t, stem);
		map_put(&made, PKEY(t), v);
	}
	return *v;
}
#endif
