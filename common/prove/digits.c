/* Places as digits. In
 *
 *     y[g*792 + t*16 + r + 33]      r in 0..15, t*16 + r in 0..32
 *
 * g, and what is left when g*792 is taken away, are the same for all who touch one place, because
 * what is left lies in 0 … 791: they are digits, of weight 792 and 1. A sum is split again and
 * again (spots.c), at the coefficient of what moves in it or at the distance of two places;
 * coefficients are polynomials in sizes, as (h + 2)*(w + 2) is when there is a border around. A
 * digit that is one product or quotient of an item's number then says something of that number. */
#include "prove/digits.h"
#include <stdlib.h>

/* ---- what an expression depends on */

/* What there is in an expression, whoever asks. */
enum { DATA = 1, GROUP = 2, WORK = 4, LOOP = 8, COUNTER = 16, SEEN = 32, QUOTIENT = 64,
	OTHER = 128 };
static ARENA TABLE(uint8_t) parts;

static uint8_t own_part(const UOp *u)
{
	uint8_t seen = u->dtype == DT_I64 ? SEEN : SEEN | OTHER;
	switch (u->op) {
	case OP_LOAD: case OP_EXCHANGE: case OP_RREDUCE: case OP_RSCAN: case OP_RSORT:
		return seen | DATA;
	case OP_FLOORDIV: return seen | QUOTIENT;
	case OP_SPECIAL: return seen | (u->arg->s[0] == 'g' ? GROUP : WORK);
	case OP_RANGE: return seen | (strcmp(range_kind(u), "loop") ? COUNTER : LOOP);
	case OP_CONST: case OP_VAR: case OP_LET: case OP_ADD: case OP_SUB: case OP_NEG:
	case OP_MUL: case OP_FLOORMOD: case OP_MIN: case OP_MAX: return seen;
	default: return seen | OTHER;
	}
}

static uint8_t parts_of(UOp *u)
{
	VEC(UOp *) todo = {0};
	if (u->id >= parts.cap)
		table_fit(&parts);
	if (!parts.at[u->id])
		vec_push(&todo, u);
	while (todo.n) {
		UOp *v = todo.at[todo.n - 1];
		size_t was = todo.n;
		uint8_t own = own_part(v);
		for (uint32_t i = 0; i < v->nsrc; i++) {
			own |= parts.at[v->src[i]->id];
			if (!parts.at[v->src[i]->id])
				vec_push(&todo, v->src[i]);
		}
		if (todo.n > was)
			continue;
		parts.at[v->id] = own;
		todo.n--;
	}
	vec_free(&todo);
	return parts.at[u->id];
}

bool moves_plainly(UOp *u) { return !(parts_of(u) & DATA); }

bool is_plain_index(UOp *u) { return !(parts_of(u) & (DATA | OTHER)); }

bool has_quotient(UOp *u) { return parts_of(u) & QUOTIENT; }

static bool has_lane(const Digits *d, UOp *u)
{
	Nodes all = walk_brief(u);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i] == d->lane)
			return true;
	return false;
}

int moves_with(const Digits *d, UOp *u)
{
	if (u->op == OP_CONST || u->op == OP_VAR)
		return 0;
	uint8_t in = parts_of(u);
	if (in & DATA)
		return OF_ITEM | OF_LOOP | OF_DATA;
	if (d->lane)
		return in & (LOOP | COUNTER) && has_lane(d, u) ? OF_ITEM : 0;
	bool item = in & WORK || (in & GROUP && !d->group) || (in & LOOP && d->schedule);
	bool loop = in & COUNTER || (in & LOOP && !d->schedule);
	return (item ? OF_ITEM : 0) | (loop ? OF_LOOP : 0);
}

/* ---- digits that all places have */

static void know(Digits *d, UOp *u)
{
	if (moves_with(d, u) & OF_DATA || map_get(&d->known, PKEY(u)))
		return;
	map_put(&d->known, PKEY(u), u);
	vec_push(&d->fresh, u);
}

/* u = size * mover + constant of sizes, where size is not 0: mover is known too. */
static void know_mover(Digits *d, const Place *p)
{
	Sum s, c;
	UOp *size, *mover = NULL, *m;
	sum_of(&s, p->at);
	for (int i = 0; i < s.n; i++) {
		size_and_mover(d, s.t[i].m, &size, &m);
		if (m == ix_const(1) || m == mover)
			continue;
		if (mover)
			return;
		mover = m;
	}
	if (mover && mover != p->at && coefficient(d, &s, mover, &c) &&
		places_positive(p, d->n, sum_node(&c)))
		know(d, mover);
}

