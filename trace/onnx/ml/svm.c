/* Support vector machines: kernels between rows and support vectors, summed by coefficients.
 *
 *     SVMRegressor     kernel(x, vectors) @ coefficients + rho
 *     SVMClassifier    the same for each pair of classes, which votes for one of them; with prob_a
 *                      and prob_b the pairs' probabilities are joined to those of the classes */
#include "onnx/ml/ml.h"

enum { MOST_COEFFICIENTS = 1 << 26,
	MOST_CLASSES = 256,
	SWEEPS = 8 };                   /* 3 or 4 suffice for up to 20 classes, 6 at most */

/* ---- kernels */

static UOp *squared_distances(UOp *x, UOp *v)
{
	UOp *d = t_sub(t_unsqueeze(x, 1), v);

	return t_sum(t_mul(d, d), 2, false);
}

static UOp *power(UOp *x, double y)
{
	return onnx_lib("pow", 2, (Value[]){ v_tensor(x), v_float(y) }, 0, NULL, NULL);
}

/* [n,vectors] for rows x[n,c] and support vectors v[vectors,c] */
static UOp *kernel(OnnxCall *c, UOp *x, UOp *v)
{
	size_t n;
	const double *p = onnx_attr_float_list(c, "kernel_params", &n);
	double gamma = n > 0 ? p[0] : 0, coef0 = n > 1 ? p[1] : 0, degree = n > 2 ? p[2] : 0;
	const char *type = onnx_attr_str(c, "kernel_type", "LINEAR");

	if (!strcmp(type, "RBF"))
		return t_exp(t_mulc(squared_distances(x, v), -gamma));
	UOp *dot = t_matmul(x, t_transpose(v, 0, 1));
	if (!strcmp(type, "LINEAR"))
		return dot;
	dot = t_addc(t_mulc(dot, gamma), coef0);
	if (!strcmp(type, "POLY"))
		return power(dot, degree);
	if (!strcmp(type, "SIGMOID"))
		return t_tanh(dot);
	onnx_fail(c, MALFORMED, "kernel_type is \"%s\"", type);
}

/* the list of n rows, and the columns of x that they have */
static UOp *rows_of(OnnxCall *c, const char *name, int64_t n, UOp **x)
{
	size_t count;

	ml_floats(c, name, &count);
	if (n < 1 || count % n)
		onnx_fail(c, MALFORMED, "%s has %zu numbers in %lld rows", name, count,
			(long long)n);
	*x = ml_columns(c, *x, count / n);
	return ml_table(c, name, DT_F32, n, count / n);
}

static UOp *kernel_with_vectors(OnnxCall *c, UOp *x, int64_t n)
{
	UOp *v = rows_of(c, "support_vectors", n, &x);

	return kernel(c, x, v);
}

void onnx_SVMRegressor(OnnxCall *c)
{
	UOp *y = ml_rows(c, 0, DT_F32), *w;
	int64_t supports = onnx_attr_int(c, "n_supports", 0);
	size_t n;
	const double *rho = ml_floats(c, "rho", &n);

	if (supports > 0)
		y = kernel_with_vectors(c, y, supports);
	w = rows_of(c, "coefficients", 1, &y);
	y = t_addc(t_matmul(y, t_transpose(w, 0, 1)), rho[0]);
	if (onnx_attr_int(c, "one_class", 0))
		y = t_where(t_lt(t_num(DT_F32, 0), y), t_num(DT_F32, 1), t_num(DT_F32, -1));
	onnx_set(c, 0, ml_scores(c, y));
}

/* ---- pairs of classes: (0,1), (0,2), … (1,2), … */

/* The vectors of class k are those from start[k] to start[k + 1]. */
typedef struct { int64_t classes, pairs, vectors; const int64_t *start; } Machine;

static Machine machine_of(OnnxCall *c)
{
	size_t n;
	const int64_t *count = onnx_attr_int_list(c, "vectors_per_class", &n);
	Machine m = { .classes = ml_label_count(c) };
	int64_t *start = arena_alloc((n + 1) * sizeof *start);

	m.pairs = m.classes * (m.classes - 1) / 2;
	for (size_t i = 0; i < n; i++) {
		if (count[i] < 0 || count[i] > INT32_MAX)
			onnx_fail(c, MALFORMED, "%lld vectors of a class", (long long)count[i]);
		start[i + 1] = start[i] + count[i];
	}
	m.start = start;
	m.vectors = start[n];
	if (m.vectors && (n != (size_t)m.classes || n < 2))
		onnx_fail(c, MALFORMED, "vectors of %zu classes for %lld labels", n,
			(long long)m.classes);
	if (m.vectors && m.classes > MOST_CLASSES)
		onnx_fail(c, UNSUPPORTED, "more than %d classes", MOST_CLASSES);
	if (m.vectors && m.vectors > MOST_COEFFICIENTS / m.pairs)
		onnx_fail(c, UNSUPPORTED, "%lld vectors for %lld pairs of classes",
			(long long)m.vectors, (long long)m.pairs);
	return m;
}

