/* Items that run at the same time write apart: the iterations of `loop` ranges at level schedule,
 * at level loops the items of a CPU's grid and the groups and work items of a GPU.
 *
 *     y[g*128 + l] = …       apart: g and l are the digits of the place, since l is in 0..127
 *     y[g] = …               not apart, unless all l of a group have the same value for it
 *
 * No item may write a place that another one touches, but that two may write the same value to one
 * (tiles of a size that does not divide the whole overlap). */
#include "index/ix.h"
#include "prove/apart.h"
#include "shape/shape.h"
#include <stdlib.h>

/* ---- the numbers of an item */

static void add_item(Items *x, UOp *number, UOp *size)
{
	if (size == ix_const(1) || x->n == MOST_NUMBERS)
		return;
	x->number[x->n] = number;
	x->size[x->n++] = size;
}

/* Those of the grid and of a group; one that the kernel does not use is NULL. */
static void add_specials(Items *x, const UOp *kernel, Nodes all)
{
	UOp *special[6] = {NULL};
	bool local;
	int d;
	for (size_t i = all.n; i--; )
		if (all.at[i]->op == OP_SPECIAL && special_axis(all.at[i], &local, &d))
			special[local * 3 + d] = all.at[i];
	for (int k = 0; k < 6; k++)
		add_item(x, special[k], grid_size(kernel, k / 3, k % 3));
}

Items items_of(const ProvedCall *c)
{
	Items x = {0};
	Nodes all = walk_kept(c->kernel);
	if (c->graph->level >= LV_LOOPS) {
		add_specials(&x, c->kernel, all);
		return x;
	}
	uint64_t free = 0;
	for (uint32_t i = 0; i < c->kernel->nsrc; i++)
		free |= range_mask(c->kernel->src[i]);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE && free >> range_axis(all.at[i]) & 1 &&
			!strcmp(range_kind(all.at[i]), "loop"))
			add_item(&x, all.at[i], all.at[i]->src[0]);
	return x;
}

/* ---- the conditions around each statement */

typedef struct { UOp *cond; int outer; } Around;
typedef struct { const UOp *gate; int scope; size_t n; UOp **cond; } Conditions;
/* all: of a scope and a gate */
struct Scopes { VEC(Around) at; int *of; Map all; };

static int add_condition(struct Scopes *s, UOp *a, UOp *b, int outer)
{
	vec_push(&s->at, ((Around){NODE(OP_CMPLT, DT_BOOL, VNIL, a, b), outer}));
	return (int)s->at.n - 1;
}

/* A value MIN(q, 1) in a sum, and its q; NULL when there is none. */
static UOp *one_or_none(const Sum *s, UOp **q)
{
	UOp *atom[IX_ATOMS];
	for (int i = 0; i < s->n; i++) {
		int n = mono_atoms(s->t[i].m, atom);
		for (int k = 0; k < n; k++)
			for (int j = 0; atom[k]->op == OP_MIN && j < 2; j++) {
				*q = atom[k]->src[j];
				if (atom[k]->src[!j] == ix_const(1))
					return atom[k];
			}
	}
	return NULL;
}

/* Takes a size x*MIN(q, 1), of which one is not negative, or x - x*MIN(q, 1), apart: where it is at
 * least 1, so is x; *whole: so is q, else q is at most 0. NULL when it is neither. */
static UOp *tiled(UOp *size, bool *whole, UOp **q)
{
	Sum s, c, rest, both;
	sum_of(&s, size);
	UOp *m = one_or_none(&s, q);
	if (!m || !sum_split(&s, m, &c, &rest))
		return NULL;
	both = rest;
	*whole = !rest.n && !rest.k;
	if (!*whole && (!sum_plus(&both, 1, &c) || both.n || both.k))
		return NULL;
	UOp *x = sum_node(*whole ? &c : &rest), *zero = ix_const(0);
	return !*whole || ix_prove_le(zero, x) || ix_prove_le(zero, *q) ? x : NULL;
}

enum { MOST_SIZES = 16 };

/* What follows from a loop's being run at all: its size, a product of what is not negative, is at
 * least 1.
 *
 *     RANGE r3 of (n+7)//8 * MIN(n//8, 1)         7 < n
 *     RANGE r3 of n - n*MIN(n//8, 1)              n < 8
 */
