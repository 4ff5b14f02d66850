/* Numbers of values in two worlds (same.c says what for). An i64 sum or product is that of its
 * sources' numbers modulo a prime; anything else is a hash. */
#include <stdlib.h>
#include "prove/numbers.h"
#include "shape/shape.h"

#define PRIME ((1ull << 61) - 1)
enum { MOST_ROUNDS = 24, MOST_DEPTH = 4000, WORLDS = 2 };

uint64_t number_mix(uint64_t a, uint64_t b) { return hash_mix(a, b) % PRIME; }
uint64_t number_add(uint64_t a, uint64_t b) { return (a + b) % PRIME; }
uint64_t number_sub(uint64_t a, uint64_t b) { return (a + PRIME - b) % PRIME; }

static uint64_t number_mul(uint64_t a, uint64_t b)
{
	return (uint64_t)((unsigned __int128)a * b % PRIME);
}

/* How long a number stays what it is: in a statement, as where a register is read; as often as the
 * kernel is gone through once; for good. */
enum { NOW, ONCE, ALWAYS };
typedef struct { uint32_t round, scope; uint64_t number : 62, stays : 2; } Noted;
/* What a cell of a register holds; where its last Change is, from 1; the place at which it was last
 * stored to, unless it stands for all of the register. */
typedef struct { uint64_t key, number; uint32_t changed; UOp *place; } Cell;
/* The first store to a cell in a loop: what it held before, if anything, and where the Change
 * before that is. */
typedef struct { uint32_t cell, before; uint64_t was; bool known; } Change;
/* What a register's cell that a loop changes holds at the beginning of an iteration. */
typedef struct { uint64_t name, entry, back, cell; uint32_t next; } Phi;
typedef struct { uint64_t range, number; } Bound;

struct Numbers {
	const ProvedCall *call;
	bool apart;             /* the items may be of two groups */
	bool whole;             /* prepared buffers hold the same everywhere */
	Map own;                /* loops with counters of their own, by statement + 1 */
	Map state;              /* registers that are one cell, which holds all that was stored */
	Map set[WORLDS];        /* node: its number + 1, as in the maps below */
	bool sets[OP_COUNT];    /* ops of which there are some */
	Map least;              /* MIN: its operand that is the less, where conditions are true */
	Map let[WORLDS];
	Map cell[WORLDS];       /* cell: its place in `cells` */
	Map written;            /* PARAMs of buffers that the kernel writes */
	Map defined;            /* register: the conditions around it + 1 */
	VEC(Cell) cells[WORLDS];
	VEC(Change) change[WORLDS];
	VEC(uint32_t) before[WORLDS];   /* Changes before each open loop */
	VEC(Phi) phi;           /* linked by loop and world, from head on; numbers + 1 */
	uint32_t *head[WORLDS];
	Map phi_of;
	VEC(uint64_t) cond[WORLDS];
	VEC(uint64_t) size[WORLDS];     /* trips of the open loops */
	VEC(Bound) bound;
	VEC(UOp *) quotient;    /* FLOORDIVs that are set */
	int stays;              /* what has been computed, since this was set */
	uint32_t since[WORLDS][ALWAYS + 1];     /* the rounds of `note` from which notes hold */
	uint64_t *value[WORLDS];        /* stored, by statement */
	uint32_t scope;         /* of ranges that are bound, by `scopes`; 0: none is */
	Map scopes;
	uint64_t fresh;
	uint32_t epoch;         /* BARRIERs so far */
	int depth;
	Instead instead;        /* number_decide() */
	bool again;             /* a cell changes that was taken to hold what it held before */
	bool failed;
};

/* of the Numbers at hand: there is one at a time */
static ARENA TABLE(Noted) note[WORLDS];

static void put(Map *m, uint64_t key, uint64_t number)
{
	map_put(m, key, (void *)(uintptr_t)(number + 1));
}

static bool get(const Map *m, uint64_t key, uint64_t *number)
{
	uintptr_t x = (uintptr_t)map_get(m, key);
	*number = x - 1;
	return x != 0;
}

static void stays(Numbers *n, int how) { n->stays = how < n->stays ? how : n->stays; }

