/* Contractions: products of tensors summed over shared axes.
 *
 *     a[m,k] @ b[k,n]   →   a [m,1,k] and bᵀ [1,n,k], expanded to [m,n,k], MUL, REDUCE ADD k
 *
 * The product is never stored: a value that only a reduction reads is computed inside it, and lower
 * recognizes a contraction by the axes along which its operands move. f16 and bf16 are multiplied
 * and summed in f32 and rounded once. */
#include "library/library.h"
#include <ctype.h>

/* The operands in the dtype in which their products are summed; *dt gets the dtype of the
 * result. */
static void operands(size_t n, UOp *const *x, UOp **out, DType *dt)
{
	*dt = x[0]->dtype;
	for (size_t i = 1; i < n; i++)
		*dt = dtype_promote(*dt, x[i]->dtype);
	for (size_t i = 0; i < n; i++)
		out[i] = t_cast(t_cast(x[i], *dt), dtype_acc(*dt));
}

/* ---- matmul, dot, outer ---------------------------------------------------------------------- */

static _Noreturn void no_match(UOp *a, UOp *b)
{
	die(MALFORMED, "shapes %s and %s do not match for a product", shape_text(a->shape),
		shape_text(b->shape));
}

/* a[..., k]·b[..., k] summed over the last axis; the other axes broadcast */
static UOp *inner(UOp *a, UOp *b)
{
	return t_sum(t_mul(a, b), -1, false);
}

UOp *t_matmul(UOp *a, UOp *b)
{
	UOp *x[2];
	DType dt;
	bool row, column;

	if (t_rank(a) == 0 || t_rank(b) == 0)
		no_match(a, b);
	row = t_rank(a) == 1;
	column = t_rank(b) == 1;
	a = t_agree(a, t_rank(a) - 1, t_dim(b, column ? 0 : -2));
	if (!size_equal(t_dim(a, -1), t_dim(b, column ? 0 : -2)))
		no_match(a, b);
	operands(2, (UOp *[]){ a, b }, x, &dt);
	if (!column)
		x[1] = t_transpose(x[1], -1, -2);
	/* [.., m, 1, k] and [.., 1, n, k]; a vector lacks m or n */
	if (!column)
		x[0] = t_unsqueeze(x[0], t_rank(x[0]) - 1);
	if (!row && !column)
		x[1] = t_unsqueeze(x[1], t_rank(x[1]) - 2);
	if (row && !column)
		x[0] = t_squeeze(x[0], 0);
	return t_cast(inner(x[0], x[1]), dt);
}

Value fn_matmul(Args *a) { return v_tensor(t_matmul(arg_tensor(a, 0), arg_tensor(a, 1))); }

/* NumPy's dot: sums over the last axis of a and the last but one of b, and keeps all other axes of
 * both */
Value fn_dot(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = arg_tensor(a, 1), *in[2] = { x, y };
	DType dt;

	if (t_rank(x) == 0 || t_rank(y) == 0)
		return v_tensor(t_mul(x, y));
	if (t_rank(y) == 1 || t_rank(x) == 1 || t_rank(y) == 2)
		return v_tensor(t_matmul(x, y));
	if (!size_equal(t_dim(x, -1), t_dim(y, -2)))
		no_match(x, y);
	operands(2, in, in, &dt);
	y = t_transpose(in[1], -1, -2);
	x = in[0];
	for (int i = 1; i < t_rank(y); i++)
		x = t_unsqueeze(x, t_rank(x) - 1);
	return v_tensor(t_cast(inner(x, y), dt));
}

Value fn_outer(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = arg_tensor(a, 1);

	x = t_reshapev(x, 2, (UOp *[]){ shape_count(x->shape), ix_const(1) });
	y = t_reshapev(y, 2, (UOp *[]){ ix_const(1), shape_count(y->shape) });
	return v_tensor(t_mul(x, y));
}

/* x @ wᵀ + b: w has one row per output */
Value fn_linear(Args *a)
{
	UOp *x = arg_tensor(a, 0), *w = arg_tensor(a, 1), *y;

	if (t_rank(w) != 2)
		die(MALFORMED, "linear: the weight %s is no matrix", shape_text(w->shape));
	y = t_matmul(x, t_transpose(w, 0, 1));
	return v_tensor(arg_given(a, 2) ? t_add(y, arg_tensor_like(a, 2, y->dtype)) : y);
}

/* ---- einsum ---------------------------------------------------------------------------------- */

