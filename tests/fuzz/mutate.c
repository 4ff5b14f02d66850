/* Documents changed at random, as documents: a node's op, dtype, sources, arg or note, two nodes
 * swapped, one left out or there twice, a size variable, meta, the level.
 *
 *     ["ADD","f32",[0,1],nil]  ->  ["ADD","f32",[0,0],nil]  ["SUB","f32",[0,1],nil]  …
 *
 * Most changes keep the form of what they change, so that a reader comes past its first checks. */
#include "mutate.h"
#include "io/io.h"
#include <msgpack.h>

typedef msgpack_object Object;
typedef struct { uint64_t state; msgpack_zone *zone; Object *root, *nodes; } Mutation;

/* ---- choices */

static uint64_t draw(Mutation *m)
{
	return m->state = hash_mix(m->state, 0x9e3779b97f4a7c15);
}

static size_t below(Mutation *m, size_t n) { return n ? (draw(m) >> 16) % n : 0; }

static void set_text(Object *o, const char *s)
{
	o->type = MSGPACK_OBJECT_STR;
	o->via.str.ptr = s;
	o->via.str.size = strlen(s);
}

static void set_int(Object *o, int64_t v)
{
	o->type = v < 0 ? MSGPACK_OBJECT_NEGATIVE_INTEGER : MSGPACK_OBJECT_POSITIVE_INTEGER;
	o->via.i64 = v;
}

static Object *value_of(Object *map, const char *key)
{
	for (size_t i = 0; map->type == MSGPACK_OBJECT_MAP && i < map->via.map.size; i++) {
		msgpack_object_kv *kv = &map->via.map.ptr[i];
		if (kv->key.type == MSGPACK_OBJECT_STR && kv->key.via.str.size == strlen(key) &&
			!memcmp(kv->key.via.str.ptr, key, strlen(key)))
			return &kv->val;
	}
	return NULL;
}

static Object *node(Mutation *m, size_t i) { return &m->nodes->via.array.ptr[i]; }

static Object *part(Object *node, size_t k)
{
	return node->type == MSGPACK_OBJECT_ARRAY && k < node->via.array.size ?
		&node->via.array.ptr[k] :
		NULL;
}

/* ---- lists */

static void drop(Object *list, size_t i)
{
	Object *at = list->via.array.ptr;
	memmove(at + i, at + i + 1, (--list->via.array.size - i) * sizeof *at);
}

static void insert(Mutation *m, Object *list, size_t i, Object what)
{
	size_t n = list->via.array.size;
	Object *at = msgpack_zone_malloc(m->zone, (n + 1) * sizeof *at);
	memcpy(at, list->via.array.ptr, i * sizeof *at);
	memcpy(at + i + 1, list->via.array.ptr + i, (n - i) * sizeof *at);
	at[i] = what;
	list->via.array.ptr = at;
	list->via.array.size++;
}

/* What can be changed on its own, so that two nodes do not share a list. */
static Object copied(Mutation *m, Object o)
{
	if (o.type == MSGPACK_OBJECT_ARRAY) {
		Object *at = msgpack_zone_malloc(m->zone, (o.via.array.size + 1) * sizeof *at);
		for (size_t i = 0; i < o.via.array.size; i++)
			at[i] = copied(m, o.via.array.ptr[i]);
		o.via.array.ptr = at;
	} else if (o.type == MSGPACK_OBJECT_MAP) {
		msgpack_object_kv *at =
			msgpack_zone_malloc(m->zone, (o.via.map.size + 1) * sizeof *at);
		for (size_t i = 0; i < o.via.map.size; i++)
			at[i] = (msgpack_object_kv){
				o.via.map.ptr[i].key, copied(m, o.via.map.ptr[i].val)};
		o.via.map.ptr = at;
	}
	return o;
}

/* ---- values: of an arg, a note, vars, meta */

static void change_number(Mutation *m, Object *o)
{
	static const int64_t ends[] = {0, -1, 1, 2, 63, 64, 65, 1 << 16, INT32_MAX,
		INT64_C(1) << 32, INT64_C(1) << 48, INT64_C(1) << 62, INT64_MAX, INT64_MIN};
	int64_t v = o->via.i64;
	switch (below(m, 5)) {
	case 0: set_int(o, ends[below(m, sizeof ends / sizeof *ends)]); return;
	case 1: set_int(o, (int64_t)((uint64_t)v * 2)); return;
	case 2: set_int(o, v / 2); return;
	default: set_int(o, (int64_t)((uint64_t)v + (below(m, 2) ? 1 : -1))); return;
	}
}

