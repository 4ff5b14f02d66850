/* check_algebra SEED COUNT: the integer algebra against plain evaluation.
 *
 * Random expressions over ranges and sizes are built twice, as trees of this file and through ix_,
 * and evaluated at every point; bounds, comparisons and proofs must hold there too. Then the
 * identities that reshapes live by, which must come out as one node, not only as equal values. */
#include "shape/shape.h"
#include "index/ix.h"
#include <stdlib.h>

typedef struct Tree {
	int op;
	struct Tree *l, *r;
	UOp *u;
} Tree; /* op: + - * / %, < for the lesser, > for the greater, ? for a < b; 0 for a leaf */

static Tree pool[4096];
static int made, nranges, by_zero, wrong;
static UOp *range[4], *size[2];
static int64_t at[4], size_at[2], size_most[2];
static bool symbolic;

static int pick(int n) { return rand() % n; }

static UOp *combine(int op, UOp *a, UOp *b)
{
	switch (op) {
	case '+': return ix_add(a, b);
	case '-': return ix_sub(a, b);
	case '*': return ix_mul(a, b);
	case '/': return ix_div(a, b);
	case '<': return ix_min(a, b);
	case '>': return ix_max(a, b);
	case '?': return ix_less(a, b);
	default: return ix_mod(a, b);
	}
}

static Tree *tree(int op, Tree *l, Tree *r, UOp *leaf)
{
	pool[made] = (Tree){op, l, r, op ? combine(op, l->u, r->u) : leaf};
	return &pool[made++];
}

static Tree *leaf(UOp *u) { return tree(0, NULL, NULL, u); }
static Tree *number(int64_t v) { return leaf(ix_const(v)); }

static Tree *divisor(void)
{
	static const int numbers[] = {1, 2, 3, 4, 5, 6, 8, 10, 12};
	if (!symbolic || !pick(3))
		return number(pick(40) ? numbers[pick(9)] : -numbers[pick(9)]);
	Tree *n = leaf(size[pick(2)]);
	switch (pick(6)) {
	case 0: return tree('*', n, number(1 + pick(4)), NULL);
	case 1: return tree('*', n, leaf(size[pick(2)]), NULL);
	case 2: return tree('+', n, number(pick(3)), NULL);
	case 3: return tree('-', n, number(1 + pick(2)), NULL);
	default: return n;
	}
}

static Tree *grow(int depth)
{
	static const int factors[] = {2, 4, 5, 10, 12, 20};
	if (!depth || !pick(8)) {
		int k = pick(10);
		return k < 7 && nranges	  ? leaf(range[pick(nranges)]) :
			k < 9 && symbolic ? leaf(size[pick(2)]) :
					    number(pick(12) - 2);
	}
	switch (pick(11)) {
	case 9: case 10: return tree("<>?"[pick(3)], grow(depth - 1), grow(depth - 1), NULL);
	case 0: case 1: case 2: return tree('+', grow(depth - 1), grow(depth - 1), NULL);
	case 3: return tree('-', grow(depth - 1), grow(depth - 1), NULL);
	case 4:
		return tree('*', grow(depth - 1),
			pick(3) ? number(factors[pick(6)]) : number(pick(13) - 4), NULL);
	case 5: return tree('*', grow(depth - 1), divisor(), NULL);
	case 6: case 7: return tree('/', grow(depth - 1), divisor(), NULL);
	default: return tree('%', grow(depth - 1), divisor(), NULL);
	}
}

static int64_t compute(int op, int64_t a, int64_t b)
{
	if (op == '+' || op == '-' || op == '*')
		return op == '+' ? a + b : op == '-' ? a - b : a * b;
	if (op == '<' || op == '>' || op == '?')
		return op == '?' ? a < b : (a < b) == (op == '<') ? a : b;
	if (!b)
		return by_zero = 1, 0;
	int64_t q = a / b - (a % b && (a < 0) != (b < 0));
	return op == '/' ? q : a - q * b;
}

