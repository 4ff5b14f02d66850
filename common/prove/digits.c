/* Places as digits. In
 *
 *     y[g*792 + t*16 + r + 33]      r in 0..15, t*16 + r in 0..32
 *
 * g, and what is left when g*792 is taken away, are the same for all who touch one place, because
 * what is left lies in 0 … 791: they are digits, of weight 792 and 1. A sum is split again and
 * again, at the coefficient of one of its terms or at the common divisor of its constants; a digit
 * that is one product or quotient of an item's number then says something of that number. */
#include "prove/digits.h"
#include "prove/places.h"
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

/* ---- within what is known where a place is touched */

/* An i64 value x with 0 <= x < n is as good as an item's number out of n. */
static UOp *stand_in(UOp *x, UOp *n)
{
	return NODE(OP_SPECIAL, DT_I64, val_str(arena_printf("%%%u", x->id)), n);
}

static bool is_sum(const UOp *u)
{
	return u->op == OP_ADD || u->op == OP_MUL || u->op == OP_CONST;
}

typedef VEC(UOp *) Conds;

/* The comparisons x < y of indices that c, which is true, consists of. */
static void split_condition(Conds *out, UOp *c)
{
	Conds todo = {0};
	for (vec_push(&todo, c); todo.n; ) {
		UOp *u = todo.at[--todo.n];
		if (u->op == OP_LET || u->op == OP_AND)
			vec_push(&todo, u->src[0]);
		if (u->op == OP_AND)
			vec_push(&todo, u->src[1]);
		if ((u->op != OP_CMPLT && u->op != OP_CMPEQ) || u->src[0]->dtype != DT_I64)
			continue;
		/* x == y: x < y + 1 */
		vec_push(out, u->op == OP_CMPLT ? u : NODE(OP_CMPLT, DT_BOOL, VNIL, u->src[0],
			ix_add(u->src[1], ix_const(1))));
	}
	vec_free(&todo);
}

/* Replaces in u what conditions bound by stand-ins. */
static UOp *bounded(const Conds *c, UOp *u)
{
	UOp *from[8], *to[8];
	size_t n = 0;
	for (size_t i = 0; i < c->n && n < 8; i++) {
		UOp *x = c->at[i]->src[0], *b = c->at[i]->src[1];
		if (is_sum(x) || !ix_prove_le(ix_const(0), x))
			continue;
		from[n] = x;
		to[n++] = stand_in(x, b);
	}
	return substitute(u, n, from, to);
}

/* Whether u < below follows from x < y: below - u >= y - x. */
static bool implied(UOp *u, UOp *below, UOp *x, UOp *y)
{
	return ix_prove_le(ix_add(u, y), ix_add(below, x));
}

/* A term c*MIN(a, b) of u with c > 0, or NULL. */
static UOp *least_in(UOp *u)
{
	int64_t c;
	for (UOp *rest = u; rest; rest = rest->op == OP_ADD ? rest->src[0] : NULL) {
		UOp *t = rest->op == OP_ADD ? rest->src[1] : rest;
		if (t->op == OP_MUL && ix_is_const(t->src[1], &c) && c > 0)
			t = t->src[0];
		if (t->op == OP_MIN && t->dtype == DT_I64)
			return t;
	}
	return NULL;
}

typedef struct { bool least, most; } Within;

static void try_within(Within *w, UOp *u, UOp *below)
{
	w->least = w->least || ix_prove_le(ix_const(0), u);
	w->most = w->most || ix_prove_lt(u, below);
}

static void try_conditions(Within *w, const Conds *c, UOp *u, UOp *below)
{
	UOp *v = index_plain(bounded(c, u));
	try_within(w, v, below);
	u = index_plain(u);
	for (size_t i = 0; i < c->n && !(w->least && w->most); i++) {
		UOp *x = index_plain(c->at[i]->src[0]), *y = index_plain(c->at[i]->src[1]);
		w->least = w->least || implied(ix_const(-1), u, x, y);
		w->most = w->most || implied(u, below, x, y) || implied(v, below, x, y);
	}
}

/* MIN(a, b) is one of a and b, and not above either. */
static void try_least(Within *w, const Conds *c, UOp *u, UOp *below)
{
	u = index_plain(u);
	UOp *m = least_in(u);
	Within a = *w, b = *w;
	if (!m)
		return;
	try_conditions(&a, c, substitute(u, 1, &m, &m->src[0]), below);
	try_conditions(&b, c, substitute(u, 1, &m, &m->src[1]), below);
	w->least = w->least || (a.least && b.least);
	w->most = w->most || a.most || b.most;
}

