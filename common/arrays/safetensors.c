/* .safetensors files: the length of a JSON header, the header, and the tensors' bytes one after
 * another.
 *
 *     <8: length> {"w":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]}}   <24 bytes>
 *
 * Only the JSON that such a header uses is parsed; other values are skipped by matching brackets.
 */
#include <stdlib.h>
#include "arrays/arrays.h"
#include "io/io.h"
#include "interp/elements.h"

enum { ALIGN = 64, LONGEST = 100 << 20 };

typedef struct { const char *p, *end, *file; } Cursor;
typedef struct { Array array; uint64_t from, to; bool found; } TensorEntry;

static const char *const dtype_text[DT_COUNT] = {
	[DT_BOOL] = "BOOL", [DT_I8] = "I8", [DT_I16] = "I16", [DT_I32] = "I32", [DT_I64] = "I64",
	[DT_U8] = "U8", [DT_U16] = "U16", [DT_U32] = "U32", [DT_U64] = "U64",
	[DT_F16] = "F16", [DT_BF16] = "BF16", [DT_F32] = "F32", [DT_F64] = "F64",
};

static _Noreturn void bad(const Cursor *c, const char *what)
{
	die(MALFORMED, "%s: not a .safetensors file that can be read: %s", c->file, what);
}

static char peek(Cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
		c->p++;
	return c->p < c->end ? *c->p : '\0';
}

static bool take(Cursor *c, char ch)
{
	if (peek(c) != ch)
		return false;
	c->p++;
	return true;
}

static void need(Cursor *c, char ch)
{
	if (!take(c, ch))
		bad(c, "its header is broken");
}

/* ---- strings ---- */

static unsigned take_hex(Cursor *c)
{
	unsigned v = 0;

	for (int i = 0; i < 4; i++) {
		char ch = c->p < c->end ? *c->p++ : '\0';
		const char *digits = "0123456789abcdef", *at = ch ? strchr(digits, ch | 32) : NULL;
		if (!at)
			bad(c, "a broken escape in its header");
		v = v << 4 | (unsigned)(at - digits);
	}
	return v;
}

static void add_utf8(Buf *b, unsigned v)
{
	char s[4];
	int n = v < 0x80 ? 1 : v < 0x800 ? 2 : v < 0x10000 ? 3 : 4;

	for (int i = n; i-- > 1; v >>= 6)
		s[i] = (char)(0x80 | (v & 63));
	s[0] = (char)(n == 1 ? v : (0xf00 >> n & 0xff) | v);
	buf_add(b, s, n);
}

static void take_escape(Cursor *c, Buf *b)
{
	static const char from[] = "\"\\/bfnrt", to[] = "\"\\/\b\f\n\r\t";
	char ch = c->p < c->end ? *c->p++ : '\0';
	const char *at = ch ? strchr(from, ch) : NULL;
	unsigned v;

	if (at) {
		buf_add(b, &to[at - from], 1);
		return;
	}
	if (ch != 'u')
		bad(c, "a broken escape in its header");
	v = take_hex(c);
	if (v >= 0xd800 && v < 0xdc00 && c->end - c->p >= 6 && c->p[0] == '\\' && c->p[1] == 'u') {
		c->p += 2;
		v = 0x10000 + ((v - 0xd800) << 10) + ((take_hex(c) - 0xdc00) & 0x3ff);
	}
	add_utf8(b, v);
}

/* Reads a string into b. */
static void take_string(Cursor *c, Buf *b)
{
	b->n = 0;
	need(c, '"');
	while (c->p < c->end && *c->p != '"') {
		char ch = *c->p++;
		if (ch == '\\')
			take_escape(c, b);
		else
			buf_add(b, &ch, 1);
	}
	need(c, '"');
	buf_add(b, "", 1);
	b->n--;
}

/* ---- values ---- */

static uint64_t take_number(Cursor *c)
{
	uint64_t v = 0;
	bool any = false;

	for (peek(c); c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++, any = true)
		if (__builtin_mul_overflow(v, 10, &v) ||
			__builtin_add_overflow(v, *c->p - '0', &v) || v > INT64_MAX)
			bad(c, "a number is too large");
	if (!any)
		bad(c, "a number was expected in its header");
	return v;
}

