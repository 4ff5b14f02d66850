/* A stable argsort by the digits of the keys, from the lowest: each pass puts the elements where
 * the counts of smaller digits say, in the order in which it finds them.
 *
 *     for k<n:  w = order(key[k]) << 32 | k;  a[k] = w;  for p: count[p][digit p of w] += 1
 *     for p:    count[p] = its sums before each digit
 *               for k<n:  w = a[k];  b[count[p][digit p of w]++] = w;  a and b change places
 *
 * order() is the key as a number that is not negative: floats by their bits, of which a NaN has the
 * greatest and -0 those of 0; the other way round where the order is descending. The words lie in
 * the output and the scratch buffer by turns; the last pass writes the output, and of a word only
 * its place. Keys of 64 bits leave no room in a word: it is the place alone, by which each pass
 * reads the key. In rows so short that comparing all pairs takes fewer steps, a word's place is the
 * number of words below it:
 *
 *     for k<n:  for j<n: c += a[j] < a[k];  b[c] = k
 *
 * Places are within the row, whatever the keys: to show that, they are limited to it. */
#include "target/target.h"
#include "lower/sort.h"

enum { PLACE_BITS = 32, DIGIT_LEAST = 3, DIGIT_MOST = 11, PAIRS_MOST = 64 };

typedef struct {
	int key, digit, passes; /* bits of a key, of a digit; number of digits */
	UOp *count;
} Radix;

static UOp *number(uint64_t n) { return LEAF(OP_CONST, DT_U64, val_uint(n)); }
static uint64_t ones(int bits) { return UINT64_MAX >> (64 - bits); }
static UOp *wide(UOp *x) { return NODE(OP_CAST, DT_U64, VNIL, x); }
static UOp *op2(Op op, UOp *a, UOp *b) { return NODE(op, DT_U64, VNIL, a, b); }
static UOp *test(Op op, UOp *a, UOp *b) { return NODE(op, DT_BOOL, VNIL, a, b); }
static UOp *pick(UOp *c, UOp *a, UOp *b) { return NODE(OP_WHERE, DT_U64, VNIL, c, a, b); }

/* ---- keys */

static int key_bits(DType dt)
{
	return dt == DT_BOOL ? 1 : dtype_float(dt) ? 8 * (int)dtype_size(dtype_acc(dt)) :
						     8 * (int)dtype_size(dt);
}

/* The order of a key as u64. */
static UOp *order_of(const Sort *o, const Radix *r, UOp *x)
{
	UOp *top = number(UINT64_C(1) << (r->key - 1)), *all = number(ones(r->key)), *order;
	if (dtype_float(x->dtype)) {
		UOp *bits = NODE(OP_BITCAST, r->key == 64 ? DT_U64 : DT_U32, VNIL, x);
		UOp *b = let(o->l, wide(bits)), *zero = const_num(x->dtype, 0);
		order = pick(test(OP_CMPLT, b, top), op2(OP_OR, b, top), op2(OP_XOR, b, all));
		order = pick(test(OP_CMPEQ, x, zero), top, order);
		order = pick(test(OP_CMPNE, x, x), all, order);
	} else {
		order = op2(OP_AND, wide(x), all);
		order = dtype_signed(x->dtype) ? op2(OP_XOR, order, top) : order;
	}
	return let(o->l, o->descending ? op2(OP_XOR, order, all) : order);
}

/* The word of the element at k whose key has this order. */
static UOp *word_of(const Sort *o, const Radix *r, UOp *order, UOp *k)
{
	if (r->key > PLACE_BITS)
		return k;
	UOp *word = op2(OP_OR, op2(OP_SHL, order, number(PLACE_BITS)), wide(k));
	return let(o->l, NODE(OP_CAST, DT_I64, VNIL, word));
}

static UOp *limited(const Sort *o, UOp *place)
{
	UOp *most = ix_sub(o->n, ix_const(1));
	place = NODE(OP_MAX, DT_I64, VNIL, place, ix_const(0));
	return let(o->l, NODE(OP_MIN, DT_I64, VNIL, place, most));
}

/* The order of a word's key. */
static UOp *word_order(const Sort *o, const Radix *r, UOp *word)
{
	if (r->key > PLACE_BITS)
		return order_of(o, r, sort_key(o, limited(o, word), NULL));
	return op2(OP_SHR, wide(word), number(PLACE_BITS));
}

static UOp *digit_of(const Radix *r, UOp *order, int pass)
{
	UOp *from = op2(OP_SHR, order, number(pass * r->digit));
	return NODE(OP_CAST, DT_I64, VNIL, op2(OP_AND, from, number(ones(r->digit))));
}

/* ---- counts */

static UOp *count_at(const Radix *r, int pass, UOp *digit)
{
	return ix_add(ix_const((int64_t)pass << r->digit), digit);
}

/* Adds one to a count; returns what it was. */
static UOp *counted(const Sort *o, const Radix *r, UOp *place)
{
	UOp *was = let(o->l, load_at(r->count, place)), *one = const_num(DT_I32, 1);
	emit(o->l, store_at(r->count, place, NODE(OP_ADD, DT_I32, VNIL, was, one)));
	return was;
}

