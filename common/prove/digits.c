/* Places as digits. In
 *
 *     y[g*792 + t*16 + r + 33]      r in 0..15, t*16 + r in 0..32
 *
 * g, and what is left when g*792 is taken away, are the same for all who touch one place, because
 * what is left lies in 0 … 791: they are digits, of weight 792 and 1. A sum is split again and
 * again, at the coefficient of one of its terms or at the common divisor of its constants; a digit
 * that is one product or quotient of an item's number then says something of that number. */
#include "prove/digits.h"
#include <stdlib.h>

/* ---- what an expression depends on */

static int own_moves(const Digits *d, const UOp *u)
{
	if (u->op == OP_LOAD || u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT)
		return OF_ITEM | OF_LOOP | OF_DATA;
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

/* ---- sums */

enum { MOST_TERMS = 48 };
/* c * size * mover; size and mover are NULL for 1 */
typedef struct { int64_t c; UOp *size, *mover; } Part;
typedef struct { int n; int64_t k; Part t[MOST_TERMS]; } Parts;

static UOp *times(UOp *a, UOp *b)
{
	return a ? ix_mul(a, b) : b;
}

/* Multiplies p by the factors of u, a left-leaning product. */
static bool factors(Part *p, UOp *u)
{
	for (UOp *rest = u; rest; rest = rest->op == OP_MUL ? rest->src[0] : NULL) {
		UOp *f = rest->op == OP_MUL ? rest->src[1] : rest;
		int64_t v;
		if (ix_is_const(f, &v)) {
			if (!mul_ok(p->c, v, &p->c))
				return false;
		} else if (f->op == OP_VAR) {
			p->size = times(p->size, f);
		} else {
			p->mover = times(p->mover, f);
		}
	}
	return true;
}

/* u as parts; false when it does not fit. */
static bool parts_of(Parts *s, UOp *u)
{
	*s = (Parts){0};
	for (UOp *rest = u; rest; ) {
		UOp *last = rest->op == OP_ADD ? rest->src[1] : rest;
		Part p = {.c = 1};
		if (s->n == MOST_TERMS || !factors(&p, last))
			return false;
		if (p.size || p.mover)
			s->t[s->n++] = p;
		else if (!add_ok(s->k, p.c, &s->k))
			return false;
		rest = rest->op == OP_ADD ? rest->src[0] : NULL;
	}
	return true;
}

static UOp *part_node(const Part *p)
{
	UOp *u = times(p->size, ix_const(p->c));
	return p->mover ? ix_mul(u, p->mover) : u;
}

/* The weight at which a sum is split: c * size. */
typedef struct { int64_t c; UOp *size; } Weight;

static UOp *weight_node(const Weight *w)
{
	return times(w->size, ix_const(w->c));
}

/* p / w, when w divides it whatever the mover is. */
static bool divide(const Part *p, const Weight *w, Part *out)
{
	*out = *p;
	if (p->c % w->c)
		return false;
	out->c = p->c / w->c;
	if (!w->size)
		return true;
	if (p->size == w->size) {
		out->size = NULL;
		return true;
	}
	UOp *q = p->size ? ix_div(p->size, w->size) : NULL;
	if (!q || ix_mul(q, w->size) != p->size)
		return false;
	out->size = q;
	return true;
}

static int64_t modulo(int64_t a, int64_t b)
{
	int64_t r = a % b;
	return r < 0 ? r + b : r;
}

/* s = w * *high + *low, with the terms that w divides in *high. */
static void divided(const Parts *s, const Weight *w, UOp **high, UOp **low)
{
	int64_t rest = w->size ? s->k : modulo(s->k, w->c);
	*low = ix_const(rest);
	*high = ix_const((s->k - rest) / w->c);
	for (int i = 0; i < s->n; i++) {
		Part q;
		bool up = divide(&s->t[i], w, &q);
		UOp **side = up ? high : low;
		*side = ix_add(*side, part_node(up ? &q : &s->t[i]));
	}
}

/* ---- sizes of buffers with a border
 *
 *     b*(h + 2)*(w + 2) + (y + 1)*(w + 2) + x + 1
 *
 * is split at w + 2 when it is written with w' = w + 2 and h' = h + 2, as b*h'*w' + y*w' + … */

enum { MOST_MOVED = 4 };
typedef struct { size_t n; UOp *size[MOST_MOVED], *less[MOST_MOVED], *moved[MOST_MOVED],
	*more[MOST_MOVED]; } Border;

/* size' stands for size + by. */
static void move_size(Border *b, UOp *size, int64_t by)
{
	const Val *v = size->arg;
	int64_t lo, hi;
	for (size_t i = 0; i < b->n; i++)
		if (b->size[i] == size)
			return;
	if (b->n == MOST_MOVED || !add_ok(v->a[1]->i, by, &lo) || !add_ok(v->a[2]->i, by, &hi))
		return;
	UOp *moved = ix_var(arena_printf("%s'%lld", v->a[0]->s, (long long)by), lo, hi);
	b->size[b->n] = size;
	b->less[b->n] = ix_sub(moved, ix_const(by));
	b->moved[b->n] = moved;
	b->more[b->n++] = ix_add(size, ix_const(by));
}

/* The size of which a has a factor more than b: c*size*rest and c*by*rest, of one mover. */
static void find_border(Border *out, const Part *a, const Part *b)
{
	if (!a->mover || a->mover != b->mover || a->c <= 0 || b->c % a->c)
		return;
	for (UOp *rest = a->size; rest; rest = rest->op == OP_MUL ? rest->src[0] : NULL) {
		UOp *f = rest->op == OP_MUL ? rest->src[1] : rest;
		if (times(b->size, f) == a->size)
			move_size(out, f, b->c / a->c);
	}
}

static Border border_of(const Parts *s)
{
	Border b = {0};
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->n; k++)
			find_border(&b, &s->t[i], &s->t[k]);
	return b;
}

