/* A body that runs turn after turn: a LOOP, or one copy after another.
 *
 *     FEW turns at most, a number        a copy for each, if every condition is known
 *     any other                          a LOOP; if its body needs to know its turn, copies again
 *
 * The body of a LOOP is expanded until what was assumed of its states holds. At first each has its
 * shape for ever. A size that differs after a turn grows by that in each; where that is not so, it
 * is a state of its own, bound anew in each turn. A state that a turn hands on is none. A list
 * whose length differs is one tensor, its elements along a new first axis; when turns add to its
 * end and nothing else reads it, what they add is stacked.
 *
 *     cache [2,past] → Concat(cache, x [2,1])   CARRY [2,past], then CARRY [2,past+turn] */
#include "onnx/onnx.h"

enum { FEW = 16, MAX_TURNS = 1 << 16, LARGEST = INT32_MAX };

/* ---- conditions */

UOp *onnx_condition(const OnnxCall *c, UOp *u)
{
	int64_t n;
	if (u->dtype != DT_BOOL || (shape_static(u->shape, &n) && n != 1))
		onnx_fail(c, MALFORMED, "its condition is %s%s, not one bool", dtype_name(u->dtype),
			shape_text(u->shape));
	return t_reshape(u, shape_scalar());
}

int onnx_known_condition(UOp *cond, UOp **size)
{
	Array a;
	size_t n;
	int64_t v;
	*size = NULL;
	if (onnx_known_tensor(cond, &a))
		return *(uint8_t *)a.data != 0;
	if (!onnx_try_sizes(cond, 1, size, &n))
		*size = NULL;
	return *size && ix_is_const(*size, &v) ? v != 0 : -1;
}

static bool known(UOp *cond, bool *v)
{
	UOp *size;
	int is = cond ? onnx_known_condition(cond, &size) : 1;
	*v = is == 1;
	return is >= 0;
}

UOp *onnx_size_node(UOp *size)
{
	int64_t v;
	return ix_is_const(size, &v) ? const_int(DT_I64, v) :
		LEAF(OP_SIZE, DT_I64, size_to_val(size));
}

static const OnnxValue *tensor(const OnnxTurns *t, const OnnxValue *v)
{
	if (v->kind != ONNX_TENSOR)
		onnx_fail(t->c, UNSUPPORTED, "its body gives %s to collect",
			v->kind == ONNX_SEQUENCE ? "a sequence" : "an empty optional");
	return v;
}

/* ---- copies */

/* No turn: the body is expanded for the shapes alone. */
static void no_turn(const OnnxTurns *t, OnnxValue *out)
{
	StepsMark begun = steps_enter();
	uint32_t since = node_limit();
	t->body(t, const_int(DT_I64, 0), t->state, out);
	memcpy(out, t->state, (size_t)t->states * sizeof *out);
	for (int i = t->states; i < t->states + t->values; i++) {
		UOp *u = tensor(t, &out[i])->u, *dim[MAX_RANK + 1] = {ix_const(0)};
		for (int d = 0; d < t_rank(u); d++)
			dim[d + 1] = size_bound_since(t_dim(u, d), since) ? ix_const(0) :
				t_dim(u, d);
		if (t_rank(u) == MAX_RANK)
			onnx_fail(t->c, UNSUPPORTED, "rank %d is more than %d", MAX_RANK + 1,
				MAX_RANK);
		out[i].u = t_full(shape_new(t_rank(u) + 1, dim), t_num(u->dtype, 0));
	}
	steps_drop(begun);
}

typedef struct { const OnnxTurns *t; int64_t n; OnnxValue *out; } Copies;