static int runs(struct Scopes *s, UOp *size, int outer)
{
	UOp *todo[MOST_SIZES];
	int n = 0;
	int64_t c;
	for (todo[n++] = ix_plain(size); n; ) {
		bool whole, room = n + 1 <= MOST_SIZES;
		UOp *u = todo[--n], *q, *x = room ? tiled(u, &whole, &q) : NULL;
		if (x) {
			todo[n++] = x;
			if (whole)
				todo[n++] = q;
			else
				outer = q->op == OP_FLOORDIV ?
					add_condition(s, q->src[0], q->src[1], outer) :
					add_condition(s, q, ix_const(1), outer);
		} else if (room && (u->op == OP_MIN || u->op == OP_MUL)) {
			bool product = u->op == OP_MUL;
			for (int i = 0; i < 2; i++)
				if (!product || ix_prove_le(ix_const(0), u->src[!i]))
					todo[n++] = u->src[i];
		} else if (u->op == OP_FLOORDIV && ix_is_const(u->src[1], &c) && c > 0) {
			outer = add_condition(s, ix_const(c - 1), u->src[0], outer);
		} else if (u->op != OP_CONST) {
			outer = add_condition(s, ix_const(0), u, outer);
		}
	}
	return outer;
}

static int common_scope(const struct Scopes *s, int a, int b)
{
	while (a != b)
		if (a > b)
			a = s->at.at[a].outer;
		else
			b = s->at.at[b].outer;
	return a;
}

/* A LET whose value is used under an IF alone may as well stand there: what it loads without need
 * does no harm. */
static void move_lets(struct Scopes *s, const UOp *kernel)
{
	Map used = {0};         /* LET: scope of its uses + 1 */
	for (uint32_t i = kernel->nsrc; i--; ) {
		UOp *u = kernel->src[i];
		int scope = (int)(intptr_t)map_get(&used, PKEY(u)) - 1;
		if (u->op == OP_LET && scope >= 0)
			s->of[i] = scope;
		if (u->op != OP_LET && u->op != OP_STORE && u->op != OP_IF && u->op != OP_RANGE)
			continue;
		Nodes lets = lets_in(u);
		for (size_t k = 0; k < lets.n; k++) {
			int was = (int)(intptr_t)map_get(&used, PKEY(lets.at[k])) - 1;
			int now = was < 0 ? s->of[i] : common_scope(s, was, s->of[i]);
			map_put(&used, PKEY(lets.at[k]), (void *)(intptr_t)(now + 1));
		}
	}
	map_free(&used);
}

/* at[of[i]] and those outside it hold where statement i runs. */
static void find_scopes(struct Scopes *s, const UOp *kernel)
{
	VEC(int) open = {0};
	Nodes all = walk_kept((UOp *)kernel);
	int now = 0;
	vec_push(&s->at, ((Around){0}));
	s->of = arena_alloc((kernel->nsrc + 1) * sizeof *s->of);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_SPECIAL)
			now = runs(s, all.at[i]->src[0], now);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		UOp *u = kernel->src[i];
		s->of[i] = now;
		if (u->op == OP_IF || u->op == OP_RANGE)
			vec_push(&open, now);
		if (u->op == OP_RANGE)
			now = runs(s, u->src[0], now);
		if (u->op == OP_IF) {
			vec_push(&s->at, ((Around){u->src[0], now}));
			now = (int)s->at.n - 1;
		} else if (u->op == OP_ENDIF || u->op == OP_ENDRANGE) {
			now = open.at[--open.n];
		}
	}
	move_lets(s, kernel);
	vec_free(&open);
}

/* Those of a kernel, kept until another one is asked for. */
static struct Scopes *scopes_of(const UOp *kernel)
{
	static ARENA struct Scopes last;
	static ARENA const UOp *of;
	if (of != kernel) {
		last.at.n = 0;
		map_free(&last.all);
		find_scopes(&last, kernel);
	}
	of = kernel;
	return &last;
}

/* Those of the same scope and gate are the same array. */
static const Conditions *conditions_of(struct Scopes *s, const Access *a)
{
	int scope = s->of[a->at];
	uint64_t key = hash_mix(PKEY(a->gate), (uint64_t)scope);
	Conditions *c = map_get(&s->all, key);
	if (c && c->gate == a->gate && c->scope == scope)
		return c;
	c = arena_alloc(sizeof *c);
	*c = (Conditions){a->gate, scope, a->gate != NULL, NULL};
	for (int k = scope; k; k = s->at.at[k].outer)
		c->n++;
	UOp **to = c->cond = arena_alloc((c->n + 1) * sizeof *to);
	if (a->gate)
		*to++ = a->gate;
	for (int k = scope; k; k = s->at.at[k].outer)
		*to++ = s->at.at[k].cond;
	map_put(&s->all, key, c);
	return c;
}

/* Whether a gate compares the index itself, as one does that keeps it inside. */
static bool gates_itself(UOp *gate, const UOp *index)
{
	Nodes all = walk_brief(gate);
	for (size_t i = 0; i < all.n; i++)
		for (uint32_t k = 0; all.at[i]->op == OP_CMPLT && k < 2; k++)
			if (all.at[i]->src[k] == index && index->op != OP_RANGE)
				return true;
	return false;
}