/* u with other sizes as factors of its terms. */
static UOp *resized(UOp *u, size_t n, UOp *const *from, UOp *const *to)
{
	Parts s;
	if (!n || !parts_of(&s, u))
		return u;
	UOp *sum = ix_const(s.k);
	for (int i = 0; i < s.n; i++) {
		UOp *size = substitute(times(s.t[i].size, ix_const(s.t[i].c)), n, from, to);
		sum = ix_add(sum, s.t[i].mover ? ix_mul(size, s.t[i].mover) : size);
	}
	return sum;
}

static UOp *sized_back(const Border *b, UOp *u)
{
	return resized(u, b->n, b->moved, b->more);
}

/* ---- splitting */

static void know(Digits *d, UOp *u)
{
	if (moves_with(d, u) & OF_DATA || map_get(&d->known, PKEY(u)))
		return;
	map_put(&d->known, PKEY(u), u);
	vec_push(&d->fresh, u);
}

static void leaf(Digits *d, Place *p, size_t n)
{
	vec_push(&d->leaf, p);
	for (size_t i = 1; i < n; i++)
		if (p[i].at != p[0].at)
			return;
	Parts s;
	know(d, p[0].at);
	if (parts_of(&s, p[0].at) && s.n == 1 && s.t[0].mover)
		know(d, s.t[0].mover);
}

typedef struct { size_t n; Parts *sum; Place *high, *low; Border border; } Splitting;

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

/* Splits n places at w, when what is left is within it for all of them and has something to say. */
static bool split_at(Splitting *x, const Place *p, const Weight *w)
{
	bool moves[2] = {false, false};
	UOp *below = sized_back(&x->border, weight_node(w));
	for (size_t i = 0; i < x->n; i++) {
		UOp *high, *low;
		divided(&x->sum[i], w, &high, &low);
		high = sized_back(&x->border, high);
		low = sized_back(&x->border, low);
		moves[0] |= high != ix_const(0);
		moves[1] |= low != ix_const(0);
		set_parts(x, p, i, high, low);
	}
	return moves[0] && moves[1] && lows_within(x, below);
}

static int64_t divisor(int64_t a, int64_t b)
{
	while (b) {
		int64_t r = a % b;
		a = b;
		b = r;
	}
	return a < 0 ? -a : a;
}

/* The common divisor of the differences between the places' constants. */
static int64_t step_of(const Parts *sum, size_t n)
{
	int64_t g = 0, diff;
	for (size_t i = 1; i < n; i++) {
		if (__builtin_sub_overflow(sum[i].k, sum[0].k, &diff) || diff == INT64_MIN)
			return 1;
		g = divisor(g, diff);
	}
	return g;
}

enum { MOST_STEPS = 32 };

/* The distances of the places' constants from the first one, as weights. */
static int steps_of(const Parts *sum, size_t n, Weight *w)
{
	int found = 0;
	int64_t far, least = sum[0].k;
	for (size_t i = 0; i < n; i++)
		least = sum[i].k < least ? sum[i].k : least;
	for (size_t i = 0; i < n && found < MOST_STEPS; i++) {
		bool seen = __builtin_sub_overflow(sum[i].k, least, &far) || far <= 1;
		for (int k = 0; k < found && !seen; k++)
			seen = w[k].c == far;
		if (!seen)
			w[found++] = (Weight){far, NULL};
	}
	return found;
}

static int by_weight(const void *a, const void *b)
{
	const Weight *x = a, *y = b;
	if (!x->size != !y->size)
		return x->size ? -1 : 1;
	return x->c != y->c ? (x->c > y->c ? -1 : 1) : 0;
}

