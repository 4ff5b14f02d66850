/* Index arithmetic in normal form. Every ix_ function decomposes its sources into a sum of terms,
 * works on the sum and builds its unique node:
 *
 *     ix_add(ix_mul(ix_add(r0, 2), 5), ix_mul(r0, -3))      ->      r0*2 + 10
 *
 * Matching quotients and remainders are recombined:
 *
 *     (x//4)*4 + x%4  ->  x            ((x//4)%3)*4 + x%4  ->  x%12
 *
 * An expression that does not fit (too many terms, coefficients beyond int64) becomes a plain node,
 * which is then an atom. */
#include "index/index.h"
#include "index/ix.h"

/* nodes visited to decompose one index: bounds the cost of hostile input */
enum { VISITS = 4 * IX_TERMS };

static UOp *raw(Op op, UOp *a, UOp *b)
{
	return NODE(op, DT_I64, VNIL, a, b);
}

enum { SMALL_LEAST = -16, SMALL_MOST = 256 };
/* cached nodes: most coefficients and sizes are small */
static ARENA UOp *small[SMALL_MOST - SMALL_LEAST + 1];

UOp *ix_const(int64_t v)
{
	if (v < SMALL_LEAST || v > SMALL_MOST)
		return LEAF(OP_CONST, DT_I64, val_int(v));
	UOp **known = &small[v - SMALL_LEAST];
	return *known ? *known : (*known = LEAF(OP_CONST, DT_I64, val_int(v)));
}

UOp *ix_var(const char *name, int64_t min, int64_t max)
{
	return LEAF(OP_VAR, DT_I64, VARR(val_str(name), val_int(min), val_int(max)));
}

UOp *ix_range(int axis, const char *kind, UOp *size)
{
	return NODE(OP_RANGE, DT_I64, VARR(val_int(axis), val_str(kind)), size);
}

/* ---- monomials ------------------------------------------------------------------------------- */

/* The atoms of a product whose factors are themselves products. */
static int nested_atoms(UOp *m, UOp **atom)
{
	int n = 0, top = 0;
	UOp *stack[IX_ATOMS + 1];

	for (stack[top++] = m; top; ) {
		UOp *u = stack[--top];
		bool scaled = u->op == OP_MUL && (is_const(u->src[0]) || is_const(u->src[1]));
		if (u->op == OP_MUL && !scaled && n + top + 2 <= IX_ATOMS) {
			stack[top++] = u->src[1];
			stack[top++] = u->src[0];
		} else {
			atom[n++] = u;
		}
	}
	return n;
}

int mono_atoms(UOp *m, UOp **atom)
{
	UOp *u = m;
	int n = 1;

	if (m->op == OP_CONST)
		return 0;
	for (; u->op == OP_MUL; u = u->src[0], n++)
		if (n == IX_ATOMS || u->src[1]->op == OP_MUL || is_const(u->src[0]) ||
			is_const(u->src[1]))
			return nested_atoms(m, atom);
	atom[0] = u;
	u = m;
	for (int i = n; --i; u = u->src[0])
		atom[i] = u->src[1];
	return n;
}

/* The product of atoms. */
static UOp *mono_make(int n, UOp **atom)
{
	for (int i = 1; i < n; i++) {
		UOp *a = atom[i];
		int j = i;
		for (; j && atom[j - 1]->id > a->id; j--)
			atom[j] = atom[j - 1];
		atom[j] = a;
	}
	if (!n)
		return ix_const(1);
	UOp *m = atom[0];
	for (int i = 1; i < n; i++)
		m = raw(OP_MUL, m, atom[i]);
	return m;
}

static UOp *multiplied(UOp *a, UOp *b)
{
	UOp *atom[2 * IX_ATOMS];

	int n = mono_atoms(a, atom);
	n += mono_atoms(b, atom + n);
	return n > IX_ATOMS ? NULL : mono_make(n, atom);
}

static UOp *divided(UOp *a, UOp *b)
{
	UOp *x[IX_ATOMS], *y[IX_ATOMS];

	int n = mono_atoms(a, x), m = mono_atoms(b, y);
	for (int i = 0; i < m; i++) {
		int j = 0;
		while (j < n && x[j] != y[i])
			j++;
		if (j == n)
			return NULL;
		x[j] = x[--n];
	}
	return mono_make(n, x);
}