static void change_text(Mutation *m, Object *o)
{
	static const char *const texts[] = {"n", "n*2", "n-3", "n//0", "n%2+1", "m*n", "(n+7)//8*8",
		"x", "y", "", "input", "output", "temp", "const", "state", "prepared", "loop",
		"reduce", "serial", "vector", "unroll", "gidx0", "lidx0", "local", "stack", "ADD",
		"MAX", "SET"};
	set_text(o, texts[below(m, sizeof texts / sizeof *texts)]);
}

static void change_float(Mutation *m, Object *o)
{
	static const double ends[] = {0, -0.0, 1, 0.5, 1e308, 1e-320};
	o->via.f64 = below(m, 2) ? -o->via.f64 * 3 : ends[below(m, sizeof ends / sizeof *ends)];
}

static void change(Mutation *m, Object *o);

static void change_list(Mutation *m, Object *o)
{
	size_t n = o->via.array.size, i = below(m, n);
	if (n && below(m, 3))
		change(m, &o->via.array.ptr[i]);
	else if (n && below(m, 2))
		drop(o, i);
	else if (n)
		insert(m, o, i, copied(m, o->via.array.ptr[below(m, n)]));
}

static void change_map(Mutation *m, Object *o)
{
	size_t n = o->via.map.size, i = below(m, n);
	msgpack_object_kv *at = o->via.map.ptr;
	if (n && below(m, 6))
		change(m, &at[i].val);
	else if (n && below(m, 3))
		memmove(at + i, at + i + 1, (--o->via.map.size - i) * sizeof *at);
	else if (n)
		change_text(m, &at[i].key);
}

static void change(Mutation *m, Object *o)
{
	if (!below(m, 30)) {
		below(m, 2) ? set_int(o, below(m, 5)) : change_text(m, o);
		return;
	}
	switch (o->type) {
	case MSGPACK_OBJECT_BOOLEAN: o->via.boolean = !o->via.boolean; return;
	case MSGPACK_OBJECT_POSITIVE_INTEGER:
	case MSGPACK_OBJECT_NEGATIVE_INTEGER: change_number(m, o); return;
	case MSGPACK_OBJECT_FLOAT32:
	case MSGPACK_OBJECT_FLOAT64: change_float(m, o); return;
	case MSGPACK_OBJECT_STR: change_text(m, o); return;
	case MSGPACK_OBJECT_ARRAY: change_list(m, o); return;
	case MSGPACK_OBJECT_MAP: change_map(m, o); return;
	default: return;
	}
}

/* ---- nodes */

static void change_op(Mutation *m, size_t i)
{
	Object *op = part(node(m, i), 0);
	if (op)
		set_text(op, op_name(below(m, OP_COUNT)));
}

static void change_dtype(Mutation *m, size_t i)
{
	static const char *const dtypes[] = {"bool", "i8", "i16", "i32", "i64", "u8", "u16", "u32",
		"u64", "f16", "bf16", "f32", "f64"};
	Object *dtype = part(node(m, i), 1);
	if (dtype)
		set_text(dtype, dtypes[below(m, sizeof dtypes / sizeof *dtypes)]);
}

/* A source becomes any node before, one is left out, or there is one more. */
static void change_source(Mutation *m, size_t i)
{
	Object *src = part(node(m, i), 2), other = {0};
	set_int(&other, below(m, i + !below(m, 50)));
	if (!src || src->type != MSGPACK_OBJECT_ARRAY)
		return;
	size_t n = src->via.array.size, k = below(m, n);
	if (n && below(m, 4))
		src->via.array.ptr[k] = other;
	else if (n && below(m, 2))
		drop(src, k);
	else
		insert(m, src, below(m, n + 1), other);
}

