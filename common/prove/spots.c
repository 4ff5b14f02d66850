/* The places of a buffer as few sums with many numbers added, since an unrolled tile touches
 *
 *     y[g*792 + t*16 + 33], y[g*792 + t*16 + 34], …
 *
 * and how they can be split: at the coefficient of what moves in them, or at the distance of two
 * places. A sum is divided once, whatever is added to it; what is left is within a weight if it is
 * with the least and the greatest number. */
#include "prove/digits.h"
#include "prove/places.h"
#include <stdlib.h>

/* ---- sums: each term is a coefficient, sizes and what moves */

/* Whether a monomial is a product of sizes: the same for all items. */
static bool is_size(const Digits *d, UOp *m)
{
	return m->op == OP_CONST || !moves_with(d, m);
}

void size_and_mover(const Digits *d, UOp *m, UOp **size, UOp **mover)
{
	UOp *atom[IX_ATOMS];
	int n = mono_atoms(m, atom);
	*size = *mover = ix_const(1);
	for (int i = 0; i < n; i++) {
		UOp **part = is_size(d, atom[i]) ? size : mover;
		*part = mono_mul(*part, atom[i]);
	}
}

bool coefficient(const Digits *d, const Sum *s, UOp *mover, Sum *out)
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

bool sum_divide(const Sum *s, const Sum *w, Sum *high, Sum *low)
{
	const Term by = leading(w);
	sum_const(high, 0);
	*low = *s;
	for (int turn = 0, i = 0; i < low->n && turn < 2 * IX_TERMS; turn++) {
		UOp *m = low->t[i].m->op == OP_CONST ? NULL : mono_div(low->t[i].m, by.m);
		/* of 3*n, which no item moves, 2*n is taken and n left */
		int64_t c = m == ix_const(1) ? floordiv(low->t[i].c, by.c) : low->t[i].c / by.c;
		Sum q, all;
		if (!m || !c || (m != ix_const(1) && low->t[i].c % by.c)) {
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

/* ---- spots */

/* Where a sum without its number is among the bases; *k gets the number. */
static bool base_of(Spots *s, Map *seen, Sum *sum, uint32_t *of, int64_t *k)
{
	UOp *node = sum_node(sum);
	for (*k = 0; sum->k; node = sum_node(sum)) {
		if (!add_ok(*k, sum->k, k))
			return false;
		sum->k = 0;
	}
	uintptr_t at = (uintptr_t)map_get(seen, PKEY(node));
	if (!at) {
		s->base[s->bases] = (Base){*sum, node};
		at = ++s->bases;
		map_put(seen, PKEY(node), (void *)at);
	}
	*of = (uint32_t)at - 1;
	return true;
}

static void spots_new(Spots *s, const Place *p, size_t n, size_t most)
{
	*s = (Spots){.p = p, .n = n};
	s->base = xmalloc((most + 1) * sizeof *s->base);
	s->of = xmalloc((n + 1) * sizeof *s->of);
	s->k = xmalloc((n + 1) * sizeof *s->k);
}

void spots_free(Spots *s)
{
	free(s->base);
	free(s->of);
	free(s->k);
}

static const int64_t FAR = (int64_t)1 << 61;    /* two of these do not overflow */

/* u = base + number, as the algebra writes it. */
static UOp *without_number(UOp *u, int64_t *k)
{
	if (u->op == OP_ADD && u->dtype == DT_I64 && ix_is_const(u->src[1], k) && *k < FAR &&
		*k > -FAR)
		return u->src[0];
	*k = 0;
	return u;
}

/* Adds the base of u. */
static void new_base(Spots *s, Map *seen, UOp *u, uint32_t *of, int64_t *k)
{
	Sum sum;
	sum_of(&sum, u);
	if (base_of(s, seen, &sum, of, k) && *k < FAR && *k > -FAR)
		return;
	sum_const(&sum, 0);
	sum_term(&sum, 1, u);
	base_of(s, seen, &sum, of, k);
}

/* How many different sums there are; first[i]: the first place that has that of place i. */
static size_t find_first(const Place *p, size_t n, uint32_t *first)
{
	Map seen = {0};
	size_t bases = 0;
	int64_t k;
	for (size_t i = 0; i < n; i++) {
		UOp *u = without_number(p[i].at, &k);
		bool same = i && u == without_number(p[i - 1].at, &k);
		uintptr_t at = same ? first[i - 1] + 1 : (uintptr_t)map_get(&seen, PKEY(u));
		if (!at)
			map_put(&seen, PKEY(u), (void *)(at = i + 1));
		first[i] = (uint32_t)at - 1;
		bases += first[i] == i;
	}
	map_free(&seen);
	return bases;
}

void spots_of(Spots *s, const Place *p, size_t n)
{
	Map seen = {0};
	uint32_t *first = xmalloc((n + 1) * sizeof *first);
	int64_t *more = xmalloc((n + 1) * sizeof *more), k;
	spots_new(s, p, n, 2 * find_first(p, n, first));
	for (size_t i = 0; i < n; i++) {
		UOp *u = without_number(p[i].at, &k);
		s->of[i] = s->of[first[i]];
		if (first[i] == i)
			new_base(s, &seen, u, &s->of[i], &more[i]);
		more[i] = more[first[i]];
		s->k[i] = k + more[i];
	}
	free(first);
	free(more);
	map_free(&seen);
}

UOp *spot_node(const Spots *s, size_t i)
{
	UOp *base = s->base[s->of[i]].node, *k = ix_const(s->k[i]);
	if (!s->k[i] || base->op == OP_CONST)
		return s->k[i] ? k : base;
	return NODE(OP_ADD, DT_I64, VNIL, base, k);
}

bool places_positive(const Place *p, size_t n, UOp *u)
{
	for (size_t i = 0; i < n; i++)
		if ((!i || p[i].cond != p[i - 1].cond || p[i].n != p[i - 1].n) &&
			!place_within(&p[i], ix_const(0), u))
			return false;
	return true;
}

/* ---- splitting */

/* Places under the same conditions whose low parts are of one base: it is enough to look at the
 * least and the greatest number. */
typedef struct { size_t least, most; } Row;

enum { MOST_ROWS = 16 };

static bool spot_within(const Spots *low, size_t i, UOp *below)
{
	return place_within(&low->p[i], spot_node(low, i), below);
}

static bool in_row(const Spots *low, Row *row, int n, size_t i)
{
	for (int r = 0; r < n; r++) {
		size_t k = row[r].least;
		if (low->of[k] != low->of[i] || low->p[k].n != low->p[i].n ||
			(low->p[i].n && low->p[k].cond != low->p[i].cond))
			continue;
		row[r].least = low->k[i] < low->k[k] ? i : k;
		row[r].most = low->k[i] > low->k[row[r].most] ? i : row[r].most;
		return true;
	}
	return false;
}

static bool lows_within(const Spots *low, UOp *below)
{
	Row row[MOST_ROWS];
	int n = 0;
	for (size_t i = 0; i < low->n; i++) {
		if (in_row(low, row, n, i))
			continue;
		if (n == MOST_ROWS && !spot_within(low, i, below))
			return false;
		if (n < MOST_ROWS)
			row[n++] = (Row){i, i};
	}
	for (int i = 0; i < n; i++)
		if (!spot_within(low, row[i].least, below) ||
			(row[i].most != row[i].least && !spot_within(low, row[i].most, below)))
			return false;
	return true;
}

/* Where the two parts of a base are, and what is to be added to them. */
typedef struct { uint32_t high, low; int64_t k, more[2]; } Cut;

static bool cut_bases(const Spots *s, Sum *sum, const Sum *w, UOp *plus, Cut *cut, Spots *high,
	Spots *low)
{
	Map seen[2] = {{0}, {0}};
	bool fits = true;
	for (size_t b = 0; b < s->bases && fits; b++) {
		Sum h, l;
		cut[b].k = sum[b].k;
		sum[b].k = 0;
		fits = sum_divide(&sum[b], w, &h, &l) && (!plus || sum_term(&h, 1, plus)) &&
			base_of(high, &seen[0], &h, &cut[b].high, &cut[b].more[0]) &&
			base_of(low, &seen[1], &l, &cut[b].low, &cut[b].more[1]);
	}
	map_free(&seen[0]);
	map_free(&seen[1]);
	return fits;
}

/* Whether a part says something: it is not 0 everywhere. */
static bool says(const Spots *s)
{
	for (size_t i = 0; i < s->n; i++)
		if (s->k[i] || s->base[s->of[i]].sum.n)
			return true;
	return false;
}

/* The numbers of the parts: where the weight is a number, they are divided too. */
static bool cut_numbers(const Spots *s, const Cut *cut, const Sum *w, Spots *high, Spots *low)
{
	for (size_t i = 0; i < s->n; i++) {
		const Cut *c = &cut[s->of[i]];
		int64_t k, q = 0;
		if (!add_ok(s->k[i], c->k, &k))
			return false;
		if (!w->n) {
			q = floordiv(k, w->k);
			k = floormod(k, w->k);
		}
		high->of[i] = c->high;
		low->of[i] = c->low;
		if (!add_ok(q, c->more[0], &high->k[i]) || !add_ok(k, c->more[1], &low->k[i]))
			return false;
	}
	return true;
}

/* Splits the places, whose bases are these sums now, at w; `plus` is added to the high part. What
 * is left has to lie within w. */
static bool cut_at(const Spots *s, Sum *sum, const Sum *w, UOp *plus, Spots *high, Spots *low)
{
	Cut *cut = xmalloc((s->bases + 1) * sizeof *cut);
	Sum below = *w;
	spots_new(high, s->p, s->n, s->bases);
	spots_new(low, s->p, s->n, s->bases);
	bool is = (w->n || w->k > 0) && cut_bases(s, sum, w, plus, cut, high, low) &&
		cut_numbers(s, cut, w, high, low) && (plus || (says(high) && says(low))) &&
		lows_within(low, sum_node(&below));
	free(cut);
	if (!is) {
		spots_free(high);
		spots_free(low);
	}
	return is;
}

bool split_from(const Spots *s, const Sum *from, const Sum *w, Spots *high, Spots *low)
{
	Sum *sum = xmalloc((s->bases + 1) * sizeof *sum);
	bool fits = true;
	for (size_t b = 0; b < s->bases && fits; b++) {
		sum[b] = s->base[b].sum;
		fits = sum_plus(&sum[b], -1, from);
	}
	fits = fits && cut_at(s, sum, w, NULL, high, low);
	free(sum);
	return fits;
}

bool split_at(const Spots *s, const Sum *from, const Sum *w, Spots *high, Spots *low)
{
	Sum zero;
	sum_const(&zero, 0);
	return ((from->n || from->k) && split_from(s, from, w, high, low)) ||
		split_from(s, &zero, w, high, low);
}

/* The n for which div = x//n, where div is x//n or, for an x = y//m, y//(m*n); else NULL. */
static UOp *quotient_by(const Spots *s, const Digits *d, const UOp *div, const UOp *x)
{
	UOp *n = NULL;
	if (!div || !x || div->op != OP_FLOORDIV)
		return NULL;
	if (div->src[0] == x)
		n = div->src[1];
	else if (x->op == OP_FLOORDIV && x->src[0] == div->src[0])
		n = ix_div(div->src[1], x->src[1]);
	bool is = n && (div->src[0] == x || ix_mul(n, x->src[1]) == div->src[1]);
	return is && !moves_with(d, n) && places_positive(s->p, s->n, n) ? n : NULL;
}

/* Splits at a*n + b, for terms a*x and b*(x//n): x//n, and what is left with x%n for x. The sum of
 * (x//n)*(n + 2) and x%n has become (x//n)*2 + x. */
static bool split_quotient(const Spots *s, const Digits *d, UOp *div, UOp *of, UOp *by,
	Spots *high, Spots *low)
{
	const Sum *first = &s->base[s->of[0]].sum;
	Sum x, y, *sum;
	if (!coefficient(d, first, of, &x) || !coefficient(d, first, div, &y))
		return false;
	UOp *a = sum_node(&x), *b = sum_node(&y), *below = ix_add(ix_mul(by, a), b);
	UOp *gone = ix_add(ix_mul(of, a), ix_mul(div, b)), *left = ix_mul(ix_mod(of, by), a);
	sum = xmalloc((s->bases + 1) * sizeof *sum);
	sum_of(&x, below);
	for (size_t i = 0; i < s->bases; i++)
		sum_of(&sum[i], ix_add(ix_sub(s->base[i].node, gone), left));
	bool is = cut_at(s, sum, &x, div, high, low);
	free(sum);
	return is;
}

bool split_quotients(const Spots *s, const Digits *d, Spots *high, Spots *low)
{
	const Sum *sum = &s->base[s->of[0]].sum;
	UOp *size, *div, *of;
	for (int i = 0; i < sum->n; i++)
		for (int k = 0; k < sum->n; k++) {
			size_and_mover(d, sum->t[i].m, &size, &div);
			size_and_mover(d, sum->t[k].m, &size, &of);
			UOp *by = quotient_by(s, d, div, of);
			if (by && split_quotient(s, d, div, of, by, high, low))
				return true;
		}
	return false;
}

/* ---- weights at which sums may be split */

static bool same_sum(const Sum *a, const Sum *b)
{
	bool same = a->n == b->n && a->k == b->k;
	for (int i = 0; i < a->n && same; i++)
		same = sum_coef(b, a->t[i].m) == a->t[i].c;
	return same;
}

/* Adds w or, when its greatest term is negative, -w. What cannot be a weight is left out. */
static void add_weight(Weights *x, const Sum *w)
{
	Term most = leading(w);
	Sum s;
	sum_const(&s, 0);
	if (x->n == MOST_WEIGHTS || !most.c || !sum_plus(&s, most.c < 0 ? -1 : 1, w) ||
		(!s.n && s.k <= 1))
		return;
	for (size_t i = 0; i < x->n; i++)
		if (same_sum(&x->at[i], &s))
			return;
	vec_push(x, s);
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
	UOp *size[IX_TERMS], *mover[IX_TERMS];
	for (int i = 0; i < s->n; i++)
		size_and_mover(d, s->t[i].m, &size[i], &mover[i]);
	for (int i = 0; i < s->n; i++) {
		bool fits = mover[i] != ix_const(1);
		Sum c;
		sum_const(&c, 0);
		for (int k = 0; k < i && fits; k++)
			fits = mover[k] != mover[i];    /* seen */
		for (int k = i; k < s->n && fits; k++)
			fits = mover[k] != mover[i] || sum_term(&c, s->t[k].c, size[k]);
		if (fits)
			add_weight(x, &c);
	}
}

/* How much more the sizes of place `to` are than those of another; those of its base, `sizes`, are
 * found once for places that follow one another. */
typedef struct { const Spots *s; const Digits *d; size_t from; uint32_t base; Sum sizes; } Far;

static bool distance(Far *f, size_t to, Sum *out)
{
	const Spots *s = f->s;
	Sum least;
	if (s->of[to] != f->base) {
		f->base = UINT32_MAX;
		if (!coefficient(f->d, &s->base[s->of[to]].sum, ix_const(1), &f->sizes) ||
			!coefficient(f->d, &s->base[s->of[f->from]].sum, ix_const(1), &least) ||
			!sum_plus(&f->sizes, -1, &least))
			return false;
		f->base = s->of[to];
	}
	out->n = f->sizes.n;
	memcpy(out->t, f->sizes.t, out->n * sizeof *out->t);
	return add_ok(f->sizes.k, s->k[to], &out->k) &&
		!__builtin_sub_overflow(out->k, s->k[f->from], &out->k);
}

static Far far_from(const Spots *s, const Digits *d, size_t from)
{
	return (Far){s, d, from, UINT32_MAX, {0}};
}

/* The place of the least number, when all sizes are numbers. */
static bool least_number(const Spots *s, const Digits *d, size_t *least)
{
	Far f = far_from(s, d, 0);
	Sum far;
	*least = 0;
	for (size_t i = 1; i < s->n; i++) {
		if (!distance(&f, i, &far) || far.n)
			return false;
		*least = s->k[i] < s->k[*least] ? i : *least;
	}
	return true;
}

/* Whether a distance, a number, is that of a place before, added to one of the weights: in 0, 4,
 * 64, 68, 128 only 4 and 64 are steps of a tile. */
static bool reached(const Weights *x, Map *seen, const Sum *far)
{
	bool is = false;
	for (size_t i = 0; i < x->n && !far->n && !is; i++)
		is = !x->at[i].n && map_get(seen, (uint64_t)(far->k - x->at[i].k) + 1);
	if (!far->n)
		map_put(seen, (uint64_t)far->k + 1, seen);
	return is;
}

/* The distances of the places' constants from the first one, or from the least one where all are
 * numbers, and their common divisor; the steps of tiles first. */
void add_distances(Weights *x, const Digits *d, const Spots *s)
{
	int64_t step = 0;
	size_t least;
	Far f = far_from(s, d, 0);
	Sum far;
	for (size_t i = 1; i < s->n; i++) {
		if (!distance(&f, i, &far) || far.k == INT64_MIN)
			return;
		step = gcd(far.n ? 0 : far.k, step);
	}
	f = far_from(s, d, least_number(s, d, &least) ? least : 0);
	sum_const(&far, step);
	add_weight(x, &far);
	for (int rest = 0; rest < 2; rest++) {
		size_t from = x->n;
		Map seen = {0};
		for (size_t i = 0; i < s->n && x->n < MOST_WEIGHTS; i++)
			if (distance(&f, i, &far) && (rest || !reached(x, &seen, &far)))
				add_weight(x, &far);
		map_free(&seen);
		if (x->n > from)
			qsort(x->at + from, x->n - from, sizeof *x->at, by_weight_up);
	}
}

void find_from(Sum *from, const Digits *d, const Spots *s)
{
	size_t least;
	if (!coefficient(d, &s->base[s->of[0]].sum, ix_const(1), from)) {
		sum_const(from, 0);
		return;
	}
	from->k = s->k[least_number(s, d, &least) ? least : 0];
}

void find_weights(Weights *w, const Digits *d, const Spots *s)
{
	coefficients(w, d, &s->base[s->of[0]].sum);
	coefficients(w, d, &s->base[s->of[s->n - 1]].sum);
	if (w->n)
		qsort(w->at, w->n, sizeof *w->at, by_weight);
}
