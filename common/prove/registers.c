/* Registers and arrays of an item are read only where it has written them before, and names are
 * used only where they stand for something.
 *
 *     RANGE r 0..7: STORE reg[r + 8] = 0; ENDRANGE; LOAD reg[12]       written: 8 to 15
 *
 * What a store has written is a place with the counters of the loops around it that are still open,
 * and a set of numbers that may be added to it: { 8 } at r + 0 within the loop, { 8, …, 15 } at 0
 * when it is closed. */
#include <stdlib.h>
#include "index/ix.h"
#include "prove/accesses.h"

enum { MOST_ELEMENTS = 1 << 14, MOST_COUNTERS = 8 };

/* A place in a register: k + Σ term[i], each a function of one counter. */
typedef struct { int n; int64_t k; UOp *term[MOST_COUNTERS], *counter[MOST_COUNTERS]; } Line;
/* `open` has the terms of open loops; bits, of `size`, what may be added. depth: open blocks. */
typedef struct { Line open; uint64_t *bits; size_t depth; } Written;
/* closed: how many blocks had been closed as it was last looked at */
typedef struct {
	UOp *memory;
	int64_t size;
	bool touched;
	size_t closed;
	VEC(Written) written;
} Register;

/* An open RANGE or IF, and where in `wrote` begins what is written in it. */
typedef struct { UOp *begin; size_t wrote; } Block;

typedef struct {
	const ProvedCall *call;
	VEC(Register) reg;
	Map known;              /* memory: its place among them, from 1 */
	VEC(Block) block;
	size_t closed;          /* blocks, so far */
	VEC(size_t) wrote;      /* registers, by place, that open blocks have written to */
	VEC(UOp *) named;       /* what stands for something, and a NULL for each open block */
	VEC(UOp *) stack;
} Checker;

static ARENA TABLE(uint32_t) seen;      /* in the statement at hand */
static ARENA TABLE(uint32_t) named;     /* by node: stands for something, in the kernel at hand */

/* ---- places in registers */

/* The only counter in u, NULL when u has other numbers that vary, or none. */
static UOp *counter_of(UOp *u)
{
	UOp *counter = NULL;
	Nodes all = walk_brief(u);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->dtype != DT_I64 || all.at[i]->op == OP_LOAD ||
			all.at[i]->op == OP_VAR || all.at[i]->op == OP_SPECIAL)
			return NULL;
		if (all.at[i]->op == OP_RANGE && counter && counter != all.at[i])
			return NULL;
		counter = all.at[i]->op == OP_RANGE ? all.at[i] : counter;
	}
	return counter && range_size(counter) > 0 ? counter : NULL;
}

static bool line_term(Line *l, UOp *t)
{
	int64_t c;
	if (ix_is_const(t, &c))
		return add_ok(l->k, c, &l->k);
	UOp *counter = l->n < MOST_COUNTERS ? counter_of(t) : NULL;
	if (!counter)
		return false;
	l->term[l->n] = t;
	l->counter[l->n++] = counter;
	return true;
}

static bool line_of(Line *l, UOp *u)
{
	*l = (Line){0};
	u = ix_plain(u);
	for (UOp *rest = u; rest; rest = rest->op == OP_ADD ? rest->src[0] : NULL)
		if (!line_term(l, rest->op == OP_ADD ? rest->src[1] : rest))
			return false;
	return true;
}

static const int64_t UNKNOWN = INT64_MIN;

/* Whether a term is c*counter. */
static bool is_linear(const UOp *t, const UOp *counter, int64_t *c)
{
	*c = 1;
	return t == counter ||
		(t->op == OP_MUL && t->src[0] == counter && ix_is_const(t->src[1], c));
}

/* Another term at a value of its counter. */
static int64_t term_at(UOp *t, UOp *counter, int64_t v)
{
	UOp *to = ix_const(v), *u = substitute(t, 1, &counter, &to);
	int64_t lo, hi;
	ix_bounds(u, &lo, &hi);
	return lo == hi ? lo : UNKNOWN;
}

static bool bit(const uint64_t *bits, int64_t i) { return bits[i / 64] >> i % 64 & 1; }
static void set_bit(uint64_t *bits, int64_t i) { bits[i / 64] |= 1ull << i % 64; }

