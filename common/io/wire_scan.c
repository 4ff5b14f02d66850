/* Finds where a msgpack value ends, before it is decoded.
 *
 * A head of five bytes may claim four billion elements, so no memory is allocated for what a head
 * claims: a scan counts down the remaining elements on a stack of fixed depth and stops at the last
 * available byte. It can continue when more bytes have arrived. A value that it calls whole can be
 * read without further checks of its form. */
#include "io/io.h"

static uint64_t big_endian(const uint8_t *p, int bytes)
{
	uint64_t v = 0;
	for (int i = 0; i < bytes; i++)
		v = v << 8 | p[i];
	return v;
}

/* Decodes a head whose count is in the `bytes` bytes after the first; returns its length. */
static size_t with_count(const uint8_t *p, size_t left, WireHead *h, ValKind kind, int bytes)
{
	if (left < 1 + (size_t)bytes)
		return 0;
	h->kind = kind;
	h->n = big_endian(p + 1, bytes);
	return 1 + bytes;
}

static size_t signed_int(const uint8_t *p, size_t left, WireHead *h, int bytes)
{
	size_t size = with_count(p, left, h, VAL_INT, bytes);
	int shift = 64 - 8 * bytes;
	h->n = (uint64_t)((int64_t)(h->n << shift) >> shift);
	return size;
}

static size_t unsigned_int(const uint8_t *p, size_t left, WireHead *h, int bytes)
{
	size_t size = with_count(p, left, h, VAL_INT, bytes);
	if (size && h->n > INT64_MAX)
		h->kind = VAL_UINT;
	return size;
}

static size_t float_head(const uint8_t *p, size_t left, WireHead *h, int bytes)
{
	size_t size = with_count(p, left, h, VAL_FLOAT, bytes);
	if (size && bytes == 4) {
		uint32_t bits = (uint32_t)h->n;
		float f;
		memcpy(&f, &bits, 4);
		double d = f;
		memcpy(&h->n, &d, 8);
	}
	return size;
}

size_t wire_head(const uint8_t *p, size_t left, WireHead *h)
{
	h->bad = false;
	if (!left)
		return 0;
	if (wire_small(p[0], h))
		return 1;
	switch (p[0]) {
	case 0xc0: h->kind = VAL_NIL; return 1;
	case 0xc2: *h = (WireHead){.kind = VAL_BOOL, .n = 0}; return 1;
	case 0xc3: *h = (WireHead){.kind = VAL_BOOL, .n = 1}; return 1;
	case 0xc4: return with_count(p, left, h, VAL_BIN, 1);
	case 0xc5: return with_count(p, left, h, VAL_BIN, 2);
	case 0xc6: return with_count(p, left, h, VAL_BIN, 4);
	case 0xca: return float_head(p, left, h, 4);
	case 0xcb: return float_head(p, left, h, 8);
	case 0xcc: return unsigned_int(p, left, h, 1);
	case 0xcd: return unsigned_int(p, left, h, 2);
	case 0xce: return unsigned_int(p, left, h, 4);
	case 0xcf: return unsigned_int(p, left, h, 8);
	case 0xd0: return signed_int(p, left, h, 1);
	case 0xd1: return signed_int(p, left, h, 2);
	case 0xd2: return signed_int(p, left, h, 4);
	case 0xd3: return signed_int(p, left, h, 8);
	case 0xd9: return with_count(p, left, h, VAL_STR, 1);
	case 0xda: return with_count(p, left, h, VAL_STR, 2);
	case 0xdb: return with_count(p, left, h, VAL_STR, 4);
	case 0xdc: return with_count(p, left, h, VAL_ARRAY, 2);
	case 0xdd: return with_count(p, left, h, VAL_ARRAY, 4);
	case 0xde: return with_count(p, left, h, VAL_MAP, 2);
	case 0xdf: return with_count(p, left, h, VAL_MAP, 4);
	default: h->bad = true; return 0;
	}
}

/* The length of the UTF-8 sequence at p; 0 when it is not valid (overlong forms and surrogates are
 * not). */
static size_t utf8_length(const uint8_t *p, size_t left)
{
	static const uint32_t least[] = {0, 0, 0x80, 0x800, 0x10000};
	uint8_t first = p[0];
	size_t n = first < 0x80 ? 1 : first < 0xc2 ? 0 : first < 0xe0 ? 2 : first < 0xf0 ? 3
		: first < 0xf5 ? 4 : 0;
	if (n == 0 || n > left)
		return 0;
	uint32_t c = n == 1 ? p[0] : p[0] & (0xff >> (n + 1));
	for (size_t i = 1; i < n; i++) {
		if ((p[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (p[i] & 0x3f);
	}
	return c < least[n] || c > 0x10ffff || (c >= 0xd800 && c < 0xe000) ? 0 : n;
}

bool utf8_ok(const void *s, size_t n)
{
	const uint8_t *p = s;
	uint64_t eight;
	for (size_t i = 0; i < n;) {
		size_t k = 8;           /* of ASCII, at once */
		if (n - i < k || (memcpy(&eight, p + i, k), eight & 0x8080808080808080u))
			k = p[i] < 0x80 ? 1 : utf8_length(p + i, n - i);
		if (!k)
			return false;
		i += k;
	}
	return true;
}

static int bad(WireScan *s, const char *why)
{
	s->err = why;
	return WIRE_BAD;
}

/* A value is complete, and with it the containers of which it was the last element. */
static bool close_value(WireScan *s)
{
	while (s->depth > 0 && --s->open[s->depth - 1].left == 0)
		s->depth--;
	return s->depth == 0;
}

int wire_scan(WireScan *s, const void *bytes, size_t n)
{
	const uint8_t *p = bytes;
	for (;;) {
		WireHead h;
		bool small = s->at < n && wire_small(p[s->at], &h);
		size_t size = small ? 1 : wire_head(p + s->at, n - s->at, &h);
		if (!size)
			return !h.bad ? WIRE_MORE
				: bad(s, p[s->at] == 0xc1 ? "not msgpack" : "an extension type");
		bool key = s->depth && s->open[s->depth - 1].map &&
			s->open[s->depth - 1].left % 2 == 0;
		if (key && h.kind != VAL_STR)
			return bad(s, "a map's key is not a string");
		if (h.kind == VAL_STR || h.kind == VAL_BIN) {
			if (n - s->at - size < h.n)
				return WIRE_MORE;
			if (h.kind == VAL_STR && !utf8_ok(p + s->at + size, h.n))
				return bad(s, "a string is not UTF-8");
			size += h.n;
		}
		s->at += size;
		if ((h.kind == VAL_ARRAY || h.kind == VAL_MAP) && h.n) {
			if (s->depth == WIRE_DEPTH)
				return bad(s, "nested too deep");
			s->open[s->depth].left = h.kind == VAL_MAP ? 2 * h.n : h.n;
			s->open[s->depth++].map = h.kind == VAL_MAP;
		} else if (close_value(s)) {
			return WIRE_WHOLE;
		}
	}
}