/* A number that nothing else has. */
static uint64_t unique(Numbers *n)
{
	stays(n, NOW);
	return number_mix(++n->fresh, 0x9e3779b97f4a7c15);
}

/* ---- values */

static uint64_t value(Numbers *n, int w, UOp *u);

static uint64_t hashed(Numbers *n, int w, const UOp *u, uint64_t seed, uint32_t from)
{
	uint64_t h = number_mix(seed, u->op * 64 + u->dtype);
	for (uint32_t i = from; i < u->nsrc; i++)
		h = number_mix(h, value(n, w, u->src[i]));
	return number_mix(h, u->arg->hash);
}

/* NULL before it was stored to. */
static Cell *cell_at(const Numbers *n, int w, uint64_t key)
{
	uint64_t at;
	return get(&n->cell[w], key, &at) ? &n->cells[w].at[at] : NULL;
}

static bool is_state(const Numbers *n, const UOp *memory)
{
	return map_get(&n->state, PKEY(memory));
}

static uint64_t cell_key(Numbers *n, int w, const UOp *index)
{
	if (is_state(n, index->src[0]))
		return number_mix(index->src[0]->id, 8);
	return number_mix(index->src[0]->id, value(n, w, index->src[1]));
}

static bool is_shared(const UOp *m)
{
	return m->op == OP_DEFINE_LOCAL && val_is_str(m->arg->a[2], "local");
}

static bool is_prepared(const Numbers *n, const UOp *param)
{
	int64_t slot = param_slot(param);
	return slot < (int64_t)n->call->call->nsrc - 1 &&
		buffer_is(n->call->call->src[1 + slot], "prepared");
}

static uint64_t constant(const UOp *u)
{
	int64_t v;
	if (!ix_is_const(u, &v))
		return number_mix(u->arg->hash, u->dtype);
	uint64_t m = v < 0 ? 0 - (uint64_t)v : (uint64_t)v;
	return v < 0 ? number_sub(0, m % PRIME) : m % PRIME;
}

static uint64_t truth(bool b)
{
	static ARENA const Val *is[2];
	is[b] = is[b] ? is[b] : val_bool(b);
	return number_mix(is[b]->hash, DT_BOOL);
}

static bool is_true(uint64_t x) { return x == truth(true); }

static uint64_t loaded(Numbers *n, int w, UOp *u)
{
	const UOp *index = u->src[0], *m = index->src[0];
	uint64_t x;
	if (m->op == OP_PARAM) {
		x = map_get(&n->written, PKEY(m)) ? unique(n) : number_mix(m->id, OP_LOAD);
		x = n->whole && is_prepared(n, m) ? x : hashed(n, w, index, x, 1);
	} else if (is_shared(m)) {
		/* one for all items of the group, between two barriers */
		stays(n, NOW);
		x = n->apart ? unique(n) : number_mix(cell_key(n, w, index), n->epoch);
	} else {
		const Cell *c = cell_at(n, w, cell_key(n, w, index));
		stays(n, NOW);
		x = c ? c->number : unique(n);
		if (c && is_state(n, m))
			x = number_mix(x, value(n, w, index->src[1]));
	}
	uint64_t gate = u->nsrc > 1 ? value(n, w, u->src[1]) : truth(true);
	return is_true(gate) ? x : number_mix(x, gate);
}

static uint32_t scope_within(Numbers *n, const UOp *range)
{
	uint64_t key = number_mix(number_mix(n->scope, range->id), 9);
	uintptr_t scope = (uintptr_t)map_get(&n->scopes, key);
	if (!scope)
		map_put(&n->scopes, key, (void *)(scope = n->scopes.n + 1));
	return (uint32_t)scope;
}

/* A fold: in its value the ranges that it binds are unknowns of their own. */
static uint64_t folded(Numbers *n, int w, UOp *u)
{
	size_t was = n->bound.n;
	uint64_t h = number_mix(u->op, u->arg->hash);
	uint32_t outside = n->scope;
	for (uint32_t i = 1; i < u->nsrc; i++) {
		if (u->src[i]->op != OP_RANGE)
			continue;
		if (u->op != OP_RREDUCE)        /* its own place in the range counts */
			h = number_mix(h, value(n, w, u->src[i]));
		h = number_mix(h, value(n, w, u->src[i]->src[0]));
		vec_push(&n->bound, ((Bound){PKEY(u->src[i]), number_mix(u->src[i]->id, 3)}));
		n->scope = scope_within(n, u->src[i]);
	}
	h = number_mix(h, value(n, w, u->src[0]));
	n->scope = outside;
	n->bound.n = was;
	return h;
}