static bool is_open(const Checker *x, const UOp *counter)
{
	for (size_t i = 0; i < x->block.n; i++)
		if (x->block.at[i].begin == counter)
			return true;
	return false;
}

static Register *register_of(Checker *x, const UOp *memory)
{
	bool is = memory->op == OP_DEFINE_REG || memory->op == OP_DEFINE_LOCAL;
	uintptr_t at = is ? (uintptr_t)map_get(&x->known, PKEY(memory)) : 0;
	return at ? &x->reg.at[at - 1] : NULL;
}

/* The term of a counter, which is taken out; NULL when there is none. */
static UOp *take_out(Line *l, const UOp *counter)
{
	for (int i = 0; i < l->n; i++)
		if (l->counter[i] == counter) {
			UOp *t = l->term[i];
			l->n--;
			l->term[i] = l->term[l->n];
			l->counter[i] = l->counter[l->n];
			return t;
		}
	return NULL;
}

/* ---- what is written */

static bool same_line(const Line *a, const Line *b)
{
	for (int i = 0; i < a->n; i++) {
		bool found = false;
		for (int k = 0; k < b->n; k++)
			found |= a->term[i] == b->term[k];
		if (!found)
			return false;
	}
	return a->n == b->n;
}

static void add_bits(const Register *r, Written *to, const Written *from)
{
	for (int64_t k = 0; k <= r->size / 64; k++)
		to->bits[k] |= from->bits[k];
}

/* Joins the last entry with one of the same terms in the same blocks, and adds to it what those
 * outside have of these terms. */
static void merge_last(Register *r)
{
	Written *last = &r->written.at[r->written.n - 1];
	for (size_t i = 0; i + 1 < r->written.n; i++) {
		Written *w = &r->written.at[i];
		if (w->depth > last->depth || !same_line(&w->open, &last->open))
			continue;
		if (w->depth < last->depth) {
			add_bits(r, last, w);
			continue;
		}
		add_bits(r, w, last);
		free(last->bits);
		r->written.n--;
		return;
	}
}

static void wrote(Checker *x, Register *r, UOp *index)
{
	Written w = {.depth = x->block.n};
	r->touched = true;
	if (r->size > MOST_ELEMENTS || !line_of(&w.open, index))
		return;
	int64_t k = w.open.k;
	if (k < 0 || k >= r->size)
		return;
	w.open.k = 0;
	for (int i = 0; i < w.open.n; i++)
		if (!is_open(x, w.open.counter[i]))
			return;
	w.bits = xcalloc(r->size / 64 + 1, sizeof *w.bits);
	set_bit(w.bits, k);
	vec_push(&r->written, w);
	vec_push(&x->wrote, r - x->reg.at);
	merge_last(r);
}

/* Adds the bits that are set, each moved by `far`; those that leave the register are gone. `to` may
 * be `bits`. */
static void add_moved(const Register *r, uint64_t *to, const uint64_t *bits, int64_t far)
{
	if (far > r->size || far < -r->size)
		return;
	int64_t words = r->size / 64 + 1, by = floordiv(far, 64);
	int shift = (int)(far - 64 * by);
	for (int64_t n = 0; n < words; n++) {
		int64_t k = far > 0 ? words - 1 - n : n, i = k - by;
		uint64_t low = i >= 0 && i < words ? bits[i] << shift : 0;
		to[k] |= low | (shift && i > 0 && i <= words ? bits[i - 1] >> (64 - shift) : 0);
	}
	to[words - 1] &= (1ull << r->size % 64) - 1;
}

/* The bits that are set, moved by all values of a term less `least`: their least one, or 0. */
static void all_values(const Register *r, uint64_t *bits, UOp *t, UOp *counter, int64_t least)
{
	int64_t n = range_size(counter), c, far;
	if (is_linear(t, counter, &c)) {        /* twice as many each time */
		c = least < 0 ? -c : c;
		for (int64_t has = 1, more; has < n; has += more) {
			more = has < n - has ? has : n - has;
			if (!mul_ok(more, c, &far) || far > r->size || far < -r->size)
				return;
			add_moved(r, bits, bits, far);
		}
		return;
	}
	size_t bytes = (r->size / 64 + 1) * sizeof *bits;
	uint64_t *was = memcpy(xmalloc(bytes), bits, bytes);
	memset(bits, 0, bytes);
	for (int64_t v = 0; v < n; v++)
		if (!__builtin_sub_overflow(term_at(t, counter, v), least, &far))
			add_moved(r, bits, was, far);
	free(was);
}

