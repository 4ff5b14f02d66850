/* Places as digits. In
 *
 *     y[g*792 + t*16 + r + 33]      r in 0..15, t*16 + r in 0..32
 *
 * g, and what is left when g*792 is taken away, are the same for all who touch one place, because
 * what is left lies in 0 … 791: they are digits, of weight 792 and 1. A sum is split again and
 * again, at the coefficient of what moves in it or at the distance of two places; coefficients are
 * polynomials in sizes, as (h + 2)*(w + 2) is when there is a border around. A digit
 * that is one product or quotient of an item's number then says something of that number. */
#include "index/ix.h"
#include "prove/digits.h"
#include <stdlib.h>

/* ---- what an expression depends on */

static int own_moves(const Digits *d, const UOp *u)
{
	if (u->op == OP_LOAD || u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT)
		return OF_ITEM | OF_LOOP | OF_DATA;
	if (d->lane)
		return u == d->lane ? OF_ITEM : 0;
	if (u->op == OP_SPECIAL)
		return d->group && u->arg->s[0] == 'g' ? 0 : OF_ITEM;
	if (u->op == OP_RANGE)
		return d->schedule && !strcmp(range_kind(u), "loop") ? OF_ITEM : OF_LOOP;
	return 0;
}

int moves_with(const Digits *d, UOp *u)
{
	int m = own_moves(d, u);
	if (u->op == OP_CONST || u->op == OP_VAR || m)
		return m;
	Nodes all = walk_brief(u);
	for (size_t i = 0; i < all.n; i++)
		m |= own_moves(d, all.at[i]);
	return m;
}

/* ---- sums: each term is a coefficient, sizes and what moves */

/* Whether a monomial is a product of sizes: the same for all items. */
static bool is_size(const Digits *d, UOp *m)
{
	return m->op == OP_CONST || !moves_with(d, m);
}

/* m = *size * *mover */
static void size_and_mover(const Digits *d, UOp *m, UOp **size, UOp **mover)
{
	UOp *atom[IX_ATOMS];
	int n = mono_atoms(m, atom);
	*size = *mover = ix_const(1);
	for (int i = 0; i < n; i++) {
		UOp **part = is_size(d, atom[i]) ? size : mover;
		*part = mono_mul(*part, atom[i]);
	}
}

/* The sizes by which s multiplies a mover (1: none), as a sum. */
static bool coefficient(const Digits *d, const Sum *s, UOp *mover, Sum *out)
{
	UOp *size, *m;
	bool one = mover == ix_const(1);
	sum_const(out, one ? s->k : 0);
	for (int i = 0; i < s->n; i++) {
		size_and_mover(d, s->t[i].m, &size, &m);
		if (m == mover && !sum_term(out, s->t[i].c, size))
			return false;
	}
	return true;
}

/* How many atoms a monomial has. */
static int degree(UOp *m)
{
	UOp *atom[IX_ATOMS];
	return mono_atoms(m, atom);
}

/* The term of a sum by which others are divided: of the most factors; a constant has none. */
static Term leading(const Sum *s)
{
	Term most = {s->k, ix_const(1)};
	for (int i = 0; i < s->n; i++) {
		int n = degree(s->t[i].m), m = degree(most.m);
		if (n > m || (n == m && s->t[i].m->id > most.m->id))
			most = s->t[i];
	}
	return most;
}

/* s = w * *high + *low, with the terms that w divides in *high: division of polynomials. */
static bool divided(const Sum *s, const Sum *w, Sum *high, Sum *low)
{
	const Term by = leading(w);
	sum_const(high, 0);
	*low = *s;
	if (!w->n) {
		low->k = floormod(s->k, by.c);
		high->k = (s->k - low->k) / by.c;
	}
	for (int turn = 0, i = 0; i < low->n && turn < 2 * IX_TERMS; turn++) {
		UOp *m = low->t[i].m->op == OP_CONST ? NULL : mono_div(low->t[i].m, by.m);
		int64_t c = low->t[i].c / by.c;
		Sum q, all;
		if (!m || low->t[i].c % by.c) {
			i++;
			continue;
		}
		sum_const(&q, 0);
		if (!sum_term(&q, c, m) || !sum_plus(high, 1, &q) || !sum_mul(&all, &q, w) ||
			!sum_plus(low, -1, &all))
			return false;
		i = 0;
	}
	return true;
}

/* ---- splitting */

static void know(Digits *d, UOp *u)
{
	if (moves_with(d, u) & OF_DATA || map_get(&d->known, PKEY(u)))
		return;
	map_put(&d->known, PKEY(u), u);
	vec_push(&d->fresh, u);
}

