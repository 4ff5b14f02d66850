/* Compares two documents at random points. The first verdict interprets both over a prime field,
 * the second by IEEE arithmetic over values at the edges; README.md says what each of them shows,
 * and derives the bound on the chance of error. */
#include <fenv.h>
#include <math.h>
#include "document/document.h"
#include "shape/shape.h"
#include "equal/parts.h"

enum { LEAST_POINTS = 4, MOST_POINTS = 16, SMALL_POINTS = 4, WANTED_BITS = 50, MOST_BITS = 999,
	CALLS = 2, ATTEMPTS = 16 };

typedef struct Comparison {
	const Graph *a, *b;
	struct Comparison *field;   /* of edge values: the other verdict, or NULL */
	Buf *report;
	const Draw *draw;
	VarEnv env;
	Execution ea, eb;
	int call;               /* the number of the call at hand */
	double drawn;           /* the most values drawn, and decisions made, at a point */
	const char *rounded;    /* an output whose floats are the same but for rounding, or NULL */
	const char *nan;        /* the output refuted last, if NaN may be all that differs */
	const char *calm;       /* an output that is the same where no input is infinite */
	int rounds;             /* how many choices of sizes there is time for */
	bool stepped;           /* sizes or branches are data */
	NodeList binds;         /* of a, whose size is an input */
	int done;               /* points at which both have been compared */
	const char *dropped;    /* why a stopped where b did not, or NULL */
} Comparison;

/* How the elements at one place differ; NULL: they do not. */
typedef const char *Differ(const Draw *d, DType dt, const char *x, const char *y, double scale);

/* ---- one element */

static const char another_value[] = "another value", more_nan[] = "NaN or not";

static const char *differ_exactly(
	const Draw *d, DType dt, const char *x, const char *y, double scale)
{
	return memcmp(x, y, element_size(dt)) ? another_value : NULL;
}

static double as_double(DType dt, const char *x)
{
	double v;

	interp_cast(DT_F64, &v, dt, x, 1);
	return v;
}

/* What the contract leaves to rounding: a few units in the last place of each op, over sums. */
static double tolerance(DType dt)
{
	return dt == DT_F64 ? 1e-9 : dt == DT_F32 ? 2e-4 : dt == DT_F16 ? 2e-2 : 1e-1;
}

/* With the greatest value among the inputs, infinities and NaN come and go: it may be computed in a
 * wider type. */
static const char *differ_edges(
	const Draw *d, DType dt, const char *x, const char *y, double scale)
{
	double a, b;

	if (!dtype_float(dt))
		return differ_exactly(d, dt, x, y, scale);
	a = as_double(dt, x), b = as_double(dt, y);
	if (d->greatest && !(isfinite(a) && isfinite(b)))
		return NULL;
	if (isnan(a) || isnan(b))
		return isnan(a) == isnan(b) ? NULL : isfinite(b) ? "a number for NaN" : more_nan;
	if (isinf(a) || isinf(b))
		return a == b ? NULL : "infinite or not";
	if (a == 0 && b == 0)
		return !d->zeros || signbit(a) == signbit(b) ? NULL : "the sign of 0";
	return fabs(a - b) <= tolerance(dt) * fmax(fmax(fabs(a), fabs(b)), scale) ? NULL :
										 another_value;
}

/* ---- outputs */

static void put_place(Buf *out, const Named *n, int64_t at)
{
	int64_t index[MAX_RANK];

	for (int i = n->at.rank - 1; i >= 0; i--) {
		index[i] = at % n->at.dim[i];
		at /= n->at.dim[i];
	}
	for (int i = 0; i < n->at.rank; i++)
		buf_printf(out, "%s%lld", i ? "," : "[", (long long)index[i]);
	buf_printf(out, n->at.rank ? "]" : "");
}

static void put_sizes(Buf *out, const VarEnv *env)
{
	for (int i = 0; i < env->n; i++)
		buf_printf(out, "%s%s=%lld", i ? " " : ", with ", env->name[i],
			(long long)env->value[i]);
}

static const char *writer_name(const UOp *by)
{
	return by->op == OP_CALL ? call_name(by) : op_name(by->op);
}