/* The label of each axis of a term: the letter's code, or, for an axis that "..." stands for, DOTS
 * + its number from the right. */
enum { DOTS = 256, LABELS = DOTS + MAX_RANK };
typedef struct { int n; int label[MAX_RANK]; } EinsumTerm;

static const char *skip(const char *s)
{
	while (*s == ' ')
		s++;
	return s;
}

/* Reads one term up to a comma, a "-" or the end; dots is the number of axes that "..." stands for,
 * or negative when it is not known. */
static const char *read_term(const char *s, EinsumTerm *t, int dots)
{
	t->n = 0;
	for (s = skip(s); *s && *s != ',' && *s != '-'; s = skip(s)) {
		int add = 1;
		if (!strncmp(s, "...", 3))
			add = dots;
		else if (!isalpha((unsigned char)*s))
			die(MALFORMED, "einsum: unexpected '%c'", *s);
		if (t->n + add > MAX_RANK)
			die(UNSUPPORTED, "einsum: more than %d axes in a term", MAX_RANK);
		if (*s == '.')
			for (int i = 0; i < dots; i++)
				t->label[t->n++] = DOTS + dots - 1 - i;
		else
			t->label[t->n++] = (unsigned char)*s;
		s += *s == '.' ? 3 : 1;
	}
	return s;
}

/* how many axes of x the dots of this term stand for: those without a letter */
static int dots_of(const char *s, UOp *x)
{
	int letters = 0, dots = 0;

	for (; *s && *s != ',' && *s != '-'; s++) {
		letters += isalpha((unsigned char)*s) != 0;
		if (!strncmp(s, "...", 3)) {
			dots++;
			s += 2;
		}
	}
	if (dots > 1 || letters > t_rank(x) || (!dots && letters != t_rank(x)))
		die(MALFORMED, "einsum: a term does not fit %s", shape_text(x->shape));
	return t_rank(x) - letters;
}

static int find(const EinsumTerm *t, int label)
{
	for (int i = 0; i < t->n; i++)
		if (t->label[i] == label)
			return i;
	return -1;
}

/* A label that occurs twice in a term takes the diagonal of its two axes. */
static UOp *take_diagonals(UOp *x, EinsumTerm *t)
{
	for (int j = t->n - 1; j > 0; j--) {
		int i = find(t, t->label[j]);
		UOp *at;
		if (i == j)
			continue;
		if (!size_equal(t_dim(x, i), t_dim(x, j)))
			die(MALFORMED, "einsum: axes %d and %d of %s have one label", i, j,
				shape_text(x->shape));
		at = t_arange(DT_I64, t_dim(x, i));
		x = t_move_axis(t_move_axis(x, j, 0), i + 1, 1);
		x = t_move_axis(t_gather(x, 2, (UOp *[]){ at, at }), 0, i);
		memmove(t->label + j, t->label + j + 1, (t->n - j - 1) * sizeof *t->label);
		t->n--;
	}
	return x;
}

/* x with its axes in the order of to, and size 1 where x lacks one; every axis of x has its label
 * in to. */
static UOp *align(UOp *x, const EinsumTerm *t, const EinsumTerm *to)
{
	int axes[MAX_RANK], n = 0;
	UOp *dim[MAX_RANK];

	for (int i = 0; i < to->n; i++) {
		int k = find(t, to->label[i]);
		dim[i] = k < 0 ? ix_const(1) : t_dim(x, k);
		if (k >= 0)
			axes[n++] = k;
	}
	return t_reshapev(t_permute(x, axes), to->n, dim);
}

/* Sums x over the labels that are not wanted. */
static UOp *sum_rest(UOp *x, EinsumTerm *t, const bool *wanted)
{
	int axes[MAX_RANK], n = 0, kept = 0;

	for (int i = 0; i < t->n; i++)
		if (wanted[t->label[i]])
			t->label[kept++] = t->label[i];
		else
			axes[n++] = i;
	t->n = kept;
	return t_reduce(OP_ADD, x, n, axes, false);
}

/* The product of two terms, summed over the labels that nothing later needs: the kept labels come
 * first, then the summed ones. */
