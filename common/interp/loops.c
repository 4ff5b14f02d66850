/* Runs a KERNEL of level loops statement by statement, each on all lanes at once (statements.c says
 * what a lane is). Lanes for which an IF is false or a loop has ended are masked: they touch no
 * memory. Since all lanes execute a statement before the next begins, a BARRIER only has to check
 * that all lanes reach it, and an EXCHANGE finds another lane's value. Every access is checked
 * against its buffer.
 */
#include <stdlib.h>
#include "interp/interp.h"
#include "interp/loops.h"

/* an open RANGE or IF */
typedef struct {
	int at;                 /* its statement */
	int64_t i, size;        /* of a RANGE; size is the largest over the lanes */
	size_t lanes;           /* around it */
	uint8_t *mask;          /* the mask around it; NULL: all lanes were active */
} OpenLoop;

typedef struct {
	LoopPlan plan;
	size_t lanes;           /* 1 + the last active lane; 1 outside loops over lanes */
	uint8_t *mask;          /* NULL: all lanes are active */
	VEC(OpenLoop) open;
	Watch *watch;           /* or NULL */
	const LoopCell *gate;   /* with lanes, of the store at hand; else NULL */
} LoopRun;

static LoopCell *cell_at(LoopRun *r, int cell)
{
	return &r->plan.cell.at[cell];
}

/* ---- masks ---- */

static bool active(const LoopRun *r, size_t lane)
{
	return !r->mask || r->mask[lane];
}

/* Sets the mask and reduces the number of lanes to the last active one; false when none is active.
 * The caller saves the old mask and number of lanes. */
static bool set_mask(LoopRun *r, uint8_t *mask)
{
	r->mask = mask;
	while (r->lanes > 0 && !mask[r->lanes - 1])
		r->lanes--;
	return r->lanes > 0;
}

/* Narrows the mask to the lanes where a bool cell is true. */
static bool narrow(LoopRun *r, const LoopCell *c)
{
	uint8_t *mask = xmalloc(r->lanes + 1);

	for (size_t i = 0; i < r->lanes; i++)
		mask[i] = active(r, i) && c->lane[c->varies ? i : 0];
	return set_mask(r, mask);
}

/* ---- places ---- */

static _Noreturn void outside(const LoopRun *r, const Memory *m, int64_t place, const char *what)
{
	if (m->u->op == OP_PARAM)
		die(FAILED, "kernel %s: %s outside its buffer: slot %lld at %lld of %lld",
			r->plan.name, what, (long long)param_slot(m->u), (long long)place,
			(long long)m->count);
	die(FAILED, "kernel %s: %s outside %s %lld at %lld of %lld", r->plan.name, what,
		op_name(m->u->op), (long long)m->u->arg->a[0]->i, (long long)place,
		(long long)m->count);
}

static char *address(const LoopRun *r, const Memory *m, int64_t place, size_t lane,
	const char *what)
{
	if (place < 0 || place >= m->count)
		outside(r, m, place, what);
	return m->at +
		(m->per_lane ? place * r->plan.lanes + lane : place) * element_size(m->u->dtype);
}

/* Bytes of an element of c. */
static int cell_size(const LoopCell *c) { return element_size(dtype_element(c->u->dtype)); }

/* Element e of c in a lane; a scalar is each of its elements. */
static size_t element_of(const LoopCell *c, size_t lane, int e)
{
	return (c->varies ? lane * c->width : 0) + (c->width > 1 ? e : 0);
}

static int64_t place_of(const LoopCell *place, size_t lane, int e)
{
	return ((int64_t *)place->lane)[element_of(place, lane, e)];
}

static bool gate_of(const LoopCell *gate, size_t lane, int e)
{
	return !gate || gate->lane[element_of(gate, lane, e)];
}