/* At most n turns; n < 0: as many as the conditions say. */
static void copies(void *ctx)
{
	const Copies *e = ctx;
	const OnnxTurns *t = e->t;
	OnnxValue *state = arena_alloc((size_t)(t->states + t->values + 1) * sizeof *state);
	VEC(UOp *) *part = arena_alloc((size_t)(t->values + 1) * sizeof *part);
	bool more = true;
	memset(part, 0, (size_t)t->values * sizeof *part);
	memcpy(state, t->state, (size_t)t->states * sizeof *state);
	for (int64_t k = 0; more && (e->n < 0 || k < e->n); k++) {
		if (k == MAX_TURNS)
			onnx_fail(t->c, UNSUPPORTED, "more than %d turns are too many to unroll",
				MAX_TURNS);
		UOp *cond = t->body(t, const_int(DT_I64, k), state, e->out);
		memcpy(state, e->out, (size_t)t->states * sizeof *state);
		for (int i = 0; i < t->values; i++)
			vec_push(&part[i], t_unsqueeze(tensor(t, &e->out[t->states + i])->u, 0));
		if (!known(cond, &more))
			onnx_fail(t->c, UNSUPPORTED, "whether it goes on depends on data%s",
				onnx_value_advice(cond));
	}
	for (int i = 0; i < t->values; i++) {
		e->out[t->states + i].u = t_concat(part[i].n, part[i].at, 0);
		vec_free(&part[i]);
	}
}

/* ---- what is assumed of the states */

/* A tensor that is carried: how much each axis grows in a turn, or that its size is open; and in
 * the expansion at hand its CARRY, and the CARRYs of open sizes. */
typedef struct {
	UOp *init, *step[MAX_RANK];
	bool open[MAX_RANK];
	UOp *in;
	int64_t k, size_k[MAX_RANK];
} Slot;

typedef struct {
	/* handed on; a slot for each tensor of it; a list of open length, one slot; the same, but
	 * what turns add to it is stacked, `added` values each turn, from number `value` on */
	enum { PASSED, EACH, LIST, STACKED } how;
	bool changes, read;     /* not PASSED; not STACKED */
	OnnxValue given;
	size_t slots, added;
	Slot *slot;
	size_t value;
} State;

typedef struct {
	const OnnxTurns *t;
	OnnxValue *out;
	State *state;
	TurnLoop loop;
	uint32_t since;         /* nodes from here on are the body's */
	VEC(UOp *) next, value;
	bool holds;             /* what was assumed */
} Making;

/* The turn as a size. */
static UOp *turn_size(Making *m)
{
	return t_bind("turn", m->loop.turn, ix_const(0),
		m->t->length ? m->t->length : ix_const(LARGEST));
}

static int64_t add_state(Making *m, UOp *init, const Shape *grows, UOp **in)
{
	*in = loop_state(&m->loop, init, grows);
	vec_push(&m->next, NULL);
	return m->loop.states - 1;
}

static UOp *carried_size(Making *m, Slot *s, int axis)
{
	UOp *in, *init = t_dim(s->init, axis);
	if (s->step[axis])
		return ix_add(init, ix_mul(turn_size(m), s->step[axis]));
	if (!s->open[axis])
		return init;
	s->size_k[axis] = add_state(m, onnx_size_node(init), NULL, &in);
	return t_bind("size", in, ix_const(0), ix_const(LARGEST));
}

static UOp *carried(Making *m, Slot *s)
{
	UOp *dim[MAX_RANK];
	for (int d = 0; d < t_rank(s->init); d++)
		dim[d] = carried_size(m, s, d);
	const Shape *shape = shape_new(t_rank(s->init), dim);
	s->k = add_state(m, s->init, shape == s->init->shape ? NULL : shape, &s->in);
	return s->in;
}

/* Something of a state's shape, for one that nothing reads. */
static UOp *unread(Making *m, Slot *s)
{
	UOp *dim[MAX_RANK];
	for (int d = 0; d < t_rank(s->init); d++)
		dim[d] = carried_size(m, s, d);
	return s->in = t_full(shape_new(t_rank(s->init), dim), t_num(s->init->dtype, 0));
}

