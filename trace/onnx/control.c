/* Control flow, resolved while tracing.
 *
 *     If (c known)           the branch taken
 *     If (c not known)       both, and WHERE(c, then, else): their shapes must be the same
 *     If (c of sizes)        the same; where the shapes differ, the else branch, and run checks
 *                            that the sizes do not ask for the other one
 *     Loop, Scan             the body once per iteration, whose number must be known; a condition
 *                            that changes later ends a Loop only if it is known too */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { MAX_BODY = 256, MAX_TRIPS = 1 << 16 };

/* ---- If */

static bool fits(const OnnxValue *a, const OnnxValue *b)
{
	return a->kind == ONNX_TENSOR && b->kind == ONNX_TENSOR && a->type == b->type &&
		a->u->shape->rank == b->u->shape->rank && shape_equal(a->u->shape, b->u->shape);
}

static OnnxValue choose(OnnxCall *c, UOp *cond, const OnnxValue *a, const OnnxValue *b)
{
	if (a->kind != ONNX_TENSOR || b->kind != ONNX_TENSOR)
		onnx_fail(c, UNSUPPORTED,
			"its condition is not known, and a branch gives no tensor%s",
			onnx_value_advice(cond));
	if (a->type != b->type)
		onnx_fail(c, MALFORMED, "its branches give %s and %s", onnx_type_name(a->type),
			onnx_type_name(b->type));
	if (!fits(a, b))
		onnx_fail(c, UNSUPPORTED,
			"its condition is not known, and its branches give shapes %s and %s%s",
			shape_text(a->u->shape), shape_text(b->u->shape), onnx_value_advice(cond));
	return (OnnxValue){.kind = ONNX_TENSOR, .type = a->type, .u = t_where(cond, a->u, b->u)};
}

static UOp *condition(OnnxCall *c, int k)
{
	UOp *u = onnx_in(c, k);
	int64_t n;
	if (u->dtype != DT_BOOL || (shape_static(u->shape, &n) && n != 1))
		onnx_fail(c, MALFORMED, "its condition is %s%s, not one bool", dtype_name(u->dtype),
			shape_text(u->shape));
	return t_reshape(u, shape_scalar());
}

/* 1, 0, or -1 when it is not known; *size is then 1 or 0 as an expression of sizes, or
 * NULL. */
static int known_condition(UOp *cond, UOp **size)
{
	Array a;
	size_t n;
	int64_t v;
	if (onnx_known_tensor(cond, &a))
		return *(uint8_t *)a.data != 0;
	if (!onnx_try_sizes(cond, 1, size, &n))
		*size = NULL;
	return *size && ix_is_const(*size, &v) ? v != 0 : -1;
}

void onnx_If(OnnxCall *c)
{
	OnnxValue a[MAX_BODY], b[MAX_BODY];
	UOp *cond = condition(c, 0), *size;
	int known = known_condition(cond, &size), n;
	size_t checks[3] = {size_checks_made()};
	bool fit = true;
	n = onnx_body(c, known == 0 ? "else_branch" : "then_branch", 0, NULL, a, MAX_BODY);
	checks[1] = size_checks_made();
	if (known < 0 && onnx_body(c, "else_branch", 0, NULL, b, MAX_BODY) != n)
		onnx_fail(c, MALFORMED, "its branches give different numbers of values");
	checks[2] = size_checks_made();
	for (int i = 0; known < 0 && size && i < n; i++)
		fit &= fits(&a[i], &b[i]);
	if (!fit) {
		size_checks_drop(checks[2], size_checks_made());
		size_checks_drop(checks[0], checks[1]);
		size_check("eq", size, ix_const(0));
	}
	for (int i = 0; i < n; i++)
		onnx_set_value(c, i,
			known >= 0 ? a[i] : fit ? choose(c, cond, &a[i], &b[i]) : b[i]);
}

/* ---- what Loop and Scan collect: one tensor per iteration, stacked */

typedef struct { UOp **at; size_t n; int type; } Stacked;