static void run_load(LoopRun *r, LoopCell *c)
{
	const Memory *m = &r->plan.memory.at[c->memory];
	const LoopCell *place = cell_at(r, c->src[0]), *gate = c->nsrc > 1 ? cell_at(r, c->src[1]) :
		NULL;
	const int size = cell_size(c);
	const size_t n = (c->varies ? r->lanes : 1) * c->width;

	for (size_t k = 0; k < n; k++) {
		size_t i = k / c->width;
		int e = (int)(k % c->width);
		if ((!c->varies || active(r, i)) && gate_of(gate, i, e))
			element_copy(c->lane + k * size,
				address(r, m, place_of(place, i, e), i, "LOAD"), size);
		else
			memset(c->lane + k * size, 0, size);
	}
}

static void run_store(LoopRun *r, const Statement *s)
{
	const Memory *m = &r->plan.memory.at[s->memory];
	const LoopCell *place = cell_at(r, s->place), *value = cell_at(r, s->value);
	const LoopCell *gate = s->gate == NO_CELL ? NULL : cell_at(r, s->gate);
	const int size = cell_size(value), width = value->width;
	const bool once = !m->per_lane && !place->varies && !value->varies &&
		!(gate && gate->varies);

	for (size_t k = 0; k < r->lanes * width; k++) {
		size_t i = k / width;
		int e = (int)(k % width);
		if (once && i)
			return;
		if (active(r, i) && gate_of(gate, i, e))
			element_copy(address(r, m, place_of(place, i, e), i, "STORE"),
				value->lane + element_of(value, i, e) * size, size);
	}
}

/* ---- values with lanes of their own */

static void run_shuffle(LoopRun *r, LoopCell *c, size_t lane)
{
	const int size = cell_size(c);

	for (int e = 0; e < c->width; e++) {
		int from = (int)c->u->arg->a[e]->i, width = cell_at(r, c->src[0])->width;
		const LoopCell *x = cell_at(r, c->src[from / width]);
		element_copy(c->lane + (lane * c->width + e) * size,
			x->lane + element_of(x, lane, from % width) * size, size);
	}
}

/* base, base + step, … */
static void run_ramp(LoopRun *r, LoopCell *c, size_t lane)
{
	const int size = cell_size(c);
	const LoopCell *base = cell_at(r, c->src[0]);
	uint64_t v = 0;

	element_copy((char *)&v, base->lane + element_of(base, lane, 0) * size, size);
	for (int e = 0; e < c->width; e++, v += (uint64_t)c->u->arg->i)
		element_copy(c->lane + (lane * c->width + e) * size, (char *)&v, size);
}

static void run_broadcast(LoopRun *r, LoopCell *c, size_t lane)
{
	const int size = cell_size(c);
	const LoopCell *x = cell_at(r, c->src[0]);

	for (int e = 0; e < c->width; e++)
		element_copy(c->lane + (lane * c->width + e) * size,
			x->lane + element_of(x, lane, 0) * size, size);
}

static void compute(LoopCell *c, size_t n, void *out, const void *const *in, const int *step)
{
	DType from = dtype_element(c->u->src[c->nsrc > 1]->dtype);

	if (c->fn)
		c->fn(n, out, in, step);
	else
		interp_op(c->u->op, dtype_element(c->u->dtype), from, n, out, in, step);
}

/* An elementwise op: lane after lane, for an operand may be the same in all of them. */
static void run_elements(LoopRun *r, LoopCell *c, size_t lane)
{
	const void *in[3];
	int step[3];

	for (uint32_t k = 0; k < c->nsrc; k++) {
		const LoopCell *x = cell_at(r, c->src[k]);
		in[k] = x->lane + element_of(x, lane, 0) * cell_size(x);
		step[k] = x->width > 1;
	}
	compute(c, c->width, c->lane + lane * c->width * cell_size(c), in, step);
}

static void run_wide(LoopRun *r, LoopCell *c)
{
	for (size_t i = 0; i < (c->varies ? r->lanes : 1); i++)
		switch (c->u->op) {
		case OP_SHUFFLE: run_shuffle(r, c, i); break;
		case OP_RAMP: run_ramp(r, c, i); break;
		case OP_BROADCAST: run_broadcast(r, c, i); break;
		default: run_elements(r, c, i);
		}
}

/* ---- cells ---- */