/* The latest answers: the same monomials are multiplied and divided again and again. */
enum { LATEST = 1 << 10 };
typedef struct { UOp *a, *b, *is; } Answer;

static Answer *answer_at(Answer *all, const UOp *a, const UOp *b)
{
	return &all[hash_mix(a->id, b->id) % LATEST];
}

UOp *mono_mul(UOp *a, UOp *b)
{
	static ARENA Answer known[LATEST];

	if (a->op == OP_CONST || b->op == OP_CONST)
		return a->op == OP_CONST ? b : a;
	Answer *x = answer_at(known, a, b);
	if (x->a != a || x->b != b)
		*x = (Answer){a, b, multiplied(a, b)};
	return x->is;
}

UOp *mono_div(UOp *a, UOp *b)
{
	static ARENA Answer known[LATEST];

	if (b->op == OP_CONST)
		return a;
	if (a == b)
		return ix_const(1);
	if (a->op != OP_MUL)
		return NULL;
	Answer *x = answer_at(known, a, b);
	if (x->a != a || x->b != b)
		*x = (Answer){a, b, divided(a, b)};
	return x->is;
}

/* ---- sums ------------------------------------------------------------------------------------ */

void sum_const(Sum *s, int64_t k)
{
	s->n = 0;
	s->k = k;
}

bool sum_term(Sum *s, int64_t c, UOp *m)
{
	if (m->op == OP_CONST)
		return mul_ok(c, m->arg->i, &c) && add_ok(s->k, c, &s->k);
	for (int i = 0; i < s->n; i++) {
		if (s->t[i].m != m)
			continue;
		if (!add_ok(s->t[i].c, c, &s->t[i].c) || s->t[i].c == INT64_MIN)
			return false;
		if (!s->t[i].c)
			s->t[i] = s->t[--s->n];
		return true;
	}
	if (!c)
		return true;
	if (s->n == IX_TERMS || c == INT64_MIN)
		return false;
	s->t[s->n++] = (Term){c, m};
	return true;
}

bool sum_plus(Sum *s, int64_t c, const Sum *o)
{
	int64_t x;

	for (int i = 0; i < o->n; i++)
		if (!mul_ok(c, o->t[i].c, &x) || !sum_term(s, x, o->t[i].m))
			return false;
	return mul_ok(c, o->k, &x) && add_ok(s->k, x, &s->k);
}

bool sum_mul(Sum *out, const Sum *a, const Sum *b)
{
	int64_t c;

	sum_const(out, 0);
	for (int i = 0; i < a->n; i++)
		for (int j = 0; j < b->n; j++) {
			UOp *m = mono_mul(a->t[i].m, b->t[j].m);
			if (!m || !mul_ok(a->t[i].c, b->t[j].c, &c) || !sum_term(out, c, m))
				return false;
		}
	for (int i = 0; i < a->n; i++)
		if (!mul_ok(a->t[i].c, b->k, &c) || !sum_term(out, c, a->t[i].m))
			return false;
	for (int j = 0; j < b->n; j++)
		if (!mul_ok(b->t[j].c, a->k, &c) || !sum_term(out, c, b->t[j].m))
			return false;
	return mul_ok(a->k, b->k, &c) && add_ok(out->k, c, &out->k);
}

bool sum_split(const Sum *s, UOp *atom, Sum *c, Sum *rest)
{
	sum_const(c, 0);
	sum_const(rest, s->k);
	for (int i = 0; i < s->n; i++) {
		Term t = s->t[i];
		UOp *m = mono_without(t.m, atom);
		if (!m)
			rest->t[rest->n++] = t;
		else if (!sum_term(c, t.c, m))
			return false;
	}
	return true;
}

int64_t sum_coef(const Sum *s, const UOp *m)
{
	for (int i = 0; i < s->n; i++)
		if (s->t[i].m == m)
			return s->t[i].c;
	return 0;
}

/* Adds c times a product; its constant factors go into the coefficient. */
static bool take_product(Sum *s, int64_t c, UOp *u)
{
	UOp *stack[IX_ATOMS + 1], *atom[IX_ATOMS];
	int top = 0, n = 0;
	int64_t v;

	for (stack[top++] = u; top; ) {
		UOp *x = stack[--top];
		if (x->op == OP_MUL) {
			if (n + top + 2 > IX_ATOMS)
				return false;
			stack[top++] = x->src[1];
			stack[top++] = x->src[0];
		} else if (!ix_is_const(x, &v)) {
			atom[n++] = x;
		} else if (!mul_ok(c, v, &c)) {
			return false;
		}
	}
	return sum_term(s, c, mono_make(n, atom));
}