static void collect(OnnxCall *c, Stacked *s, const OnnxValue *v, size_t trips)
{
	if (v->kind != ONNX_TENSOR)
		onnx_fail(c, UNSUPPORTED, "its body gives %s to collect",
			v->kind == ONNX_SEQUENCE ? "a sequence" : "an empty optional");
	if (!s->at)
		s->at = arena_alloc((trips + 1) * sizeof *s->at);
	s->type = v->type;
	s->at[s->n++] = v->u;
}

static UOp *stack(OnnxCall *c, Stacked *s, int axis, bool reverse)
{
	UOp **part = arena_alloc((s->n + 1) * sizeof *part);
	for (size_t i = 0; i < s->n; i++) {
		UOp *u = s->at[reverse ? s->n - 1 - i : i];
		int at = axis < 0 ? axis + t_rank(u) + 1 : axis;
		if (at < 0 || at > t_rank(u))
			onnx_fail(c, MALFORMED, "its output axis %d is outside rank %d", axis,
				t_rank(u) + 1);
		part[i] = t_unsqueeze(u, at);
	}
	return t_concat(s->n, part, axis < 0 ? axis + t_rank(part[0]) : axis);
}

/* ---- Loop */

/* The maximum number of iterations; -1 when there is no limit. */
static int64_t trip_limit(OnnxCall *c)
{
	int64_t n;
	if (!onnx_has(c, 0))
		return -1;
	n = onnx_known_int(c, 0);
	if (n > MAX_TRIPS)
		onnx_fail(c, UNSUPPORTED, "%lld trips are too many to unroll", (long long)n);
	return n < 0 ? 0 : n;
}

static bool goes_on(OnnxCall *c, const OnnxValue *cond)
{
	if (cond->kind == ONNX_ABSENT)
		return true;
	if (cond->kind != ONNX_TENSOR)
		onnx_fail(c, MALFORMED, "its condition is no tensor");
	UOp *size;
	int known = known_condition(t_reshape(t_cast(cond->u, DT_BOOL), shape_scalar()), &size);
	if (known < 0)
		onnx_fail(c, UNSUPPORTED, "whether it goes on depends on data%s",
			onnx_value_advice(cond->u));
	return known;
}

/* An empty stack has no element to take the shape from, so the body is expanded once to get it. */
static void no_trip(OnnxCall *c, OnnxValue *in, int carried, OnnxValue *out, int n)
{
	onnx_body(c, "body", carried + 2, in, out, n);
	for (int i = carried + 1; i < n; i++) {
		if (out[i].kind != ONNX_TENSOR)
			onnx_fail(c, UNSUPPORTED, "its body gives no tensor to collect");
		UOp *u = t_unsqueeze(out[i].u, 0);
		out[i].u = t_shrink_axis(u, 0, ix_const(0), ix_const(0));
		onnx_set_value(c, i - 1, out[i]);
	}
	for (int i = 0; i < carried; i++)
		onnx_set_value(c, i, in[2 + i]);
}

