/* Args, notes, meta: immutable values, interned, so that equal ones are one object and compare by
 * address. */
#include "base/base.h"
#include <math.h>
#include <stdlib.h>

const Val val_nil = {.kind = VAL_NIL, .hash = 1};

static ARENA struct { Val **at; size_t n, cap; uint32_t created; } table;

static bool same(const Val *a, const Val *b)
{
	if (a->hash != b->hash || a->kind != b->kind || a->n != b->n)
		return false;
	switch (a->kind) {
	case VAL_STR:
	case VAL_BIN:
		return a->s == b->s || !memcmp(a->s, b->s, a->n);
	case VAL_ARRAY:
	case VAL_MAP:
		return a->n == 0 ||
			!memcmp(a->a, b->a, (a->kind == VAL_MAP ? 2 : 1) * a->n * sizeof *a->a);
	default:
		return a->u == b->u;
	}
}

static void rehash(void)
{
	Val **old = table.at;
	size_t cap = table.cap;
	table.cap = cap ? cap * 2 : 1024;
	table.at = arena_block(table.cap * sizeof *table.at);
	for (size_t i = 0; i < cap; i++) {
		if (!old[i])
			continue;
		size_t k = old[i]->hash & (table.cap - 1);
		while (table.at[k])
			k = (k + 1) & (table.cap - 1);
		table.at[k] = old[i];
	}
	arena_release(old);
}

/* The one value equal to v; when it is new, v's payload is copied into the arena (bins are referred
 * to). */
static const Val *intern(Val v)
{
	if (table.n * 2 >= table.cap)
		rehash();
	size_t k = v.hash & (table.cap - 1);
	for (; table.at[k]; k = (k + 1) & (table.cap - 1))
		if (same(table.at[k], &v))
			return table.at[k];
	Val *n = arena_alloc(sizeof *n);
	*n = v;
	n->seq = table.created++;
	if (v.kind == VAL_STR) {
		char *s = arena_alloc(v.n + 1);
		memcpy(s, v.s, v.n);
		n->s = s;
	} else if (v.kind == VAL_ARRAY || v.kind == VAL_MAP) {
		size_t bytes = (v.kind == VAL_MAP ? 2 : 1) * v.n * sizeof *v.a;
		const Val **a = arena_alloc(bytes);
		if (bytes)
			memcpy(a, v.a, bytes);
		n->a = a;
	}
	table.at[k] = n;
	table.n++;
	return n;
}

static const Val *scalar(ValKind kind, uint64_t bits)
{
	return intern((Val){.kind = kind, .u = bits, .hash = hash_mix(kind + 1, bits)});
}

const Val *val_bool(bool b)
{
	Val v = {.kind = VAL_BOOL, .hash = hash_mix(VAL_BOOL + 1, b)};
	v.u = 0;
	v.b = b;
	return intern(v);
}

const Val *val_int(int64_t i) { return scalar(VAL_INT, (uint64_t)i); }

const Val *val_uint(uint64_t u)
{
	return u <= INT64_MAX ? val_int((int64_t)u) : scalar(VAL_UINT, u);
}

const Val *val_float(double f)
{
	uint64_t bits;
	memcpy(&bits, &f, 8);
	return scalar(VAL_FLOAT, bits);
}

const Val *val_strn(const char *s, size_t n)
{
	return intern((Val){.kind = VAL_STR, .n = n, .s = s, .hash = hash_bytes(s, n, VAL_STR)});
}

const Val *val_str(const char *s) { return val_strn(s, strlen(s)); }

const Val *val_bin(const void *p, size_t n)
{
	return intern((Val){.kind = VAL_BIN, .n = n, .s = p, .hash = hash_bytes(p, n, VAL_BIN)});
}

static const Val *list(ValKind kind, size_t n, size_t count, const Val *const *a)
{
	uint64_t h = hash_mix(kind + 1, n);
	for (size_t i = 0; i < count; i++)
		h = hash_mix(h, a[i]->hash);
	return intern((Val){.kind = kind, .n = n, .a = a, .hash = h});
}

const Val *val_array(size_t n, const Val *const *a) { return list(VAL_ARRAY, n, n, a); }
const Val *val_map(size_t n, const Val *const *kv) { return list(VAL_MAP, n, 2 * n, kv); }