static int64_t leaf_value(UOp *u)
{
	for (int i = 0; i < nranges; i++)
		if (u == range[i])
			return at[i];
	return u == size[0]	    ? size_at[0] :
		u == size[1]	    ? size_at[1] :
		u->dtype == DT_BOOL ? u->arg->b :
				      u->arg->i;
}

static int64_t tree_value(Tree *t)
{
	return t->op ? compute(t->op, tree_value(t->l), tree_value(t->r)) : leaf_value(t->u);
}

static int64_t node_value(UOp *u)
{
	if (u->op == OP_CONST || u->op == OP_RANGE || u->op == OP_VAR)
		return leaf_value(u);
	int64_t a = node_value(u->src[0]), b = node_value(u->src[1]);
	switch (u->op) {
	case OP_CMPLT: return a < b;
	case OP_AND: return a && b;
	default:
		return compute(u->op == OP_ADD	     ? '+' :
				u->op == OP_MUL	     ? '*' :
				u->op == OP_FLOORDIV ? '/' :
						       '%',
			a, b);
	}
}

static Tree *x, *y;
static UOp *lt, *inside, *both;
static bool proved_lt, proved_le;

static void expect(bool right, const char *what, UOp *u)
{
	Buf b = {0};
	if (right)
		return;
	ix_print(&b, u, NULL, NULL);
	printf("wrong: %s: %s\n", what, buf_str(&b));
	buf_free(&b);
	wrong++;
}

static void check_point(void)
{
	int64_t lo, hi, a, b;
	by_zero = 0;
	a = tree_value(x);
	b = tree_value(y);
	if (by_zero)
		return;
	ix_bounds(x->u, &lo, &hi);
	expect(node_value(x->u) == a && node_value(y->u) == b, "value", x->u);
	expect(lo <= a && a <= hi, "bounds", x->u);
	expect(node_value(lt) == (a < b), "a < b", lt);
	expect(node_value(inside) == (0 <= a && a < b), "0 <= a < b", inside);
	expect(node_value(both) == (0 <= a && a < b && b < a + 3), "0 <= a < b < a+3", both);
	expect((!proved_lt || a < b) && (!proved_le || a <= b), "proof", lt);
}

static void each_point(int k)
{
	if (k == nranges) {
		check_point();
		return;
	}
	int64_t n = node_value(range[k]->src[0]);
	for (at[k] = 0; at[k] < n && wrong < 5; at[k]++)
		each_point(k + 1);
}

static UOp *some_size(void)
{
	static const int sizes[] = {1, 2, 3, 4, 5, 6, 10, 12};
	UOp *n = size[pick(2)];
	if (!symbolic || pick(2))
		return ix_const(sizes[pick(8)]);
	switch (pick(5)) {
	case 0: return ix_mul(n, size[pick(2)]);
	case 1: return ix_mul(n, ix_const(1 + pick(3)));
	case 2: return ix_sub(n, ix_const(pick(2)));
	case 3: return ix_add(n, ix_const(pick(3)));
	default: return n;
	}
}

static void random_case(int seed)
{
	srand(seed);
	made = 0;
	symbolic = pick(2);
	nranges = symbolic && !pick(3) ? 0 : 1 + pick(3);       /* none: of sizes alone */
	size_most[0] = nranges ? 5 : 40;
	size_most[1] = nranges ? 4 : 9;
	size[0] = ix_var("n", 1, size_most[0]);
	size[1] = ix_var("m", 1, size_most[1]);
	for (int i = 0; i < nranges; i++)
		range[i] = ix_range(i, "loop", some_size());
	x = grow(4);
	y = grow(3);
	lt = ix_lt(x->u, y->u);
	inside = ix_inside(x->u, y->u);
	both = ix_and(inside, ix_lt(y->u, ix_add(x->u, ix_const(3))));
	proved_lt = ix_prove_lt(x->u, y->u);
	proved_le = ix_prove_le(x->u, y->u);
	for (size_at[0] = 1; size_at[0] <= size_most[0]; size_at[0] += symbolic ? 1 : 9)
		for (size_at[1] = 1; size_at[1] <= size_most[1]; size_at[1] += symbolic ? 1 : 9)
			each_point(0);
}

/* ---- remainders under a gate */