Place *places_of(const ProvedCall *c, const Access *const *a, size_t n, uint32_t axis)
{
	struct Scopes *s = scopes_of(c->kernel);
	Place *p = arena_alloc((n + 1) * sizeof *p);
	for (size_t i = 0; i < n; i++) {
		UOp *index = 1 + axis < a[i]->index->nsrc ? a[i]->index->src[1 + axis] :
							    ix_const(0);
		const Conditions *all = conditions_of(s, a[i]);
		bool without = a[i]->gate && gates_itself(a[i]->gate, index);
		UOp *at = index_open(index, all->n - without, all->cond + without);
		p[i] = (Place){.at = at, .cond = all->cond, .n = all->n, .call = c};
	}
	return p;
}

/* ---- a buffer that a call writes */

static bool all_within(const Digits *d, const Place *p, UOp *u, UOp *below)
{
	bool within = true;
	for (size_t i = 0; i < d->n && within; i++)
		within = place_within(&p[i], u, below);
	return within;
}

bool determined(Digits *d, const Place *p, UOp *number)
{
	if (!number)
		return false;
	if (digits_know(d, number) || all_within(d, p, number, ix_const(1)))
		return true;
	for (size_t i = 0; i < d->fresh.n; i++) {
		UOp *q = d->fresh.at[i];
		bool part = q->op == OP_FLOORDIV || q->op == OP_FLOORMOD;
		if (part && q->src[0] == number &&
			(q->op == OP_FLOORDIV ? all_within(d, p, q->src[1], ix_const(2)) :
						all_within(d, p, number, q->src[1])))
			return true;
	}
	return false;
}

static const char *number_text(const Items *x, int i)
{
	return x->number[i] ? index_text(x->number[i]) : "the grid";
}

static const char *place_text(const ProvedCall *c, const Access *a)
{
	Buf b = {0};
	const UOp *m = memory_of(a), *buffer = access_buffer(c->call, a);
	buf_printf(&b, "%.80s[", buffer ? buffer_name(buffer) : op_name(m->op));
	for (uint32_t i = 1; i < a->index->nsrc; i++)
		buf_printf(&b, "%s%.200s", i > 1 ? ", " : "", index_text(a->index->src[i]));
	buf_printf(&b, "]");
	const char *text = arena_strdup(buf_str(&b));
	buf_free(&b);
	return text;
}

/* The store among them, for messages. */
static const Access *some_store(const Access *const *a, size_t n)
{
	for (size_t i = 0; i < n; i++)
		if (a[i]->store)
			return a[i];
	return a[0];
}

/* The places as one number each, row-major. */
static Place *flat_places(const ProvedCall *c, const Access *const *a, size_t n)
{
	Place *p = places_of(c, a, n, 0);
	for (uint32_t axis = 1; axis + 1 < a[0]->index->nsrc; axis++) {
		const Place *q = places_of(c, a, n, axis);
		for (size_t i = 0; i < n; i++)
			p[i].at = ix_add(ix_mul(p[i].at, memory_of(a[i])->shape->dim[axis]),
				q[i].at);
	}
	return p;
}

/* Two items may touch one place, for all that can be shown: refuses the kernel, with a case if
 * there is one. */
static void refuse(const ProvedCall *c, const Items *x, const Digits *d, const Access *const *a,
	int open)
{
	Place *p = a[0]->index->nsrc > 1 ? flat_places(c, a, d->n) : NULL;
	const char *at = p && x->number[open] ? colliding(x, p, d->n, a) : NULL;
	prove_fault(c, "two items that differ in %s may touch the same place %s, which one "
		"of them writes%s%s", number_text(x, open), place_text(c, some_store(a, d->n)),
		at ? ": " : "", at ? at : "");
}

/* The first of the items' numbers that may differ where places are the same, or -1. */
static int open_number(const ProvedCall *c, const Items *x, Digits *d, const Access *const *a)
{
	Place *p = NULL;
	for (uint32_t axis = 0; axis + 1 < a[0]->index->nsrc; axis++)
		digits_of(d, p = places_of(c, a, d->n, axis));
	for (int i = 0; i < x->n; i++)
		if (!(p && determined(d, p, x->number[i])))
			return i;
	return -1;
}

void check_apart(const ProvedCall *c, const Items *x, bool group, const Access *const *a,
	size_t n)
{
	Digits d = {.group = group, .schedule = c->graph->level < LV_LOOPS, .n = n};
	Digits again = {.group = group, .schedule = d.schedule, .n = n, .sums = true};
	bool loads = false;
	int open = open_number(c, x, &d, a);
	for (size_t i = 0; i < n; i++)
		loads |= !a[i]->store;
	if (open >= 0 && (loads || !same_values(c, x, &d, a)) &&
		open_number(c, x, &again, a) >= 0 &&
		!none_collide(&d, x, flat_places(c, a, n), a) &&
		(loads || group || !items_agree(c)))
		refuse(c, x, &d, a, open);
	digits_free(&d);
	digits_free(&again);
}