void onnx_Loop(OnnxCall *c)
{
	OnnxValue in[MAX_BODY + 2] = {{0}}, out[MAX_BODY];
	Stacked scans[MAX_BODY] = {{0}};
	int carried = onnx_nin(c) > 2 ? onnx_nin(c) - 2 : 0, n = onnx_body_outputs(c, "body");
	int64_t limit = trip_limit(c), trip = 0;
	if (carried + 1 > n || n > MAX_BODY || onnx_body_inputs(c, "body") != carried + 2)
		onnx_fail(c, MALFORMED, "its body has %d inputs and %d outputs for %d values",
			onnx_body_inputs(c, "body"), n, carried);
	in[1] = *onnx_value(c, 1);
	for (int i = 0; i < carried; i++)
		in[2 + i] = *onnx_value(c, 2 + i);
	for (; (limit < 0 || trip < limit) && goes_on(c, &in[1]); trip++) {
		if (trip == MAX_TRIPS)
			onnx_fail(c, UNSUPPORTED, "more than %d trips are too many to unroll",
				MAX_TRIPS);
		in[0] = (OnnxValue){
			.kind = ONNX_TENSOR, .type = ONNX_INT64, .u = const_int(DT_I64, trip)};
		if (in[1].kind == ONNX_ABSENT)
			in[1] = (OnnxValue){
				.kind = ONNX_TENSOR, .type = ONNX_BOOL, .u = const_int(DT_BOOL, 1)};
		onnx_body(c, "body", carried + 2, in, out, MAX_BODY);
		memcpy(in + 1, out, (carried + 1) * sizeof *in);
		for (int i = carried + 1; i < n; i++)
			collect(c, &scans[i], &out[i], limit < 0 ? MAX_TRIPS : limit);
	}
	if (!trip) {
		in[0] = (OnnxValue){
			.kind = ONNX_TENSOR, .type = ONNX_INT64, .u = const_int(DT_I64, 0)};
		if (in[1].kind == ONNX_ABSENT)
			in[1] = (OnnxValue){
				.kind = ONNX_TENSOR, .type = ONNX_BOOL, .u = const_int(DT_BOOL, 1)};
		no_trip(c, in, carried, out, n);
		return;
	}
	for (int i = 0; i < carried; i++)
		onnx_set_value(c, i, in[2 + i]);
	for (int i = carried + 1; i < n; i++)
		onnx_set_typed(c, i - 1, stack(c, &scans[i], 0, false), scans[i].type);
}

/* ---- Scan */

typedef struct {
	int64_t n, trips, states;
	int64_t in_axes[MAX_BODY], in_flip[MAX_BODY], out_axes[MAX_BODY], out_flip[MAX_BODY];
} ScanPlan;

static void direction(OnnxCall *c, const char *name, int64_t *out, int n)
{
	memset(out, 0, MAX_BODY * sizeof *out);
	int given = onnx_attr_ints(c, name, out, MAX_BODY);
	if (given >= 0 && given != n)
		onnx_fail(c, MALFORMED, "attribute %s has %d elements, not %d", name, given, n);
}

/* Scan input k at iteration `trip`. */
static UOp *slice(OnnxCall *c, const ScanPlan *p, int k, UOp *x, int64_t trip)
{
	int axis;
	onnx_axes(c, 1, &p->in_axes[k], t_rank(x), &axis);
	int64_t at = p->in_flip[k] ? p->trips - 1 - trip : trip;
	return t_squeeze(t_shrink_axis(x, axis, ix_const(at), ix_const(at + 1)), axis);
}

static int64_t scan_length(OnnxCall *c, const ScanPlan *p, UOp *const *x)
{
	int64_t n = -1;
	for (int k = 0; k < p->n; k++) {
		int axis;
		onnx_axes(c, 1, &p->in_axes[k], t_rank(x[k]), &axis);
		int64_t len = shape_dim(x[k]->shape, axis);
		if (n >= 0 && len != n)
			onnx_fail(c, MALFORMED, "its scan inputs have %lld and %lld elements",
				(long long)n, (long long)len);
		n = len;
	}
	if (n <= 0 || n > MAX_TRIPS)
		onnx_fail(c, UNSUPPORTED, "%lld trips are not between 1 and %d", (long long)n,
			MAX_TRIPS);
	return n;
}

/* One scan over x[0..n): state goes in and comes out; scan outputs go to out, from index `states`
 * on. */
static void scan_once(OnnxCall *c, ScanPlan *p, OnnxValue *state, UOp *const *x, const int *xtype,
	OnnxValue *out)
{
	OnnxValue in[MAX_BODY], got[MAX_BODY];
	Stacked scans[MAX_BODY] = {{0}};
	int n = onnx_body_outputs(c, "body");
	p->trips = scan_length(c, p, x);
	memcpy(in, state, p->states * sizeof *in);
	for (int64_t t = 0; t < p->trips; t++) {
		for (int k = 0; k < p->n; k++)
			in[p->states + k] = (OnnxValue){.kind = ONNX_TENSOR, .type = xtype[k],
				.u = slice(c, p, k, x[k], t)};
		onnx_body(c, "body", p->states + p->n, in, got, MAX_BODY);
		memcpy(in, got, p->states * sizeof *in);
		for (int i = p->states; i < n; i++)
			collect(c, &scans[i], &got[i], p->trips);
	}
	memcpy(out, in, p->states * sizeof *out);
	for (int i = p->states; i < n; i++) {
		int k = i - p->states;
		out[i] = (OnnxValue){.kind = ONNX_TENSOR, .type = scans[i].type,
			.u = stack(c, &scans[i], p->out_axes[k], p->out_flip[k])};
	}
}