static UOp *dividend, *mod, *quotient, *plain;
static int64_t low, high;
static int unwrapped;

static void check_gate(void)
{
	int64_t n = node_value(mod->src[1]), v = node_value(dividend), r = compute('%', v, n),
		p = node_value(plain);
	bool in = low <= r && r < high;
	expect(in == (low <= p && p < high), "the gate of an unwrapped remainder", plain);
	expect(!in || (p == r && node_value(quotient) == compute('/', v, n)),
		"an unwrapped remainder", plain);
}

static void each_gate(int k)
{
	if (k == nranges) {
		check_gate();
		return;
	}
	for (at[k] = 0; at[k] < node_value(range[k]->src[0]) && wrong < 5; at[k]++)
		each_gate(k + 1);
}

/* coefficients are near multiples of n, as those of windows are */
static void random_gate(int seed)
{
	srand(seed);
	made = 0;
	symbolic = false;
	nranges = 1 + pick(3);
	int64_t n = 2 + pick(14);
	UOp *sum = ix_const(pick(40) - 20);
	for (int i = 0; i < nranges; i++) {
		range[i] = ix_range(i, "loop", some_size());
		sum = ix_add(sum, ix_mul(range[i], ix_const((pick(5) - 1) * n + pick(5) - 2)));
	}
	dividend = sum;
	mod = NODE(OP_FLOORMOD, DT_I64, VNIL, sum, ix_const(n));
	low = pick(4) - 1;
	high = low + 1 + pick(n);
	if (!ix_unwrap(mod, low, high, &quotient, &plain))
		return;
	low = low < 0 ? 0 : low;
	high = high > n ? n : high;
	unwrapped++;
	each_gate(0);
}

/* ---- what must be one node */

static UOp *parse(const char *s)
{
	const char *err;
	UOp *u = ix_parse(s, strlen(s), &err);
	if (!u)
		die(FAILED, "%s: %s", s, err);
	return u;
}

/* text with a … h standing for ranges of these sizes; capitals and words are sizes */
static UOp *with_ranges(const char *text, const char *const *sizes)
{
	UOp *from[8], *to[8];
	int n = 0;
	for (; sizes[n]; n++) {
		from[n] = vars_find((const char[]){(char)('a' + n)}, 1);
		to[n] = ix_range(n, "loop", parse(sizes[n]));
	}
	return substitute(parse(text), n, from, to);
}

static const struct { const char *text, *becomes, *sizes[5]; } identities[] = {
	{"(a*40+b)//20", "a*2", {"7", "20"}},
	{"(a+b*10)%10", "a", {"10", "11"}},
	{"(a*N+b)//N", "a", {"M", "N"}},
	{"(a*N+b)%N", "b", {"M", "N"}},
	{"(a//N)%M", "a//N", {"N*M"}},
	{"(a//N)*N+a%N", "a", {"N*M"}},
	{"(a*(H+D)+b)%H", "a*D+b", {"3", "H-2*D"}},
	{"(a*(H+D)+b)//H", "a", {"3", "H-2*D"}},
	{"(a*10+b)%8", "a*2+b", {"3", "4"}},
	{"(a//3)//5", "a//15", {"1000"}},
	{"(a%12)%4", "a%4", {"1000"}},
	{"(a%12)//4", "(a//4)%3", {"1000"}},
	{"(a//4)*4+a%4", "a", {"1000"}},
	{"((a//4)%3)*4+a%4", "a%12", {"1000"}},
	{"(a*6+b*4)//2", "a*3+b*2", {"9", "9"}},
	{"(a*6+b)//4", "a+a//2", {"1000", "2"}},
	{"(N*M-1-(a*N+b))//N", "M-1-a", {"M", "N"}},
	{"(N*M-1-(a*N+b))%N", "N-1-b", {"M", "N"}},
	{"(a*(H-2)+b)//(H-2)", "a", {"M", "H-2"}},
	{"(a*(N+M)+b)%(N+M)", "b", {"M", "N+M"}},
	{"(a*(H+1)+b*2)%H", "a+b*2", {"3", "(H-3)//2+1"}},
	{"(a*(H+1)+b*2)//H", "a", {"3", "(H-3)//2+1"}},
	{"(a+3)//7*7+(a+3)%7", "a+3", {"1000"}},
	{"H+(-H)%4", "(H+3)//4*4", {0}},
	{"H+(-(H%4))%4", "(H+3)//4*4", {0}},
	{"(H//4+(H//4)%2+1)//2", "(H+4)//8", {0}},
	{"N*H-N*(H%4)", "H//4*N*4", {0}},
	{"(N*H//M+47)//48", "(M*(N*H//M)+M*47)//M//48", {0}},
	{"(-H)//4*4+(-H)%4", "-H", {0}},
	{"((a%10)*10+a//10)%10*10+((a%10)*10+a//10)//10", "a", {"100"}},
};

