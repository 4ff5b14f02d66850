/* .npy files, versions 1 to 3: a magic, a header that is a Python dict in text, raw elements.
 *
 *     \x93NUMPY 1 0 <118> {'descr': '<f4', 'fortran_order': False, 'shape': (3, 4), }␣…␣\n
 *     <48 bytes>
 *
 * Data that is native, in C order and aligned is used in place in the mapped file; other data is
 * copied. The members of an .npz are read by the same code. */
#include <stdlib.h>
#include "arrays/arrays.h"
#include "io/io.h"
#include "arrays/npy.h"

enum { ALIGN = 64 };

typedef struct { const char *p, *end, *file; } Cursor;

static _Noreturn void bad(const char *file, const char *what)
{
	die(MALFORMED, "%s: not a .npy file that can be read: %s", file, what);
}

static void skip_space(Cursor *c)
{
	while (c->p < c->end && (*c->p == ' ' || *c->p == '\n' || *c->p == '\t' || *c->p == '\r'))
		c->p++;
}

static bool take(Cursor *c, char ch)
{
	skip_space(c);
	if (c->p >= c->end || *c->p != ch)
		return false;
	c->p++;
	return true;
}

/* Reads 'text' or "text" without escapes into out. A descr that is a list of fields fails here. */
static void take_string(Cursor *c, char *out, size_t size)
{
	size_t n = 0;
	char quote;

	skip_space(c);
	if (c->p >= c->end || (*c->p != '\'' && *c->p != '"'))
		bad(c->file, "a string was expected in its header");
	for (quote = *c->p++; c->p < c->end && *c->p != quote; c->p++) {
		if (n + 1 >= size || *c->p == '\\' || *c->p < ' ' || *c->p > '~')
			bad(c->file, "a string in its header is too long or not plain text");
		out[n++] = *c->p;
	}
	if (c->p++ >= c->end)
		bad(c->file, "a string in its header does not end");
	out[n] = '\0';
}

static int64_t take_size(Cursor *c)
{
	int64_t v = 0;
	bool any = false;

	skip_space(c);
	for (; c->p < c->end && *c->p >= '0' && *c->p <= '9'; c->p++, any = true)
		if (!mul_ok(v, 10, &v) || !add_ok(v, *c->p - '0', &v))
			bad(c->file, "a size is too large");
	if (!any)
		bad(c->file, "its shape is not a tuple of sizes");
	if (c->p < c->end && *c->p == 'L')      /* the suffix of a long in Python 2 */
		c->p++;
	return v;
}

static void take_shape(Cursor *c, Array *a)
{
	if (!take(c, '('))
		bad(c->file, "its shape is not a tuple");
	while (!take(c, ')')) {
		int64_t n = take_size(c);
		if (a->rank == MAX_RANK)
			die(UNSUPPORTED, "%s: rank above %d", c->file, MAX_RANK);
		a->dim[a->rank++] = n;
		if (!take(c, ',')) {
			if (!take(c, ')'))
				bad(c->file, "its shape is not a tuple of sizes");
			return;
		}
	}
}

static bool take_bool(Cursor *c)
{
	skip_space(c);
	if (c->end - c->p >= 4 && !memcmp(c->p, "True", 4))
		return c->p += 4, true;
	if (c->end - c->p >= 5 && !memcmp(c->p, "False", 5))
		return c->p += 5, false;
	bad(c->file, "fortran_order is neither True nor False");
}

/* The dtype of "<f4" and so on. NumPy writes bf16, which it does not know, as |V2. */
static DType descr_dtype(const char *file, const char *s, DType want, bool *swap)
{
	static const char order[] = "<>=|";

	*swap = *s == '>';
	if (!*s || !strchr(order, *s) || s[1] == 'O')
		bad(file, s[0] && s[1] == 'O' ? "it holds pickled objects"
			: "its descr is not a plain type");
	if (!strcmp(s + 1, "V2") || (want == DT_BF16 && !strcmp(s + 1, "u2")))
		return DT_BF16;
	for (int d = 0; d < DT_COUNT; d++)
		if (d != DT_BF16 && !strcmp(s + 1, dtype_info[d].npy + 1))
			return d;
	die(UNSUPPORTED, "%s: dtype '%s' is not supported", file, s);
}

static void parse_dict(Cursor *c, DType want, NpyHead *h)
{
	char key[32], descr[32];
	int seen = 0;

	if (!take(c, '{'))
		bad(c->file, "its header is no dict");
	while (!take(c, '}')) {
		take_string(c, key, sizeof key);
		if (!take(c, ':'))
			bad(c->file, "its header is no dict");
		if (!strcmp(key, "descr") && !(seen & 1)) {
			take_string(c, descr, sizeof descr);
			h->array.dtype = descr_dtype(c->file, descr, want, &h->swap);
			seen |= 1;
		} else if (!strcmp(key, "fortran_order") && !(seen & 2)) {
			h->fortran = take_bool(c);
			seen |= 2;
		} else if (!strcmp(key, "shape") && !(seen & 4)) {
			take_shape(c, &h->array);
			seen |= 4;
		} else {
			bad(c->file, "a key of its header is unknown or comes twice");
		}
		if (!take(c, ',')) {
			if (!take(c, '}'))
				bad(c->file, "its header is no dict");
			break;
		}
	}
	if (seen != 7)
		bad(c->file, "its header lacks descr, fortran_order or shape");
}

