/* .npz: a ZIP archive of .npy members, stored or deflated, with or without ZIP64. Offsets and sizes
 * in the central directory at the end are checked against the file. Members are written stored,
 * with their data 64-byte aligned, so that they can be read in place.
 *
 *     local header | name | padding | .npy     …     central directory | its end
 */
#include <stdlib.h>
#include <zlib.h>
#include "arrays/arrays.h"
#include "io/io.h"
#include "arrays/npy.h"

enum { ALIGN = 64, LOCAL = 30, CENTRAL = 46, END = 22, HEAD = 256, STORED = 0,
	DEFLATED = 8 };

typedef struct { const char *file; const unsigned char *p; size_t n; } Zip;
typedef struct {
	const unsigned char *name;
	size_t name_len;
	uint64_t at, packed, size;
	unsigned method, flags, crc;
} Member;

static _Noreturn void bad(const Zip *z, const char *what)
{
	die(MALFORMED, "%s: not an .npz file that can be read: %s", z->file, what);
}

static uint64_t little(const unsigned char *p, int bytes)
{
	uint64_t v = 0;

	for (int i = bytes; i-- > 0;)
		v = v << 8 | p[i];
	return v;
}

/* ---- the directory ---- */

/* The end record, which is followed by a comment of at most 65535 bytes. */
static const unsigned char *find_end(const Zip *z)
{
	for (size_t back = END; back <= z->n && back <= END + 65535; back++) {
		const unsigned char *e = z->p + z->n - back;
		if (!memcmp(e, "PK\5\6", 4) && little(e + 20, 2) == back - END)
			return e;
	}
	bad(z, "it has no directory");
}

/* Where the directory starts and how many members it has, from the ZIP64 end record if there is
 * one. */
static uint64_t find_directory(const Zip *z, uint64_t *count)
{
	const unsigned char *e = find_end(z), *locator = e - 20;
	uint64_t at = little(e + 16, 4), where;

	*count = little(e + 10, 2);
	if (e - z->p < 20 || memcmp(locator, "PK\6\7", 4))
		return at;
	where = little(locator + 8, 8);
	if (where > z->n || z->n - where < 56 || memcmp(z->p + where, "PK\6\6", 4))
		bad(z, "its ZIP64 directory is broken");
	*count = little(z->p + where + 32, 8);
	return little(z->p + where + 48, 8);
}

/* Sizes given as 0xffffffff are in the ZIP64 extra field, in this order. */
static void read_extra(const Zip *z, Member *m, const unsigned char *x, size_t n)
{
	uint64_t *field[3] = {&m->size, &m->packed, &m->at};

	while (n >= 4) {
		size_t id = little(x, 2), len = little(x + 2, 2), used = 0;
		if (len > n - 4)
			return;
		for (int k = 0; id == 1 && k < 3; k++) {
			if (*field[k] != 0xffffffff)
				continue;
			if (used + 8 > len)
				bad(z, "a ZIP64 size is missing");
			*field[k] = little(x + 4 + used, 8);
			used += 8;
		}
		x += 4 + len;
		n -= 4 + len;
	}
}

/* Reads the member at *at and moves *at to the next one. */
static Member next_member(const Zip *z, uint64_t *at)
{
	const unsigned char *h = z->p + *at;
	size_t name, extra, comment;
	Member m;

	if (*at > z->n || z->n - *at < CENTRAL || memcmp(h, "PK\1\2", 4))
		bad(z, "its directory is broken");
	name = little(h + 28, 2);
	extra = little(h + 30, 2);
	comment = little(h + 32, 2);
	if (z->n - *at - CENTRAL < name + extra + comment)
		bad(z, "its directory ends early");
	m = (Member){.name = h + CENTRAL,
		.name_len = name,
		.flags = little(h + 8, 2),
		.method = little(h + 10, 2),
		.crc = little(h + 16, 4),
		.packed = little(h + 20, 4),
		.size = little(h + 24, 4),
		.at = little(h + 42, 4)};
	read_extra(z, &m, h + CENTRAL + name, extra);
	*at += CENTRAL + name + extra + comment;
	return m;
}

/* Whether the member is "name" or "name.npy"; a NULL name stands for the only member. */
static bool is_named(const Member *m, const char *name)
{
	size_t n = name ? strlen(name) : 0;

	return !name ||
		((m->name_len == n || (m->name_len == n + 4 && !memcmp(m->name + n, ".npy", 4))) &&
			!memcmp(m->name, name, n));
}

static Member find_member(const Zip *z, const char *name)
{
	uint64_t count, at = find_directory(z, &count);
	Member m, found;
	size_t n = 0;

	for (uint64_t i = 0; i < count; i++) {
		m = next_member(z, &at);
		if (!is_named(&m, name))
			continue;
		found = m;
		if (n++ && !name)
			die(USAGE, "%s: it has several members: say which", z->file);
	}
	if (n == 0)
		die(MALFORMED, "%s: it has no member '%s'", z->file, name ? name : "");
	if (found.flags & 1)
		die(UNSUPPORTED, "%s: its members are encrypted", z->file);
	return found;
}

/* ---- content ---- */