/* Adds an atom; one that can have only one value is replaced by it (except a VAR, which keeps its
 * name). */
static bool take_atom(Sum *s, int64_t c, UOp *u)
{
	int64_t lo, hi;

	if (u->op == OP_RANGE || u->op == OP_FLOORDIV || u->op == OP_FLOORMOD) {
		ix_bounds(u, &lo, &hi);
		if (lo == hi && lo != INT64_MIN && lo != INT64_MAX && ix_pure(u))
			return mul_ok(c, lo, &c) && add_ok(s->k, c, &s->k);
	}
	return sum_term(s, c, u);
}

static bool take_apart(Sum *s, UOp *u)
{
	Term stack[IX_TERMS + 2];
	int top = 0, visits = 0;
	int64_t v;

	sum_const(s, 0);
	for (stack[top++] = (Term){1, u}; top; ) {
		Term t = stack[--top];
		if (++visits > VISITS || top > IX_TERMS - 2)
			return false;
		switch (t.m->op) {
		case OP_CONST:
			if (!ix_is_const(t.m, &v) || !mul_ok(t.c, v, &v) || !add_ok(s->k, v, &s->k))
				return false;
			break;
		case OP_ADD:
			stack[top++] = (Term){t.c, t.m->src[1]};
			stack[top++] = (Term){t.c, t.m->src[0]};
			break;
		case OP_SUB:
		case OP_NEG:
			if (!mul_ok(t.c, -1, &v))
				return false;
			stack[top++] = (Term){v, t.m->src[t.m->nsrc - 1]};
			if (t.m->op == OP_SUB)
				stack[top++] = (Term){t.c, t.m->src[0]};
			break;
		case OP_MUL:
			if (ix_is_const(t.m->src[1], &v)) {
				if (!mul_ok(t.c, v, &v))
					return false;
				stack[top++] = (Term){v, t.m->src[0]};
			} else if (!take_product(s, t.c, t.m)) {
				return false;
			}
			break;
		default:
			if (!take_atom(s, t.c, t.m))
				return false;
		}
	}
	return true;
}

void sum_of(Sum *s, UOp *u)
{
	if (take_apart(s, u))
		return;
	sum_const(s, 0);
	sum_term(s, 1, u);
}

static bool before(Term a, Term b)
{
	uint64_t x = a.c < 0 ? -(uint64_t)a.c : (uint64_t)a.c;
	uint64_t y = b.c < 0 ? -(uint64_t)b.c : (uint64_t)b.c;

	return x != y ? x > y : a.m->id < b.m->id;
}

/* s has m*(x%b) with coefficient c. If it also has c*m*b*(x//b), both together are c*m*x. */
static bool join_quotient(Sum *s, int64_t c, UOp *m, UOp *mod, UOp *quot)
{
	Sum w, p, q, r = *s;

	sum_const(&p, 0);
	if (!sum_term(&p, c, m))
		return false;
	sum_of(&q, mod->src[1]);
	if (!sum_mul(&w, &p, &q))
		return false;
	sum_of(&p, quot);
	if (!sum_mul(&q, &w, &p) || !q.n)
		return false;
	for (int i = 0; i < q.n; i++)
		if (sum_coef(s, q.t[i].m) != q.t[i].c)
			return false;
	UOp *gone = mono_mul(m, mod);
	if (!gone || !sum_plus(&r, -1, &q) || !sum_term(&r, -c, gone))
		return false;
	sum_const(&p, 0);
	sum_term(&p, c, m);
	sum_of(&q, mod->src[0]);
	if (!sum_mul(&w, &p, &q) || !sum_plus(&r, 1, &w))
		return false;
	*s = r;
	return true;
}