static bool bound_here(const Numbers *n, const UOp *u, uint64_t *x)
{
	for (size_t i = n->bound.n; i--; )
		if (n->bound.at[i].range == PKEY(u)) {
			*x = n->bound.at[i].number;
			return true;
		}
	return false;
}

/* Whether u is the same in all iterations of the folds around it. */
static bool is_outside(const Numbers *n, UOp *u)
{
	uint64_t x;
	Nodes all = n->scope && u->op != OP_RANGE ? walk_brief(u) : (Nodes){0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && bound_here(n, all.at[i], &x))
			return false;
	return true;
}

static uint64_t integer(Numbers *n, int w, const UOp *u)
{
	uint64_t a = value(n, w, u->src[0]), b = u->nsrc > 1 ? value(n, w, u->src[1]) : 0;
	switch (u->op) {
	case OP_ADD: return number_add(a, b);
	case OP_SUB: return number_sub(a, b);
	case OP_NEG: return number_sub(0, a);
	default: return number_mul(a, b);
	}
}

/* x // (a*b) is (x // a) // b: with x // a known, it is a function of that. */
static uint64_t quotient(Numbers *n, int w, UOp *u)
{
	for (size_t i = 0; u->dtype == DT_I64 && i < n->quotient.n; i++) {
		UOp *q = n->quotient.at[i], *b;
		if (q->src[0] != u->src[0] || q == u)
			continue;
		b = ix_div(u->src[1], q->src[1]);
		if (ix_mul(b, q->src[1]) == u->src[1])
			return number_mix(number_mix(value(n, w, q), value(n, w, b)), OP_FLOORDIV);
	}
	return hashed(n, w, u, 4, 0);
}

/* Whether u is made of sizes, counters and numbers of items alone: its arithmetic does not wrap. */
static bool plain_index(UOp *u)
{
	Nodes all = walk_brief(ix_plain(u));
	for (size_t i = 0; i < all.n; i++) {
		const UOp *v = all.at[i];
		bool leaf = v->op == OP_CONST || v->op == OP_VAR || v->op == OP_RANGE ||
			v->op == OP_SPECIAL;
		bool within = op_info[v->op].index || v->op == OP_MIN || v->op == OP_MAX;
		if (v->dtype != DT_I64 || !(leaf || within))
			return false;
	}
	return true;
}

/* Whether a < b is decided in a world by what stands instead of values in it. */
static bool decided(const Numbers *n, int w, UOp *a, UOp *b, bool *is)
{
	const Instead *x = &n->instead;
	uint64_t bound;
	for (size_t i = 0; i < x->n; i++)
		if (bound_here(n, x->from[i], &bound))
			return false;
	if (!x->n)
		return false;
	a = substitute(ix_plain(a), x->n, x->from, x->to[w]);
	b = substitute(ix_plain(b), x->n, x->from, x->to[w]);
	*is = ix_prove_lt(a, b);
	return *is || ix_prove_le(b, a);
}

/* a < b is a + c < b + c where nothing wraps: what counts is b - a. */
static uint64_t comparison(Numbers *n, int w, UOp *u)
{
	UOp *a = u->src[0], *b = u->src[1];
	bool is;
	if (a->dtype != DT_I64 || !plain_index(a) || !plain_index(b))
		return hashed(n, w, u, 4, 0);
	if (decided(n, w, a, b, &is))
		return truth(is);
	return number_mix(number_sub(value(n, w, b), value(n, w, a)), u->op);
}

/* What is true counts for nothing in a conjunction. */
static uint64_t conjunction(Numbers *n, int w, UOp *u)
{
	uint64_t a = value(n, w, u->src[0]), b = value(n, w, u->src[1]);
	if (is_true(a) || b == truth(false))
		return b;
	return is_true(b) || a == truth(false) ? a : hashed(n, w, u, 4, 0);
}