/* The arg becomes that of another node, of the same op if there is one near. */
static void take_arg(Mutation *m, size_t i)
{
	Object *to = part(node(m, i), 3), *op = part(node(m, i), 0);
	for (int tries = 0; to && tries < 50; tries++) {
		Object *other = node(m, below(m, m->nodes->via.array.size));
		if (part(other, 3) && (tries == 49 || msgpack_object_equal(*part(other, 0), *op))) {
			*to = copied(m, *part(other, 3));
			return;
		}
	}
}

/* Adds by to the sources that are at least from, of the nodes from there on. */
static void renumber(Mutation *m, size_t from, int by)
{
	for (size_t i = from; i < m->nodes->via.array.size; i++) {
		Object *src = part(node(m, i), 2);
		for (size_t k = 0; src && src->type == MSGPACK_OBJECT_ARRAY &&
			k < src->via.array.size;
			k++) {
			Object *s = &src->via.array.ptr[k];
			if (s->type == MSGPACK_OBJECT_POSITIVE_INTEGER && s->via.u64 >= from)
				set_int(s, s->via.i64 + by);
		}
	}
}

static void leave_out(Mutation *m, size_t i)
{
	drop(m->nodes, i);
	renumber(m, i, -1);
}

/* A node before i, or i itself, stands at i once more. */
static void stand_twice(Mutation *m, size_t i)
{
	Object again = copied(m, *node(m, below(m, i + 1)));
	insert(m, m->nodes, i, again);
	renumber(m, i + 1, 1);
}

static void swap_nodes(Mutation *m, size_t i)
{
	size_t k = below(m, m->nodes->via.array.size);
	Object other = *node(m, k);
	*node(m, k) = *node(m, i);
	*node(m, i) = other;
}

static void change_node(Mutation *m)
{
	size_t i = below(m, m->nodes->via.array.size);
	switch (below(m, 16)) {
	case 0: change_op(m, i); return;
	case 1: change_dtype(m, i); return;
	case 2: leave_out(m, i); return;
	case 3: stand_twice(m, i); return;
	case 4: swap_nodes(m, i); return;
	case 5: take_arg(m, i); return;
	case 6: case 7: case 8: change_source(m, i); return;
	case 9:
		if (part(node(m, i), 4))
			change(m, part(node(m, i), 4));
		return;
	default:
		if (part(node(m, i), 3))
			change(m, part(node(m, i), 3));
		return;
	}
}

static void change_document(Mutation *m)
{
	static const char *const levels[] = {"tensor", "graph", "schedule", "loops", "program"};
	Object *vars = value_of(m->root, "vars"), *meta = value_of(m->root, "meta"),
	       *level = value_of(m->root, "level");
	size_t what = below(m, 40);
	if (what == 0 && level)
		set_text(level, levels[below(m, 5)]);
	else if (what <= 2 && vars)
		change(m, vars);
	else if (what <= 4 && meta)
		change(m, meta);
	else if (m->nodes->via.array.size)
		change_node(m);
}

static size_t packed(const Object *root, uint8_t *p, size_t most)
{
	msgpack_sbuffer out;
	msgpack_packer pk;
	msgpack_sbuffer_init(&out);
	msgpack_packer_init(&pk, &out, msgpack_sbuffer_write);
	msgpack_pack_object(&pk, *root);
	size_t n = out.size <= most ? out.size : 0;
	memcpy(p, out.data, n);
	msgpack_sbuffer_destroy(&out);
	return n;
}

size_t document_mutate(uint8_t *p, size_t n, size_t most, uint64_t seed)
{
	msgpack_unpacked whole;
	WireScan scan = {0};
	size_t done = 0;
	msgpack_unpacked_init(&whole);
	/* msgpack-c allocates what a header claims */
	if (wire_scan(&scan, p, n) == WIRE_WHOLE &&
		msgpack_unpack_next(&whole, (const char *)p, scan.at, NULL) == MSGPACK_UNPACK_SUCCESS) {
		Mutation m = {hash_mix(seed, 1), whole.zone, &whole.data,
			value_of(&whole.data, "nodes")};
		int changes = 1 + (int)below(&m, 3);
		bool document = m.nodes && m.nodes->type == MSGPACK_OBJECT_ARRAY;
		for (int i = 0; document && i < changes; i++)
			change_document(&m);
		done = document ? packed(m.root, p, most) : 0;
	}
	msgpack_unpacked_destroy(&whole);
	return done;
}