/* The loop of a counter ends: what it wrote in all iterations is written. */
static void all_iterations(const Register *r, Written *w, UOp *counter)
{
	for (UOp *t; (t = take_out(&w->open, counter)); )
		all_values(r, w->bits, t, counter, 0);
}

static bool runs(UOp *range)
{
	return ix_prove_lt(ix_const(0), ix_plain(range->src[0]));
}

/* What is written to a register in a block that is closed. */
static void close_register(const Checker *x, Register *r, UOp *block, bool always)
{
	size_t n = r->written.n, kept = 0;
	for (size_t k = 0; k < n; k++) {
		Written w = r->written.at[k];
		bool inside = w.depth > x->block.n;
		if (inside && !always) {
			free(w.bits);
			continue;
		}
		w.depth = inside ? x->block.n : w.depth;
		if (inside)
			all_iterations(r, &w, block);
		r->written.at[kept] = w;
		r->written.n = ++kept;
		if (inside)
			merge_last(r);
		kept = r->written.n;
	}
	r->written.n = kept;
}

static void close_block(Checker *x)
{
	Block b = x->block.at[--x->block.n];
	bool always = b.begin->op == OP_RANGE && runs(b.begin);
	size_t kept = b.wrote;
	x->closed++;
	for (size_t i = b.wrote; i < x->wrote.n; i++) {
		Register *r = &x->reg.at[x->wrote.at[i]];
		if (r->closed == x->closed)
			continue;
		r->closed = x->closed;
		close_register(x, r, b.begin, always);
		x->wrote.at[kept++] = x->wrote.at[i];
	}
	x->wrote.n = kept;
}

/* ---- what is read */

/* The least and the greatest value of a term; false when one is unknown, or they lie further apart
 * than places do. */
static bool term_ends(const Register *r, UOp *t, UOp *counter, int64_t *lo, int64_t *hi)
{
	int64_t n = range_size(counter), c, far;
	if (is_linear(t, counter, &c)) {
		if (!mul_ok(c, n - 1, &far))
			return false;
		*lo = far < 0 ? far : 0;
		*hi = far < 0 ? 0 : far;
		return *hi < r->size && *lo > -r->size;
	}
	*lo = *hi = term_at(t, counter, 0);
	for (int64_t v = 1; v < n && *lo != UNKNOWN; v++) {
		int64_t x = term_at(t, counter, v);
		*lo = x < *lo ? x : *lo;
		*hi = x > *hi ? x : *hi;
		if (__builtin_sub_overflow(*hi, *lo, &far) || far >= r->size)
			return false;
	}
	return *lo != UNKNOWN;
}

/* Whether all values of k + Σ … are among the bits of an entry with these terms. */
static bool all_set(const Register *r, const Written *w, const Line *l)
{
	uint64_t bits[MOST_ELEMENTS / 64 + 1];
	int64_t words = r->size / 64 + 1, least = l->k, most = l->k, lo[MOST_COUNTERS], hi;
	for (int i = 0; i < l->n; i++)
		if (!term_ends(r, l->term[i], l->counter[i], &lo[i], &hi) ||
			!add_ok(least, lo[i], &least) || !add_ok(most, hi, &most))
			return false;
	if (least < 0 || most >= r->size)
		return false;
	memset(bits, 0, words * sizeof *bits);
	set_bit(bits, least);           /* from here on none leaves the register */
	for (int i = 0; i < l->n; i++)
		all_values(r, bits, l->term[i], l->counter[i], lo[i]);
	for (int64_t i = 0; i < words; i++)
		if (bits[i] & ~w->bits[i])
			return false;
	return true;
}

static bool covers(const Register *r, const Written *w, UOp *index)
{
	Line l, open = w->open;
	if (!line_of(&l, index)) {
		bool all = !w->open.n;
		for (int64_t i = 0; i < r->size && all; i++)
			all = bit(w->bits, i);
		return all;
	}
	for (int i = 0; i < w->open.n; i++)
		if (take_out(&l, w->open.counter[i]) != take_out(&open, w->open.counter[i]))
			return false;
	return all_set(r, w, &l);
}