/* The digit that all places have, NULL if there is none. Where a condition speaks of a LET, the
 * place does too, and others have what it names. */
static UOp *shared_digit(const Place *p, size_t n)
{
	bool same = true;
	for (size_t i = 1; i < n && same; i++)
		same = p[i].at == p[0].at;
	if (same)
		return p[0].at;
	UOp *plain = ix_plain(p[0].at);
	for (size_t i = 1; i < n; i++)
		if (ix_plain(p[i].at) != plain)
			return NULL;
	return plain;
}

/* Adds a digit; what all places have in it, NULL for nothing. */
static UOp *leaf(Digits *d, const Spots *s)
{
	Place *p = arena_alloc((s->n + 1) * sizeof *p);
	memcpy(p, s->p, s->n * sizeof *p);
	for (size_t i = 0; i < s->n; i++)
		p[i].at = spot_node(s, i);
	UOp *digit = shared_digit(p, s->n);
	vec_push(&d->leaf, p);
	if (digit) {
		for (size_t i = 0; i < s->n; i++)
			p[i].at = digit;
		know(d, digit);
		know_mover(d, p);
	}
	return digit;
}

static bool find_digits(Digits *d, const Spots *s);

/* What is left of a split may be as large as what was split, so splits are counted. */
enum { MOST_SPLITS = 1024, MOST_DEPTH = 64, MOST_TRIES = 64 };

/* The digits of both parts; false when one of them should have been split otherwise. */
static bool both_parts(Digits *d, Spots *high, Spots *low)
{
	d->splits++;
	d->depth++;
	bool whole = find_digits(d, high);
	if (whole || !d->brief)
		whole &= find_digits(d, low);
	d->depth--;
	spots_free(high);
	spots_free(low);
	return whole;
}

/* An item's number that stands at different distances in different places: of a tile that does not
 * end where the weight does. `sums`: or a sum of such numbers and of loops'. */
static bool torn(const Digits *d, const Spots *s)
{
	const Sum *sum = &s->base[s->of[0]].sum;
	bool item = false;
	for (int i = 0; i < sum->n && (sum->n == 1 || d->sums); i++) {
		const UOp *m = sum->t[i].m;
		int with = moves_with(d, sum->t[i].m);
		bool plain = m->op == OP_FLOORMOD || m->op == OP_FLOORDIV || m->op == OP_SPECIAL ||
			m == d->lane || (sum->n > 1 && (m->op == OP_LET || m->op == OP_RANGE));
		if (!plain || with & OF_DATA)
			return false;
		item |= with == OF_ITEM;
	}
	return item;
}

/* The first weight at which nothing is torn; else, or when that takes too long, the very first. */
static bool split(Digits *d, const Spots *s, bool *whole)
{
	Weights w = {0};
	size_t leaves = d->leaf.n;
	int first = -1;
	Spots high, low;
	Sum from, sizes;
	find_weights(&w, d, s);
	size_t coefficients = w.n;
	find_from(&from, d, s);
	sizes = from;           /* its number belongs to digits of its own */
	sizes.k = 0;
	*whole = false;
	for (size_t i = 0; !*whole && (first < 0 || d->tries < MOST_TRIES); i++) {
		if (i == coefficients)
			add_distances(&w, d, s);
		if (i == w.n)
			break;
		bool cut = split_at(s, &from, &w.at[i], &high, &low);
		for (int k = 0; cut && !*whole; k++) {
			first = first < 0 ? (int)i : first;
			d->tries += (int)i != first || k;
			d->leaf.n = leaves;
			*whole = both_parts(d, &high, &low);
			cut = !k && !*whole && split_from(s, &sizes, &w.at[i], &high, &low);
		}
	}
	if (first >= 0 && !*whole && !d->brief) {
		d->leaf.n = leaves;
		if (split_at(s, &from, &w.at[first], &high, &low))
			both_parts(d, &high, &low);
	}
	vec_free(&w);
	return first >= 0;
}

static bool find_digits(Digits *d, const Spots *s)
{
	Spots high, low;
	bool numbers = d->splits >= MOST_SPLITS || d->depth >= MOST_DEPTH, whole = true;
	for (size_t i = 0; i < s->bases && whole; i++)
		whole = !s->base[i].sum.n;
	numbers |= whole;
	if (!numbers && split(d, s, &whole))
		return whole;
	if (!numbers && split_quotients(s, d, &high, &low))
		return both_parts(d, &high, &low);
	return leaf(d, s) || !torn(d, s);
}