/* … and if it has c*m*b*((x//b)%a), both together are c*m*(x%(a*b)). */
static bool join_remainder(Sum *s, int64_t c, UOp *m, UOp *mod, UOp *quot)
{
	UOp *atom[IX_ATOMS];
	Sum b, p, q, r;

	sum_of(&b, mod->src[1]);
	if (b.n + (b.k != 0) != 1 || !ix_prove_lt(ix_const(0), mod->src[1]))
		return false;
	UOp *bm = b.n ? mono_mul(m, b.t[0].m) : m;
	int64_t bc = b.n ? b.t[0].c : b.k;
	if (!bm || !mul_ok(c, bc, &bc))
		return false;
	for (int i = 0; i < s->n; i++) {
		if (s->t[i].c != bc)
			continue;
		int n = mono_atoms(s->t[i].m, atom);
		for (int j = 0; j < n; j++) {
			if (atom[j]->op != OP_FLOORMOD || atom[j]->src[0] != quot)
				continue;
			if (mono_div(s->t[i].m, atom[j]) != bm)
				continue;
			if (!ix_pure(atom[j]) || !ix_prove_lt(ix_const(0), atom[j]->src[1]))
				continue;
			r = *s;
			UOp *gone = mono_mul(m, mod);
			UOp *both = ix_mod(mod->src[0], ix_mul(mod->src[1], atom[j]->src[1]));
			if (!gone || !sum_term(&r, -bc, s->t[i].m) || !sum_term(&r, -c, gone))
				return false;
			sum_const(&p, 0);
			sum_term(&p, c, m);
			sum_of(&q, both);
			if (!sum_mul(&b, &p, &q) || !sum_plus(&r, 1, &b))
				return false;
			*s = r;
			return true;
		}
	}
	return false;
}

/* s has c*max(0, x). If it also has -c*x, but for a number, both together are c*max(0, -x). */
static bool join_positive(Sum *s, int64_t c, UOp *mod)
{
	UOp *x = ix_positive_part(mod), *back;
	Sum p, r = *s;

	if (!x)
		return false;
	sum_of(&p, x);
	for (int i = 0; i < p.n; i++) {
		int64_t want;
		if (!mul_ok(p.t[i].c, -c, &want) || sum_coef(s, p.t[i].m) != want)
			return false;
	}
	back = ix_positive(ix_sub(ix_const(0), x));
	if (!back || !sum_term(&r, -c, mod) || !sum_plus(&r, c, &p))
		return false;
	sum_of(&p, back);
	if (!sum_plus(&r, c, &p))
		return false;
	*s = r;
	return true;
}

/* s has c*m*(u%n) for a size u and a number n. If, but for multiples of n, it also has -c*m*u, both
 * are -c*m*n*(u//n): h + (-h)%4 is 4*((h+3)//4). */
static bool join_rounded(Sum *s, int64_t c, UOp *m, UOp *mod)
{
	Sum u, v, p, q, r = *s;
	int64_t n, cn;

	if (!ix_fixed(mod) || !ix_is_const(mod->src[1], &n) || n <= 0 || !mul_ok(c, n, &cn))
		return false;
	sum_of(&u, mod->src[0]);
	sum_const(&v, u.k);
	for (int i = 0; i < u.n; i++) {
		UOp *t = mono_mul(m, u.t[i].m);
		int64_t has = t ? sum_coef(s, t) : 0, want;
		if (!has || has % c || !mul_ok(u.t[i].c, c, &want) || !add_ok(want, has, &want) ||
			want % cn || !sum_term(&v, -(has / c), u.t[i].m))
			return false;
	}
	/* c*m*(v%n) = c*m*v - c*n*m*(v//n), as v and u differ by a multiple of n */
	UOp *gone = mono_mul(m, mod), *quot = ix_div(sum_node(&v), mod->src[1]);
	sum_const(&p, 0);
	if (!gone || !sum_term(&r, -c, gone) || !sum_term(&p, 1, m) || !sum_mul(&q, &p, &v) ||
		!sum_plus(&r, c, &q))
		return false;
	sum_of(&u, quot);
	if (!sum_mul(&q, &p, &u) || !sum_plus(&r, -cn, &q))
		return false;
	*s = r;
	return true;
}