static OnnxValue state_in(Making *m, State *s)
{
	OnnxValue v = s->given;
	switch (s->how) {
	case PASSED: break;
	case EACH:
		if (v.kind == ONNX_TENSOR)
			v.u = carried(m, &s->slot[0]);
		else
			v.at = arena_alloc((v.n + 1) * sizeof *v.at);
		for (size_t k = 0; v.kind == ONNX_SEQUENCE && k < v.n; k++) {
			v.at[k] = s->given.at[k];
			v.at[k].u = carried(m, &s->slot[k]);
		}
		break;
	case LIST:
	case STACKED:
		v.u = s->how == LIST ? carried(m, &s->slot[0]) : unread(m, &s->slot[0]);
		v.at = NULL;
		v.n = 0;
	}
	return v;
}

/* ---- what a turn gives */

static bool is_zero(UOp *size)
{
	int64_t lo, hi;
	ix_bounds(size, &lo, &hi);
	return lo == 0 && hi == 0;
}

static void compare_axis(Making *m, Slot *s, int d, UOp *more)
{
	if (s->open[d] || more == s->step[d] || (!s->step[d] && is_zero(more)))
		return;
	m->holds = false;
	s->open[d] = s->step[d] || size_bound_since(more, m->since) ||
		!ix_prove_le(ix_const(0), more);
	s->step[d] = s->open[d] ? NULL : more;
}

static void compare_slot(Making *m, Slot *s, UOp *u)
{
	const OnnxCall *c = m->t->c;
	if (u->dtype != s->in->dtype)
		onnx_fail(c, MALFORMED, "a state is %s before a turn and %s after it",
			dtype_name(s->in->dtype), dtype_name(u->dtype));
	if (t_rank(u) != t_rank(s->in))
		onnx_fail(c, UNSUPPORTED, "a state has shape %s before a turn and %s after it",
			shape_text(s->in->shape), shape_text(u->shape));
	for (int d = 0; d < t_rank(u); d++) {
		compare_axis(m, s, d, ix_sub(t_dim(u, d), t_dim(s->in, d)));
		if (s->open[d] && m->holds)
			m->next.at[s->size_k[d]] = onnx_size_node(t_dim(u, d));
	}
	if (m->holds)
		m->next.at[s->k] = u;
}

/* Its slots, for how it is from now on. */
static void slots_new(State *s, size_t n)
{
	s->slots = n;
	s->slot = arena_alloc((n + 1) * sizeof *s->slot);
	memset(s->slot, 0, n * sizeof *s->slot);
}

/* A list whose length turns out to differ: v after a turn. */
static void become_list(Making *m, State *s, const OnnxValue *v)
{
	const OnnxValue *some = s->given.n ? &s->given.at[0] : v->n ? &v->at[0] : NULL;
	UOp *dim[MAX_RANK + 1] = {ix_const(0)};
	const Shape *one = some ? some->u->shape : NULL;
	s->how = LIST;
	s->given.type = v->type;
	slots_new(s, 1);
	m->holds = false;
	if (s->given.n || s->given.u) {
		s->slot[0].init = onnx_stacked(m->t->c, &s->given);
		return;
	}
	if (!some && !v->u)
		onnx_fail(m->t->c, UNSUPPORTED, "a sequence of elements without a shape");
	for (int d = 0; one && d < one->rank && d < MAX_RANK - 1; d++)
		if (size_bound_since(dim[d + 1] = one->dim[d], m->since))
			onnx_fail(m->t->c, UNSUPPORTED, "the elements of a sequence have shape %s, "
				"which differs by turn", shape_text(one));
	DType dt = some ? some->u->dtype : v->u->dtype;
	for (int d = 1; !one && d < t_rank(v->u); d++)
		dim[d] = t_dim(v->u, d);
	s->slot[0].init = t_full(shape_new(one ? one->rank + 1 : t_rank(v->u), dim),
		t_num(dt, 0));
}

static bool same_value(const OnnxValue *a, const OnnxValue *b)
{
	bool same = a->kind == b->kind && a->u == b->u && a->n == b->n;
	for (size_t k = 0; same && k < a->n; k++)
		same = a->at[k].u == b->at[k].u;
	return same;
}