/* Whether u is above 0 wherever one of the places is touched. */
static bool positive(const Digits *d, const Place *p, UOp *u)
{
	for (size_t i = 0; i < d->n; i++)
		if ((!i || p[i].cond != p[i - 1].cond || p[i].n != p[i - 1].n) &&
			!place_within(&p[i], ix_const(0), u))
			return false;
	return true;
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
		positive(d, p, sum_node(&c)))
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
	UOp *plain = index_plain(p[0].at);
	for (size_t i = 1; i < n; i++)
		if (index_plain(p[i].at) != plain)
			return NULL;
	return plain;
}

static void leaf(Digits *d, Place *p, size_t n)
{
	UOp *digit = shared_digit(p, n);
	vec_push(&d->leaf, p);
	if (!digit)
		return;
	know(d, digit);
	know_mover(d, p);
}

/* from: sizes by which all places are more than they have to be, such as those of a border. */
typedef struct { size_t n; Sum *sum, from; Place *high, *low; } Splitting;

/* Places under the same conditions whose low parts are base + k: it is enough to look at the least
 * and the greatest k. */
typedef struct { const Place *low; UOp *base; int64_t least, most; } Row;

enum { MOST_ROWS = 16 };

static bool in_row(Row *row, int n, const Place *low, UOp *base, int64_t k)
{
	for (int i = 0; i < n; i++)
		if (row[i].base == base && row[i].low->n == low->n &&
			(!low->n || row[i].low->cond == low->cond)) {
			row[i].least = k < row[i].least ? k : row[i].least;
			row[i].most = k > row[i].most ? k : row[i].most;
			return true;
		}
	return false;
}

static bool ends_within(const Row *r, UOp *below)
{
	Place p = *r->low;
	p.at = ix_add(r->base, ix_const(r->least));
	if (!place_within(&p, p.at, below))
		return false;
	p.at = ix_add(r->base, ix_const(r->most));
	return r->least == r->most || place_within(&p, p.at, below);
}

static bool lows_within(const Splitting *x, UOp *below)
{
	Row row[MOST_ROWS];
	int n = 0;
	for (size_t i = 0; i < x->n; i++) {
		const Place *low = &x->low[i];
		int64_t k = 0;
		UOp *base = low->at;
		if (base->op == OP_ADD && ix_is_const(base->src[1], &k))
			base = base->src[0];
		if (in_row(row, n, low, base, k))
			continue;
		if (n == MOST_ROWS && !place_within(low, low->at, below))
			return false;
		if (n < MOST_ROWS)
			row[n++] = (Row){low, base, k, k};
	}
	for (int i = 0; i < n; i++)
		if (!ends_within(&row[i], below))
			return false;
	return true;
}

/* p[i] = below*high + low, where low must be within below. */
static void set_parts(Splitting *x, const Place *p, size_t i, UOp *high, UOp *low)
{
	x->high[i] = x->low[i] = p[i];
	x->high[i].at = high;
	x->low[i].at = low;
}

/* Splits n places, less a distance that they share, at w, when what is left is within it for all of
 * them and has something to say. */
static bool split_from(Splitting *x, const Place *p, const Sum *from, const Sum *w)
{
	bool moves[2] = {false, false};
	Sum below = *w;
	for (size_t i = 0; i < x->n; i++) {
		Sum high, low, s = x->sum[i];
		if (!sum_plus(&s, -1, from) || !divided(&s, w, &high, &low))
			return false;
		moves[0] |= high.n || high.k;
		moves[1] |= low.n || low.k;
		set_parts(x, p, i, sum_node(&high), sum_node(&low));
	}
	return moves[0] && moves[1] && lows_within(x, sum_node(&below));
}

static bool split_at(Splitting *x, const Place *p, const Sum *w)
{
	Sum zero;
	sum_const(&zero, 0);
	return ((x->from.n || x->from.k) && split_from(x, p, &x->from, w)) ||
		split_from(x, p, &zero, w);
}

/* ---- weights at which sums may be split */

enum { MOST_TRIES = 16 };

enum { MOST_WEIGHTS = 64 };
typedef struct { int n; Sum w[MOST_WEIGHTS]; } Weights;

/* Adds w or, when its greatest term is negative, -w. What cannot be a weight is left out. */
static void add_weight(Weights *x, const Sum *w)
{
	Term most = leading(w);
	Sum s;
	bool same = false;
	sum_const(&s, 0);
	if (x->n == MOST_WEIGHTS || !most.c || !sum_plus(&s, most.c < 0 ? -1 : 1, w) ||
		(!s.n && s.k <= 1))
		return;
	for (int i = 0; i < x->n && !same; i++) {
		Sum diff = x->w[i];
		same = sum_plus(&diff, -1, &s) && !diff.n && !diff.k;
	}
	if (!same)
		x->w[x->n++] = s;
}

