/* The least and the greatest value of an integer, from those of its sources, in 128 bits: what may
 * leave the dtype may wrap, and then is anything the dtype holds.
 *
 *     r0 in 0..9, n in 1..7      r0*8 + n      1..79
 *
 * A span depends on what is known where the value is computed, so it is noted with the state. */
#include "prove/places.h"
#include <stdlib.h>

static ARENA uint32_t states;   /* counts them, over all kernels */

static void find_stored(Known *k)
{
	Nodes all = k->kernel ? walk_kept(k->kernel) : (Nodes){0};
	k->stored.n = 0;
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		const UOp *to = u->op == OP_STORE ? u->src[0]->src[0] :
			u->op == OP_RSORT ? u->src[2]->src[0] : NULL;
		if (to && to->op == OP_PARAM)
			vec_push(&k->stored, k->call->src[1 + param_slot(to)]);
	}
}

/* An integer with the gates of its LOADs left out; NULL when it has none. */
static UOp *ungated(const Map *open, UOp *u)
{
	bool gated = u->op == OP_LOAD && u->nsrc > 1, changed = gated;
	NodeList src = {0};
	UOp *made = NULL;
	for (uint32_t i = 0; i < u->nsrc - gated && !changed; i++)
		changed = map_get(open, PKEY(u->src[i])) != NULL;
	if (!changed)
		return NULL;
	for (uint32_t i = 0; i < u->nsrc - gated; i++) {
		UOp *s = map_get(open, PKEY(u->src[i]));
		vec_push(&src, s ? s : u->src[i]);
	}
	made = node_like(u, src.n, src.at, u->arg);
	vec_free(&src);
	return made;
}

static void gates_of(UOp *load, NodeList *out)
{
	Nodes all = walk(load->src[0]);
	for (size_t i = 0; i <= all.n; i++) {
		const UOp *u = i < all.n ? all.at[i] : load;
		if (u->op == OP_LOAD && u->nsrc > 1)
			vec_push(out, u->src[1]);
	}
}

static void find_twins(Known *k)
{
	Nodes all = k->kernel ? walk_kept(k->kernel) : (Nodes){0};
	Map seen = {0}, open = {0};
	for (size_t i = 0; i < k->twin.n; i++)
		vec_free(&k->twin.at[i].gates);
	k->twin.n = 0;
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		bool load = u->op == OP_LOAD;
		if (!(dtype_int(u->dtype) || u->op == OP_INDEX) || (load && value_loads(k, u)))
			continue;
		UOp *plain = ungated(&open, u);
		if (plain)
			map_put(&open, PKEY(u), plain);
		if (!load)
			continue;
		UOp *place = (plain ? plain : u)->src[0], *was = map_get(&seen, PKEY(place));
		if (was) {
			Twins t = {was, u, {0}};
			gates_of(was, &t.gates);
			gates_of(u, &t.gates);
			vec_push(&k->twin, t);
		}
		map_put(&seen, PKEY(place), u);
	}
	map_free(&seen);
	map_free(&open);
}

void known_begin(Known *k, const Graph *g, uint32_t number)
{
	table_round(&k->note);
	table_round(&k->loads);
	k->graph = g;
	k->number = number;
	k->call = g->sink->src[number];
	k->kernel = call_kernel(k->call);
	k->narrowed.n = k->undo.n = k->shown.n = k->wrapped.n = k->fact.n = k->equal.n = 0;
	k->frame.n = k->path.n = k->fill.n = 0;
	k->asked = k->dead = k->looked = k->belows = false;
	k->size_fact = NULL;
	k->plain = k->kernel && memory_plain(k->kernel);
	map_free(&k->held);
	map_free(&k->lets);
	find_stored(k);
	find_twins(k);
	known_changed(k);
	memory_learn(k);
}

void known_changed(Known *k)
{
	k->state = ++states;
	k->stale = false;
}

Span span_dtype(DType d)
{
	if (d == DT_BOOL)
		return (Span){0, 1};
	return dtype_int(d) ? (Span){dtype_min(d), dtype_max(d)} : (Span){INT64_MIN, INT64_MAX};
}

Span span_join(Span a, Span b)
{
	if (span_empty(a) || span_empty(b))
		return span_empty(a) ? b : a;
	return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
}