/* The member's bytes in the file. */
static const unsigned char *packed_bytes(const Zip *z, const Member *m)
{
	const unsigned char *h = z->p + m->at;
	uint64_t at;

	if (m->at > z->n || z->n - m->at < LOCAL || memcmp(h, "PK\3\4", 4))
		bad(z, "a member is not where the directory says");
	at = m->at + LOCAL + little(h + 26, 2) + little(h + 28, 2);
	if (at > z->n || m->packed > z->n - at)
		bad(z, "a member ends early");
	return z->p + at;
}

/* Unpacks n bytes from the member's start into out; whole: they are all that it has. */
static void inflate_to(const Zip *z, const Member *m, const unsigned char *from, unsigned char *out,
	uint64_t n, bool whole)
{
	z_stream s = {0};
	uint64_t in = m->packed, left = n;
	int status = Z_OK;

	if (inflateInit2(&s, -15) != Z_OK)
		die(FAILED, "%s: zlib does not start", z->file);
	s.next_in = (unsigned char *)from;
	s.next_out = out;
	while (status == Z_OK && (left || whole)) {
		s.avail_in = in < 1 << 30 ? (unsigned)in : 1 << 30;
		s.avail_out = left < 1 << 30 ? (unsigned)left : 1 << 30;
		in -= s.avail_in;
		left -= s.avail_out;
		status = inflate(&s, Z_NO_FLUSH);
		in += s.avail_in;
		left += s.avail_out;
	}
	inflateEnd(&s);
	if (left || (whole && status != Z_STREAM_END))
		bad(z, "a member does not unpack");
}

/* The array's head, from the member's first bytes: HEAD of them, or more for a long header. */
static NpyHead inflated_head(const Zip *z, const Member *m, const unsigned char *from, DType want)
{
	uint64_t n = m->size < HEAD ? m->size : HEAD, len;
	unsigned char *p = arena_alloc(n + 1);

	inflate_to(z, m, from, p, n, false);
	len = npy_head_bytes(p, n);
	if (len > n && len <= m->size) {
		inflate_to(z, m, from, p = arena_alloc(len + 1), len, false);
		n = len;
	}
	return npy_head(z->file, p, n, m->size, want);
}

/* Unpacks a member into memory that is not freed: arrays point into it. Its size, which the
 * directory claims, has to be that of the array: so what is unpacked is what the caller is told of.
 */
static void *inflated(const Zip *z, const Member *m, const unsigned char *from, const NpyHead *h)
{
	unsigned char *out;

	if (m->size - h->at != h->array.bytes)
		bad(z, "a member is longer than its array");
	if (m->size / 1032 > m->packed + 1)     /* the highest ratio of deflate */
		bad(z, "a member's size cannot be true");
	out = xaligned(ALIGN, m->size);
	inflate_to(z, m, from, out, m->size, true);
	if (crc32_z(crc32_z(0, NULL, 0), out, m->size) != m->crc)
		bad(z, "a member's checksum is wrong");
	return out;
}

/* ---- one member ---- */

/* A member, found and looked at: unpacked only for those who want its elements. */
typedef struct {
	Zip zip;
	Member member;
	const unsigned char *from;      /* its bytes in the file */
	NpyHead head;
} Found;

static Found found(const char *path, const void *p, size_t n, const char *name, DType want)
{
	Found f = {.zip = {path, p, n}};

	f.member = find_member(&f.zip, name);
	f.from = packed_bytes(&f.zip, &f.member);
	if (f.member.method != STORED && f.member.method != DEFLATED)
		die(UNSUPPORTED, "%s: a member is packed by method %u", path, f.member.method);
	if (f.member.method == STORED && f.member.packed != f.member.size)
		bad(&f.zip, "a stored member has two sizes");
	f.head = f.member.method == DEFLATED ?
		inflated_head(&f.zip, &f.member, f.from, want) :
		npy_head(path, f.from, f.member.size, f.member.size, want);
	return f;
}

Array npz_read(const char *path, const char *name, DType want)
{
	size_t n;
	const void *map = file_map(path, &n), *p;
	Found f = found(path, map, n, name, want);
	bool deflated = f.member.method == DEFLATED;

	p = deflated ? inflated(&f.zip, &f.member, f.from, &f.head) : f.from;
	Array a = npy_content(&f.head, p);
	if (deflated && a.owned)        /* npy_content made another copy */
		free((void *)p);
	return a;
}

size_t npz_names(const char *path, const char ***names)
{
	Zip z = {.file = path};
	uint64_t count, at;

	z.p = file_map(path, &z.n);
	at = find_directory(&z, &count);
	/* each entry takes CENTRAL bytes of the file, which limits the count */
	if (count > z.n / CENTRAL)
		bad(&z, "its directory is broken");
	*names = arena_alloc((count + 1) * sizeof **names);
	for (uint64_t i = 0; i < count; i++) {
		Member m = next_member(&z, &at);
		size_t n = m.name_len;
		if (n > 4 && !memcmp(m.name + n - 4, ".npy", 4))
			n -= 4;
		(*names)[i] = arena_printf("%.*s", (int)n, (const char *)m.name);
	}
	return count;
}