void digits_of(Digits *d, const Place *p)
{
	Spots s;
	size_t leaves = d->leaf.n;
	int splits = d->splits;
	spots_of(&s, p, d->n);
	/* what digits next to a torn one say is worth the search only if there are no others */
	d->brief = true;
	bool whole = find_digits(d, &s);
	d->brief = false;
	if (!whole) {
		d->leaf.n = leaves;
		d->splits = splits;
		d->tries = 0;
		find_digits(d, &s);
	}
	spots_free(&s);
}

/* ---- what follows */

/* A sum that is the same in both: its own digits are. */
static void look_into_sum(Digits *d, UOp *u)
{
	const Place one = {.at = u};
	Digits sub = *d;
	sub.n = 1;
	sub.leaf.at = NULL;
	sub.leaf.n = sub.leaf.cap = 0;
	digits_of(&sub, &one);
	vec_free(&sub.leaf);
	d->known = sub.known;
	d->fresh = sub.fresh;
	d->splits = sub.splits;
}

/* x // n and x % n give x. */
static void look_for_partner(Digits *d, UOp *u)
{
	UOp *other = u->op == OP_FLOORDIV ? ix_mod(u->src[0], u->src[1]) :
					    ix_div(u->src[0], u->src[1]);
	if (map_get(&d->known, PKEY(other)))
		know(d, u->src[0]);
}

/* s + c*(x//n) and x % n give n*s + c*x; with x//n they give s. */
static void look_for_remainders(Digits *d, UOp *u)
{
	Sum s;
	int64_t n;
	sum_of(&s, u);
	for (int i = 0; i < s.n && d->fresh.n < MOST_SPLITS; i++) {
		UOp *q = s.t[i].m, *c = ix_const(s.t[i].c);
		if (q->op != OP_FLOORDIV)
			continue;
		if (map_get(&d->known, PKEY(q)))
			know(d, ix_sub(u, ix_mul(q, c)));
		if (ix_is_const(q->src[1], &n) && n > 0 &&
			map_get(&d->known, PKEY(ix_mod(q->src[0], q->src[1]))))
			know(d, ix_add(ix_mul(ix_sub(u, ix_mul(q, c)), q->src[1]),
				ix_mul(q->src[0], c)));
	}
}

static void look_into(Digits *d)
{
	for (size_t i = 0; i < d->fresh.n; i++) {
		UOp *u = d->fresh.at[i];
		bool part = u->op == OP_FLOORMOD || u->op == OP_FLOORDIV;
		for (size_t k = 0; k <= i && (part || u->op == OP_ADD); k++)
			if (d->fresh.at[k]->op == OP_ADD && (k == i || part))
				look_for_remainders(d, d->fresh.at[k]);
		if (u->op == OP_LET)
			know(d, u->src[0]);
		else if (u->op == OP_ADD || u->op == OP_MUL)
			look_into_sum(d, u);
		else if (u->op == OP_FLOORDIV || u->op == OP_FLOORMOD)
			look_for_partner(d, u);
	}
}

/* y // a % b is known with y % (a*b*…). */
static bool part_of_remainder(const Digits *d, UOp *u)
{
	if (u->op != OP_FLOORMOD)
		return false;
	bool quotient = u->src[0]->op == OP_FLOORDIV;
	UOp *y = quotient ? u->src[0]->src[0] : u->src[0];
	UOp *a = quotient ? u->src[0]->src[1] : ix_const(1), *by = ix_mul(a, u->src[1]);
	if (!ix_prove_lt(ix_const(0), a) || !ix_prove_lt(ix_const(0), u->src[1]))
		return false;
	for (size_t i = 0; i < d->fresh.n; i++) {
		UOp *q = d->fresh.at[i];
		if (q->op == OP_FLOORMOD && q->src[0] == y &&
			ix_mul(ix_div(q->src[1], by), by) == q->src[1] &&
			ix_prove_lt(ix_const(0), q->src[1]))
			return true;
	}
	return false;
}

bool digits_know(Digits *d, UOp *u)
{
	look_into(d);
	if (!map_get(&d->known, PKEY(u)) && part_of_remainder(d, u))
		know(d, u);
	return map_get(&d->known, PKEY(u));
}

void digits_free(Digits *d)
{
	vec_free(&d->leaf);
	map_free(&d->known);
	vec_free(&d->fresh);
}