static Span meet(Span a, Span b)
{
	return (Span){a.lo > b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
}

static Span around(Wide far)
{
	far = far < 0 ? -far : far;
	return (Span){-far, far};
}

static Wide farthest(Span a)
{
	return -a.lo > a.hi ? -a.lo : a.hi;
}

static Wide floor_of(Wide a, Wide b)
{
	return a / b - (a % b && (a < 0) != (b < 0));
}

static Span times(Span a, Span b)
{
	if (farthest(a) > INT64_MAX && farthest(b) > INT64_MAX)
		return around((Wide)1 << 100);
	Wide x = a.lo * b.lo, y = a.lo * b.hi, z = a.hi * b.lo, w = a.hi * b.hi;
	return span_join(span_join((Span){x, x}, (Span){y, y}),
		span_join((Span){z, z}, (Span){w, w}));
}

/* by 0 it is 0 */
static Span quotient(Span a, Span b)
{
	if (b.lo <= 0)
		return around(farthest(a));
	Wide lo = a.lo < 0 ? b.lo : b.hi, hi = a.hi < 0 ? b.hi : b.lo;
	return (Span){floor_of(a.lo, lo), floor_of(a.hi, hi)};
}

static Span remainder_of(Span a, Span b)
{
	if (b.lo <= 0)
		return around(farthest(b) > 0 ? farthest(b) - 1 : 0);
	if (b.lo == b.hi && floor_of(a.lo, b.lo) == floor_of(a.hi, b.lo)) {
		Wide q = floor_of(a.lo, b.lo) * b.lo;
		return (Span){a.lo - q, a.hi - q};
	}
	return (Span){0, a.lo >= 0 && a.hi < b.hi - 1 ? a.hi : b.hi - 1};
}

/* as in C */
static Span truncated(Span a, Span b, bool rest)
{
	Wide far = farthest(b) > 0 ? farthest(b) - 1 : 0;
	Span r = a;

	if (rest)
		r = meet((Span){-far, far}, (Span){a.lo < 0 ? a.lo : 0, a.hi > 0 ? a.hi : 0});
	else if (b.lo > 0)
		r = (Span){a.lo / (a.lo < 0 ? b.lo : b.hi), a.hi / (a.hi < 0 ? b.hi : b.lo)};
	else
		r = around(farthest(a));
	return r;
}

/* The least 2^n - 1 that is not below x. */
static Wide ones(Wide x)
{
	Wide m = 0;
	while (m < x)
		m = 2 * m + 1;
	return m;
}

/* AND and OR of truths */
static Span truths(Op op, Span a, Span b)
{
	bool less = op == OP_AND;
	return (Span){(a.lo < b.lo) == less ? a.lo : b.lo, (a.hi < b.hi) == less ? a.hi : b.hi};
}

static Span bits(Op op, Span a, Span b, Span all)
{
	bool either = a.lo >= 0 || b.lo >= 0, both = a.lo >= 0 && b.lo >= 0;

	if (op == OP_AND && either)
		return (Span){0, a.lo < 0 ? b.hi : b.lo < 0 || a.hi < b.hi ? a.hi : b.hi};
	if (op != OP_AND && both)
		return (Span){0, ones(a.hi > b.hi ? a.hi : b.hi)};
	return all;
}

static Span shifted(Op op, Span a, Span b, DType d)
{
	int width = dtype_size(d) * 8;
	bool within = b.lo >= 0 && b.hi < width;
	Span r;

	if (a.lo < 0 || a.hi > (Wide)1 << 62)
		return op == OP_SHR ? span_join(a, (Span){-1, 0}) : span_dtype(d);
	if (op == OP_SHL)
		r = (Span){within ? a.lo << (int)b.lo : 0,
			a.hi << (int)(within ? b.hi : width - 1)};
	else
		r = (Span){within ? a.lo >> (int)b.hi : 0,
			a.hi >> (int)(b.lo < 0 || b.lo >= width ? 0 : b.lo)};
	return r;
}

static Span truth(bool yes, bool no)
{
	return yes ? (Span){1, 1} : no ? (Span){0, 0} : (Span){0, 1};
}

static Span compared(Op op, Span a, Span b)
{
	bool apart = a.hi < b.lo || b.hi < a.lo;
	bool same = a.lo == a.hi && b.lo == b.hi && a.lo == b.lo;

	if (op == OP_CMPLT)
		return truth(a.hi < b.lo, a.lo >= b.hi);
	return op == OP_CMPEQ ? truth(same, apart) : truth(apart, same);
}

static Span var_span(const Known *k, const UOp *u)
{
	Wide lo = u->arg->a[1]->i, hi = u->arg->a[2]->i;

	for (int i = 0; k->sizes && i < k->sizes->n; i++)
		if (val_is_str(u->arg->a[0], k->sizes->name[i]))
			return (Span){k->sizes->value[i], k->sizes->value[i]};
	return (Span){lo, hi <= USUAL_SIZE ? hi : lo > USUAL_SIZE ? lo : USUAL_SIZE};
}

static SpanNote *note_at(Known *k, const UOp *u)
{
	if (u->id >= k->note.cap)
		table_fit(&k->note);
	return &k->note.at[u->id];
}

static Wide noted_end(const UOp *u, uint64_t end)
{
	return u->dtype == DT_U64 ? (Wide)end : (Wide)(int64_t)end;
}

/* What is noted of a node. */
static Span noted(const UOp *u, const SpanNote *n)
{
	return (Span){noted_end(u, n->lo), noted_end(u, n->hi)};
}

/* How many values a fold takes; sizes are noted with their ranges. */
static Span turns(Known *k, const UOp *u)
{
	Span n = {1, 1};
	for (uint32_t i = 1; i < u->nsrc; i++) {
		n = times(n, noted(u->src[i]->src[0], note_at(k, u->src[i]->src[0])));
		n = (Span){n.lo < 0 ? 0 : n.lo, n.hi > INT64_MAX ? INT64_MAX : n.hi};
	}
	return n;
}

/* A fold of `count` values in v. */
static Span folded(const UOp *u, Span v, Span count)
{
	if (val_is_str(u->arg, "ADD") && u->dtype != DT_BOOL)
		return span_join(times(v, count), (Span){0, 0});
	if (val_is_str(u->arg, "MAX") || val_is_str(u->arg, "MIN")) {
		bool max = val_is_str(u->arg, "MAX");
		Span all = span_dtype(u->dtype);
		Wide none = max ? all.lo : all.hi;
		return count.lo > 0 ? v : span_join(v, (Span){none, none});
	}
	return span_dtype(u->dtype);
}

static bool is_fold(const UOp *u)
{
	return u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT;
}

static bool looks_in(const UOp *u)
{
	return op_elementwise(u->op) || u->op == OP_LET || u->op == OP_EXCHANGE ||
		u->op == OP_RANGE || u->op == OP_SPECIAL || is_fold(u);
}

static Span binary_span(const UOp *u, Span a, Span b)
{
	switch (u->op) {
	case OP_ADD: return (Span){a.lo + b.lo, a.hi + b.hi};
	case OP_SUB: return (Span){a.lo - b.hi, a.hi - b.lo};
	case OP_MUL: return times(a, b);
	case OP_MAX: return (Span){a.lo > b.lo ? a.lo : b.lo, a.hi > b.hi ? a.hi : b.hi};
	case OP_MIN: return (Span){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi};
	case OP_FLOORDIV: return quotient(a, b);
	case OP_FLOORMOD:
		return ix_positive_part((UOp *)u) ?
			(Span){a.lo > 0 ? a.lo : 0, a.hi > 0 ? a.hi : 0} : remainder_of(a, b);
	case OP_IDIV: return truncated(a, b, false);
	case OP_MOD: return truncated(a, b, true);
	case OP_AND: case OP_OR: case OP_XOR:
		if (u->dtype == DT_BOOL && u->op != OP_XOR)
			return truths(u->op, a, b);
		return bits(u->op, a, b, span_dtype(u->dtype));
	case OP_SHL: case OP_SHR: return shifted(u->op, a, b, u->dtype);
	case OP_CMPLT: case OP_CMPEQ: case OP_CMPNE: return compared(u->op, a, b);
	default: return span_dtype(u->dtype);
	}
}

static Span ternary_span(const UOp *u, Span a, Span b, Span c)
{
	if (u->op == OP_WHERE)
		return a.lo == 1 ? b : a.hi == 0 ? c : span_join(b, c);
	if (u->op == OP_MULACC) {
		Span m = times(a, b);
		return (Span){m.lo + c.lo, m.hi + c.hi};
	}
	return span_dtype(u->dtype);
}

static Span const_span(const UOp *u)
{
	if (u->arg->kind == VAL_UINT)
		return (Span){u->arg->u, u->arg->u};
	Wide v = u->arg->kind == VAL_BOOL ? u->arg->b : u->arg->i;
	return (Span){v, v};
}

static bool is_integer(const UOp *u)
{
	return u->dtype == DT_BOOL || dtype_int(u->dtype);
}

/* The span before it wraps, from those of its sources, which are noted. */
static Span derive(Known *k, UOp *u, const Span *s)
{
	switch (u->op) {
	case OP_CONST: return const_span(u);
	case OP_VAR: return var_span(k, u);
	case OP_RANGE:
	case OP_SPECIAL: return (Span){0, s[0].hi - 1};
	case OP_LET: case OP_EXCHANGE: return s[0];
	case OP_LOAD: return load_span(k, u);
	case OP_NEG: return (Span){-s[0].hi, -s[0].lo};
	case OP_CAST: return is_integer(u->src[0]) ? s[0] : span_dtype(u->dtype);
	case OP_RSORT: return s[1];
	case OP_RREDUCE: return folded(u, s[0], turns(k, u));
	case OP_RSCAN: return folded(u, s[0], (Span){1, turns(k, u).hi});
	default:
		if (op_info[u->op].cls == CLASS_BINARY || op_info[u->op].cls == CLASS_COMPARE)
			return binary_span(u, s[0], s[1]);
		return op_info[u->op].cls == CLASS_TERNARY ? ternary_span(u, s[0], s[1], s[2]) :
			span_dtype(u->dtype);
	}
}

/* Where a node is narrowed, from 1, or 0. */
static uint32_t narrowed_at(Known *k, const UOp *u)
{
	uint32_t slot = note_at(k, u)->slot;
	return slot <= k->narrowed.n && slot && k->narrowed.at[slot - 1].u == u ? slot : 0;
}

static Span narrowed_span(Known *k, const UOp *u)
{
	uint32_t slot = narrowed_at(k, u);
	return slot ? k->narrowed.at[slot - 1].span : (Span){-((Wide)1 << 126), (Wide)1 << 126};
}

/* Notes a span, which lies within the dtype. */
static void note_span(Known *k, const UOp *u, Span s, bool exact)
{
	SpanNote *n = note_at(k, u);
	bool empty = span_empty(s);
	n->lo = empty ? 1 : (uint64_t)s.lo;
	n->hi = empty ? 0 : (uint64_t)s.hi;
	n->exact = exact;
	n->state = k->state;
}

/* Most indices, their sums and products too, are values of 64 bits. */
typedef struct { int64_t lo, hi; bool exact; } Small;

static bool small_note(Known *k, const UOp *u, Small *out)
{
	const SpanNote *n = note_at(k, u);
	*out = (Small){(int64_t)n->lo, (int64_t)n->hi, n->exact};
	return u->dtype == DT_I64 && out->lo <= out->hi;
}

static bool small_binary(const UOp *u, Small a, Small b, Small *r)
{
	int64_t x, y;
	switch (u->op) {
	case OP_ADD:
		*r = (Small){0, 0, a.exact && b.exact};
		return add_ok(a.lo, b.lo, &r->lo) && add_ok(a.hi, b.hi, &r->hi);
	case OP_MUL:
		*r = (Small){0, 0, a.exact && b.exact};
		if (b.lo == b.hi && b.lo < 0)
			return mul_ok(a.hi, b.lo, &r->lo) && mul_ok(a.lo, b.lo, &r->hi);
		return b.lo >= 0 && (a.lo >= 0 || b.lo == b.hi) && mul_ok(a.lo, b.lo, &r->lo) &&
			mul_ok(a.hi, b.hi, &r->hi);
	case OP_FLOORDIV:
		*r = (Small){0, 0, true};
		if (a.lo < 0 || b.lo <= 0)
			return false;
		*r = (Small){a.lo / b.hi, a.hi / b.lo, true};
		return true;
	case OP_FLOORMOD:
		if (a.lo < 0 || b.lo <= 0 || b.lo != b.hi)
			return false;
		x = a.lo / b.lo * b.lo, y = a.hi / b.lo * b.lo;
		*r = x == y ? (Small){a.lo - x, a.hi - x, true} : (Small){0, b.lo - 1, true};
		return true;
	case OP_MIN:
		*r = (Small){a.lo < b.lo ? a.lo : b.lo, a.hi < b.hi ? a.hi : b.hi, true};
		return true;
	case OP_CMPLT:
		*r = (Small){a.hi < b.lo, a.lo < b.hi, true};
		return true;
	default:
		return false;
	}
}

/* The same as below for what nothing has narrowed and 64 bits hold; false for other values. */
static bool derive_small(Known *k, UOp *u)
{
	bool index = u->dtype == DT_I64, is = false;
	Small a, b, r = {0, 0, true};
	if (!(index || u->op == OP_CMPLT) || (note_at(k, u)->slot && narrowed_at(k, u)))
		return false;
	switch (u->op) {
	case OP_CONST:
		is = ix_is_const(u, &r.lo);
		r.hi = r.lo;
		break;
	case OP_VAR: {
		Span s = var_span(k, u);
		r = (Small){(int64_t)s.lo, (int64_t)s.hi, is = true};
		break;
	}
	case OP_RANGE:
	case OP_SPECIAL:
		is = small_note(k, u->src[0], &a) && a.hi > 0;
		r.hi = is ? a.hi - 1 : 0;
		break;
	case OP_LET:
		is = small_note(k, u->src[0], &r);
		break;
	default:
		is = u->nsrc == 2 && small_note(k, u->src[0], &a) &&
			small_note(k, u->src[1], &b) && small_binary(u, a, b, &r);
	}
	if (is)
		note_span(k, u, (Span){r.lo, r.hi}, r.exact);
	return is;
}

/* The sources that matter are noted already. */
static void derive_note(Known *k, UOp *u)
{
	if (derive_small(k, u))
		return;
	Span s[3] = {{0, 0}, {0, 0}, {0, 0}}, all = span_dtype(u->dtype), r;
	bool exact = true, ring = u->op == OP_ADD || u->op == OP_SUB || u->op == OP_MUL ||
		u->op == OP_NEG || u->op == OP_LET || u->op == OP_CAST || u->op == OP_MULACC;

	for (uint32_t i = 0; looks_in(u) && i < u->nsrc && i < 3; i++) {
		const SpanNote *n = note_at(k, u->src[i]);
		s[i] = is_integer(u->src[i]) ? noted(u->src[i], n) : span_dtype(DT_I64);
		exact &= !ring || n->exact;
		if (span_empty(s[i]) && !is_fold(u)) {
			note_span(k, u, s[i], exact);
			return;
		}
	}
	r = is_integer(u) ? derive(k, u, s) : all;
	if (r.lo < all.lo || r.hi > all.hi) {
		r = all;
		exact = false;
	}
	note_span(k, u, meet(r, narrowed_span(k, u)), exact);
}

/* Notes u and what it is computed from. What memory holds may ask for others on the way. */
static SpanNote *learn_new(Known *k, UOp *u)
{
	static ARENA VEC(UOp *) todo;
	size_t outer = todo.n;

	for (vec_push(&todo, u); todo.n > outer; ) {
		UOp *v = todo.at[todo.n - 1];
		size_t was = todo.n;
		for (uint32_t i = 0; looks_in(v) && i < v->nsrc; i++)
			if (note_at(k, v->src[i])->state != k->state)
				vec_push(&todo, v->src[i]);
		if (todo.n > was)
			continue;
		todo.n--;
		if (note_at(k, v)->state != k->state)
			derive_note(k, v);
	}
	return note_at(k, u);
}

static inline SpanNote *learn(Known *k, UOp *u)
{
	SpanNote *n = note_at(k, u);
	return n->state == k->state ? n : learn_new(k, u);
}

Span span_of(Known *k, UOp *u)
{
	return noted(u, learn(k, u));
}

bool span_exact(Known *k, UOp *u)
{
	return learn(k, u)->exact;
}

/* Whether u is a CAST that keeps every value. */
static bool keeps(const UOp *u)
{
	if (u->op != OP_CAST || !dtype_int(u->dtype) || !dtype_int(u->src[0]->dtype))
		return false;
	Span to = span_dtype(u->dtype), from = span_dtype(u->src[0]->dtype);
	return to.lo <= from.lo && from.hi <= to.hi;
}

/* Notes that a size was narrowed. */
static const SizeFact *size_narrowed(const SizeFact *before, UOp *u, Span s)
{
	static ARENA Map known;
	uint64_t key = hash_mix(hash_mix(PKEY(before), u->id), hash_mix((uint64_t)s.lo,
		(uint64_t)s.hi));
	SizeFact *f = map_get(&known, key);
	if (f && f->before == before && f->u == u && f->span.lo == s.lo && f->span.hi == s.hi)
		return f;
	f = arena_alloc(sizeof *f);
	*f = (SizeFact){before, u, s};
	map_put(&known, key, f);
	return f;
}

void span_narrow(Known *k, UOp *u, Span s)
{
	if (keeps(u))
		span_narrow(k, u->src[0], s);
	Span now = narrowed_span(k, u), next = meet(now, s);

	if (u->op == OP_CONST || (next.lo == now.lo && next.hi == now.hi))
		return;
	/* what is noted of the time before a frame stays right after it */
	if (k->frame.n && k->frame.at[k->frame.n - 1].state == k->state)
		known_changed(k);
	k->stale = true;
	uint32_t slot = narrowed_at(k, u);
	if (!slot) {
		vec_push(&k->narrowed, ((Narrowed){u, now}));
		note_at(k, u)->slot = slot = (uint32_t)k->narrowed.n;
	}
	vec_push(&k->undo, ((Undo){u, slot, now}));
	k->narrowed.at[slot - 1].span = next;
	if (ix_fixed(u))
		k->size_fact = size_narrowed(k->size_fact, u, next);
}

/* Whether a LOAD gives the same each time: nothing that the kernel stores goes there. */
static bool is_steady(const Known *k, const UOp *load)
{
	const UOp *storage = load->src[0]->src[0];
	if (storage->op != OP_PARAM || !k->kernel)
		return false;
	const UOp *buffer = k->call->src[1 + param_slot(storage)];
	for (size_t i = 0; i < k->stored.n; i++)
		if (k->stored.at[i] == buffer)
			return false;
	return true;
}

bool value_loads(Known *k, UOp *u)
{
	VEC(UOp *) todo = {0};

	if (u->id >= k->loads.cap)
		table_fit(&k->loads);
	if (k->loads.at[u->id].round == k->loads.round)
		return k->loads.at[u->id].loads;
	for (vec_push(&todo, u); todo.n; ) {
		UOp *v = todo.at[todo.n - 1];
		LoadNote *at = k->loads.at, *note = &at[v->id];
		size_t was = todo.n;
		bool in = v->op != OP_LET && note->round != k->loads.round;
		bool any = v->op == OP_LOAD && !is_steady(k, v);
		for (uint32_t i = 0; in && i < v->nsrc; i++)
			if (at[v->src[i]->id].round != k->loads.round)
				vec_push(&todo, v->src[i]);
		if (todo.n > was)
			continue;
		todo.n--;
		if (note->round == k->loads.round)
			continue;
		for (uint32_t i = 0; in && i < v->nsrc; i++)
			any |= at[v->src[i]->id].loads;
		*note = (LoadNote){k->loads.round, any};
	}
	vec_free(&todo);
	return k->loads.at[u->id].loads;
}

static bool gates_hold(Known *k, const NodeList *gates)
{
	for (size_t i = 0; i < gates->n; i++)
		if (span_of(k, gates->at[i]).lo != 1)
			return false;
	return true;
}

void span_twins(Known *k)
{
	for (size_t i = 0; i < k->twin.n; i++) {
		UOp *a = k->twin.at[i].a, *b = k->twin.at[i].b;
		if (!gates_hold(k, &k->twin.at[i].gates))
			continue;
		size_t undos = k->undo.n;
		span_narrow(k, a, span_of(k, b));
		span_narrow(k, b, span_of(k, a));
		/* the gates of the next ones may follow */
		if (k->undo.n > undos)
			known_changed(k);
	}
}