static int weights_of(const Parts *sum, size_t n, Weight *w)
{
	int found = 0;
	for (size_t k = 0; k < 2; k++) {
		const Parts *s = &sum[k * (n - 1)];
		for (int i = 0; i < s->n; i++)
			if (s->t[i].c != INT64_MIN && (s->t[i].size || llabs(s->t[i].c) > 1))
				w[found++] = (Weight){llabs(s->t[i].c), s->t[i].size};
	}
	int64_t step = step_of(sum, n);
	if (step > 1)
		w[found++] = (Weight){step, NULL};
	qsort(w, found, sizeof *w, by_weight);
	int steps = steps_of(sum, n, w + found);
	qsort(w + found, steps, sizeof *w, by_weight);
	for (int i = 0; i < steps / 2; i++) {           /* the smallest first */
		Weight x = w[found + i];
		w[found + i] = w[found + steps - 1 - i];
		w[found + steps - 1 - i] = x;
	}
	return found + steps;
}

/* Splits n places, with their sizes as they are or as those within borders. */
static bool split(Splitting *x, const Place *p, bool border)
{
	size_t n = x->n;
	Weight w[2 * MOST_TERMS + 1 + MOST_STEPS];
	bool done = false;
	x->border = border ? border_of(&x->sum[0]) : (Border){0};
	if (border && !x->border.n)
		return false;
	for (size_t i = 0; i < n; i++)
		if (!parts_of(&x->sum[i], resized(p[i].at, x->border.n, x->border.size,
						  x->border.less)))
			return false;
	int found = weights_of(x->sum, n, w);
	for (int i = 0; i < found && !done; i++)
		if (!i || by_weight(&w[i - 1], &w[i]))
			done = split_at(x, p, &w[i]);
	return done;
}

/* The n for which div = x//n, where div is x//n or, for an x = y//m, y//(m*n); else NULL. */
static UOp *quotient_by(const Digits *d, const UOp *div, const UOp *x)
{
	UOp *n = NULL;
	if (!div || !x || div->op != OP_FLOORDIV)
		return NULL;
	if (div->src[0] == x)
		n = div->src[1];
	else if (x->op == OP_FLOORDIV && x->src[0] == div->src[0])
		n = ix_div(div->src[1], x->src[1]);
	bool is = n && (div->src[0] == x || ix_mul(n, x->src[1]) == div->src[1]);
	return is && !moves_with(d, n) && ix_prove_lt(ix_const(0), n) ? n : NULL;
}

/* Splits at a*n + b, for terms a*x and b*(x//n): x//n, and what is left with x%n for x. The sum of
 * (x//n)*(n + 2) and x%n has become (x//n)*2 + x. */
static bool split_quotient(Splitting *x, const Place *p, const Part *div, const Part *of, UOp *by)
{
	UOp *a = part_node(&(Part){of->c, of->size, NULL});
	UOp *left = ix_mul(ix_mod(of->mover, by), a);
	UOp *below = ix_add(ix_mul(by, a), part_node(&(Part){div->c, div->size, NULL}));
	for (size_t i = 0; i < x->n; i++) {
		UOp *low = ix_sub(ix_sub(p[i].at, part_node(div)), part_node(of));
		set_parts(x, p, i, div->mover, ix_add(low, left));
	}
	return lows_within(x, below);
}

static bool split_quotients(Splitting *x, const Digits *d, const Place *p)
{
	const Parts *s = &x->sum[0];
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->n; k++) {
			UOp *by = quotient_by(d, s->t[i].mover, s->t[k].mover);
			if (by && split_quotient(x, p, &s->t[i], &s->t[k], by))
				return true;
		}
	return false;
}

/* What is left of a split may be as large as what was split, so splits are counted. */
enum { MOST_SPLITS = 256 };

void digits_of(Digits *d, const Place *p)
{
	size_t n = d->n;
	Splitting x = {n, arena_block(n * sizeof *x.sum), arena_alloc(n * sizeof *x.high),
		arena_alloc(n * sizeof *x.low), {0}};
	bool done = d->splits < MOST_SPLITS && parts_of(&x.sum[0], p[0].at) &&
		(split(&x, p, true) || split(&x, p, false) || split_quotients(&x, d, p));
	arena_release(x.sum);
	d->splits += done;
	if (done) {
		digits_of(d, x.high);
		digits_of(d, x.low);
	} else {
		Place *copy = arena_alloc(n * sizeof *copy);
		memcpy(copy, p, n * sizeof *copy);
		leaf(d, copy, n);
	}
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

static void look_into(Digits *d)
{
	for (size_t i = 0; i < d->fresh.n; i++) {
		UOp *u = d->fresh.at[i];
		if (u->op == OP_LET)
			know(d, u->src[0]);
		else if (u->op == OP_ADD || u->op == OP_MUL)
			look_into_sum(d, u);
		else if (u->op == OP_FLOORDIV || u->op == OP_FLOORMOD)
			look_for_partner(d, u);
	}
}

bool digits_know(Digits *d, UOp *u)
{
	look_into(d);
	return map_get(&d->known, PKEY(u));
}

void digits_free(Digits *d)
{
	vec_free(&d->leaf);
	map_free(&d->known);
	vec_free(&d->fresh);
}