static void clear_counts(const Sort *o, const Radix *r)
{
	UOp *k = sort_open(o, 1, ix_const((int64_t)r->passes << r->digit));
	emit(o->l, store_at(r->count, k, const_num(DT_I32, 0)));
	sort_close(o, k);
}

/* Each count of a pass becomes the sum of those before it. */
static void sum_counts(const Sort *o, const Radix *r, int pass)
{
	UOp *sum = make_reg(o->l, DT_I32, 1), *zero = ix_const(0);
	emit(o->l, sum);
	emit(o->l, store_at(sum, zero, const_num(DT_I32, 0)));
	UOp *d = sort_open(o, 1, ix_const(INT64_C(1) << r->digit)), *place = count_at(r, pass, d);
	UOp *was = let(o->l, load_at(r->count, place)), *before = let(o->l, load_at(sum, zero));
	emit(o->l, store_at(r->count, place, before));
	emit(o->l, store_at(sum, zero, NODE(OP_ADD, DT_I32, VNIL, before, was)));
	sort_close(o, d);
}

/* ---- the sort */

/* Writes the words, and counts their digits. */
static void write_words(const Sort *o, const Radix *r, UOp *to)
{
	UOp *k = sort_open(o, 1, o->n), *order = order_of(o, r, sort_key(o, k, NULL));
	sort_write(o, to, k, word_of(o, r, order, k));
	for (int p = 0; p < r->passes; p++)
		counted(o, r, let(o->l, count_at(r, p, digit_of(r, order, p))));
	sort_close(o, k);
}

static UOp *place_in(const Radix *r, UOp *word)
{
	UOp *mask = ix_const(UINT32_MAX);
	return r->key > PLACE_BITS ? word : NODE(OP_AND, DT_I64, VNIL, word, mask);
}

static void move_words(const Sort *o, const Radix *r, int pass, UOp *from, UOp *to)
{
	Lowering *l = o->l;
	UOp *k = sort_open(o, 1, o->n), *word = let(l, sort_read(o, from, k, NULL));
	UOp *digit = digit_of(r, word_order(o, r, word), pass);
	UOp *at = counted(o, r, let(l, count_at(r, pass, digit)));
	at = limited(o, NODE(OP_CAST, DT_I64, VNIL, at));
	sort_write(o, to, at, pass + 1 == r->passes ? place_in(r, word) : word);
	sort_close(o, k);
}

static void sort_by_digits(const Sort *o, Radix *r)
{
	UOp *from = r->passes % 2 ? o->scratch : o->to, *to = r->passes % 2 ? o->to : o->scratch;
	r->count = LEAF(OP_DEFINE_LOCAL, DT_I32, VARR(val_int(o->l->ids++),
		val_int((int64_t)r->passes << r->digit), val_str("stack")));
	emit(o->l, r->count);
	clear_counts(o, r);
	write_words(o, r, from);
	for (int p = 0; p < r->passes; p++) {
		sum_counts(o, r, p);
		move_words(o, r, p, from, to);
		UOp *other = from;
		from = to;
		to = other;
	}
}

static void sort_by_pairs(const Sort *o, const Radix *r)
{
	Lowering *l = o->l;
	UOp *below = make_reg(l, DT_I64, 1), *zero = ix_const(0), *one = ix_const(1);
	write_words(o, r, o->scratch);
	UOp *k = sort_open(o, 1, o->n), *word = let(l, sort_read(o, o->scratch, k, NULL));
	emit(l, below);
	emit(l, store_at(below, zero, zero));
	UOp *j = sort_open(o, 2, o->n);
	UOp *less = test(OP_CMPLT, wide(sort_read(o, o->scratch, j, NULL)), wide(word));
	UOp *step = NODE(OP_WHERE, DT_I64, VNIL, less, one, zero);
	emit(l, store_at(below, zero, NODE(OP_ADD, DT_I64, VNIL, load_at(below, zero), step)));
	sort_close(o, j);
	sort_write(o, o->to, limited(o, load_at(below, zero)), k);
	sort_close(o, k);
}

/* The digits that take fewest steps for a row: in each pass its elements, and all counts. */
static Radix digits_for(int key, int64_t n)
{
	Radix best = {0};
	int64_t least = INT64_MAX;
	for (int b = DIGIT_LEAST; b <= DIGIT_MOST; b++) {
		int passes = (key + b - 1) / b;
		int64_t steps = passes * (n + (INT64_C(1) << b));
		if ((4ll * passes << b) > target->local || steps >= least)
			continue;
		least = steps;
		best = (Radix){.key = key, .digit = b, .passes = passes};
	}
	return best;
}

bool radix_emit(Sort *o)
{
	int64_t least, most;
	ix_bounds(o->n, &least, &most);
	if (target->gpu || most > INT32_MAX)
		return false;
	Radix r = digits_for(key_bits(o->load->dtype), usual_size(least, most));
	int64_t steps = r.passes * (most + (INT64_C(1) << r.digit));
	if (!r.passes)
		return false;
	if (r.key > PLACE_BITS || most > PAIRS_MOST || most * most > 2 * steps) {
		sort_by_digits(o, &r);
	} else {
		r.passes = 0;
		sort_by_pairs(o, &r);
	}
	return true;
}