static void compare_each(Making *m, State *s, const OnnxValue *v)
{
	bool passed = true;
	if (v->kind != s->given.kind)
		onnx_fail(m->t->c, UNSUPPORTED, "a state is a %s before a turn and none after it",
			s->given.kind == ONNX_TENSOR ? "tensor" : "sequence");
	if (v->kind == ONNX_SEQUENCE && (v->u || v->n != s->given.n)) {
		become_list(m, s, v);
		return;
	}
	for (size_t k = 0; k < s->slots; k++) {
		UOp *u = v->kind == ONNX_TENSOR ? v->u : v->at[k].u;
		passed &= u == s->slot[k].in;
		compare_slot(m, &s->slot[k], u);
	}
	if (passed && !s->changes) {
		s->how = PASSED;
		m->holds = false;
	}
}

static void compare_state(Making *m, State *s, const OnnxValue *v)
{
	if (s->how == EACH) {
		compare_each(m, s, v);
	} else if (s->how == PASSED && !same_value(&s->given, v)) {
		if (s->given.kind != ONNX_TENSOR && s->given.kind != ONNX_SEQUENCE)
			onnx_fail(m->t->c, UNSUPPORTED, "a state is an optional that changes");
		s->how = s->given.u && s->given.kind == ONNX_SEQUENCE ? LIST : EACH;
		s->changes = true;
		m->holds = false;
	} else if (s->how == LIST || s->how == STACKED) {
		if (v->kind != ONNX_SEQUENCE)
			onnx_fail(m->t->c, UNSUPPORTED, "a state is a sequence before a turn and "
				"none after it");
		if (s->how == STACKED && (v->u != s->slot[0].in || v->n != s->added)) {
			s->how = LIST;
			s->read = true;
			m->holds = false;
		} else if (s->how == LIST) {
			compare_slot(m, &s->slot[0], v->u || v->n ? onnx_stacked(m->t->c, v) :
				t_shrink_axis(s->slot[0].in, 0, ix_const(0), ix_const(0)));
		}
	}
}

/* Whether nothing that a turn gives needs u but state s. */
static bool only_its_own(Making *m, const State *s, UOp *cond)
{
	VEC(UOp *) ends = {0};
	bool found = false;
	for (size_t i = 0; i < m->next.n; i++)
		if ((int64_t)i != s->slot[0].k)
			vec_push(&ends, m->next.at[i]);
	for (int i = 0; i < m->t->values; i++)
		vec_push(&ends, m->out[m->t->states + i].u);
	const OnnxValue *v = &m->out[s - m->state];
	for (size_t k = 0; k < v->n; k++)
		vec_push(&ends, v->at[k].u);
	if (cond)
		vec_push(&ends, cond);
	for (size_t i = 0; i < steps_made()->binds.n; i++)
		if (steps_made()->binds.at[i]->id >= m->since)
			vec_push(&ends, steps_made()->binds.at[i]);
	Nodes all = walk_many(ends.n, ends.at);
	for (size_t i = 0; i < all.n; i++)
		found |= all.at[i] == s->slot[0].in;
	vec_free(&ends);
	return !found;
}

/* Lists that turns add to and do nothing else with. */
static void find_stacked(Making *m, UOp *cond)
{
	for (int i = 0; m->holds && i < m->t->states; i++) {
		State *s = &m->state[i];
		const OnnxValue *v = &m->out[i];
		if (s->how != LIST || s->read || v->u != s->slot[0].in || !s->slot[0].step[0] ||
			!only_its_own(m, s, cond))
			continue;
		s->how = STACKED;
		s->added = v->n;
		m->holds = false;
	}
}

/* ---- the LOOP */

