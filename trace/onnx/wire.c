/* Reduces a model's bytes before protobuf-c, which copies everything it is given, decodes them.
 *
 *     TensorProto { raw_data: 400 MB }   →   TensorProto { doc_string: "8121:400000000" }
 *
 * The descriptors say which fields are messages, and only those are entered; unknown fields,
 * documentation and annotations are left out. One pass with an explicit stack: depth is bounded,
 * and every length is checked. */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { MAX_NEST = 200, IN_PLACE = 1024, WIDE = 5 };

typedef struct {
	const ProtobufCMessageDescriptor *type;
	const uint8_t *end;
	size_t length_at;
} Frame;
typedef struct { const uint8_t *start, *p; Buf *out; Frame stack[MAX_NEST]; int depth; } Scan;

_Noreturn static void malformed(const Scan *s, const char *what)
{
	die(MALFORMED, "%s at byte %zu", what, (size_t)(s->p - s->start));
}

static uint64_t read_varint(Scan *s)
{
	uint64_t v = 0;
	for (int shift = 0; shift < 70; shift += 7) {
		if (s->p >= s->stack[s->depth].end)
			malformed(s, "ends early");
		uint8_t b = *s->p++;
		v |= shift < 64 ? (uint64_t)(b & 127) << shift : 0;
		if (b < 128)
			return v;
	}
	malformed(s, "a number is too long");
}

static void skip(Scan *s, uint64_t n)
{
	if (n > (uint64_t)(s->stack[s->depth].end - s->p))
		malformed(s, "ends early");
	s->p += n;
}

/* Reserves five bytes for a length, however small: it is patched when the message's end is
 * known. */
static void put_wide(Buf *out, size_t at, uint64_t v)
{
	for (int i = 0; i < WIDE; i++)
		out->s[at + i] = (char)((v >> (7 * i) & 127) | (i < WIDE - 1 ? 128 : 0));
}

static void put_varint(Buf *out, uint64_t v)
{
	do {
		uint8_t b = (v & 127) | (v > 127 ? 128 : 0);
		buf_add(out, &b, 1);
		v >>= 7;
	} while (v);
}

static bool is(const ProtobufCFieldDescriptor *f, const Scan *s,
	const ProtobufCMessageDescriptor *type, const char *name)
{
	return s->stack[s->depth].type == type && !strcmp(f->name, name);
}

static bool unneeded(const ProtobufCFieldDescriptor *f, const Scan *s)
{
	return !f || !strcmp(f->name, "doc_string") || !strcmp(f->name, "metadata_props") ||
		is(f, s, &onnx__graph_proto__descriptor, "value_info") ||
		is(f, s, &onnx__graph_proto__descriptor, "quantization_annotation") ||
		is(f, s, &onnx__model_proto__descriptor, "training_info");
}

static void enter(Scan *s, uint64_t tag, uint64_t n, const ProtobufCMessageDescriptor *type)
{
	const uint8_t *end = s->p + n;
	if (s->depth + 1 == MAX_NEST)
		malformed(s, "messages nest too deep");
	put_varint(s->out, tag);
	s->stack[++s->depth] = (Frame){type, end, s->out->n};
	buf_add(s->out, "\200\200\200\200\0", WIDE);
}

static void take_bytes(Scan *s, const ProtobufCFieldDescriptor *f, uint64_t tag)
{
	uint64_t n = read_varint(s);
	if (n > (uint64_t)(s->stack[s->depth].end - s->p))
		malformed(s, "ends early");
	if (unneeded(f, s)) {
		s->p += n;
	} else if (f->type == PROTOBUF_C_TYPE_MESSAGE) {
		enter(s, tag, n, f->descriptor);
	} else if (n >= IN_PLACE && is(f, s, &onnx__tensor_proto__descriptor, "raw_data")) {
		char *place = arena_printf(
			"%zu:%llu", (size_t)(s->p - s->start), (unsigned long long)n);
		put_varint(s->out, 12 << 3 | 2);        /* doc_string */
		put_varint(s->out, strlen(place));
		buf_add(s->out, place, strlen(place));
		s->p += n;
	} else {
		put_varint(s->out, tag);
		put_varint(s->out, n);
		buf_add(s->out, s->p, n);
		s->p += n;
	}
}

static void take_field(Scan *s)
{
	uint64_t tag = read_varint(s);
	const uint8_t *value = s->p;
	if (tag >> 3 == 0 || tag >> 3 > 0x1fffffff)
		malformed(s, "a field has no number");
	const ProtobufCFieldDescriptor *f =
		protobuf_c_message_descriptor_get_field(s->stack[s->depth].type, tag >> 3);
	switch (tag & 7) {
	case 0: read_varint(s); break;
	case 1: skip(s, 8); break;
	case 2: take_bytes(s, f, tag); return;
	case 5: skip(s, 4); break;
	default: malformed(s, "a field is of no known kind");
	}
	if (unneeded(f, s))
		return;
	put_varint(s->out, tag);
	buf_add(s->out, value, s->p - value);
}

void onnx_reduce(Buf *out, const uint8_t *p, size_t n)
{
	Scan s = {.start = p, .p = p, .out = out};
	s.stack[0] = (Frame){&onnx__model_proto__descriptor, p + n, 0};
	for (;;) {
		Frame *f = &s.stack[s.depth];
		if (s.p < f->end) {
			take_field(&s);
			continue;
		}
		if (!s.depth)
			return;
		uint64_t size = out->n - f->length_at - WIDE;
		if (size >> 31)
			malformed(&s, "more than 2 GiB that are no tensor's raw data");
		put_wide(out, f->length_at, size);
		s.depth--;
	}
}
#endif