bool npz_locate(const char *path, const char *name, DType want, Array *head, int64_t *offset)
{
	size_t n;
	const unsigned char *p = data_map(path, &n);
	Found f = found(path, p, n, name, want);

	*head = f.head.array;
	*offset = f.from - p + (int64_t)f.head.at;
	return f.member.method == STORED && npy_in_place(&f.head);
}

/* ---- writing ---- */

static void put(Buf *b, int bytes, uint64_t v)
{
	unsigned char s[8];

	for (int i = 0; i < bytes; i++)
		s[i] = (unsigned char)(v >> 8 * i);
	buf_add(b, s, bytes);
}

typedef struct { uint64_t at, size; uint32_t crc; } Written;

static uint64_t small(uint64_t v)
{
	return v < 0xffffffff ? v : 0xffffffff;
}

/* The fields that local and central headers share, from version to name length. The date is always
 * 1980-01-01, so that equal content gives equal bytes. */
static void put_common(Buf *b, const Written *w, size_t name, size_t extra)
{
	put(b, 2, 45);
	put(b, 2, 0x800);               /* names are UTF-8 */
	put(b, 2, STORED);
	put(b, 2, 0);
	put(b, 2, 1 << 5 | 1);
	put(b, 4, w->crc);
	put(b, 4, small(w->size));
	put(b, 4, small(w->size));
	put(b, 2, name);
	put(b, 2, extra);
}

/* Writes a local header, with an extra field as padding so that the array's data is aligned. */
static void put_local(Buf *b, const char *name, const Written *w)
{
	size_t len = strlen(name) + 4, zip64 = w->size >= 0xffffffff ? 20 : 0;
	size_t pad = (ALIGN - (b->n + LOCAL + len + zip64 + 4) % ALIGN) % ALIGN;

	buf_add(b, "PK\3\4", 4);
	put_common(b, w, len, zip64 + 4 + pad);
	buf_printf(b, "%s.npy", name);
	if (zip64) {
		put(b, 2, 1);
		put(b, 2, 16);
		put(b, 8, w->size);
		put(b, 8, w->size);
	}
	put(b, 2, 0xd935);              /* the id that alignment tools use */
	put(b, 2, pad);
	for (size_t i = 0; i < pad; i++)
		put(b, 1, 0);
}

static void put_central(Buf *b, const char *name, const Written *w)
{
	bool big = w->size >= 0xffffffff, far = w->at >= 0xffffffff;
	size_t extra = (big ? 16 : 0) + (far ? 8 : 0);

	buf_add(b, "PK\1\2", 4);
	put(b, 2, 45);
	put_common(b, w, strlen(name) + 4, extra ? extra + 4 : 0);
	put(b, 6, 0);                   /* comment, disk, attributes */
	put(b, 4, 0);
	put(b, 4, small(w->at));
	buf_printf(b, "%s.npy", name);
	if (extra) {
		put(b, 2, 1);
		put(b, 2, extra);
	}
	if (big) {
		put(b, 8, w->size);
		put(b, 8, w->size);
	}
	if (far)
		put(b, 8, w->at);
}

/* Writes the end of the directory, also in its ZIP64 form when a number is too large for the old
 * one. */
static void put_end(Buf *b, uint64_t n, uint64_t at)
{
	uint64_t size = b->n - at, here = b->n;

	if (n >= 0xffff || at >= 0xffffffff || size >= 0xffffffff) {
		buf_add(b, "PK\6\6", 4);
		put(b, 8, 44);
		put(b, 2, 45);
		put(b, 2, 45);
		put(b, 8, 0);           /* disks */
		put(b, 8, n);
		put(b, 8, n);
		put(b, 8, size);
		put(b, 8, at);
		buf_add(b, "PK\6\7", 4);
		put(b, 4, 0);
		put(b, 8, here);
		put(b, 4, 1);
	}
	buf_add(b, "PK\5\6", 4);
	put(b, 4, 0);
	put(b, 2, n < 0xffff ? n : 0xffff);
	put(b, 2, n < 0xffff ? n : 0xffff);
	put(b, 4, small(size));
	put(b, 4, small(at));
	put(b, 2, 0);
}

void npz_bytes(Buf *out, size_t n, const char *const *names, const Array *a)
{
	Written *w = xcalloc(n + 1, sizeof *w);
	uint64_t at;

	for (size_t i = 0; i < n; i++) {
		Buf npy = {0};
		npy_bytes(&npy, &a[i]);
		w[i] = (Written){out->n, npy.n,
			(uint32_t)crc32_z(crc32_z(0, NULL, 0), (unsigned char *)npy.s, npy.n)};
		put_local(out, names[i], &w[i]);
		buf_add(out, npy.s, npy.n);
		buf_free(&npy);
	}
	at = out->n;
	for (size_t i = 0; i < n; i++)
		put_central(out, names[i], &w[i]);
	put_end(out, n, at);
	free(w);
}

void npz_write(const char *path, size_t n, const char *const *names, const Array *a)
{
	Buf b = {0};

	npz_bytes(&b, n, names, a);
	file_write(path, b.s, b.n);
	buf_free(&b);
}