/* "by K3 r_64_48 (mlp.t:4)". */
static void put_writer(Buf *out, const UOp *by, uint32_t call)
{
	const Val *loc;

	if (by->op == OP_CALL || by->op == OP_MEMCPY)
		buf_printf(out, ", computed by K%u %s", call, writer_name(by));
	else
		buf_printf(out, ", computed by %s", op_name(by->op));
	loc = val_get(by->op == OP_CALL ? by->src[0]->note : by->note, "loc");
	if (loc && loc->kind == VAL_STR)
		buf_printf(out, " (%s)", loc->s);
}

/* The first buffer of one name in both, after its last write, that has another content. */
static void put_first_write(Comparison *c)
{
	for (size_t i = 0; i < c->eb.writes.n; i++) {
		const Write *w = &c->eb.writes.at[i], *same = NULL;
		for (size_t k = 0; k < c->ea.writes.n; k++)
			if (!strcmp(c->ea.writes.at[k].buffer, w->buffer))
				same = &c->ea.writes.at[k];
		for (size_t k = i + 1; k < c->eb.writes.n; k++)
			if (!strcmp(c->eb.writes.at[k].buffer, w->buffer))
				same = NULL;
		if (!same || same->hash == w->hash)
			continue;
		buf_printf(c->report, "; first in %s", w->buffer);
		put_writer(c->report, w->by, w->call);
		return;
	}
}

/* Whether a NaN that the first has not may make the difference: integers do not show it. */
static bool may_be_nan(DType dt, const char *how) { return !dtype_float(dt) || how == more_nan; }

static bool refute(Comparison *c, const Named *a, const Named *b, int64_t at, const char *how)
{
	static const char *const draws[] = {
		[DRAW_FIELD] = "over the field", [DRAW_SMALL] = "over small integers",
		[DRAW_EDGES] = "over edge values"};

	c->nan = may_be_nan(a->at.dtype, how) ? a->name : NULL;
	buf_printf(c->report, "%s", b->name);
	put_place(c->report, b, at);
	buf_printf(c->report, " differs %s: %s", draws[c->draw->kind], how);
	if (!arithmetic && dtype_float(a->at.dtype))
		buf_printf(c->report, " (%.9g, %.9g)",
			as_double(a->at.dtype, (char *)a->at.data + at * dtype_size(a->at.dtype)),
			as_double(a->at.dtype, (char *)b->at.data + at * dtype_size(a->at.dtype)));
	put_writer(c->report, b->by, b->call);
	put_first_write(c);
	put_sizes(c->report, &c->env);
	return false;
}

/* ---- rounding */

/* The least and greatest value of an element as g computes it, rounding in each direction. */
typedef struct { double least, greatest; } Interval;