static uint64_t choice(Numbers *n, int w, UOp *u)
{
	uint64_t c = value(n, w, u->src[0]);
	if (is_true(c) || c == truth(false))
		return value(n, w, u->src[is_true(c) ? 1 : 2]);
	return hashed(n, w, u, 4, 0);
}

/* What a LET stands for, when it was passed; and how long it does. */
static bool let_number(Numbers *n, int w, const UOp *let, uint64_t *x)
{
	bool is = get(&n->let[w], PKEY(let), x);
	if (is)
		stays(n, *x % 2 ? ALWAYS : ONCE);
	*x /= 2;
	return is;
}

static uint64_t derived(Numbers *n, int w, UOp *u)
{
	uint64_t x;
	UOp *less;
	switch (u->op) {
	case OP_VAR: return number_mix(u->id, 1);
	case OP_RANGE: return number_mix(u->id, 2);
	case OP_SPECIAL: return is_only_item(u) ? 0 : number_mix(u->id, 10 + w);
	case OP_LET: return let_number(n, w, u, &x) ? x : value(n, w, u->src[0]);
	case OP_LOAD: return loaded(n, w, u);
	case OP_EXCHANGE: return unique(n);
	case OP_RREDUCE: case OP_RSCAN: case OP_RSORT: return folded(n, w, u);
	case OP_ADD: case OP_SUB: case OP_MUL: case OP_NEG:
		return u->dtype == DT_I64 ? integer(n, w, u) : hashed(n, w, u, 4, 0);
	case OP_FLOORDIV: return quotient(n, w, u);
	case OP_MIN:
		less = map_get(&n->least, PKEY(u));
		return less ? value(n, w, less) : hashed(n, w, u, 4, 0);
	case OP_CMPLT: return comparison(n, w, u);
	case OP_CMPEQ: case OP_CMPNE:
		/* integers are equal where their difference is 0, which places may be moved by */
		return u->src[0]->dtype != DT_I64 ? hashed(n, w, u, 4, 0) :
			number_mix(number_sub(value(n, w, u->src[0]), value(n, w, u->src[1])),
				u->op);
	case OP_AND: return u->dtype == DT_BOOL ? conjunction(n, w, u) : hashed(n, w, u, 4, 0);
	case OP_WHERE: return choice(n, w, u);
	default: return hashed(n, w, u, 4, 0);
	}
}

static uint64_t value(Numbers *n, int w, UOp *u)
{
	uint64_t x;
	if (u->op == OP_CONST)
		return constant(u);
	if (u->op == OP_RANGE && bound_here(n, u, &x))
		return x;
	if (u->id >= note[w].cap)
		table_fit(&note[w]);
	const Noted *known = &note[w].at[u->id];
	if (known->round >= n->since[w][known->stays] && known->scope == n->scope &&
		u->op != OP_RANGE) {
		stays(n, known->stays);
		return known->number;
	}
	if (n->sets[u->op] && get(&n->set[w], PKEY(u), &x) && is_outside(n, u)) {
		note[w].at[u->id] = (Noted){note[w].round, n->scope, x, ALWAYS};
		return x;
	}
	if (++n->depth > MOST_DEPTH)
		n->failed = true;
	int others = n->stays;
	n->stays = ALWAYS;
	x = n->failed ? 0 : derived(n, w, u);
	n->depth--;
	note[w].at[u->id] = (Noted){note[w].round, n->scope, x, n->stays};
	stays(n, others);
	return x;
}

/* Notes of a world that stay so long no longer hold, nor those that stay less. */
static void forget(Numbers *n, int world, int how)
{
	table_round(&note[world]);
	for (int i = NOW; i <= how; i++)
		n->since[world][i] = note[world].round;
}

uint64_t number_of(Numbers *n, int world, UOp *u)
{
	forget(n, world, ALWAYS);
	return value(n, world, u);
}

void number_set(Numbers *n, int world, UOp *u, uint64_t number)
{
	put(&n->set[world], PKEY(u), number);
	n->sets[u->op] = true;
}