static int by_weight(const void *a, const void *b)
{
	Term x = leading(a), y = leading(b);
	int m = degree(x.m), n = degree(y.m);
	if (m != n)
		return m > n ? -1 : 1;
	return x.c != y.c ? (x.c > y.c ? -1 : 1) : 0;
}

static int by_weight_up(const void *a, const void *b) { return by_weight(b, a); }

/* The coefficients of what moves in a sum. */
static void coefficients(Weights *x, const Digits *d, const Sum *s)
{
	UOp *size, *mover;
	Sum c;
	for (int i = 0; i < s->n; i++) {
		size_and_mover(d, s->t[i].m, &size, &mover);
		if (mover != ix_const(1) && coefficient(d, s, mover, &c))
			add_weight(x, &c);
	}
}

/* How much more the sizes of a place are than those of another. */
static bool distance(const Digits *d, const Sum *from, const Sum *to, Sum *out)
{
	Sum least;
	return coefficient(d, to, ix_const(1), out) && coefficient(d, from, ix_const(1), &least) &&
		sum_plus(out, -1, &least);
}

/* The distances of the places' constants from the first one, or from the least one where all are
 * numbers, and their common divisor. */
static void distances(Weights *x, const Digits *d, const Sum *sum, size_t n)
{
	int64_t step = 0;
	size_t least = 0;
	bool numbers = true;
	Sum far;
	for (size_t i = 1; i < n; i++) {
		if (!distance(d, &sum[0], &sum[i], &far) || far.k == INT64_MIN)
			return;
		numbers &= !far.n;
		step = gcd(far.n ? 0 : far.k, step);
		least = sum[i].k < sum[least].k ? i : least;
	}
	sum_const(&far, step);
	add_weight(x, &far);
	int from = x->n;
	for (size_t i = 0; i < n; i++)
		if (distance(d, &sum[numbers ? least : 0], &sum[i], &far))
			add_weight(x, &far);
	qsort(x->w + from, x->n - from, sizeof *x->w, by_weight_up);
}

/* The sizes in the first place; the least, where all are numbers. */
static void find_from(Splitting *x, const Digits *d)
{
	Sum far;
	bool numbers = true;
	int64_t least = x->sum[0].k;
	for (size_t i = 1; i < x->n; i++) {
		numbers &= distance(d, &x->sum[0], &x->sum[i], &far) && !far.n;
		least = x->sum[i].k < least ? x->sum[i].k : least;
	}
	if (!coefficient(d, &x->sum[0], ix_const(1), &x->from))
		sum_const(&x->from, 0);
	else if (numbers)
		x->from.k = least;
}

/* The weights at which n places may be split, those of the first and the last, the greatest first;
 * then the distances between places. */
static void find_weights(Weights *w, const Digits *d, const Splitting *x)
{
	w->n = 0;
	coefficients(w, d, &x->sum[0]);
	coefficients(w, d, &x->sum[x->n - 1]);
	qsort(w->w, w->n, sizeof *w->w, by_weight);
	distances(w, d, x->sum, x->n);
}

/* The n for which div = x//n, where div is x//n or, for an x = y//m, y//(m*n); else NULL. */
static UOp *quotient_by(const Digits *d, const Place *p, const UOp *div, const UOp *x)
{
	UOp *n = NULL;
	if (!div || !x || div->op != OP_FLOORDIV)
		return NULL;
	if (div->src[0] == x)
		n = div->src[1];
	else if (x->op == OP_FLOORDIV && x->src[0] == div->src[0])
		n = ix_div(div->src[1], x->src[1]);
	bool is = n && (div->src[0] == x || ix_mul(n, x->src[1]) == div->src[1]);
	return is && !moves_with(d, n) && positive(d, p, n) ? n : NULL;
}

/* Splits at a*n + b, for terms a*x and b*(x//n): x//n, and what is left with x%n for x. The sum of
 * (x//n)*(n + 2) and x%n has become (x//n)*2 + x. */
static bool split_quotient(
	Splitting *x, const Digits *d, const Place *p, UOp *div, UOp *of, UOp *by)
{
	Sum s[2];
	if (!coefficient(d, &x->sum[0], of, &s[0]) || !coefficient(d, &x->sum[0], div, &s[1]))
		return false;
	UOp *a = sum_node(&s[0]), *b = sum_node(&s[1]), *below = ix_add(ix_mul(by, a), b);
	UOp *gone = ix_add(ix_mul(of, a), ix_mul(div, b)), *left = ix_mul(ix_mod(of, by), a);
	sum_of(&s[0], below);
	for (size_t i = 0; i < x->n; i++) {
		Sum high, low;
		sum_of(&s[1], ix_add(ix_sub(p[i].at, gone), left));
		if (!divided(&s[1], &s[0], &high, &low))
			return false;
		set_parts(x, p, i, ix_add(div, sum_node(&high)), sum_node(&low));
	}
	return lows_within(x, below);
}

