/* Reads and writes a document as bytes: one msgpack map with the keys uop, level, vars, meta,
 * nodes.
 *
 *     {uop: 1, level: "graph",
 *      nodes: [["CONST", "f32", [], 2.0], ["NEG", "f32", [0], nil], ["SINK", nil, [1], nil]]}
 *
 * The reader gets bytes that wire_scan has found whole, so it can trust lengths and counts. Writing
 * uses msgpack-c, with the smallest form of every integer and floats always as float64, so a graph
 * has exactly one byte string. */
#include "io/io.h"
#include <msgpack.h>
#include <stdlib.h>

/* ---- values */

typedef struct {
	const uint8_t *p;
	size_t at, n;
	const char *err;                /* the first error in a value */
	VEC(const Val *) stack;         /* elements of the lists being read */
} WireReader;

static inline WireHead next_head(WireReader *r)
{
	WireHead h;
	bool small = r->at < r->n && wire_small(r->p[r->at], &h);
	size_t size = small ? 1 : wire_head(r->p + r->at, r->n - r->at, &h);
	CHECK(size);
	r->at += size;
	return h;
}

/* wire_scan limits the depth of the recursion. */
static const Val *read_value(WireReader *r);

static const Val *read_list(WireReader *r, WireHead h)
{
	bool map = h.kind == VAL_MAP;
	size_t base = r->stack.n, n = map ? 2 * h.n : h.n;
	for (size_t i = 0; i < n; i++) {
		const Val *v = read_value(r);
		vec_push(&r->stack, v);
	}
	const Val *const *at = n ? r->stack.at + base : NULL;
	r->stack.n = base;
	if (!map)
		return val_array(n, at);
	const Val *key = val_key_twice(h.n, at);
	if (key && !r->err)
		r->err = arena_printf("a map has the key '%.40s' twice", key->s);
	return val_map(h.n, at);
}

static const Val *read_value(WireReader *r)
{
	WireHead h = next_head(r);
	const uint8_t *payload = r->p + r->at;
	double f;
	switch (h.kind) {
	case VAL_NIL: return VNIL;
	case VAL_BOOL: return val_bool(h.n);
	case VAL_INT: return val_int((int64_t)h.n);
	case VAL_UINT: return val_uint(h.n);
	case VAL_FLOAT:
		memcpy(&f, &h.n, 8);
		return val_float(f);
	case VAL_STR:
		r->at += h.n;
		return val_strn((const char *)payload, h.n);
	case VAL_BIN:
		r->at += h.n;
		return val_bin(payload, h.n);
	default:
		return read_list(r, h);
	}
}

static void skip_value(WireReader *r)
{
	WireScan s = {0};
	CHECK(wire_scan(&s, r->p + r->at, r->n - r->at) == WIRE_WHOLE);
	r->at += s.at;
}

/* ---- nodes */

typedef struct { const char *s; size_t n; bool given; } WireText;

static bool read_text(WireReader *r, WireText *t)
{
	WireHead h = next_head(r);
	*t = (WireText){.s = (const char *)r->p + r->at, .n = h.n, .given = h.kind == VAL_STR};
	if (h.kind != VAL_STR)
		return h.kind == VAL_NIL;
	r->at += h.n;
	return true;
}

static _Noreturn void bad_node(size_t i, const WireText *op, const char *why)
{
	if (op && op->given)
		die(MALFORMED, "node %zu %.*s: %s", i, op->n < 40 ? (int)op->n : 40, op->s, why);
	die(MALFORMED, "node %zu: %s", i, why);
}

typedef VEC(uint64_t) NodeNumbers;

static void read_sources(WireReader *r, size_t node, const WireText *op, NodeNumbers *src)
{
	WireHead h = next_head(r);
	if (h.kind != VAL_ARRAY)
		bad_node(node, op, "its sources are not an array");
	src->n = 0;
	for (uint64_t k = 0, n = h.n; k < n; k++) {
		h = next_head(r);
		if (h.kind != VAL_INT && h.kind != VAL_UINT)
			bad_node(node, op, "a source is not an int");
		/* a negative number becomes a large one, which is refused */
		vec_push(src, h.n);
	}
}