static UOp *matrix(size_t rows, size_t columns, const double *v)
{
	return t_reshape(table_numbers(DT_F32, rows * columns, v),
		shape_ints(2, (int64_t[]){ rows, columns }));
}

/* The coefficients of each pair, [vectors,pairs]: those of class i against j are in row j - 1 of
 * the attribute, those of j against i in row i. */
static UOp *pair_coefficients(OnnxCall *c, const Machine *m)
{
	size_t n, pair = 0;
	const double *w = ml_floats(c, "coefficients", &n);
	double *v = arena_alloc((m->vectors * m->pairs + 1) * sizeof *v);

	if (n != (size_t)(m->vectors * (m->classes - 1)))
		onnx_fail(c, MALFORMED, "%zu coefficients for %lld vectors", n,
			(long long)m->vectors);
	for (int64_t i = 0; i < m->classes; i++)
		for (int64_t j = i + 1; j < m->classes; j++, pair++) {
			for (int64_t k = m->start[i]; k < m->start[i + 1]; k++)
				v[k * m->pairs + pair] = w[(j - 1) * m->vectors + k];
			for (int64_t k = m->start[j]; k < m->start[j + 1]; k++)
				v[k * m->pairs + pair] = w[i * m->vectors + k];
		}
	return matrix(m->vectors, m->pairs, v);
}

static UOp *pair_numbers(OnnxCall *c, const Machine *m, const char *name)
{
	size_t n;
	const double *v = ml_floats(c, name, &n);

	if (n < (size_t)m->pairs)
		onnx_fail(c, MALFORMED, "%s has %zu numbers for %lld pairs", name, n,
			(long long)m->pairs);
	return table_numbers(DT_F32, m->pairs, v);
}

/* The class with the most votes: a pair's score above 0 is one for i, else for j. */
static UOp *voted(const Machine *m, UOp *scores)
{
	double *gain = arena_alloc((m->pairs * m->classes + 1) * sizeof *gain);
	double *least = arena_alloc((m->classes + 1) * sizeof *least);
	size_t pair = 0;

	for (int64_t i = 0; i < m->classes; i++)
		for (int64_t j = i + 1; j < m->classes; j++, pair++) {
			gain[pair * m->classes + i] = 1;
			gain[pair * m->classes + j] = -1;
			least[j]++;
		}
	UOp *first = t_cast(t_lt(t_num(DT_F32, 0), scores), DT_F32);
	UOp *votes = t_matmul(first, matrix(m->pairs, m->classes, gain));
	return ml_best(t_add(votes, table_numbers(DT_F32, m->classes, least)));
}

/* ---- probabilities of classes, from those of pairs: Wu, Lin and Weng, 2004, second approach */

/* P[n,pairs] as a matrix for each row: P(i or j is i) at [i,j] */
static UOp *pair_matrix(const Machine *m, UOp *p)
{
	int64_t k = m->classes, *place = arena_alloc((k * k + 1) * sizeof *place), pair = 0;
	UOp *all = t_concat(2, (UOp *[]){ p, t_sub(t_num(DT_F32, 1), p) }, 1), *zero;

	zero = t_shrink_axis(t_mulc(p, 0), 1, ix_const(0), ix_const(1));
	all = t_concat(2, (UOp *[]){ all, zero }, 1);
	for (int64_t i = 0; i < k; i++) {
		place[i * k + i] = 2 * m->pairs;
		for (int64_t j = i + 1; j < k; j++, pair++) {
			place[i * k + j] = pair;
			place[j * k + i] = m->pairs + pair;
		}
	}
	UOp *r = t_take_inside(all, table_ints(k * k, place), 1);
	return t_split_axis(r, 1, ix_const(k), ix_const(k));
}

static UOp *column(UOp *x, int64_t i)
{
	return t_shrink_axis(x, 1, ix_const(i), ix_const(i + 1));
}