/* Element b of the batch, which is on axis 0. */
static UOp *in_batch(OnnxCall *c, UOp *x, int64_t b)
{
	if (!t_rank(x))
		onnx_fail(c, MALFORMED, "a value has no batch axis");
	return t_squeeze(t_shrink_axis(x, 0, ix_const(b), ix_const(b + 1)), 0);
}

/* Version 8: axis 0 of everything is a batch, and each element of it is scanned separately. */
static void scan_batch(OnnxCall *c, ScanPlan *p, const OnnxValue *state, UOp *const *x,
	const int *xtype, OnnxValue *out, int n)
{
	OnnxValue own[MAX_BODY], got[MAX_BODY];
	UOp *slices[MAX_BODY];
	Stacked all[MAX_BODY] = {{0}};
	int64_t batch = t_rank(x[0]) ? shape_dim(x[0]->shape, 0) : 0;
	if (batch < 1 || batch > MAX_TRIPS)
		onnx_fail(c, UNSUPPORTED, "a batch of %lld", (long long)batch);
	for (int64_t b = 0; b < batch; b++) {
		for (int i = 0; i < p->states; i++) {
			own[i] = state[i];
			if (own[i].kind != ONNX_TENSOR)
				onnx_fail(c, MALFORMED, "its input %d is no tensor", i + 1);
			own[i].u = in_batch(c, own[i].u, b);
		}
		for (int i = 0; i < p->n; i++)
			slices[i] = in_batch(c, x[i], b);
		scan_once(c, p, own, slices, xtype, got);
		for (int i = 0; i < n; i++)
			collect(c, &all[i], &got[i], batch);
	}
	for (int i = 0; i < n; i++)
		out[i] = (OnnxValue){
			.kind = ONNX_TENSOR, .type = all[i].type, .u = stack(c, &all[i], 0, false)};
}

void onnx_Scan(OnnxCall *c)
{
	OnnxValue state[MAX_BODY], out[MAX_BODY];
	UOp *x[MAX_BODY];
	int type[MAX_BODY], n = onnx_body_outputs(c, "body");
	int old = onnx_version(c) < 9, given = onnx_nin(c) - old;
	ScanPlan p = {.n = onnx_attr_int(c, "num_scan_inputs", 0)};
	p.states = given - p.n;
	if (p.n < 1 || p.states < 0 || given > MAX_BODY || n > MAX_BODY || n < p.states ||
		onnx_body_inputs(c, "body") != given)
		onnx_fail(c, MALFORMED, "its body has %d inputs and %d outputs for %d inputs",
			onnx_body_inputs(c, "body"), n, given);
	if (old && onnx_has(c, 0))
		onnx_fail(c, UNSUPPORTED, "lengths of their own for each element of the batch");
	direction(c, "scan_input_axes", p.in_axes, p.n);
	direction(c, old ? "directions" : "scan_input_directions", p.in_flip, p.n);
	direction(c, "scan_output_axes", p.out_axes, n - p.states);
	direction(c, "scan_output_directions", p.out_flip, n - p.states);
	for (int i = 0; i < p.states; i++)
		state[i] = *onnx_value(c, old + i);
	for (int i = 0; i < p.n; i++) {
		x[i] = onnx_in(c, old + p.states + i);
		type[i] = onnx_type(c, old + p.states + i);
	}
	if (old)
		scan_batch(c, &p, state, x, type, out, n);
	else
		scan_once(c, &p, state, x, type, out);
	for (int i = 0; i < n; i++)
		onnx_set_value(c, i, out[i]);
}
#endif