static void read_node(WireReader *r, Doc *d, size_t i, NodeNumbers *src)
{
	WireHead h = next_head(r);
	WireText op, dtype;
	if (h.kind != VAL_ARRAY || h.n < 4 || h.n > 5)
		bad_node(i, NULL, "not an array of 4 or 5");
	if (!read_text(r, &op) || !op.given)
		bad_node(i, NULL, "its op is not a string");
	if (!read_text(r, &dtype))
		bad_node(i, &op, "its dtype is neither string nor nil");
	read_sources(r, i, &op, src);
	const Val *arg = read_value(r), *note = VNIL;
	if (h.n == 5) {
		note = read_value(r);
		if (note->kind != VAL_MAP)
			bad_node(i, &op, "its note is not a map");
	}
	if (r->err)
		bad_node(i, &op, r->err);
	int status;
	const char *err = doc_node(d, op.s, op.n, dtype.given ? dtype.s : NULL, dtype.n, src->n,
		src->at, arg, note, &status);
	if (err)
		die(status, "%s", err);
}

/* ---- the top-level map */

/* Offsets of the values of the top-level map; 0: absent (no value is at byte 0). */
typedef struct { size_t uop, level, nodes, vars, meta; } Frame;

static bool key_is(const uint8_t *key, size_t n, const char *name)
{
	return n == strlen(name) && !memcmp(key, name, n);
}

static void place_keys(WireReader *r, Frame *f)
{
	WireHead h = next_head(r);
	if (h.kind != VAL_MAP)
		die(MALFORMED, "not a document: no map at its first byte");
	for (uint64_t i = 0, n = h.n; i < n; i++) {
		h = next_head(r);
		const uint8_t *key = r->p + r->at;
		r->at += h.n;
		size_t *at = key_is(key, h.n, "uop") ? &f->uop
			: key_is(key, h.n, "level") ? &f->level
			: key_is(key, h.n, "nodes") ? &f->nodes
			: key_is(key, h.n, "vars") ? &f->vars
			: key_is(key, h.n, "meta") ? &f->meta : NULL;
		if (at && *at)
			die(MALFORMED, "the document has the key '%.*s' twice", (int)h.n, key);
		if (at)
			*at = r->at;
		if (i + 1 < n)          /* nodes are the last, and most of the bytes */
			skip_value(r);
	}
}

static const Val *value_at(WireReader *r, size_t at)
{
	if (!at)
		return VNIL;
	r->at = at;
	const Val *v = read_value(r);
	if (r->err)
		die(MALFORMED, "%s", r->err);
	return v;
}

/* An optional key must have a map if it is present: nil is not allowed. */
static const Val *map_at(WireReader *r, size_t at, const char *name)
{
	const Val *v = value_at(r, at);
	if (at && v->kind != VAL_MAP)
		die(MALFORMED, "%s is not a map", name);
	return v;
}

static Level read_level(WireReader *r, const Frame *f)
{
	if (!f->uop)
		die(MALFORMED, "not a document: there is no key 'uop'");
	const Val *version = value_at(r, f->uop);
	if (version->kind != VAL_INT && version->kind != VAL_UINT)
		die(MALFORMED, "uop, the format's version, is not an int");
	if (version != val_int(WIRE_VERSION))
		die(UNSUPPORTED, "format version %lld is not supported, only %d",
			(long long)version->i, WIRE_VERSION);
	const Val *level = value_at(r, f->level);
	if (level->kind != VAL_STR)
		die(MALFORMED, "there is no level");
	for (int l = 0; l < LV_COUNT; l++)
		if (val_is_str(level, level_name[l]))
			return l;
	die(MALFORMED, "there is no level '%.40s'", level->s);
}