/* The unknowns of the iteration, for each row: p, Q p and p' Q p. */
typedef struct { UOp *p, *qp, *pqp; } Guess;

/* p[i] moves to the least of the quadratic form, and all are scaled to the sum 1 again. */
static void improve(Guess *g, UOp *q, UOp *diagonal, int64_t i)
{
	UOp *d = t_div(t_sub(g->pqp, column(g->qp, i)), column(diagonal, i));
	UOp *scale = t_recip(t_addc(d, 1)), *unit = t_eq(t_arange(DT_I64, t_dim(g->p, 1)),
		const_int(DT_I64, i));
	UOp *qi = t_squeeze(t_shrink_axis(q, 2, ix_const(i), ix_const(i + 1)), 2);
	UOp *more = t_mul(d, t_add(t_mul(d, column(diagonal, i)), t_mulc(column(g->qp, i), 2)));

	g->pqp = t_mul(t_mul(t_add(g->pqp, more), scale), scale);
	g->qp = t_mul(t_add(g->qp, t_mul(d, qi)), scale);
	g->p = t_mul(t_add(g->p, t_mul(d, t_cast(unit, DT_F32))), scale);
}

/* A row whose condition of optimality holds within 0.005 / classes stays, as in libsvm. */
static UOp *joined(const Machine *m, UOp *pairs)
{
	int64_t k = m->classes;
	UOp *r = pair_matrix(m, pairs), *back = t_transpose(r, 1, 2);
	UOp *same = t_eq(t_unsqueeze(t_arange(DT_I64, ix_const(k)), 1),
		t_arange(DT_I64, ix_const(k)));
	UOp *diagonal = t_sum(t_mul(back, back), 2, false);
	UOp *q = t_where(same, t_unsqueeze(diagonal, 2), t_neg(t_mul(r, back)));
	UOp *p = t_full(shape_new(2, (UOp *[]){ t_dim(pairs, 0), ix_const(k) }),
		t_num(DT_F32, 1.0 / k));
	int axis = 1;

	for (int sweep = 0; sweep < SWEEPS; sweep++) {
		Guess g = { .p = p, .qp = t_sum(t_mul(q, t_unsqueeze(p, 1)), 2, false) };
		g.pqp = t_sum(t_mul(p, g.qp), 1, true);
		UOp *error = t_reduce(OP_MAX, t_abs(t_sub(g.qp, g.pqp)), 1, &axis, true);
		for (int64_t i = 0; i < k; i++)
			improve(&g, q, diagonal, i);
		p = t_where(t_lt(error, t_num(DT_F32, 0.005 / k)), p, g.p);
	}
	return p;
}

static UOp *pair_probabilities(OnnxCall *c, const Machine *m, UOp *scores)
{
	UOp *a = pair_numbers(c, m, "prob_a"), *b = pair_numbers(c, m, "prob_b");
	UOp *p = t_sigmoid(t_neg(t_add(t_mul(scores, a), b)));

	return t_min(t_max(p, t_num(DT_F32, 1e-7)), t_num(DT_F32, 1 - 1e-7));
}

static void by_pairs(OnnxCall *c, UOp *x, const Machine *m)
{
	UOp *y = t_matmul(kernel_with_vectors(c, x, m->vectors), pair_coefficients(c, m));
	size_t n;

	y = t_add(y, pair_numbers(c, m, "rho"));
	ml_set_label(c, voted(m, y));
	onnx_attr_float_list(c, "prob_a", &n);
	if (n)
		onnx_set(c, 1, ml_scores(c, joined(m, pair_probabilities(c, m, y))));
	else if (m->pairs > 1)
		onnx_set(c, 1, ml_scores(c, y));
	else
		onnx_set(c, 1, ml_two_scores(c, y, ml_plain(c)));
}

/* Without support vectors there are coefficients for each class. */
void onnx_SVMClassifier(OnnxCall *c)
{
	UOp *x = ml_rows(c, 0, DT_F32), *y;
	Machine m = machine_of(c);
	size_t n;

	if (m.vectors) {
		by_pairs(c, x, &m);
		return;
	}
	y = rows_of(c, "coefficients", m.classes, &x);
	y = t_addc(t_matmul(x, t_transpose(y, 0, 1)), ml_floats(c, "rho", &n)[0]);
	ml_set_label(c, ml_best(y));
	onnx_set(c, 1, ml_scores(c, y));
}