/* Where the dict starts, and (*len) its bytes. */
static size_t dict_at(const unsigned char *b, size_t *len)
{
	*len = b[8] | (size_t)b[9] << 8;
	if (b[6] > 1)
		*len |= (size_t)b[10] << 16 | (size_t)b[11] << 24;
	return b[6] == 1 ? 10 : 12;
}

size_t npy_head_bytes(const void *bytes, size_t n)
{
	size_t len;

	return n < 12 ? 0 : dict_at(bytes, &len) + len;
}

NpyHead npy_head(const char *file, const void *bytes, size_t n, size_t all, DType want)
{
	const unsigned char *b = bytes;
	NpyHead h = {.array.dtype = DT_NONE};
	size_t at, len;
	Cursor c;

	if (n < 12 || memcmp(b, "\x93NUMPY", 6))
		bad(file, "its magic number is missing");
	if (b[6] < 1 || b[6] > 3)
		die(UNSUPPORTED, "%s: .npy version %d.%d is not supported", file, b[6], b[7]);
	at = dict_at(b, &len);
	if (len > n - at)
		bad(file, "it ends within its header");
	c = (Cursor){(const char *)b + at, (const char *)b + at + len, file};
	parse_dict(&c, want, &h);
	h.at = at + len;
	h.array.bytes = array_size(h.array.dtype, h.array.rank, h.array.dim);
	if (h.array.bytes > all - h.at)
		die(MALFORMED, "%s: too short: %zu bytes of data, %zu needed", file, all - h.at,
			h.array.bytes);
	return h;
}

static void swap_bytes(char *p, size_t n, size_t size)
{
	for (size_t i = 0; i < n; i++, p += size)
		for (size_t k = 0; k < size / 2; k++) {
			char t = p[k];
			p[k] = p[size - 1 - k];
			p[size - 1 - k] = t;
		}
}

/* From column-major to row-major: visits the target in order and the source by its strides. */
static void transpose(const Array *a, const char *from)
{
	const size_t size = dtype_size(a->dtype);
	int64_t at[MAX_RANK] = {0}, stride[MAX_RANK], off = 0, n = array_count(a);
	char *to = a->data;

	for (int i = 0; n && i < a->rank; i++)
		stride[i] = i ? stride[i - 1] * a->dim[i - 1] : 1;
	for (int64_t k = 0; k < n; k++, to += size) {
		memcpy(to, from + off * size, size);
		for (int i = a->rank - 1; i >= 0; i--) {
			off += stride[i];
			if (++at[i] < a->dim[i])
				break;
			off -= stride[i] * a->dim[i];
			at[i] = 0;
		}
	}
}

bool npy_in_place(const NpyHead *h)
{
	return (!h->fortran || h->array.rank < 2) && (!h->swap || dtype_size(h->array.dtype) == 1);
}

Array npy_content(const NpyHead *h, const void *bytes)
{
	const char *data = (const char *)bytes + h->at;
	Array a = h->array, copy;

	if (npy_in_place(h) && (uintptr_t)data % ALIGN == 0) {
		a.data = (void *)data;
		return a;
	}
	copy = array_raw(a.dtype, a.rank, a.dim);
	if (h->fortran && a.rank > 1)
		transpose(&copy, data);
	else if (a.bytes)
		memcpy(copy.data, data, a.bytes);
	if (h->swap)
		swap_bytes(copy.data, a.bytes / dtype_size(a.dtype), dtype_size(a.dtype));
	return copy;
}

Array npy_read(const char *path, DType want)
{
	size_t n;
	const void *p = file_map(path, &n);
	NpyHead h = npy_head(path, p, n, n, want);

	return npy_content(&h, p);
}

bool npy_locate(const char *path, DType want, Array *head, int64_t *offset)
{
	size_t n;
	const void *p = data_map(path, &n);
	NpyHead h = npy_head(path, p, n, n, want);

	*head = h.array;
	*offset = (int64_t)h.at;
	return npy_in_place(&h);
}

/* Writes the header as NumPy does, padded with spaces so that the data is 64-byte aligned. */
static void write_head(Buf *out, const Array *a)
{
	Buf dict = {0};
	size_t pad;

	buf_printf(&dict, "{'descr': '%s', 'fortran_order': False, 'shape': (",
		dtype_info[a->dtype].npy);
	for (int i = 0; i < a->rank; i++)
		buf_printf(&dict, i ? ", %lld" : "%lld", (long long)a->dim[i]);
	buf_printf(&dict, a->rank == 1 ? ",), }" : "), }");
	pad = ALIGN - (10 + dict.n + 1) % ALIGN;
	buf_printf(&dict, "%*s\n", (int)(pad % ALIGN), "");
	buf_add(out, "\x93NUMPY\1", 8);
	buf_add(out, (char[]){(char)dict.n, (char)(dict.n >> 8)}, 2);
	buf_add(out, dict.s, dict.n);
	buf_free(&dict);
}

void npy_bytes(Buf *out, const Array *a)
{
	write_head(out, a);
	buf_add(out, a->data, a->bytes);
}

void npy_write(const char *path, const Array *a)
{
	Buf b = {0};

	npy_bytes(&b, a);
	file_write(path, b.s, b.n);
	buf_free(&b);
}