Graph *wire_build(const void *p, size_t n, int flags)
{
	WireReader r = {.p = p, .n = n};
	Frame f = {0};
	const char *err;
	place_keys(&r, &f);
	Level level = read_level(&r, &f);
	Doc *d = doc_begin(
		level, map_at(&r, f.vars, "vars"), map_at(&r, f.meta, "meta"), flags, &err);
	if (!d)
		die(MALFORMED, "%s", err);
	if (!f.nodes)
		die(MALFORMED, "there are no nodes");
	r.at = f.nodes;
	WireHead h = next_head(&r);
	if (h.kind != VAL_ARRAY)
		die(MALFORMED, "nodes is not an array");
	/* messages about a node start with the node, not the file */
	const char *where = process.where;
	process.where = NULL;
	NodeNumbers src = {0};
	for (uint64_t i = 0; i < h.n; i++)
		read_node(&r, d, i, &src);
	process.where = where;
	vec_free(&src);
	vec_free(&r.stack);
	Graph *g = doc_end(d, &err);
	if (!g)
		die(MALFORMED, "%s", err);
	return g;
}

Graph *wire_read(const void *p, size_t n, size_t *used, int flags)
{
	WireScan s = {0};
	int r = wire_scan(&s, p, n);
	if (r == WIRE_BAD)
		die(MALFORMED, "%s at byte %zu", s.err, s.at);
	if (r == WIRE_MORE)
		die(MALFORMED, "ends early at byte %zu", n);
	if (used)
		*used = s.at;
	return wire_build(p, s.at, flags);
}

/* ---- writing */

static int append(void *out, const char *p, size_t n)
{
	buf_add(out, p, n);
	return 0;
}

static void write_str(msgpack_packer *pk, const char *s, size_t n)
{
	msgpack_pack_str(pk, n);
	msgpack_pack_str_body(pk, s, n);
}

static void write_text(msgpack_packer *pk, const char *s)
{
	write_str(pk, s, strlen(s));
}

static void write_value(msgpack_packer *pk, const Val *v)
{
	switch (v->kind) {
	case VAL_NIL: msgpack_pack_nil(pk); break;
	case VAL_BOOL: v->b ? msgpack_pack_true(pk) : msgpack_pack_false(pk); break;
	case VAL_INT: msgpack_pack_int64(pk, v->i); break;
	case VAL_UINT: msgpack_pack_uint64(pk, v->u); break;
	case VAL_FLOAT: msgpack_pack_double(pk, v->f); break;
	case VAL_STR: write_str(pk, v->s, v->n); break;
	case VAL_BIN:
		msgpack_pack_bin(pk, v->n);
		msgpack_pack_bin_body(pk, v->s, v->n);
		break;
	case VAL_ARRAY:
		msgpack_pack_array(pk, v->n);
		for (size_t i = 0; i < v->n; i++)
			write_value(pk, v->a[i]);
		break;
	case VAL_MAP:
		msgpack_pack_map(pk, v->n);
		for (size_t i = 0; i < 2 * v->n; i++)
			write_value(pk, v->a[i]);
		break;
	}
}

/* What is written: a document, for a file in a folder (or NULL), or what a hash is of: without
 * notes. */
typedef struct {
	msgpack_packer *pk;
	uint32_t *index;
	const char *folder;
	bool hashed;
} Written;

/* The arg of a BUFFER with a file. What a hash is of has no path where the bytes have a hash of
 * their own, and else none that depends on the working folder. */
static const Val *arg_of_buffer(const Written *w, const Val *arg)
{
	const Val *file = val_get(arg, "file"), *at[4];
	if ((!w->folder && !w->hashed) || !file || file->kind != VAL_ARRAY || !file->n ||
		file->n > 4 || file->a[0]->kind != VAL_STR || data_given(file->a[0]->s) >= 0)
		return arg;
	memcpy(at, file->a, file->n * sizeof *at);
	at[0] = !w->hashed ? val_str(path_from_folder(w->folder, file->a[0]->s)) :
		file->n > 3 ? VNIL : val_str(path_whole(file->a[0]->s));
	return val_set(arg, "file", val_array(file->n, at));
}