/* Skips any value by its brackets and strings. */
static void skip_value(Cursor *c, Buf *scratch)
{
	size_t depth = 0;

	do {
		char ch = peek(c);
		if (ch == '\0')
			bad(c, "its header ends early");
		if (ch == '"') {
			take_string(c, scratch);
			continue;
		}
		if (depth == 0 && (ch == ',' || ch == '}' || ch == ']'))
			bad(c, "a value is missing in its header");
		c->p++;
		depth += ch == '{' || ch == '[';
		depth -= ch == '}' || ch == ']';
		while (depth == 0 && c->p < c->end && !strchr(",}] \t\r\n{[\"", *c->p))
			c->p++;
	} while (depth);
}

static void take_shape(Cursor *c, Array *a)
{
	need(c, '[');
	a->rank = 0;
	while (!take(c, ']')) {
		if (a->rank == MAX_RANK)
			die(UNSUPPORTED, "%s: rank above %d", c->file, MAX_RANK);
		a->dim[a->rank++] = (int64_t)take_number(c);
		if (!take(c, ',') && peek(c) != ']')
			bad(c, "its header is broken");
	}
}

static void take_dtype(Cursor *c, Buf *scratch, Array *a)
{
	take_string(c, scratch);
	for (a->dtype = 0; a->dtype < DT_COUNT; a->dtype++)
		if (!strcmp(scratch->s, dtype_text[a->dtype]))
			return;
}

static TensorEntry take_entry(Cursor *c, Buf *scratch)
{
	TensorEntry e = {.array.dtype = DT_NONE, .found = true};
	int seen = 0;

	need(c, '{');
	while (!take(c, '}')) {
		take_string(c, scratch);
		need(c, ':');
		if (!strcmp(scratch->s, "dtype")) {
			take_dtype(c, scratch, &e.array);
			seen |= 1;
		} else if (!strcmp(scratch->s, "shape")) {
			take_shape(c, &e.array);
			seen |= 2;
		} else if (!strcmp(scratch->s, "data_offsets")) {
			need(c, '[');
			e.from = take_number(c);
			need(c, ',');
			e.to = take_number(c);
			need(c, ']');
			seen |= 4;
		} else {
			skip_value(c, scratch);
		}
		if (!take(c, ',') && peek(c) != '}')
			bad(c, "its header is broken");
	}
	if (seen != 7)
		bad(c, "a tensor lacks dtype, shape or data_offsets");
	return e;
}

static TensorEntry find_entry(Cursor *c, const char *name)
{
	TensorEntry e = {0};
	Buf text = {0};

	need(c, '{');
	while (!e.found && !take(c, '}')) {
		take_string(c, &text);
		need(c, ':');
		if (text.n == strlen(name) && !memcmp(text.s, name, text.n) &&
			strcmp(name, "__metadata__"))
			e = take_entry(c, &text);
		else
			skip_value(c, &text);
		if (!take(c, ',') && peek(c) != '}')
			bad(c, "its header is broken");
	}
	buf_free(&text);
	if (!e.found)
		die(MALFORMED, "%s: it has no tensor '%s'", c->file, name);
	if (e.array.dtype == DT_NONE)
		die(UNSUPPORTED, "%s: the dtype of '%s' is not supported", c->file, name);
	return e;
}

/* The header of the file of n bytes at p. */
static Cursor header(const char *path, const char *p, size_t n)
{
	Cursor c = {p, p, path};
	uint64_t len = 0;

	for (int i = 8; n >= 8 && i-- > 0;)
		len = len << 8 | (unsigned char)p[i];
	if (n < 8 || len > n - 8 || len > LONGEST)
		bad(&c, "it ends within its header");
	c.p = p + 8;
	c.end = p + 8 + len;
	return c;
}