/* A kernel of level schedule reads what it writes at the very place alone. */
static void check_in_place(const ProvedCall *c, const Access *load, const Access *store)
{
	for (uint32_t i = 1; i < load->index->nsrc; i++)
		if (load->index->src[i] != store->index->src[i])
			prove_fault(c, "it reads %s and writes %s of one buffer",
				place_text(c, load), place_text(c, store));
}

static bool of_sizes(UOp *u)
{
	Nodes all = walk_brief(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE || all.at[i]->op == OP_SPECIAL ||
			all.at[i]->op == OP_LOAD)
			return false;
	return true;
}

/* The condition on sizes under which an access happens, NULL for none. */
static UOp *when(const Place *p)
{
	UOp *all = NULL;
	for (size_t i = 0; i < p->n; i++)
		if (p->cond[i]->op == OP_CMPLT && of_sizes(p->cond[i])) {
			UOp *c = ix_lt(ix_plain(p->cond[i]->src[0]),
				ix_plain(p->cond[i]->src[1]));
			all = all ? ix_and(all, c) : c;
		}
	return all;
}

static bool exclude(UOp *a, UOp *b)
{
	return a && b && a != b && ix_and(a, b) == LEAF(OP_CONST, DT_BOOL, val_bool(false));
}

/* Checks together what may happen for the same sizes. */
static void check_by_size(const ProvedCall *c, const Items *x, const Access *const *a, size_t n)
{
	Place *p = places_of(c, a, n, 0);
	VEC(const Access *) some = {0};
	UOp **cond = arena_alloc((n + 1) * sizeof *cond);
	for (size_t i = 0; i < n; i++)
		cond[i] = i && p[i].cond == p[i - 1].cond ? cond[i - 1] : when(&p[i]);
	for (size_t i = 0; i < n; i++) {
		bool seen = false;
		for (size_t k = 0; k < i && !seen; k++)
			seen = cond[k] == cond[i];
		some.n = 0;
		for (size_t k = 0; k < n && !seen; k++)
			if (!exclude(cond[i], cond[k]))
				vec_push(&some, a[k]);
		if (!seen)
			check_apart(c, x, false, some.at, some.n);
		if (some.n == n)
			break;
	}
	vec_free(&some);
}

/* The accesses that happen for some sizes that the document allows. */
static size_t drop_dead(const ProvedCall *c, const Access **a, size_t n)
{
	Place *p = places_of(c, a, n, 0);
	size_t left = 0;
	bool dead = false;
	for (size_t i = 0; i < n; i++) {
		if (!i || p[i].cond != p[i - 1].cond)
			dead = place_dead(&p[i]);
		if (!dead)
			a[left++] = a[i];
	}
	return left;
}

static void check_buffer(const ProvedCall *c, const Items *x, const Access *const *a, size_t n)
{
	VEC(const Access *) used = {0};
	const Access *store = NULL;
	bool schedule = c->graph->level < LV_LOOPS;
	for (size_t i = 0; i < n; i++)
		if (a[i]->store)
			store = a[i];
	for (size_t i = 0; store && i < n; i++) {
		if (a[i]->index->nsrc != store->index->nsrc)
			prove_fault(c, "it uses %s and %s of one buffer, which have more and fewer "
				"indices", place_text(c, a[i]), place_text(c, store));
		if (schedule && !a[i]->store)
			check_in_place(c, a[i], store);
		else
			vec_push(&used, a[i]);
	}
	if (store && x->n)
		used.n = drop_dead(c, used.at, used.n);
	if (store && x->n && schedule && used.n)
		check_apart(c, x, false, used.at, used.n);
	else if (store && x->n && !schedule)
		check_by_size(c, x, used.at, used.n);
	vec_free(&used);
}

/* Checks the accesses to one buffer after another. */
void prove_apart(const ProvedCall *c)
{
	if (!c->kernel ||
		proved_before(c, "apart"))
		return;
	Accesses all = kernel_accesses(c->kernel);
	Items x = items_of(c);
	VEC(const Access *) some = {0};
	for (uint32_t slot = 1; slot < c->call->nsrc; slot++) {
		some.n = 0;
		for (size_t i = 0; i < all.n; i++)
			if (access_buffer(c->call, &all.at[i]) == c->call->src[slot])
				vec_push(&some, &all.at[i]);
		if (some.n)
			check_buffer(c, &x, some.at, some.n);
	}
	vec_free(&some);
}