/* The counters of the open loops and the place in the grid, in a lane. */
static void place_lane(Buf *b, const void *run, size_t lane)
{
	const LoopRun *r = run;
	const char *gap = "";

	for (size_t k = 0; k < r->plan.special.n + r->open.n; k++, gap = " ") {
		bool special = k < r->plan.special.n;
		const OpenLoop *o = special ? NULL : &r->open.at[k - r->plan.special.n];
		const Statement *s = special ? NULL : &r->plan.statement[o->at];
		if (!special && s->u->op != OP_RANGE)
			continue;
		const LoopCell *c =
			&r->plan.cell.at[special ? r->plan.special.at[k] : s->own];
		int64_t v = ((const int64_t *)c->lane)[c->varies ? lane : 0];
		if (special)
			buf_printf(b, "%s%s=%lld", gap, c->u->arg->s, (long long)v);
		else
			buf_printf(b, "%sr%lld=%lld", gap, (long long)range_axis(c->u),
				(long long)v);
	}
}

/* A value with lanes in one lane of the loops. */
typedef struct { const LoopRun *r; size_t lane; } WidePlace;

static void place_element(Buf *b, const void *run, size_t i)
{
	const WidePlace *p = run;
	size_t before = b->n;

	place_lane(b, p->r, p->lane);
	buf_printf(b, "%slane=%zu", b->n > before ? " " : "", i);
}

/* The elements that a store with such a gate drops do not count. */
static void show_wide(LoopRun *r, const LoopCell *c)
{
	const LoopCell *gate = r->gate && r->gate->width == c->width ? r->gate : NULL;
	const bool varies = c->varies || (gate && gate->varies);

	for (size_t i = 0; i < (varies ? r->lanes : 1); i++) {
		WidePlace at = {r, i};
		SeenValues v = {.u = c->u, .n = c->width, .run = &at, .place = place_element,
			.out = c->lane + element_of(c, i, 0) * cell_size(c)};
		if (varies && !active(r, i))
			continue;
		if (gate)
			v.mask = (const uint8_t *)gate->lane + element_of(gate, i, 0);
		for (; op_elementwise(c->u->op) && v.nsrc < c->nsrc; v.nsrc++) {
			const LoopCell *x = cell_at(r, c->src[v.nsrc]);
			v.in[v.nsrc] = x->lane + element_of(x, i, 0) * cell_size(x);
			v.step[v.nsrc] = x->width > 1;
		}
		r->watch->see(r->watch, &v);
	}
}

static void show_cell(LoopRun *r, const LoopCell *c)
{
	SeenValues v = {.u = c->u, .n = c->varies ? r->lanes : 1, .out = c->lane,
		.mask = c->varies ? r->mask : NULL, .run = r, .place = place_lane};

	if (op_elementwise(c->u->op))
		for (; v.nsrc < c->nsrc; v.nsrc++) {
			v.in[v.nsrc] = c->in[v.nsrc];
			v.step[v.nsrc] = c->step[v.nsrc];
		}
	r->watch->see(r->watch, &v);
}

static void run_exchange(LoopRun *r, LoopCell *c)
{
	const LoopCell *from = cell_at(r, c->src[0]);
	const int size = element_size(c->u->dtype);
	const size_t far = (size_t)c->u->arg->i;
	for (size_t i = 0; i < (c->varies ? r->lanes : 1); i++) {
		size_t other = i ^ far;
		if (!active(r, i))
			continue;
		if (!r->plan.group || other >= r->lanes || !active(r, other))
			die(FAILED, "kernel %s: work item %zu does not reach an EXCHANGE",
				r->plan.name, other);
		memcpy(c->lane + i * size, from->lane + (from->varies ? other * size : 0), size);
	}
}

static void run_cell(LoopRun *r, LoopCell *c)
{
	if (c->u->op == OP_LOAD)
		run_load(r, c);
	else if (c->width > 1 || c->u->op == OP_SHUFFLE)
		run_wide(r, c);
	else if (c->u->op == OP_EXCHANGE)
		run_exchange(r, c);
	else
		compute(c, c->varies ? r->lanes : 1, c->lane, c->in, c->step);
	if (r->watch && c->width > 1)
		show_wide(r, c);
	else if (r->watch)
		show_cell(r, c);
}

