/* Loop and Scan: bodies that run turn after turn (turns.c). */
#include "onnx/proto.h"
#ifdef HAVE_ONNX

enum { MAX_BODY = 256 };

static OnnxValue integer(UOp *u)
{
	return (OnnxValue){.kind = ONNX_TENSOR, .type = ONNX_INT64, .u = u};
}

/* ---- Loop */

static UOp *loop_body(const OnnxTurns *t, UOp *turn, const OnnxValue *state, OnnxValue *out)
{
	OnnxValue in[MAX_BODY + 2], got[MAX_BODY];
	in[0] = integer(turn);
	/* where the body runs, it holds */
	in[1] = (OnnxValue){.kind = ONNX_TENSOR, .type = ONNX_BOOL, .u = const_int(DT_BOOL, 1)};
	memcpy(in + 2, state, (size_t)t->states * sizeof *in);
	int n = onnx_body(t->c, "body", (size_t)t->states + 2, in, got, MAX_BODY);
	memcpy(out, got + 1, (size_t)(n - 1) * sizeof *out);
	if (got[0].kind != ONNX_TENSOR)
		onnx_fail(t->c, MALFORMED, "its condition is no tensor");
	return onnx_condition(t->c, t_cast(got[0].u, DT_BOOL));
}

/* A number beyond every size is how exporters say that there is no limit. */
static void take_limit(OnnxCall *c, OnnxTurns *t)
{
	UOp *size, *zero = ix_const(0);
	int64_t v;
	size_t n;
	if (!onnx_has(c, 0))
		return;
	UOp *u = t_cast(onnx_in(c, 0), DT_I64);
	if (shape_count(u->shape) != ix_const(1))
		onnx_fail(c, MALFORMED, "its number of turns is %s, not one number",
			shape_text(u->shape));
	t->limit = t_reshape(u, shape_scalar());
	if (!onnx_try_sizes(t->limit, 1, &size, &n))
		return;
	if (ix_is_const(size, &v) && v >= INT32_MAX) {
		t->limit = NULL;
		return;
	}
	t->length = ix_prove_le(zero, size) ? size : ix_max(size, zero);
	if (t->length)
		t->limit = onnx_size_node(t->length);
}

void onnx_Loop(OnnxCall *c)
{
	OnnxValue state[MAX_BODY], out[MAX_BODY];
	int carried = onnx_nin(c) > 2 ? onnx_nin(c) - 2 : 0, n = onnx_body_outputs(c, "body");
	OnnxTurns t = {.c = c, .body = loop_body, .states = carried, .values = n - 1 - carried,
		.state = state};
	if (carried + 1 > n || n > MAX_BODY || onnx_body_inputs(c, "body") != carried + 2)
		onnx_fail(c, MALFORMED, "its body has %d inputs and %d outputs for %d values",
			onnx_body_inputs(c, "body"), n, carried);
	take_limit(c, &t);
	if (onnx_has(c, 1))
		t.start = onnx_condition(c, onnx_in(c, 1));
	for (int i = 0; i < carried; i++)
		state[i] = *onnx_value(c, 2 + i);
	onnx_turns(&t, out);
	for (int i = 0; i < n - 1; i++)
		onnx_set_value(c, i, out[i]);
}

/* ---- Scan */

typedef struct {
	int n;                  /* scan inputs */
	int64_t in_axes[MAX_BODY], in_flip[MAX_BODY], out_axes[MAX_BODY], out_flip[MAX_BODY];
	UOp *x[MAX_BODY];
	int type[MAX_BODY];
} ScanPlan;

static void direction(OnnxCall *c, const char *name, int64_t *out, int n)
{
	memset(out, 0, MAX_BODY * sizeof *out);
	int given = onnx_attr_ints(c, name, out, MAX_BODY);
	if (given >= 0 && given != n)
		onnx_fail(c, MALFORMED, "attribute %s has %d elements, not %d", name, given, n);
}

/* Element i of x along an axis, i64 scalar, which is one of it. */
static UOp *element(UOp *x, int axis, UOp *i)
{
	int64_t k;
	if (const_is_int(i, &k))
		return t_squeeze(t_shrink_axis(x, axis, ix_const(k), ix_const(k + 1)), axis);
	return t_take_inside(x, i, axis);
}

static int scan_axis(const OnnxCall *c, int64_t axis, int rank)
{
	int at;
	onnx_axes(c, 1, &axis, rank, &at);
	return at;
}

static UOp *scan_body(const OnnxTurns *t, UOp *turn, const OnnxValue *state, OnnxValue *out)
{
	const ScanPlan *p = t->own;
	OnnxValue in[MAX_BODY];
	UOp *back = t_sub(t->limit, t_addc(turn, 1));
	memcpy(in, state, (size_t)t->states * sizeof *in);
	for (int k = 0; k < p->n; k++) {
		int axis = scan_axis(t->c, p->in_axes[k], t_rank(p->x[k]));
		in[t->states + k] = (OnnxValue){.kind = ONNX_TENSOR, .type = p->type[k],
			.u = element(p->x[k], axis, p->in_flip[k] ? back : turn)};
	}
	onnx_body(t->c, "body", (size_t)(t->states + p->n), in, out, MAX_BODY);
	return NULL;
}