static UOp *combine(UOp *x, EinsumTerm *s, UOp *y, const EinsumTerm *t, const bool *wanted)
{
	EinsumTerm all = { 0 };

	for (int pass = 0; pass < 2; pass++)
		for (int i = 0; i < s->n + t->n; i++) {
			int l = i < s->n ? s->label[i] : t->label[i - s->n];
			if (wanted[l] != (pass == 0) || find(&all, l) >= 0)
				continue;
			if (all.n == MAX_RANK)
				die(UNSUPPORTED, "einsum: more than %d labels at once", MAX_RANK);
			all.label[all.n++] = l;
		}
	x = t_mul(align(x, s, &all), align(y, t, &all));
	*s = all;
	return sum_rest(x, s, wanted);
}

/* Without "->" the result has the dots, then the letters that occur once, in alphabetical order. */
static void implicit_result(size_t n, const EinsumTerm *t, int dots, EinsumTerm *out)
{
	int count[LABELS] = { 0 };

	for (size_t i = 0; i < n; i++)
		for (int k = 0; k < t[i].n; k++)
			count[t[i].label[k]]++;
	out->n = 0;
	for (int i = 0; i < dots; i++)
		out->label[out->n++] = DOTS + dots - 1 - i;
	for (int l = 0; l < DOTS && out->n < MAX_RANK; l++)
		if (count[l] == 1)
			out->label[out->n++] = l;
}

static void read_spec(const char *spec, size_t n, UOp *const *x, EinsumTerm *t, EinsumTerm *out)
{
	const char *s = spec;
	int dots = 0, most = 0;

	for (size_t i = 0; i < n; i++) {
		dots = dots_of(s, x[i]);
		most = dots > most ? dots : most;
		s = read_term(s, &t[i], dots);
		if ((i + 1 < n) != (*s == ','))
			die(MALFORMED, "einsum: \"%s\" is not for %zu tensors", spec, n);
		s += *s == ',';
	}
	if (*s != '-') {
		implicit_result(n, t, most, out);
		return;
	}
	if (s[1] != '>')
		die(MALFORMED, "einsum: unexpected '-'");
	if (*read_term(s + 2, out, most))
		die(MALFORMED, "einsum: \"%s\" does not end after its result", spec);
}

static void check_result(const EinsumTerm *out, size_t n, const EinsumTerm *t)
{
	for (int i = 0; i < out->n; i++) {
		bool known = false;
		for (size_t k = 0; k < n; k++)
			known |= find(&t[k], out->label[i]) >= 0;
		if (find(out, out->label[i]) != i)
			die(MALFORMED, "einsum: '%c' stands twice in the result", out->label[i]);
		if (!known)
			die(MALFORMED, "einsum: '%c' of the result is in no term", out->label[i]);
	}
}

/* wanted: the labels of the result and of the terms from k on */
static void mark_wanted(const EinsumTerm *out, size_t n, const EinsumTerm *t, size_t k,
	bool *wanted)
{
	memset(wanted, 0, LABELS * sizeof *wanted);
	for (int i = 0; i < out->n; i++)
		wanted[out->label[i]] = true;
	for (; k < n; k++)
		for (int i = 0; i < t[k].n; i++)
			wanted[t[k].label[i]] = true;
}

/* Left to right, two terms at a time; each label is summed as soon as no later term has it. */
UOp *t_einsum(const char *spec, size_t n, UOp *const *x)
{
	EinsumTerm *t, out;
	UOp **y, *r;
	DType dt;
	bool wanted[LABELS];

	if (n == 0)
		die(MALFORMED, "einsum: no tensors");
	t = arena_alloc((n + 1) * sizeof *t);
	y = arena_alloc(n * sizeof *y);
	read_spec(spec, n, x, t, &out);
	check_result(&out, n, t);
	operands(n, x, y, &dt);
	for (size_t i = 0; i < n; i++)
		y[i] = take_diagonals(y[i], &t[i]);
	r = y[0];
	mark_wanted(&out, n, t, 1, wanted);
	r = sum_rest(r, &t[0], wanted);
	for (size_t i = 1; i < n; i++) {
		mark_wanted(&out, n, t, i + 1, wanted);
		r = combine(r, &t[0], y[i], &t[i], wanted);
	}
	return t_cast(align(r, &t[0], &out), dt);
}

Value fn_einsum(Args *a)
{
	const char *spec = arg_str(a, 0);
	size_t n = a->at[1].n;
	UOp **x = arena_alloc((n + 1) * sizeof *x);
	Args one = { a->fn, 2, (Value[2]){ { 0 } } };

	for (size_t i = 0; i < n; i++) {
		one.at[1] = a->at[1].at[i];
		x[i] = arg_tensor(&one, 1);
	}
	return v_tensor(t_einsum(spec, n, x));
}