/* The tensor's entry, and where its bytes are in the file of n bytes at p. */
static TensorEntry locate(const char *path, const char *name, const char *p, size_t n, uint64_t *at)
{
	Cursor c = header(path, p, n);
	uint64_t len = c.end - c.p;
	TensorEntry e = find_entry(&c, name);

	e.array.bytes = array_size(e.array.dtype, e.array.rank, e.array.dim);
	if (e.from > e.to || e.to > n - 8 - len || e.to - e.from != e.array.bytes)
		die(MALFORMED, "%s: the bytes of '%s' do not fit its shape or the file", path,
			name);
	*at = 8 + len + e.from;
	return e;
}

/* Skips the members of an object up to the one with that name; false when there is none. */
static bool find_member(Cursor *c, const char *name)
{
	Buf text = {0};
	bool found = false;

	need(c, '{');
	while (!found && !take(c, '}')) {
		take_string(c, &text);
		need(c, ':');
		found = text.n == strlen(name) && !memcmp(text.s, name, text.n);
		if (found)
			break;
		skip_value(c, &text);
		if (!take(c, ',') && peek(c) != '}')
			bad(c, "its header is broken");
	}
	buf_free(&text);
	return found;
}

bool safetensors_has(const char *path, const char *name)
{
	size_t n;
	const char *p = file_map(path, &n);
	Cursor c = header(path, p, n);

	return find_member(&c, name);
}

const char *safetensors_note(const char *path, const char *key)
{
	size_t n;
	const char *p = file_map(path, &n), *note;
	Cursor c = header(path, p, n);
	Buf text = {0};

	if (!find_member(&c, "__metadata__") || !find_member(&c, key))
		return NULL;
	take_string(&c, &text);
	note = arena_printf("%s", text.s);
	buf_free(&text);
	return note;
}

Array safetensors_read(const char *path, const char *name)
{
	size_t n;
	const char *p = file_map(path, &n);
	uint64_t at;
	TensorEntry e = locate(path, name, p, n, &at);
	Array copy;

	if ((uintptr_t)(p + at) % ALIGN == 0) {
		e.array.data = (void *)(p + at);
		return e.array;
	}
	copy = array_raw(e.array.dtype, e.array.rank, e.array.dim);
	if (copy.bytes)
		memcpy(copy.data, p + at, copy.bytes);
	return copy;
}

bool safetensors_locate(const char *path, const char *name, Array *head, int64_t *offset)
{
	size_t n;
	const char *p = data_map(path, &n);
	uint64_t at;

	*head = locate(path, name, p, n, &at).array;
	*offset = (int64_t)at;
	return true;
}

/* ---- writing ---- */

static void put_string(Buf *b, const char *s)
{
	buf_add(b, "\"", 1);
	for (; *s; s++) {
		if (*s == '"' || *s == '\\')
			buf_printf(b, "\\%c", *s);
		else if ((unsigned char)*s < ' ')
			buf_printf(b, "\\u%04x", (unsigned char)*s);
		else
			buf_add(b, s, 1);
	}
	buf_add(b, "\"", 1);
}

void safetensors_head(Buf *out, size_t n, const char *const *names, const Array *a, const char *key,
	const char *note)
{
	Buf head = {0};
	uint64_t at = 0;

	buf_add(&head, "{", 1);
	if (key)
		buf_printf(&head, "\"__metadata__\":{\"%s\":\"%s\"}%s", key, note, n ? "," : "");
	for (size_t i = 0; i < n; i++) {
		if (i)
			buf_add(&head, ",", 1);
		put_string(&head, names[i]);
		buf_printf(&head, ":{\"dtype\":\"%s\",\"shape\":[", dtype_text[a[i].dtype]);
		for (int k = 0; k < a[i].rank; k++)
			buf_printf(&head, k ? ",%lld" : "%lld", (long long)a[i].dim[k]);
		buf_printf(&head, "],\"data_offsets\":[%llu,%llu]}", (unsigned long long)at,
			(unsigned long long)(at + a[i].bytes));
		at += a[i].bytes;
	}
	buf_add(&head, "}", 1);
	buf_printf(&head, "%*s", (int)((ALIGN - (8 + head.n) % ALIGN) % ALIGN), "");
	for (int i = 0; i < 8; i++)
		buf_add(out, (char[]){(char)((uint64_t)head.n >> 8 * i)}, 1);
	buf_add(out, head.s, head.n);
	buf_free(&head);
}