/* Computes cells first … end-1, except leaves, which have their values already. */
static void run_cells(LoopRun *r, int first, int end)
{
	for (int i = first; i < end; i++)
		if (cell_at(r, i)->nsrc)
			run_cell(r, cell_at(r, i));
}

/* Sets the values that stay the same for the whole run. */
static void set_constants(LoopRun *r)
{
	for (size_t i = 0; i < r->plan.cell.n; i++) {
		LoopCell *c = cell_at(r, (int)i);
		int64_t v;
		if (c->u->op == OP_CONST)
			element_const(c->u, c->lane);
		if (c->u->op != OP_VAR)
			continue;
		if (!ix_eval(c->u, r->plan.env, &v))
			die(MALFORMED, "kernel %s: size '%s' has no value", r->plan.name,
				c->u->arg->a[0]->s);
		memcpy(c->lane, &v, sizeof v);
	}
}

/* ---- statements: each returns the next one ---- */

static void counter(LoopRun *r, const Statement *s, int64_t i)
{
	LoopCell *c = cell_at(r, s->own);

	for (size_t k = 0; k < (c->varies ? r->lanes : 1); k++)
		((int64_t *)c->lane)[k] = i + (int64_t)k;
}

static void leave(LoopRun *r)
{
	OpenLoop *o = &r->open.at[--r->open.n];

	if (r->mask != o->mask)
		free(r->mask);
	r->mask = o->mask;
	r->lanes = o->lanes;
}

/* Starts iteration o->i, or leaves the loop when no lane is active in it. */
static int iterate(LoopRun *r, OpenLoop *o)
{
	const Statement *s = &r->plan.statement[o->at];
	const LoopCell *size = cell_at(r, s->value);

	if (s->lanes)
		r->lanes = o->size - o->i < (int64_t)r->plan.lanes ? (size_t)(o->size - o->i) :
								     r->plan.lanes;
	if (o->i >= o->size) {
		leave(r);
		return s->match + 1;
	}
	counter(r, s, o->i);
	if (size->varies) {
		uint8_t *mask = r->mask == o->mask ? xmalloc(o->lanes + 1) : r->mask;
		for (size_t i = 0; i < o->lanes; i++)
			mask[i] = (!o->mask || o->mask[i]) && o->i < ((int64_t *)size->lane)[i];
		r->lanes = o->lanes;
		set_mask(r, mask);
	}
	return o->at + 1;
}

static int run_range(LoopRun *r, int at)
{
	const Statement *s = &r->plan.statement[at];
	const LoopCell *size = cell_at(r, s->value);
	OpenLoop o = {.at = at, .lanes = r->lanes, .mask = r->mask};
	double iterations = 1;

	for (size_t i = 0; i < (size->varies ? r->lanes : 1); i++) {
		int64_t n = ((int64_t *)size->lane)[i];
		if ((!size->varies || active(r, i)) && n > o.size)
			o.size = n;
	}
	vec_push(&r->open, o);
	for (size_t i = 0; i < r->open.n; i++)
		iterations *= r->open.at[i].size > 1 ? (double)r->open.at[i].size : 1;
	interp_bound(iterations, "kernel %s", r->plan.name);
	return iterate(r, &r->open.at[r->open.n - 1]);
}

static int run_endrange(LoopRun *r)
{
	OpenLoop *o = &r->open.at[r->open.n - 1];

	o->i += r->plan.statement[o->at].lanes ? (int64_t)r->plan.lanes : 1;
	return iterate(r, o);
}

static int run_if(LoopRun *r, int at)
{
	const Statement *s = &r->plan.statement[at];
	const LoopCell *cond = cell_at(r, s->value);
	bool some = cond->lane[0];

	vec_push(&r->open, ((OpenLoop){.at = at, .lanes = r->lanes, .mask = r->mask}));
	if (cond->varies)
		some = narrow(r, cond);
	if (some)
		return at + 1;
	leave(r);
	return s->match + 1;
}