static bool split_quotients(Splitting *x, const Digits *d, const Place *p)
{
	const Sum *s = &x->sum[0];
	UOp *size, *div, *of;
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->n; k++) {
			size_and_mover(d, s->t[i].m, &size, &div);
			size_and_mover(d, s->t[k].m, &size, &of);
			UOp *by = quotient_by(d, p, div, of);
			if (by && split_quotient(x, d, p, div, of, by))
				return true;
		}
	return false;
}

static bool find_digits(Digits *d, const Place *p);

/* What is left of a split may be as large as what was split, so splits are counted. */
enum { MOST_SPLITS = 1024, MOST_DEPTH = 64 };

/* The digits of both parts; false when one of them should have been split otherwise. */
static bool both_parts(Digits *d, const Splitting *x)
{
	d->splits++;
	d->depth++;
	bool high = find_digits(d, x->high), low = find_digits(d, x->low);
	d->depth--;
	return low && high;
}

/* An item's number that stands at different distances in different places: of a tile that does not
 * end where the weight does. */
static bool torn(const Digits *d, const Place *p)
{
	Sum s;
	sum_of(&s, p[0].at);
	return !shared_digit(p, d->n) && s.n == 1 && moves_with(d, s.t[0].m) == OF_ITEM &&
		(s.t[0].m->op == OP_FLOORMOD || s.t[0].m->op == OP_FLOORDIV ||
			s.t[0].m->op == OP_SPECIAL);
}

/* The first weight at which nothing is torn; else, or when that takes too long, the very first. */
static bool split(Digits *d, Splitting *x, const Place *p, bool *whole)
{
	Weights *w = arena_block(sizeof *w);
	size_t leaves = d->leaf.n;
	int first = -1;
	find_weights(w, d, x);
	find_from(x, d);
	*whole = false;
	for (int i = 0; i < w->n && !*whole && (first < 0 || d->tries < MOST_TRIES); i++) {
		if (!split_at(x, p, &w->w[i]))
			continue;
		first = first < 0 ? i : first;
		d->tries += i != first;
		d->leaf.n = leaves;
		*whole = both_parts(d, x);
	}
	if (first >= 0 && !*whole) {
		d->leaf.n = leaves;
		split_at(x, p, &w->w[first]);
		both_parts(d, x);
	}
	arena_release(w);
	return first >= 0;
}

static bool find_digits(Digits *d, const Place *p)
{
	size_t n = d->n;
	Splitting x = {n, arena_alloc(n * sizeof *x.sum), {0}, arena_alloc(n * sizeof *x.high),
		arena_alloc(n * sizeof *x.low)};
	bool numbers = true, whole;
	for (size_t i = 0; i < n; i++) {
		sum_of(&x.sum[i], p[i].at);
		numbers &= !x.sum[i].n;
	}
	numbers |= d->splits >= MOST_SPLITS || d->depth >= MOST_DEPTH;
	if (!numbers && split(d, &x, p, &whole))
		return whole;
	if (!numbers && split_quotients(&x, d, p))
		return both_parts(d, &x);
	Place *copy = arena_alloc(n * sizeof *copy);
	memcpy(copy, p, n * sizeof *copy);
	leaf(d, copy, n);
	return !torn(d, p);
}

void digits_of(Digits *d, const Place *p) { find_digits(d, p); }

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

/* s + c*(x//n) and x % n give n*s + c*x. */
static void look_for_remainders(Digits *d, UOp *u)
{
	Sum s;
	int64_t n;
	sum_of(&s, u);
	for (int i = 0; i < s.n && d->fresh.n < MOST_SPLITS; i++) {
		UOp *q = s.t[i].m, *c = ix_const(s.t[i].c);
		if (q->op == OP_FLOORDIV && ix_is_const(q->src[1], &n) && n > 0 &&
			map_get(&d->known, PKEY(ix_mod(q->src[0], q->src[1]))))
			know(d, ix_add(ix_mul(ix_sub(u, ix_mul(q, c)), q->src[1]),
				ix_mul(q->src[0], c)));
	}
}

static void look_into(Digits *d)
{
	for (size_t i = 0; i < d->fresh.n; i++) {
		UOp *u = d->fresh.at[i];
		for (size_t k = 0; k <= i && (u->op == OP_FLOORMOD || u->op == OP_ADD); k++)
			if (d->fresh.at[k]->op == OP_ADD && (k == i || u->op == OP_FLOORMOD))
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