static bool join_one(Sum *s)
{
	UOp *atom[IX_ATOMS];

	for (int i = 0; i < s->n; i++) {
		UOp *m = s->t[i].m;
		if (m->op != OP_FLOORMOD && m->op != OP_MUL)
			continue;
		if (join_positive(s, s->t[i].c, m))
			return true;
		int n = mono_atoms(m, atom);
		for (int j = 0; j < n; j++) {
			if (atom[j]->op != OP_FLOORMOD || !ix_pure(atom[j]))
				continue;
			if (!ix_fixed(atom[j]->src[1]) &&
				!ix_prove_lt(ix_const(0), atom[j]->src[1]))
				continue;
			UOp *rest = mono_div(m, atom[j]),
			    *quot = ix_div(atom[j]->src[0], atom[j]->src[1]);
			if (join_quotient(s, s->t[i].c, rest, atom[j], quot)
			    || join_remainder(s, s->t[i].c, rest, atom[j], quot)
			    || join_rounded(s, s->t[i].c, rest, atom[j]))
				return true;
		}
	}
	return false;
}

/* By node: sum_node() has made it, so a number is added to it as it is. */
static ARENA TABLE(bool) normal;

static UOp *made_normal(UOp *u)
{
	if (u->id >= normal.cap)
		table_fit(&normal);
	normal.at[u->id] = true;
	return u;
}

UOp *sum_node(Sum *s)
{
	if (s->n > 1)
		for (int rounds = IX_TERMS; rounds && join_one(s); rounds--)
			;
	for (int i = 1; i < s->n; i++) {
		Term t = s->t[i];
		int j = i;
		for (; j && before(t, s->t[j - 1]); j--)
			s->t[j] = s->t[j - 1];
		s->t[j] = t;
	}
	UOp *u = NULL;
	for (int i = 0; i < s->n; i++) {
		UOp *x = s->t[i].c == 1 ? s->t[i].m : raw(OP_MUL, s->t[i].m, ix_const(s->t[i].c));
		u = u ? raw(OP_ADD, u, x) : x;
	}
	if (!u)
		return ix_const(s->k);
	return made_normal(s->k ? raw(OP_ADD, u, ix_const(s->k)) : u);
}

/* ---- the functions --------------------------------------------------------------------------- */

/* u = what is returned + a number, as normal form has it. */
static UOp *without_number(UOp *u, int64_t *k)
{
	*k = 0;
	return u->op == OP_ADD && ix_is_const(u->src[1], k) ? u->src[0] : u;
}

/* u + y for a u in normal form; NULL for others. */
static UOp *plus_number(UOp *u, int64_t y)
{
	int64_t k;
	UOp *base = without_number(u, &k);

	if (u->id >= normal.cap || !normal.at[u->id] || !add_ok(k, y, &k))
		return NULL;
	return made_normal(k ? raw(OP_ADD, base, ix_const(k)) : base);
}

UOp *ix_add(UOp *a, UOp *b)
{
	Sum s, t;
	int64_t x, y;

	bool p = ix_is_const(a, &x), q = ix_is_const(b, &y);
	if ((p && !x) || (q && !y))
		return p && !x ? b : a;
	if (p && q && add_ok(x, y, &x))
		return ix_const(x);
	UOp *sum = p != q ? plus_number(p ? b : a, p ? x : y) : NULL;
	if (sum)
		return sum;
	sum_of(&s, a);
	sum_of(&t, b);
	return sum_plus(&s, 1, &t) ? sum_node(&s) : raw(OP_ADD, a, b);
}

UOp *ix_sub(UOp *a, UOp *b)
{
	Sum s, t;
	int64_t x, y;

	if (ix_is_const(b, &y) && !y)
		return a;
	if (without_number(a, &x) == without_number(b, &y) && !__builtin_sub_overflow(x, y, &x))
		return ix_const(x);
	sum_of(&s, a);
	sum_of(&t, b);
	return sum_plus(&s, -1, &t) ? sum_node(&s) : raw(OP_ADD, a, raw(OP_MUL, b, ix_const(-1)));
}

UOp *ix_mul(UOp *a, UOp *b)
{
	Sum s, t, p;
	int64_t x, y;

	bool m = ix_is_const(a, &x), n = ix_is_const(b, &y);
	if (m && (x == 0 || x == 1))
		return x ? b : a;
	if (n && (y == 0 || y == 1))
		return y ? a : b;
	if (m && n && mul_ok(x, y, &x))
		return ix_const(x);
	sum_of(&s, a);
	sum_of(&t, b);
	return sum_mul(&p, &s, &t) ? sum_node(&p) : raw(OP_MUL, a, b);
}