/* Expands the body once; whether what was assumed of its states holds. */
static bool turn_made(Making *m, UOp **cond)
{
	const OnnxTurns *t = m->t;
	OnnxValue *in = arena_alloc((size_t)(t->states + 1) * sizeof *in);
	m->next.n = m->value.n = 0;
	m->holds = true;
	m->since = node_limit();
	m->loop = loop_new();
	for (int i = 0; i < t->states; i++)
		in[i] = state_in(m, &m->state[i]);
	*cond = t->body(t, m->loop.turn, in, m->out);
	for (int i = 0; i < t->values; i++)
		vec_push(&m->value, tensor(t, &m->out[t->states + i])->u);
	for (int i = 0; i < t->states; i++)
		compare_state(m, &m->state[i], &m->out[i]);
	find_stacked(m, *cond);
	if (!m->holds)
		steps_drop(m->loop.begun);
	return m->holds;
}

/* The sizes of a value that turns stack: those that its body binds are states, whose last is the
 * size. */
typedef struct { int64_t k[MAX_RANK]; } ValueSizes;

static ValueSizes value_sizes(Making *m, UOp *u)
{
	ValueSizes s;
	UOp *in;
	for (int d = 0; d < t_rank(u); d++) {
		s.k[d] = -1;
		if (!size_bound_since(t_dim(u, d), m->since))
			continue;
		s.k[d] = add_state(m, const_int(DT_I64, 0), NULL, &in);
		m->next.at[s.k[d]] = onnx_size_node(t_dim(u, d));
	}
	return s;
}

static UOp *last_size(UOp *loop, int64_t k)
{
	return t_bind("size", loop_last(loop, k, NULL), ix_const(0), ix_const(LARGEST));
}

static UOp *stacked(Making *m, UOp *loop, size_t k, const ValueSizes *s, UOp *turns)
{
	UOp *u = m->value.at[k], *dim[MAX_RANK + 1] = {turns};
	if (t_rank(u) == MAX_RANK)
		onnx_fail(m->t->c, UNSUPPORTED, "rank %d is more than %d", MAX_RANK + 1, MAX_RANK);
	for (int d = 0; d < t_rank(u); d++)
		dim[d + 1] = s->k[d] < 0 ? t_dim(u, d) : last_size(loop, s->k[d]);
	return loop_stacked(loop, (int64_t)k, shape_new(t_rank(u) + 1, dim));
}

static UOp *last(UOp *loop, const Slot *s, UOp *turns)
{
	UOp *dim[MAX_RANK];
	for (int d = 0; d < t_rank(s->init); d++)
		dim[d] = s->open[d] ? last_size(loop, s->size_k[d]) :
			s->step[d] ? ix_add(t_dim(s->init, d), ix_mul(turns, s->step[d])) :
			t_dim(s->init, d);
	const Shape *shape = shape_new(t_rank(s->init), dim);
	return loop_last(loop, s->k, shape == s->init->shape ? NULL : shape);
}

/* A list's first elements, and behind them what all turns added: values [turns,…] for each element
 * that one adds. */
static UOp *list_joined(const State *s, UOp *const *value)
{
	UOp **part = arena_alloc((s->added + 1) * sizeof *part), *u;
	for (size_t k = 0; k < s->added; k++)
		part[k] = t_unsqueeze(value[k], 1);
	u = t_merge_axes(t_concat(s->added, part, 1), 0, 2);
	if (is_zero(t_dim(s->slot[0].init, 0)))
		return u;
	return t_concat(2, (UOp *[]){s->slot[0].init, u}, 0);
}

static OnnxValue state_out(const State *s, UOp *loop, UOp *turns, UOp *const *value)
{
	OnnxValue v = s->given;
	if (s->how == PASSED)
		return v;
	if (s->how == EACH && v.kind == ONNX_SEQUENCE) {
		v.at = arena_alloc((v.n + 1) * sizeof *v.at);
		for (size_t k = 0; k < v.n; k++) {
			v.at[k] = s->given.at[k];
			v.at[k].u = last(loop, &s->slot[k], turns);
		}
		return v;
	}
	v.u = s->how == STACKED ? list_joined(s, value + s->value) :
		last(loop, &s->slot[0], turns);
	v.at = NULL;
	v.n = 0;
	return v;
}