void number_know(Numbers *n, UOp *u)
{
	if (u->op == OP_CONST || u->op == OP_VAR)
		return;
	if (u->op == OP_FLOORDIV)
		vec_push(&n->quotient, u);
	for (int w = 0; w < WORLDS; w++)
		number_set(n, w, u, number_mix(u->id, 6));
}

/* With a < b, MIN(a, b - 1) is a. */
void number_true(Numbers *n, UOp *cond)
{
	for (int w = 0; w < WORLDS; w++)
		number_set(n, w, cond, truth(true));
	for (uint32_t i = 0; (cond->op == OP_LET || cond->op == OP_AND) && i < cond->nsrc; i++)
		number_true(n, cond->src[i]);
	if (cond->op != OP_CMPLT || cond->src[0]->dtype != DT_I64)
		return;
	UOp *a = cond->src[0], *most = ix_sub(cond->src[1], ix_const(1));
	map_put(&n->least, PKEY(NODE(OP_MIN, DT_I64, VNIL, a, most)), a);
	map_put(&n->least, PKEY(NODE(OP_MIN, DT_I64, VNIL, most, a)), a);
}

void number_decide(Numbers *n, const Instead *x) { n->instead = *x; }

void number_own(Numbers *n, uint32_t loop) { map_put(&n->own, loop + 1, n); }

void number_whole(Numbers *n, UOp *memory) { map_put(&n->state, PKEY(memory), memory); }

bool number_is_set(const Numbers *n, int world, UOp *u)
{
	return map_get(&n->set[world], PKEY(u));
}

/* ---- statements */

/* A loop notes what a cell held as it is first stored to there. */
static Cell *set_cell(Numbers *n, int w, uint64_t key, uint64_t x)
{
	Cell *c = cell_at(n, w, key);
	size_t open = n->before[w].n;
	bool known = c != NULL;
	if (!c) {
		put(&n->cell[w], key, n->cells[w].n);
		vec_push(&n->cells[w], ((Cell){.key = key}));
		c = &n->cells[w].at[n->cells[w].n - 1];
	}
	if (open && c->changed <= n->before[w].at[open - 1]) {
		uint32_t at = (uint32_t)(c - n->cells[w].at);
		vec_push(&n->change[w], ((Change){at, c->changed, c->number, known}));
		c->changed = (uint32_t)n->change[w].n;
	}
	c->number = x;
	return c;
}

static void put_cell(Numbers *n, int w, const UOp *index, uint64_t x)
{
	uint64_t key = cell_key(n, w, index);
	const Cell *c = cell_at(n, w, key);
	bool known = c != NULL;
	uint64_t was = known ? c->number : 0;
	size_t outer = (uintptr_t)map_get(&n->defined, PKEY(index->src[0]));
	if (is_state(n, index->src[0]))
		x = number_mix(number_mix(was, value(n, w, index->src[1])), x);
	for (size_t i = n->cond[w].n; known && i >= outer && i > 0; i--)
		x = number_mix(number_mix(x, n->cond[w].at[i - 1]), was);
	set_cell(n, w, key, x)->place = is_state(n, index->src[0]) ? NULL : index->src[1];
}

static void store(Numbers *n, int w, uint32_t at, const UOp *s)
{
	uint64_t x = value(n, w, s->src[1]);
	const UOp *m = s->src[0]->src[0];
	n->value[w][at] = x;
	if (m->op == OP_PARAM || is_shared(m))
		return;
	uint64_t gate = s->nsrc > 2 ? value(n, w, s->src[2]) : truth(true);
	if (!is_true(gate))
		vec_push(&n->cond[w], gate);
	put_cell(n, w, s->src[0], x);
	n->cond[w].n -= !is_true(gate);
}

/* Whether the cell is another one in each iteration: its register's elements are told apart by the
 * counters in their places, so none touches what is another one's. */
static bool moves_along(const Cell *c, UOp *range)
{
	UOp *at = c->place;
	if (!at || at == range || at->op == OP_CONST)
		return at == range;
	if (at->op == OP_ADD && is_const(at->src[1]))
		return at->src[0] == range;
	Nodes all = walk_brief(at);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i] == range)
			return true;
	return false;
}