static void check_read(Checker *x, UOp *load)
{
	Register *r = register_of(x, load->src[0]->src[0]);
	UOp *index = load->src[0]->src[1];
	bool ok = false;
	if (!r)
		return;
	if (r->size > MOST_ELEMENTS ||
		val_is_str(r->memory->arg->a[r->memory->arg->n - 1], "local"))
		ok = r->touched;
	for (size_t i = 0; i < r->written.n && !ok; i++)
		ok = covers(r, &r->written.at[i], index);
	if (!ok)
		prove_fault(x->call, "%s %lld is read at %s, which is not written before",
			r->memory->op == OP_DEFINE_REG ? "register" : "array",
			(long long)r->memory->arg->a[0]->i, index_text(index));
}

/* ---- statements */

static void name(Checker *x, UOp *u)
{
	if (named.at[u->id] == named.round)
		return;                 /* until the outer block is closed */
	vec_push(&x->named, u);
	named.at[u->id] = named.round;
}

static bool is_name(const UOp *u)
{
	return u->op == OP_LET || u->op == OP_RANGE || u->op == OP_DEFINE_REG ||
		u->op == OP_DEFINE_LOCAL;
}

/* What evaluating u reads and names. */
static void check_value(Checker *x, UOp *u)
{
	for (vec_push(&x->stack, u); x->stack.n; ) {
		UOp *v = x->stack.at[--x->stack.n];
		if (seen.at[v->id] == seen.round)
			continue;
		seen.at[v->id] = seen.round;
		if (is_name(v) && named.at[v->id] != named.round)
			prove_fault(x->call, "%s is used where it does not stand for anything",
				v->op == OP_RANGE ? index_text(v) : op_name(v->op));
		if (v->op == OP_LOAD && v->src[0]->op == OP_INDEX)
			check_read(x, v);
		for (uint32_t i = 0; !is_name(v) && i < v->nsrc; i++)
			vec_push(&x->stack, v->src[i]);
	}
}

static void define(Checker *x, UOp *u)
{
	const Val *size = u->arg->a[1];
	Register *r = register_of(x, u);
	if (!r) {
		vec_push(&x->reg, ((Register){.memory = u}));
		map_put(&x->known, PKEY(u), (void *)x->reg.n);
		r = &x->reg.at[x->reg.n - 1];
	}
	for (size_t i = 0; i < r->written.n; i++)
		free(r->written.at[i].bits);
	r->written.n = 0;
	r->touched = false;
	r->size = size->kind == VAL_INT ? size->i : INT64_MAX;
	name(x, u);
}

static void close_names(Checker *x)
{
	for (UOp *u; x->named.n && (u = x->named.at[--x->named.n]); )
		named.at[u->id] = 0;
}

static void statement(Checker *x, UOp *s)
{
	table_round(&seen);
	if (s->op == OP_RANGE || s->op == OP_IF) {
		check_value(x, s->src[0]);
		vec_push(&x->block, ((Block){s, x->wrote.n}));
		vec_push(&x->named, NULL);
		name(x, s);
	} else if (s->op == OP_ENDRANGE || s->op == OP_ENDIF) {
		close_block(x);
		close_names(x);
	} else if (s->op == OP_DEFINE_REG || s->op == OP_DEFINE_LOCAL) {
		define(x, s);
	} else if (s->op == OP_LET) {
		check_value(x, s->src[0]);
		name(x, s);
	} else if (s->op == OP_STORE) {
		for (uint32_t i = 0; i < s->nsrc; i++)
			check_value(x, s->src[i]);
		Register *r = register_of(x, s->src[0]->src[0]);
		if (r && s->nsrc == 2)
			wrote(x, r, s->src[0]->src[1]);
	}
}

void prove_registers(const ProvedCall *c)
{
	Checker x = {.call = c};
	if (!c->kernel || c->graph->level < LV_LOOPS ||
		proved_before(c, "registers"))
		return;
	table_round(&named);
	for (uint32_t i = 0; i < c->kernel->nsrc; i++)
		statement(&x, c->kernel->src[i]);
	for (size_t i = 0; i < x.reg.n; i++) {
		for (size_t k = 0; k < x.reg.at[i].written.n; k++)
			free(x.reg.at[i].written.at[k].bits);
		vec_free(&x.reg.at[i].written);
	}
	vec_free(&x.reg);
	map_free(&x.known);
	vec_free(&x.block);
	vec_free(&x.wrote);
	vec_free(&x.named);
	vec_free(&x.stack);
}