static const Val *written_arg(const Written *w, const UOp *u)
{
	return u->op == OP_SINK ? sink_plain_arg(u->arg) :
		u->op == OP_BUFFER ? arg_of_buffer(w, u->arg) : u->arg;
}

static void write_node(const Written *w, const UOp *u)
{
	msgpack_packer *pk = w->pk;
	const Val *arg = written_arg(w, u);
	uint32_t nsrc = (uint32_t)node_sources(u);
	bool notes = !w->hashed && u->note != VNIL;
	msgpack_pack_array(pk, notes ? 5 : 4);
	if (u->op == OP_FUNC) {
		write_value(pk, arg->a[0]);
		arg = arg->a[1];
	} else {
		write_text(pk, op_name(u->op));
	}
	if (u->dtype == DT_NONE)
		msgpack_pack_nil(pk);
	else
		write_text(pk, dtype_name(u->dtype));
	msgpack_pack_array(pk, nsrc);
	for (uint32_t i = 0; i < nsrc; i++)
		msgpack_pack_uint64(pk, w->index[u->src[i]->id]);
	write_value(pk, arg);
	if (notes)
		write_value(pk, u->note);
}

static bool is_map(const Val *v) { return v && v->kind == VAL_MAP; }

static void write_document(Written *w, const Graph *g, const Val *meta)
{
	/* what is hashed may have been made in another order by whoever asks */
	Nodes all = g->raw ? g->all : w->hashed ? walk_deep(g->sink) : walk(g->sink);
	msgpack_packer *pk = w->pk;
	w->index = xmalloc((node_limit() + 1) * sizeof *w->index);
	for (size_t i = 0; i < all.n; i++)
		w->index[all.at[i]->id] = i;
	msgpack_pack_map(pk, 3 + is_map(g->vars) + is_map(meta));
	write_text(pk, "uop");
	msgpack_pack_int(pk, WIRE_VERSION);
	write_text(pk, "level");
	write_text(pk, level_name[g->level]);
	if (is_map(g->vars)) {
		write_text(pk, "vars");
		write_value(pk, g->vars);
	}
	if (is_map(meta)) {
		write_text(pk, "meta");
		write_value(pk, meta);
	}
	write_text(pk, "nodes");
	msgpack_pack_array(pk, all.n);
	for (size_t i = 0; i < all.n; i++)
		write_node(w, all.at[i]);
	free(w->index);
}

void wire_write_in(Buf *out, const Graph *g, const char *folder)
{
	msgpack_packer pk;
	msgpack_packer_init(&pk, out, append);
	write_document(&(Written){.pk = &pk, .folder = folder}, g, g->meta);
}

void wire_write(Buf *out, const Graph *g) { wire_write_in(out, g, NULL); }

/* Values are a few bytes each, which are hashed by the piece. */
typedef struct { Hash *hash; size_t n; char piece[1 << 14]; } Hashing;

static int append_hash(void *to, const char *p, size_t n)
{
	Hashing *h = to;
	if (h->n + n > sizeof h->piece) {
		hash_add(h->hash, h->piece, h->n);
		h->n = 0;
	}
	if (n > sizeof h->piece)
		hash_add(h->hash, p, n);
	else
		memcpy(h->piece + h->n, p, n);
	h->n += n > sizeof h->piece ? 0 : n;
	return 0;
}

void wire_hash(Hash *hash, const Graph *g, const Val *meta)
{
	msgpack_packer pk;
	Hashing h = {.hash = hash};
	msgpack_packer_init(&pk, &h, append_hash);
	write_document(&(Written){.pk = &pk, .hashed = true}, g, meta);
	hash_add(hash, h.piece, h.n);
}