/* What places.c knows of the registers and buffers of a kernel. */
static Known *known_of(const ProvedCall *c)
{
	static ARENA Known known;
	static ARENA const UOp *of;
	if (of != c->call)
		known_begin(&known, c->graph, c->number);
	of = c->call;
	return &known;
}

/* The same by what places.c knows. */
static void try_known(Within *w, const Place *p, UOp *u, UOp *below)
{
	if (!p->call)
		return;
	Known *k = known_of(p->call);
	frame_open(k);
	for (size_t i = p->n; i--; )
		assume(k, p->cond[i], true);
	facts_settle(k);
	w->least = w->least || follows(k, ix_const(0), u, 0);
	w->most = w->most || follows(k, u, below, 1);
	frame_close(k);
}

bool place_within(const Place *p, UOp *u, UOp *below)
{
	Within w = {0};
	Conds c = {0};
	try_within(&w, u, below);
	if (w.least && w.most)
		return true;
	for (size_t i = 0; i < p->n; i++)
		split_condition(&c, p->cond[i]);
	try_conditions(&w, &c, u, below);
	if (!w.least || !w.most)
		try_least(&w, &c, u, below);
	if (!w.least || !w.most)
		try_known(&w, p, u, below);
	vec_free(&c);
	return w.least && w.most;
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

typedef struct { Parts *sum; Place *high, *low; Border border; } Splitting;

/* p[i] = below*high + low, if low is within below. */
static bool split_one(Splitting *x, const Place *p, size_t i, UOp *high, UOp *low, UOp *below)
{
	bool again = i && x->low[i - 1].at == low && p[i].n == p[i - 1].n &&
		(!p[i].n || p[i].cond == p[i - 1].cond);
	if (!again && !place_within(&p[i], low, below))
		return false;
	x->high[i] = x->low[i] = p[i];
	x->high[i].at = high;
	x->low[i].at = low;
	return true;
}

/* Splits n places at w, when what is left is within it for all of them and has something to say. */
static bool split_at(Splitting *x, const Place *p, size_t n, const Weight *w)
{
	bool moves[2] = {false, false};
	UOp *below = sized_back(&x->border, weight_node(w));
	for (size_t i = 0; i < n; i++) {
		UOp *high, *low;
		divided(&x->sum[i], w, &high, &low);
		high = sized_back(&x->border, high);
		low = sized_back(&x->border, low);
		moves[0] |= high != ix_const(0);
		moves[1] |= low != ix_const(0);
		if (!split_one(x, p, i, high, low, below))
			return false;
	}
	return moves[0] && moves[1];
}

/* Splits at b*n + a, for terms a*x and b'*(x//n): x//n, and what is left with x%n for x. The sum of
 * (x//n)*(n + 2) and x%n has become (x//n)*2 + x. */
static bool split_quotient(Splitting *x, const Place *p, size_t n, const Part *div, const Part *of)
{
	UOp *d = div->mover;
	UOp *c = part_node(&(Part){of->c, of->size, NULL});
	UOp *m = ix_mul(ix_mod(d->src[0], d->src[1]), c);
	UOp *below = ix_add(ix_mul(d->src[1], c), part_node(&(Part){div->c, div->size, NULL}));
	for (size_t i = 0; i < n; i++) {
		UOp *low = ix_sub(ix_sub(p[i].at, part_node(div)), part_node(of));
		if (!split_one(x, p, i, d, ix_add(low, m), below))
			return false;
	}
	return true;
}

static bool split_quotients(Splitting *x, const Digits *d, const Place *p, size_t n)
{
	const Parts *s = &x->sum[0];
	for (int i = 0; i < s->n; i++)
		for (int k = 0; k < s->n; k++) {
			const UOp *q = s->t[i].mover;
			if (q && q->op == OP_FLOORDIV && q->src[0] == s->t[k].mover &&
				!moves_with(d, q->src[1]) &&
				split_quotient(x, p, n, &s->t[i], &s->t[k]))
				return true;
		}
	return false;
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
static bool split(Splitting *x, const Place *p, size_t n, bool border)
{
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
			done = split_at(x, p, n, &w[i]);
	return done;
}

void digits_of(Digits *d, const Place *p)
{
	size_t n = d->n;
	Splitting x = {arena_block(n * sizeof *x.sum), arena_alloc(n * sizeof *x.high),
		arena_alloc(n * sizeof *x.low), {0}};
	bool done = parts_of(&x.sum[0], p[0].at) && (split(&x, p, n, true) ||
		split(&x, p, n, false) || split_quotients(&x, d, p, n));
	arena_release(x.sum);
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