static UOp *ended(Making *m, UOp *cond)
{
	const OnnxTurns *t = m->t;
	UOp *yes = const_int(DT_BOOL, 1);
	bool goes_on, must = t->start || !t->limit;
	if (known(cond, &goes_on) && goes_on)
		cond = NULL;
	LoopEnd end = {.limit = t->limit, .state = m->next.at, .value = m->value.at,
		.values = m->value.n};
	if (cond || must) {
		end.start = t->start ? t->start : yes;
		end.next = cond ? cond : yes;
	}
	return loop_end(&m->loop, &end);
}

static void made(Making *m, UOp *cond)
{
	const OnnxTurns *t = m->t;
	for (int i = 0; i < t->states; i++) {
		State *s = &m->state[i];
		s->value = m->value.n;
		for (size_t k = 0; s->how == STACKED && k < s->added; k++)
			vec_push(&m->value, m->out[i].at[k].u);
	}
	ValueSizes *sizes = arena_alloc((m->value.n + 1) * sizeof *sizes);
	UOp **value = arena_alloc((m->value.n + 1) * sizeof *value);
	for (size_t k = 0; k < m->value.n; k++)
		sizes[k] = value_sizes(m, m->value.at[k]);
	UOp *loop = ended(m, cond), *turns = t->length;
	if (!turns || loop_parts(loop).next)
		turns = t_bind("turns", loop_turns(loop), ix_const(0),
			turns ? turns : ix_const(LARGEST));
	for (size_t k = 0; k < m->value.n; k++)
		value[k] = stacked(m, loop, k, &sizes[k], turns);
	for (int i = 0; i < t->states; i++)
		m->out[i] = state_out(&m->state[i], loop, turns, value);
	for (int i = 0; i < t->values; i++)
		m->out[t->states + i].u = value[i];
}

static void state_begin(State *s, const OnnxValue *v)
{
	*s = (State){.given = *v};
	if (v->kind != ONNX_TENSOR && v->kind != ONNX_SEQUENCE)
		return;
	s->how = v->kind == ONNX_SEQUENCE && v->u ? LIST : EACH;
	slots_new(s, v->kind == ONNX_TENSOR || s->how == LIST ? 1 : v->n);
	for (size_t k = 0; k < s->slots && s->how == EACH; k++)
		s->slot[k].init = v->kind == ONNX_TENSOR ? v->u : v->at[k].u;
}

typedef struct { const OnnxTurns *t; OnnxValue *out; } Looped;

static void as_loop(void *ctx)
{
	const Looped *e = ctx;
	const OnnxTurns *t = e->t;
	Making m = {.t = t, .out = e->out};
	UOp *cond;
	m.state = arena_alloc((size_t)(t->states + 1) * sizeof *m.state);
	for (int i = 0; i < t->states; i++) {
		state_begin(&m.state[i], &t->state[i]);
		if (m.state[i].how == LIST)
			m.state[i].slot[0].init = onnx_stacked(t->c, &t->state[i]);
	}
	while (!turn_made(&m, &cond))
		;
	made(&m, cond);
	vec_free(&m.next);
	vec_free(&m.value);
}

void onnx_turns(const OnnxTurns *t, OnnxValue *out)
{
	OnnxRefusal why, other;
	bool begins;
	int64_t n = -1;
	bool open = !known(t->start, &begins) || (t->limit && !t->length) ||
		(t->length && !ix_is_const(t->length, &n));
	Copies each = {t, n, out};
	Looped loop = {t, out};
	if ((!open || !t->start) && (n == 0 || !begins))
		no_turn(t, out);
	else if (!(!open && n > 0 && n <= FEW && onnx_try(copies, &each, &other)) &&
		!onnx_try(as_loop, &loop, &why) &&
		(open || n > MAX_TURNS || !onnx_try(copies, &each, &other)))
		onnx_refuse(&why);
}