/* The axis of all scan inputs. */
static UOp *scan_length(OnnxCall *c, ScanPlan *p)
{
	UOp *n = NULL;
	for (int k = 0; k < p->n; k++) {
		int axis = scan_axis(c, p->in_axes[k], t_rank(p->x[k]));
		UOp *own = t_dim(p->x[k], axis);
		n = n ? n : own;
		p->x[k] = t_agree(p->x[k], axis, n);
		if (t_dim(p->x[k], axis) != n)
			onnx_fail(c, MALFORMED, "its scan inputs have %s and %s elements",
				shape_text(shape_new(1, &n)), shape_text(shape_new(1, &own)));
	}
	return n;
}

static void scan_once(OnnxCall *c, ScanPlan *p, int states, const OnnxValue *state, OnnxValue *out)
{
	OnnxTurns t = {.c = c, .own = p, .body = scan_body, .states = states, .state = state,
		.values = onnx_body_outputs(c, "body") - states};
	t.length = scan_length(c, p);
	t.limit = onnx_size_node(t.length);
	onnx_turns(&t, out);
	for (int i = 0; i < t.values; i++) {
		UOp **u = &out[states + i].u;
		int axis = scan_axis(c, p->out_axes[i], t_rank(*u));
		if (p->out_flip[i])
			*u = t_flip(*u, 1, (int[]){0});
		*u = t_move_axis(*u, 0, axis);
	}
}

/* Version 8: axis 0 of everything is a batch, and each element of it is scanned separately. */
typedef struct { ScanPlan *p; int states; const OnnxValue *state; } Batch;

static UOp *of_batch(OnnxCall *c, UOp *x, UOp *i)
{
	if (!t_rank(x))
		onnx_fail(c, MALFORMED, "a value has no batch axis");
	return element(x, 0, i);
}

static UOp *batch_body(const OnnxTurns *t, UOp *turn, const OnnxValue *none, OnnxValue *out)
{
	const Batch *b = t->own;
	OnnxValue state[MAX_BODY];
	ScanPlan p = *b->p;
	for (int i = 0; i < b->states; i++) {
		state[i] = b->state[i];
		if (state[i].kind != ONNX_TENSOR)
			onnx_fail(t->c, MALFORMED, "its input %d is no tensor", i + 1);
		state[i].u = of_batch(t->c, state[i].u, turn);
	}
	for (int k = 0; k < p.n; k++)
		p.x[k] = of_batch(t->c, p.x[k], turn);
	scan_once(t->c, &p, b->states, state, out);
	return NULL;
}

static void scan_batch(OnnxCall *c, ScanPlan *p, int states, const OnnxValue *state, OnnxValue *out)
{
	Batch b = {p, states, state};
	OnnxTurns t = {.c = c, .own = &b, .body = batch_body,
		.values = onnx_body_outputs(c, "body")};
	if (!t_rank(p->x[0]))
		onnx_fail(c, MALFORMED, "a value has no batch axis");
	t.length = t_dim(p->x[0], 0);
	t.limit = onnx_size_node(t.length);
	onnx_turns(&t, out);
}

void onnx_Scan(OnnxCall *c)
{
	OnnxValue state[MAX_BODY], out[MAX_BODY];
	int n = onnx_body_outputs(c, "body"), old = onnx_version(c) < 9, given = onnx_nin(c) - old;
	ScanPlan *p = arena_alloc(sizeof *p);
	*p = (ScanPlan){.n = (int)onnx_attr_int(c, "num_scan_inputs", 0)};
	int states = given - p->n;
	if (p->n < 1 || states < 0 || given > MAX_BODY || n > MAX_BODY || n < states ||
		onnx_body_inputs(c, "body") != given)
		onnx_fail(c, MALFORMED, "its body has %d inputs and %d outputs for %d inputs",
			onnx_body_inputs(c, "body"), n, given);
	if (old && onnx_has(c, 0))
		onnx_fail(c, UNSUPPORTED, "lengths of their own for each element of the batch");
	direction(c, "scan_input_axes", p->in_axes, p->n);
	direction(c, old ? "directions" : "scan_input_directions", p->in_flip, p->n);
	direction(c, "scan_output_axes", p->out_axes, n - states);
	direction(c, "scan_output_directions", p->out_flip, n - states);
	for (int i = 0; i < states; i++)
		state[i] = *onnx_value(c, old + i);
	for (int i = 0; i < p->n; i++) {
		p->x[i] = onnx_in(c, old + states + i);
		p->type[i] = onnx_type(c, old + states + i);
	}
	if (old)
		scan_batch(c, p, states, state, out);
	else
		scan_once(c, p, states, state, out);
	for (int i = 0; i < n; i++)
		onnx_set_value(c, i, out[i]);
}
#endif