static Interval interval_of(const Comparison *c, const Graph *g, const char *name, int64_t at)
{
	static const int modes[] = {FE_TONEAREST, FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	Interval r = {INFINITY, -INFINITY};

	for (size_t m = 0; m < sizeof modes / sizeof *modes; m++) {
		Execution e = {0};
		fesetround(modes[m]);
		for (int call = 0; call <= c->call; call++)
			execute(g, &c->env, c->draw, &e);
		fesetround(FE_TONEAREST);
		const Named *n = named_find(&e.out, name);
		n = n ? n : named_find(&e.state, name);
		/* by rounding it takes another way */
		bool other = e.stopped || !n || at >= array_count(&n->at);
		double v = other ? INFINITY :
				   as_double(n->at.dtype,
			(char *)n->at.data + at * dtype_size(n->at.dtype));
		r.least = fmin(r.least, other ? -INFINITY : v);
		r.greatest = fmax(r.greatest, v);
		execution_free(&e);
	}
	return r;
}

/* Whether a step of the document goes by another number when sums are rounded in another
 * direction. */
static bool turns_on_rounding(const Comparison *c, const Graph *g, const Execution *nearest)
{
	static const int modes[] = {FE_UPWARD, FE_DOWNWARD, FE_TOWARDZERO};
	bool other = false;

	for (size_t m = 0; !other && m < sizeof modes / sizeof *modes; m++) {
		Execution e = {0};
		fesetround(modes[m]);
		for (int call = 0; call <= c->call; call++)
			execute(g, &c->env, c->draw, &e);
		fesetround(FE_TONEAREST);
		other = !e.stopped != !nearest->stopped || e.steps.n != nearest->steps.n ||
			memcmp(e.steps.at, nearest->steps.at, e.steps.n * sizeof *e.steps.at);
		execution_free(&e);
	}
	return other;
}

/* Whether a difference is one of rounding: an element that rounding moves as far, across a step
 * perhaps (a number that is rounded to an integer, a comparison), in one of the documents. */
static bool is_rounding(const Comparison *c, const Named *a, int64_t at, double scale)
{
	Interval x = interval_of(c, c->a, a->name, at), y = interval_of(c, c->b, a->name, at);
	double slack = x.greatest - x.least + y.greatest - y.least;

	if (dtype_float(a->at.dtype))
		slack += tolerance(a->at.dtype) *
			fmax(scale, fmax(fabs(x.greatest), fabs(x.least)));
	return slack > 0 && x.least - slack <= y.greatest && y.least - slack <= x.greatest;
}

/* The greatest finite magnitude in an array: what its values were summed from may be as large. */
static double magnitude(const Array *a)
{
	double most = 0, v;

	for (int64_t i = 0, n = dtype_float(a->dtype) ? array_count(a) : 0; i < n; i++) {
		v = fabs(as_double(a->dtype, (char *)a->data + i * dtype_size(a->dtype)));
		if (v > most && !isinf(v))
			most = v;
	}
	return most;
}

/* Whether two elements that are taken for the same have other bits. */
static bool rounded(DType dt, const char *x, const char *y)
{
	return !arithmetic && dtype_float(dt) && memcmp(x, y, dtype_size(dt)) &&
		as_double(dt, x) != as_double(dt, y) && !isnan(as_double(dt, x));
}

static bool same_array(Comparison *c, const Named *a, const Named *b)
{
	Differ *differ = c->draw->kind == DRAW_EDGES ? differ_edges : differ_exactly;
	double scale = c->draw->kind == DRAW_EDGES ? magnitude(&a->at) : 0;
	const int size = element_size(a->at.dtype);

	if (a->at.dtype != b->at.dtype || a->at.rank != b->at.rank ||
		memcmp(a->at.dim, b->at.dim, a->at.rank * sizeof *a->at.dim)) {
		buf_printf(c->report, "%s has another dtype or shape", b->name);
		return false;
	}
	int64_t nan = -1;
	for (int64_t i = 0, n = array_count(&a->at); i < n; i++) {
		const char *x = (char *)a->at.data + i * size, *y = (char *)b->at.data + i * size;
		const char *how = differ(c->draw, a->at.dtype, x, y, scale < 1e6 ? scale : 0);
		if (!how && !c->rounded && rounded(a->at.dtype, x, y))
			c->rounded = a->name;
		if (!how)
			continue;
		if (!arithmetic && how == another_value && is_rounding(c, a, i, scale)) {
			c->rounded = a->name;
			break;
		}
		if (how != more_nan)
			return refute(c, a, b, i, how);
		nan = nan < 0 ? i : nan;
	}
	return nan < 0 || refute(c, a, b, nan, more_nan);
}

static bool same_list(Comparison *c, const NamedList *a, const NamedList *b, const char *what)
{
	for (size_t i = 0; i < a->n; i++) {
		const Named *n = named_find(b, a->at[i].name);
		if (!n) {
			buf_printf(c->report, "%s '%s' is missing", what, a->at[i].name);
			return false;
		}
		if (!same_array(c, &a->at[i], n))
			return false;
	}
	return true;
}

/* Whether an output is the same over the field where these are rounded, at points of all sizes. */
static bool rounded_alike(Comparison *c, const char *name, unsigned classes, uint64_t seed)
{
	bool same = true;

	for (int i = 0; same && i < c->rounds; i++) {
		Draw d = {.kind = DRAW_FIELD, .seed = equal_mix(seed, i), .binds = &c->binds,
			.env = &c->env};
		if (!sizes_draw(c->a, i, &c->env))
			continue;
		arithmetic = &rounding_arithmetic;
		field_key(d.seed, false);
		rounding_of(classes);
		execute(c->a, &c->env, &d, &c->ea);
		execute(c->b, &c->env, &d, &c->eb);
		arithmetic = NULL;
		const Named *a = named_find(&c->ea.out, name), *b = named_find(&c->eb.out, name);
		a = a ? a : named_find(&c->ea.state, name);
		b = b ? b : named_find(&c->eb.state, name);
		same = !a || !b || c->ea.stopped || c->eb.stopped ||
			!memcmp(a->at.data, b->at.data, a->at.bytes);
		execution_free(&c->ea);
		execution_free(&c->eb);
	}
	return same;
}

/* Whether the documents regroup sums of products, so that both are rounded otherwise. */
static bool regroups(Comparison *field, const char *name, uint64_t seed)
{
	return !rounded_alike(field, name, ROUND_SUMS, seed) &&
		!rounded_alike(field, name, ROUND_PRODUCTS, seed) &&
		!rounded_alike(field, name, ROUND_PRODUCTS | ROUND_UNFUSED, seed);
}

/* ---- a point */

/* VOID: nothing is known of it, as a stops there, takes another way by rounding, or has two
 * elements of the same bits. */
typedef enum { SAME, DIFFERENT, VOID } Point;

/* What they compute is of the highest degree where steps go the way that they went here. */
static void measure(Comparison *c, const Graph *g, const Execution *e, Execution *degrees)
{
	Draw d = *c->draw;
	const Arithmetic *now = arithmetic;

	d.kind = DRAW_DEGREES;
	degrees->given = &e->steps;
	arithmetic = &degree_arithmetic;
	execute(g, &c->env, &d, degrees);
	arithmetic = now;
}

static Point refute_stop(Comparison *c)
{
	buf_printf(c->report, "it stops where the other does not: %s", c->eb.stopped);
	put_sizes(c->report, &c->env);
	return DIFFERENT;
}

/* Calls both once more. */
static Point same_call(Comparison *c)
{
	const size_t said = c->report->n;
	Point p;

	c->eb.patient = true;
	execute(c->a, &c->env, c->draw, &c->ea);
	if (c->ea.stopped && c->ea.tired)
		return VOID;
	execute(c->b, &c->env, c->draw, &c->eb);
	if (c->ea.stopped && !c->eb.stopped)
		c->dropped = c->ea.stopped;
	if (c->ea.stopped)
		return VOID;
	p = c->eb.stopped ? refute_stop(c) :
		same_list(c, &c->ea.out, &c->eb.out, "output") &&
			same_list(c, &c->ea.state, &c->eb.state, "state") ? SAME : DIFFERENT;
	if (p == DIFFERENT && c->stepped && !arithmetic &&
		(turns_on_rounding(c, c->a, &c->ea) || turns_on_rounding(c, c->b, &c->eb))) {
		c->report->n = said;
		return VOID;
	}
	return p;
}

/* Calls both; twice where a state is kept from one to the next. */
static Point same_at(Comparison *c)
{
	Execution of_a = {0}, of_b = {0};
	Point p = SAME;

	for (int call = 0; p == SAME && call < CALLS; call++) {
		c->call = call;
		p = same_call(c);
		if (p == SAME && c->stepped && c->draw->kind == DRAW_FIELD) {
			measure(c, c->a, &c->ea, &of_a);
			measure(c, c->b, &c->eb, &of_b);
		}
		if (!c->ea.state.n)
			break;
	}
	execution_free(&c->ea);
	execution_free(&c->eb);
	execution_free(&of_a);
	execution_free(&of_b);
	return p;
}

/* Compares at one draw. */
static Point same_draw(Comparison *c, const Draw *d)
{
	c->draw = d;
	arithmetic = d->kind == DRAW_EDGES ? NULL : &field_arithmetic;
	field_key(d->seed, d->kind == DRAW_SMALL);
	Point p = same_at(c);
	arithmetic = NULL;
	return d->kind != DRAW_EDGES && field_collided() ? VOID : p;
}

/* Where a rewrite has regrouped sums of products, an infinity may meet its opposite, and what was
 * infinite or finite is NaN: such an output is asked for at the same values without infinities. */
static Point same_calm(Comparison *c, Draw d, uint64_t seed)
{
	const size_t said = c->report->n;
	const char *name = c->nan;

	if (!name || !c->field)
		return DIFFERENT;
	if (name != c->calm && !regroups(c->field, name, seed))
		return DIFFERENT;
	d.calm = true;
	Point p = same_draw(c, &d);
	c->report->n = said;
	if (p == SAME)
		c->calm = name;
	return p;
}

static Point same_drawn(Comparison *c, DrawKind kind, int i, int attempt, uint64_t seed)
{
	const uint64_t number = (uint64_t)(kind * 1000 + i) + (uint64_t)attempt * 1000000;
	const size_t said = c->report->n;
	Draw d = {.kind = kind, .seed = equal_mix(seed, number), .tiny = i % 4 == 1,
		.rough = i % 4 == 2, .zeros = i % 4 % 2 == 0 && !chooses(c->a), .binds = &c->binds,
		.env = &c->env};

	if (kind == DRAW_EDGES && i % 4 == 3)
		d.greatest = input_number(c->a, i / 4);
	if (!sizes_draw(c->a, (i + attempt + (kind == DRAW_SMALL ? 3 : 0)) % c->rounds, &c->env))
		return VOID;
	c->nan = NULL;
	Point p = same_draw(c, &d);
	if (p == DIFFERENT && kind == DRAW_EDGES && !d.rough && !d.greatest)
		p = same_calm(c, d, seed);
	if (p != DIFFERENT)
		c->report->n = said;
	c->drawn = fmax(c->drawn, (double)field_drawn());
	c->done += p == SAME;
	return p;
}

/* Each point is drawn until something is known of it. */
static bool same_over(Comparison *c, DrawKind kind, int points, uint64_t seed)
{
	c->done = 0;
	for (int i = 0; i < points; i++) {
		Point p = same_drawn(c, kind, i, 0, seed);
		for (int k = 1; p == VOID && k < ATTEMPTS && (c->stepped || field_collided()); k++)
			p = same_drawn(c, kind, i, k, seed);
		if (p == DIFFERENT)
			return false;
	}
	return true;
}

/* The highest degree of anything that either computes, at the sizes of any of the rounds. */
static double highest_degree(Comparison *c)
{
	Draw d = {.kind = DRAW_DEGREES};

	degree_most();
	for (int round = 0; round < c->rounds; round++) {
		if (!sizes_draw(c->a, round, &c->env))
			continue;
		arithmetic = &degree_arithmetic;
		for (int call = 0; call < CALLS; call++) {
			execute(c->a, &c->env, &d, &c->ea);
			execute(c->b, &c->env, &d, &c->eb);
			if (!c->ea.state.n)
				break;
		}
		arithmetic = NULL;
		execution_free(&c->ea);
		execution_free(&c->eb);
	}
	return fmax(degree_most(), 1);
}

/* log2 of the chance that one point does not show a difference of two values, negated: README.md
 * derives it. */
static double bits_of_point(double degree, double drawn)
{
	return 63 - 2 * log2(drawn + 2) - log2(degree);
}

/* Compares at as many points as it takes until the chance is small enough; *bits gets what was
 * reached. */
static bool same_in_field(Comparison *c, uint64_t seed, double *bits)
{
	double degree, each;
	int points = c->rounds < LEAST_POINTS ? LEAST_POINTS : c->rounds, done;

	degree_most();
	if (!same_over(c, DRAW_FIELD, points, seed))
		return false;
	done = c->done;
	if (!same_over(c, DRAW_SMALL, SMALL_POINTS, seed))
		return false;
	degree = c->stepped ? fmax(degree_most(), 1) : highest_degree(c);
	each = bits_of_point(degree, c->drawn);
	if (each > 0 && done * each < WANTED_BITS && each * MOST_POINTS >= WANTED_BITS) {
		points = (int)ceil(WANTED_BITS / each);
		if (!same_over(c, DRAW_FIELD, points, seed + 1))
			return false;
		done = c->done;
		each = bits_of_point(fmax(degree, degree_most()), c->drawn);
	}
	*bits = each > 0 ? done * each : 0;
	return true;
}

/* ---- what was rounded otherwise */

/* Whether a document has expansions of ops, named by them. */
static bool has_expansions(const Graph *g)
{
	Nodes all = walk(g->sink);

	for (size_t i = 0; i < all.n; i++)
		if (val_get(all.at[i]->note, "of"))
			return true;
	return false;
}

/* Names the rewrites that make the difference by whose roundings do. */
static void put_rewrites(Comparison *field, const Comparison *edges, uint64_t seed)
{
	static const struct { unsigned classes; const char *name; } rewrites[] = {
		{ROUND_QUOTIENTS | ROUND_PRODUCTS, "quotients as products"},
		{ROUND_SUMS | ROUND_PRODUCTS, "sums of products regrouped"},
		{ROUND_SUMS, "sums in another order"},
		{ROUND_PRODUCTS, "products in another order"},
		{ROUND_QUOTIENTS, "quotients in another order"},
		{ROUND_CASTS, "casts to a narrower float"},
	};
	const char *name = edges->rounded, *before = ": ";
	unsigned differ = 0;

	for (unsigned class = ROUND_SUMS; class <= ROUND_CASTS; class <<= 1)
		differ |= rounded_alike(field, name, class, seed) ? 0 : class;
	if (differ & ROUND_PRODUCTS &&
		rounded_alike(field, name, ROUND_PRODUCTS | ROUND_UNFUSED, seed)) {
		buf_printf(field->report, "%sproducts fused with sums", before);
		before = ", ";
		differ &= ~(unsigned)ROUND_PRODUCTS;
	}
	for (size_t i = 0; i < sizeof rewrites / sizeof *rewrites; i++) {
		const unsigned some = rewrites[i].classes;
		if ((differ & some) != some)
			continue;
		buf_printf(field->report, "%s%s", before, rewrites[i].name);
		before = ", ";
		differ &= ~some;
	}
	if (has_expansions(edges->a) != has_expansions(edges->b)) {
		buf_printf(field->report, "%sfunctions by other ops", before);
		before = ", ";
	}
	if (*before == ':')
		buf_printf(field->report, ": sums kept in another width");
}

/* Nodes and values are interned: whether both documents are one but for meta that means nothing. */
static bool is_same(const Graph *a, const Graph *b)
{
	return val_get(a->meta, "workspace") == val_get(b->meta, "workspace") &&
		a->level == b->level && a->vars == b->vars && a->sink == b->sink;
}

/* The second verdict alone. */
static EqualVerdict compare_edges(Comparison *edges, int at_edges, uint64_t seed)
{
	edges->field = NULL;
	if (!same_over(edges, DRAW_EDGES, at_edges, seed))
		return EQUAL_REFUTED;
	buf_printf(edges->report, "no difference at %d draws of edge values; over the field it "
		"cannot be told of a running maximum, or faint weights",
		edges->done);
	return EQUAL_UNKNOWN;
}

/* Both verdicts, and what is said of them. */
static EqualVerdict compare(Comparison *field, Comparison *edges, int at_edges, uint64_t seed)
{
	Buf *report = field->report;
	size_t said = report->n;
	double bits = 0;

	if (!same_in_field(field, seed, &bits)) {
		if (!powers_differ(edges->a, edges->b, field->a, field->b))
			return EQUAL_REFUTED;
		report->n = said;
		return compare_edges(edges, at_edges, seed);
	}
	if (!same_over(edges, DRAW_EDGES, at_edges, seed))
		return EQUAL_REFUTED;
	if (!field->done || !edges->done) {
		buf_printf(report, "no inputs are found at which the first does not stop");
		return EQUAL_UNKNOWN;
	}
	if (field->dropped) {
		buf_printf(report, "no difference, but it goes on where the other stops: %s",
			field->dropped);
		return EQUAL_UNKNOWN;
	}
	if (bits < WANTED_BITS) {
		buf_printf(report, "no difference, but of too high a degree: the chance of an "
			"error is below 2^-%.0f only", bits);
		return EQUAL_UNKNOWN;
	}
	buf_printf(report, "the same: over the field, the chance of an error below 2^-%.0f; at %d "
		"draws of edge values", fmin(bits, MOST_BITS), edges->done);
	if (edges->rounded) {
		buf_printf(report, ", '%s' rounded otherwise", edges->rounded);
		put_rewrites(field, edges, seed);
	}
	if (edges->calm)
		buf_printf(report, ", '%s' NaN where infinities are among the sums regrouped",
			edges->calm);
	return EQUAL_SAME;
}

EqualVerdict equal_documents(const Graph *a, const Graph *b, uint64_t seed, Buf *report)
{
	if (is_same(a, b)) {
		buf_printf(report, "the same: every node is");
		return EQUAL_SAME;
	}
	int rounds = affordable_rounds(a);
	Comparison field = {.a = equal_normal(a), .b = equal_normal(b), .report = report,
		.rounds = rounds, .stepped = is_stepped(a) || is_stepped(b)};
	Comparison edges = {.a = a, .b = b, .field = &field, .report = report, .rounds = rounds,
		.stepped = field.stepped};

	if (!sizes_draw(a, 0, &field.env)) {
		buf_printf(report, "no sizes are found that meet the document's checks");
		return EQUAL_UNKNOWN;
	}
	field.binds = input_binds(field.a);
	edges.binds = input_binds(a);
	EqualVerdict v = compare(&field, &edges, edge_points(a, rounds), seed);
	vec_free(&field.binds);
	vec_free(&edges.binds);
	return v;
}