static void extremes(void)
{
	UOp *n = parse("N"), *m = parse("M"), *seven = ix_const(7), *zero = ix_const(0), *u, *back;
	UOp *cut = ix_min(n, seven), *rest = ix_max(zero, ix_sub(n, seven)), *both = ix_min(n, m);
	UOp *all[] = {cut, rest, both, ix_max(n, m), ix_less(n, m), ix_min(ix_mul(n, m), seven)};
	for (size_t i = 0; i < sizeof all / sizeof *all; i++) {
		const char *err;
		u = all[i];
		back = size_from_val(size_to_val(u), &err);
		expect(u == back, "read back as it was written", u);
		expect(ix_prove_le(zero, u), "not negative", u);
	}
	expect(ix_sub(n, rest) == cut, "what a cut leaves", ix_sub(n, rest));
	expect(ix_prove_le(cut, n) && ix_prove_le(cut, seven), "the lesser is at most both", cut);
	expect(ix_prove_le(both, n) && ix_prove_le(both, m), "the lesser is at most both", both);
	expect(ix_prove_lt(ix_range(0, "loop", cut), n), "a place within a cut", cut);
	expect(ix_prove_lt(ix_add(ix_range(0, "loop", cut), rest), n), "a place at the end", cut);
	expect(!ix_prove_le(n, cut) && !ix_prove_lt(zero, rest), "what does not hold", cut);
}

/* Sizes of what is halved again and again: a quotient's divisor need not divide its coefficient. */
static void quotients(void)
{
	UOp *half = parse("(N+1)//2"), *quarter = parse("(N+3)//4"), *two = ix_const(2);
	expect(ix_prove_le(ix_mul(quarter, two), ix_add(half, ix_const(1))), "twice a quarter", half);
	expect(ix_prove_le(half, ix_mul(quarter, two)), "a half", half);
	expect(!ix_prove_le(ix_mul(quarter, two), half), "more than a half at N = 1", half);
}

static void declare(void)
{
	const Val *kv[26];
	int n = 0;
	for (const char *c = "abcdeNMHD"; *c; c++) {
		kv[n++] = val_strn(c, 1);
		kv[n++] = *c == 'H' ? VARR(val_int(30), val_int(500)) :
				      VARR(val_int(1), val_int(*c == 'D' ? 10 : 500));
	}
	const char *err = vars_declare(val_map(n / 2, kv));
	if (err)
		die(FAILED, "%s", err);
}

int main(int argc, char **argv)
{
	process.stage = "check_algebra";
	int seed = argc > 1 ? atoi(argv[1]) : 1, count = argc > 2 ? atoi(argv[2]) : 1000;
	for (int i = 0; i < count && wrong < 5; i++) {
		if (i % 50 == 0)
			arena_reset();
		random_case(seed * 1000003 + i);
		random_gate(seed * 1000003 + i);
	}
	expect(unwrapped > count / 20, "remainders are unwrapped", ix_const(unwrapped));
	arena_reset();
	declare();
	for (size_t i = 0; i < sizeof identities / sizeof *identities; i++) {
		UOp *got = with_ranges(identities[i].text, identities[i].sizes);
		expect(got == with_ranges(identities[i].becomes, identities[i].sizes),
			identities[i].text, got);
	}
	extremes();
	quotients();
	return wrong ? FAILED : DONE;
}