/* Adds a phi for a cell that has none yet in this loop. */
static void add_phi(Numbers *n, int w, uint32_t loop, const Cell *c, uint64_t was)
{
	uint64_t key = hash_mix(hash_mix(loop, c->key), w);
	if (map_get(&n->phi_of, key))
		return;
	vec_push(&n->phi, ((Phi){number_mix(n->call->kernel->src[loop]->id, 7), was, c->number,
		c->key, n->head[w][loop]}));
	n->head[w][loop] = (uint32_t)n->phi.n;
	map_put(&n->phi_of, key, n);
	n->again = true;
}

/* A counter has a number of its own from here on, or no longer. */
static void own_changed(Numbers *n, int w, const UOp *range)
{
	bool other = get(&n->set[w], PKEY(range), &(uint64_t){0});
	for (size_t i = 0; i < n->instead.n; i++)
		other |= n->instead.from[i] == range;
	if (other)
		forget(n, w, ALWAYS);
}

static void loop_begins(Numbers *n, int w, uint32_t at, UOp *range)
{
	vec_push(&n->size[w], value(n, w, range->src[0]));
	vec_push(&n->before[w], (uint32_t)n->change[w].n);
	if (map_get(&n->own, at + 1)) {
		vec_push(&n->bound, ((Bound){PKEY(range), number_mix(range->id, 2)}));
		own_changed(n, w, range);
	}
	for (uint32_t i = n->head[w][at]; i; i = n->phi.at[i - 1].next) {
		Phi *p = &n->phi.at[i - 1];
		const Cell *c = cell_at(n, w, p->cell);
		if (!c)
			continue;
		p->entry = c->number;
		set_cell(n, w, p->cell, p->name);
	}
}

static void loop_ends(Numbers *n, int w, uint32_t at)
{
	uint64_t trips = n->size[w].at[--n->size[w].n];
	uint32_t before = n->before[w].at[--n->before[w].n];
	if (map_get(&n->own, at + 1)) {
		n->bound.n--;
		own_changed(n, w, n->call->kernel->src[at]);
	}
	uint32_t phis = n->head[w][at];
	for (size_t i = before; i < n->change[w].n; i++) {
		const Change *d = &n->change[w].at[i];
		const Cell *c = &n->cells[w].at[d->cell];
		if (d->known && d->before <= before && c->number != d->was &&
			!moves_along(c, n->call->kernel->src[at]))
			add_phi(n, w, at, c, d->was);
	}
	for (uint32_t i = phis; i; i = n->phi.at[i - 1].next) {
		Phi *p = &n->phi.at[i - 1];
		const Cell *c = cell_at(n, w, p->cell);
		if (!c)
			continue;
		p->back = c->number;
		set_cell(n, w, p->cell, number_mix(p->name, trips));
	}
}

/* A LET may be known under the form that it has in a place, or under what is left there without
 * names. */
static uint64_t named(Numbers *n, int w, UOp *let)
{
	uint64_t x;
	if (get(&n->set[w], PKEY(let), &x))
		return x;
	if (let->dtype == DT_I64 && (get(&n->set[w], PKEY(index_open(let, 0, NULL)), &x) ||
		(n->sets[let->src[0]->op] && get(&n->set[w], PKEY(ix_plain(let)), &x))))
		return x;
	return value(n, w, let->src[0]);
}

static void name(Numbers *n, int w, UOp *let)
{
	uint64_t x = named(n, w, let);
	put(&n->let[w], PKEY(let), 2 * x + (n->stays == ALWAYS));
}

static void statement(Numbers *n, int w, uint32_t at, uint32_t loop)
{
	UOp *s = n->call->kernel->src[at];
	forget(n, w, NOW);
	n->stays = ALWAYS;
	switch (s->op) {
	case OP_RANGE: loop_begins(n, w, at, s); break;
	case OP_ENDRANGE: loop_ends(n, w, loop); break;
	case OP_IF: vec_push(&n->cond[w], value(n, w, s->src[0])); break;
	case OP_ENDIF: n->cond[w].n--; break;
	case OP_LET: name(n, w, s); break;
	case OP_STORE: store(n, w, at, s); break;
	case OP_BARRIER: n->epoch += w == 0; break;
	case OP_DEFINE_REG:
	case OP_DEFINE_LOCAL:
		map_put(&n->defined, PKEY(s), (void *)(uintptr_t)(n->cond[w].n + 1));
		break;
	default: break;
	}
}