const Val *val_ints(size_t n, const int64_t *v)
{
	const Val **a = xmalloc((n + 1) * sizeof *a);
	for (size_t i = 0; i < n; i++)
		a[i] = val_int(v[i]);
	const Val *r = val_array(n, a);
	free(a);
	return r;
}

const Val *val_get(const Val *m, const char *key)
{
	if (!m || m->kind != VAL_MAP)
		return NULL;
	size_t n = strlen(key);
	for (size_t i = 0; i < m->n; i++) {
		const Val *k = m->a[2 * i];
		if (k->kind == VAL_STR && k->n == n && !memcmp(k->s, key, n))
			return m->a[2 * i + 1];
	}
	return NULL;
}

const Val *val_set(const Val *m, const char *key, const Val *v)
{
	size_t n = m && m->kind == VAL_MAP ? m->n : 0, k = 0;
	const Val **kv = xmalloc((2 * n + 2) * sizeof *kv);
	bool found = false;
	for (size_t i = 0; i < n; i++) {
		bool hit = val_is_str(m->a[2 * i], key);
		found |= hit;
		if (hit && !v)
			continue;
		kv[k++] = m->a[2 * i];
		kv[k++] = hit ? v : m->a[2 * i + 1];
	}
	if (!found && v) {
		kv[k++] = val_str(key);
		kv[k++] = v;
	}
	const Val *r = val_map(k / 2, kv);
	free(kv);
	return r;
}

/* ---- text */

static void print_string(Buf *out, const char *s, size_t n)
{
	buf_add(out, "\"", 1);
	for (size_t i = 0; i < n; i++) {
		unsigned char c = s[i];
		if (c == '"' || c == '\\')
			buf_printf(out, "\\%c", c);
		else if (c == '\n')
			buf_add(out, "\\n", 2);
		else if (c == '\t')
			buf_add(out, "\\t", 2);
		else if (c < 32 || c == 127)
			buf_printf(out, "\\x%02x", c);
		else
			buf_add(out, &s[i], 1);
	}
	buf_add(out, "\"", 1);
}

/* The shortest decimal that reads back to the same double, always recognizable as a float. */
static void print_float(Buf *out, double f)
{
	if (isnan(f)) {
		uint64_t bits;
		memcpy(&bits, &f, 8);
		if (bits == 0x7ff8000000000000u)
			buf_printf(out, "nan");
		else
			buf_printf(out, "nan:%016llx", (unsigned long long)bits);
		return;
	}
	if (isinf(f)) {
		buf_printf(out, f < 0 ? "-inf" : "inf");
		return;
	}
	char s[40];
	for (int p = 1; p <= 17; p++) {
		snprintf(s, sizeof s, "%.*g", p, f);
		if (strtod(s, NULL) == f)
			break;
	}
	buf_printf(out, "%s%s", s, strpbrk(s, ".e") ? "" : ".0");
}

static void print_list(Buf *out, const Val *v);

void val_print(Buf *out, const Val *v)
{
	switch (v->kind) {
	case VAL_NIL: buf_printf(out, "nil"); break;
	case VAL_BOOL: buf_printf(out, v->b ? "true" : "false"); break;
	case VAL_INT: buf_printf(out, "%lld", (long long)v->i); break;
	case VAL_UINT: buf_printf(out, "%llu", (unsigned long long)v->u); break;
	case VAL_FLOAT: print_float(out, v->f); break;
	case VAL_STR: print_string(out, v->s, v->n); break;
	case VAL_BIN:
		buf_printf(out, "b\"");
		for (size_t i = 0; i < v->n; i++)
			buf_printf(out, "%02x", (unsigned char)v->s[i]);
		buf_printf(out, "\"");
		break;
	default: print_list(out, v);
	}
}

/* Depth is bounded by the reader (100). */
static void print_list(Buf *out, const Val *v)
{
	bool map = v->kind == VAL_MAP;
	buf_add(out, map ? "{" : "[", 1);
	for (size_t i = 0; i < v->n; i++) {
		if (i)
			buf_add(out, ", ", 2);
		val_print(out, v->a[map ? 2 * i : i]);
		if (map) {
			buf_add(out, ": ", 2);
			val_print(out, v->a[2 * i + 1]);
		}
	}
	buf_add(out, map ? "}" : "]", 1);
}