static void run_let(LoopRun *r, const Statement *s)
{
	const LoopCell *value = cell_at(r, s->value);
	const LoopCell *own = cell_at(r, s->own);

	memcpy(own->lane, value->lane,
		(own->varies ? r->lanes : 1) * cell_size(value) * value->width);
}

/* Evaluates the gate first; where it is false, neither value nor index is computed. A gate with
 * lanes of its own is that of the store alone. */
static void run_gated(LoopRun *r, const Statement *s)
{
	uint8_t *mask = r->mask;
	size_t lanes = r->lanes;

	run_cells(r, s->first_gate, s->first);
	if (cell_at(r, s->gate)->width > 1) {
		r->gate = cell_at(r, s->gate);
		run_cells(r, s->first, s->end);
		r->gate = NULL;
		run_store(r, s);
		return;
	}
	if (narrow(r, cell_at(r, s->gate))) {
		run_cells(r, s->first, s->end);
		run_store(r, s);
	}
	free(r->mask);
	r->mask = mask;
	r->lanes = lanes;
}

static void run_barrier(const LoopRun *r)
{
	for (size_t i = 0; i < r->plan.group; i++)
		if (i >= r->lanes || !active(r, i))
			die(FAILED, "kernel %s: work item %zu does not reach a BARRIER",
				r->plan.name, i);
}

static int run_statement(LoopRun *r, int at)
{
	const Statement *s = &r->plan.statement[at];

	if (s->u->op == OP_STORE && s->gate != NO_CELL) {
		run_gated(r, s);
		return at + 1;
	}
	run_cells(r, s->first, s->end);
	switch (s->u->op) {
	case OP_RANGE: return run_range(r, at);
	case OP_ENDRANGE: return run_endrange(r);
	case OP_IF: return run_if(r, at);
	case OP_ENDIF: leave(r); break;
	case OP_LET: run_let(r, s); break;
	case OP_STORE: run_store(r, s); break;
	case OP_BARRIER: run_barrier(r); break;
	default: break;         /* a declaration: its memory is allocated */
	}
	return at + 1;
}

static void run_list(LoopRun *r)
{
	for (int at = 0; at < (int)r->plan.nstatement;)
		at = run_statement(r, at);
}

/* ---- the grid ---- */

/* Sets the SPECIALs of a work group: gidxD, and lidxD for each lane. If items are lanes, they are
 * consecutive from group[0] on. */
static void place_group(LoopRun *r, const int64_t *group)
{
	for (size_t k = 0; k < r->plan.special.n; k++) {
		LoopCell *c = cell_at(r, r->plan.special.at[k]);
		const char *name = c->u->arg->s;
		int64_t *lane = (int64_t *)c->lane, inner = 1;
		int d = name[4] - '0';
		if (strlen(name) != 5 || d < 0 || d > 2)
			die(MALFORMED, "kernel %s: SPECIAL '%s' is not a grid index", r->plan.name,
				name);
		for (int i = 0; i < d; i++)
			inner *= r->plan.local[i];
		for (size_t i = 0; i < (c->varies ? r->lanes : 1); i++)
			lane[i] = name[0] == 'l' ? (int64_t)i / inner % r->plan.local[d] :
						   group[d] + (d ? 0 : (int64_t)i);
	}
}

static void run_grid(LoopRun *r)
{
	const int64_t *size = r->plan.global;
	int64_t g[3], together = r->plan.items ? (int64_t)r->plan.lanes : 1;

	for (g[2] = 0; g[2] < size[2]; g[2]++)
		for (g[1] = 0; g[1] < size[1]; g[1]++)
			for (g[0] = 0; g[0] < size[0]; g[0] += together) {
				r->lanes = r->plan.group ? r->plan.group : 1;
				if (r->plan.items)
					r->lanes = size[0] - g[0] < together ? size[0] - g[0] :
									       together;
				place_group(r, g);
				run_list(r);
			}
}

void interp_loops(
	UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf, Watch *watch)
{
	LoopRun r = {.lanes = 1, .watch = watch};

	loops_plan(&r.plan, kernel, env, nbuf, buf);
	set_constants(&r);
	run_grid(&r);
	vec_free(&r.open);
	loops_plan_free(&r.plan);
}