static void go_through(Numbers *n)
{
	VEC(uint32_t) open = {0};
	for (int w = 0; w < WORLDS; w++) {
		map_free(&n->cell[w]);
		n->cells[w].n = n->change[w].n = 0;
		forget(n, w, ONCE);
	}
	n->bound.n = 0;
	n->epoch = 0;
	for (uint32_t i = 0; i < n->call->kernel->nsrc; i++) {
		Op op = n->call->kernel->src[i]->op;
		if (op == OP_RANGE)
			vec_push(&open, i);
		uint32_t loop = open.n ? open.at[open.n - 1] : 0;
		for (int w = 0; w < WORLDS; w++)
			statement(n, w, i, loop);
		open.n -= op == OP_ENDRANGE;
	}
	vec_free(&open);
}

static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;
	return x < y ? -1 : x > y;
}

/* Refines the names of cells at the beginning of iterations; returns how many there are. */
static size_t refine(Numbers *n)
{
	uint64_t *name = xcalloc(n->phi.n + 1, sizeof *name);
	size_t kinds = 0;
	for (size_t i = 0; i < n->phi.n; i++) {
		Phi *p = &n->phi.at[i];
		p->name = name[i] = number_mix(number_mix(p->name, p->entry), p->back);
	}
	qsort(name, n->phi.n, sizeof *name, by_number);
	for (size_t i = 0; i < n->phi.n; i++)
		kinds += !i || name[i] != name[i - 1];
	free(name);
	return kinds;
}

bool numbers_run(Numbers *n)
{
	size_t kinds = 0, was;
	for (int w = 0; w < WORLDS; w++)
		forget(n, w, ALWAYS);
	for (int round = 0; round < MOST_ROUNDS && !n->failed; round++) {
		was = kinds;
		n->again = false;
		go_through(n);
		kinds = refine(n);
		if (!n->again && (kinds == was || !kinds))
			return !n->failed;
	}
	return false;
}

uint64_t numbers_stored(const Numbers *n, int world, const Access *a)
{
	return n->value[world][a->at];
}

static void note_stores(Numbers *n)
{
	Accesses all = kernel_accesses(n->call->kernel);
	Map written = {0};
	for (size_t i = 0; i < all.n; i++) {
		const UOp *b = access_buffer(n->call->call, &all.at[i]);
		if (!all.at[i].store)
			continue;
		if (b)
			map_put(&written, PKEY(b), (void *)b);
	}
	for (size_t i = 0; i < all.n; i++) {
		const UOp *b = access_buffer(n->call->call, &all.at[i]);
		if (b && map_get(&written, PKEY(b)))
			map_put(&n->written, PKEY(memory_of(&all.at[i])), (void *)b);
	}
	map_free(&written);
}

Numbers *numbers_new(const ProvedCall *c, bool apart, bool whole)
{
	Numbers *n = xcalloc(1, sizeof *n);
	n->call = c;
	n->apart = apart;
	n->whole = whole;
	for (int w = 0; w < WORLDS; w++) {
		n->value[w] = xcalloc(c->kernel->nsrc + 1, sizeof **n->value);
		n->head[w] = xcalloc(c->kernel->nsrc + 1, sizeof **n->head);
	}
	note_stores(n);
	return n;
}

void numbers_free(Numbers *n)
{
	for (int w = 0; w < WORLDS; w++) {
		map_free(&n->set[w]);
		map_free(&n->let[w]);
		map_free(&n->cell[w]);
		vec_free(&n->cells[w]);
		vec_free(&n->change[w]);
		vec_free(&n->before[w]);
		vec_free(&n->cond[w]);
		vec_free(&n->size[w]);
		free(n->value[w]);
		free(n->head[w]);
	}
	map_free(&n->own);
	map_free(&n->least);
	map_free(&n->state);
	map_free(&n->written);
	map_free(&n->defined);
	vec_free(&n->phi);
	map_free(&n->phi_of);
	map_free(&n->scopes);
	vec_free(&n->bound);
	vec_free(&n->quotient);
	free(n);
}
