/* What is looked at while a document runs: --keep, --dump, --check-range, --check-nan.
 *
 *     $ run mlp.mp x=rand --check-range
 *     call  kernel   buffer  values     least     greatest  mean     zeros  NaN  inf
 *     0     r_64     t2      f32[64]    -1.25     3.5       0.01     0      0    0
 *
 * At level graph the values are those of nodes, at later levels those of buffers, after the call
 * that wrote them. */
#include "arrays/arrays.h"
#include "io/io.h"
#include "session/steps.h"
#include <math.h>
#include <stdlib.h>

enum { SLOTS = 64 };

bool session_inspects(const SessionOptions *o)
{
	return o->keep || o->dump || o->range || o->check_nan;
}

bool listed(const char *list, const char *name)
{
	for (size_t n; list && *list; list += n + (list[n] == ',')) {
		n = strcspn(list, ",");
		if (n == strlen(name) && !memcmp(list, name, n))
			return true;
	}
	return false;
}

const char *step_name(const Session *s, size_t i)
{
	const Step *t = &s->step[i];

	const char *turn = s->whole ? list_turn(s->whole->list) : "";
	const char *name = t->kind == STEP_COPY ? "copy" :
		arena_printf("K%zu %s", t->number, t->name);

	return *turn ? arena_printf("%s, turn %s", name, turn) : name;
}

/* ---- ranges of values */

static const char *kind_text(const Array *a)
{
	Buf b = {0};
	const char *text;

	buf_printf(&b, "%s[", dtype_name(a->dtype));
	for (int k = 0; k < a->rank; k++)
		buf_printf(&b, "%s%lld", k ? "," : "", (long long)a->dim[k]);
	buf_printf(&b, "]");
	text = arena_strdup(b.s);
	buf_free(&b);
	return text;
}

/* What values there were, in arrays of the kind. */
typedef struct ValueRange {
	const char *kind;
	double least, greatest, sum;
	int64_t finite, zeros, nans, infs;
} ValueRange;

static void range_add(ValueRange *r, const Array *a)
{
	const int64_t n = array_count(a);

	if (!r->kind)
		*r = (ValueRange){.least = INFINITY, .greatest = -INFINITY};
	r->kind = kind_text(a);
	for (int64_t i = 0; i < n; i++) {
		double v = element_value(a->dtype, a->data, i);
		r->zeros += v == 0;
		r->nans += isnan(v);
		r->infs += isinf(v) != 0;
		if (!isfinite(v))
			continue;
		r->finite++;
		r->least = fmin(r->least, v);
		r->greatest = fmax(r->greatest, v);
		r->sum += v;
	}
}

static void range_print(
	const char *call, const char *kernel, const char *buffer, const ValueRange *r)
{
	fprintf(stderr, "%-5s %-20s %-16s %-20s", call, kernel, buffer, r->kind);
	if (r->finite)
		fprintf(stderr, " %12.6g %12.6g %12.6g", r->least, r->greatest,
			r->sum / r->finite);
	else
		fprintf(stderr, " %12s %12s %12s", "-", "-", "-");
	fprintf(stderr, " %8lld %8lld %8lld\n", (long long)r->zeros, (long long)r->nans,
		(long long)r->infs);
}

static void range_line(const char *call, const char *kernel, const char *buffer, const Array *a)
{
	ValueRange r = {0};

	range_add(&r, a);
	range_print(call, kernel, buffer, &r);
}

/* Prints what step i has written to its slot k: each time, or of a list after all turns. */
static void range_flush(Session *s, size_t i, size_t k)
{
	const Step *t = &s->step[i];

	if (t->range[k].kind)
		range_print(t->kind == STEP_COPY ? "-" : arena_printf("K%zu", t->number), t->name,
			buffer_name(s->b.u[t->slot[k]]), &t->range[k]);
	t->range[k] = (ValueRange){0};
}

/* An input, constant or state of a list. */
static Array list_given(const Session *s, const UOp *u)
{
	const Array *a = buffer_is(u, "input") ? input_of(s->in, u) : NULL;

	for (size_t i = 0; !a && i < s->states.n; i++)
		a = s->states.at[i].buffer == u ? &s->states.at[i].at : NULL;
	return a ? *a : buffer_content(u, &s->in->env);
}

static bool is_given(const UOp *u)
{
	return buffer_is(u, "input") || buffer_is(u, "const") || buffer_is(u, "state");
}

static void range_head(Session *s)
{
	fprintf(stderr, "%-5s %-20s %-16s %-20s %12s %12s %12s %8s %8s %8s\n", "call", "kernel",
		"buffer", "values", "least", "greatest", "mean", "zeros", "NaN", "inf");
	Nodes all = s->list ? walk(s->g->sink) : (Nodes){0};
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && is_given(all.at[i])) {
			Array a = list_given(s, all.at[i]);
			range_line("-", buffer_role(all.at[i]), buffer_name(all.at[i]), &a);
		}
	for (size_t i = 0; i < s->b.n; i++)
		if (is_given(s->b.u[i])) {
			buffer_memory(&s->b, i);
			range_line("-", buffer_role(s->b.u[i]), buffer_name(s->b.u[i]),
				buffer_get(&s->b, i));
		}
}

/* ---- one call's buffers */

static void print_array(const char *call, const char *how, const char *name, const Array *a)
{
	fprintf(stderr, "%s %s %s %s\n", call, how, name, kind_text(a));
	array_print(stderr, a);
}

/* Writes a buffer as FOLDER/007.r_64.t3.npy, what the call reads as FOLDER/007.r_64.in.t2.npy, in a
 * loop as FOLDER/007.turn2.r_64.t3.npy; or prints it. */
static void show_buffer(Session *s, size_t i, size_t k, bool before)
{
	const Step *t = &s->step[i];
	const char *name = buffer_name(s->b.u[t->slot[k]]);
	const Array *a = buffer_get(&s->b, t->slot[k]);

	const char *turn = s->whole ? list_turn(s->whole->list) : "";

	if (s->o.keep)
		npy_write(arena_printf("%s/%03zu.%s%s%s%s.%s%s.npy", s->o.keep,
				  s->before_steps + i, *turn ? "turn" : "", turn,
				  *turn ? "." : "", t->name, before ? "in." : "", name), a);
	else
		print_array(step_name(s, i), before ? "reads" : "writes", name, a);
}

static uint64_t step_writes(const Step *t)
{
	return t->kind == STEP_COPY ? 1 : call_writes(t->node);
}

uint64_t step_reads(const Step *t)
{
	uint64_t reads = t->kind == STEP_COPY ? 2 : 0;
	Nodes all = walk(t->node->src[0]);

	if (t->kind == STEP_COPY)
		return reads;
	if (kernel_of(t->callee)->op == OP_CUSTOM)
		return ~step_writes(t);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_LOAD && all.at[i]->src[0]->src[0]->op == OP_PARAM)
			reads |= 1ull << (param_slot(all.at[i]->src[0]->src[0]) & (SLOTS - 1));
	return reads;
}

/* Whether --dump names the call, or a buffer that it writes. */
static bool dumped(const Session *s, size_t i)
{
	const Step *t = &s->step[i];
	bool named = listed(s->o.dump, t->name) ||
		(t->kind != STEP_COPY && listed(s->o.dump, arena_printf("K%zu", t->number)));

	for (size_t k = 0; s->o.dump && k < t->nbuf && k < SLOTS; k++)
		named |= (step_writes(t) >> k & 1) &&
			listed(s->o.dump, buffer_name(s->b.u[t->slot[k]]));
	return named;
}

static void show_slots(Session *s, size_t i, uint64_t slots, bool before)
{
	for (size_t k = 0; k < s->step[i].nbuf && k < SLOTS; k++)
		if (slots >> k & 1)
			show_buffer(s, i, k, before);
}

/* ---- around a step */

static void *copied(const Array *a)
{
	void *to = xcalloc(1, a->bytes + 1);

	return a->data ? memcpy(to, a->data, a->bytes) : to;
}

/* Whether what a step wrote is looked at: of an interpreted one above level loops each op was. */
static bool is_checked(const Session *s, const Step *t)
{
	return s->o.check_nan && (t->kind == STEP_LAUNCH ||
		(t->kind == STEP_INTERPRET && s->g->level >= LV_LOOPS));
}

void inspect_before(Session *s, size_t i)
{
	Step *t = &s->step[i];
	bool keeps = is_checked(s, t);

	s->b.exec->sync();
	Session *top = session_top(s);

	if (s->o.range && !top->headed)
		range_head(top);
	top->headed = true;
	if (dumped(s, i)) {
		top->dumped = true;
		show_slots(s, i, step_reads(t), true);
	}
	/* what it is about to write over may be what it reads */
	for (size_t k = 0; keeps && k < t->nbuf; k++)
		t->read[k] = k < SLOTS && step_writes(t) >> k & 1 ?
			copied(buffer_get(&s->b, t->slot[k])) : NULL;
}

static void check_step(Session *s, size_t i)
{
	Step *t = &s->step[i];
	size_t at;
	void *kept[t->nbuf + 1];

	for (size_t k = 0; k < t->nbuf; k++) {
		kept[k] = t->read[k];
		if (!t->read[k])
			t->read[k] = buffer_get(&s->b, t->slot[k])->data;
	}
	for (size_t k = 0; k < t->nbuf && k < SLOTS; k++) {
		const Array *a = buffer_get(&s->b, t->slot[k]);
		if (!kept[k] || values_finite(a->dtype, a->data, array_count(a), &at))
			continue;
		nonfinite_ask(s, i, t->slot[k], t->read);
		break;
	}
	for (size_t k = 0; k < t->nbuf; k++)
		free(kept[k]);
}

void inspect_after(Session *s, size_t i)
{
	const Step *t = &s->step[i];
	uint64_t writes = step_writes(t);

	s->b.exec->sync();
	if (s->o.dump ? dumped(s, i) : s->o.keep != NULL)
		show_slots(s, i, writes, false);
	if (s->o.range && !t->range)
		s->step[i].range = arena_alloc((t->nbuf + 1) * sizeof *t->range);
	for (size_t k = 0; s->o.range && k < t->nbuf && k < SLOTS; k++) {
		if (!(writes >> k & 1))
			continue;
		range_add(&t->range[k], buffer_get(&s->b, t->slot[k]));
		if (!s->whole)
			range_flush(s, i, k);
	}
	if (is_checked(s, t))
		check_step(s, i);
}

/* ---- states as they are before a call */

void inspect_call(Session *s)
{
	const char *const *name;
	const Array *at;
	size_t n;

	s->asked = false;
	if (!s->o.check_nan || !s->o.origin)
		return;
	n = session_states(s, &name, &at);
	if (!s->before)
		s->before = arena_alloc((n + 1) * sizeof *s->before);
	for (size_t i = 0; i < n; i++) {
		free(s->nbefore ? s->before[i].at.data : NULL);
		s->before[i] = (NamedState){name[i], at[i]};
		s->before[i].at.data = copied(&at[i]);
	}
	s->nbefore = n;
}

void inspect_called(Session *s)
{
	Session *part;

	for (size_t p = 0; s->o.range && (part = list_session(s->list, p)); p++)
		for (size_t i = 0; i < part->nsteps; i++)
			for (size_t k = 0; part->step[i].range && k < part->step[i].nbuf; k++)
				range_flush(part, i, k);
}

void inspect_done(Session *s)
{
	if (s->o.dump && !s->dumped)
		die(USAGE, "--dump: no call, kernel or buffer is called '%.80s'", s->o.dump);
	for (size_t i = 0; i < s->nbefore; i++)
		free(s->before[i].at.data);
	s->nbefore = 0;
}

/* ---- level graph */

typedef struct { Watch watch, *nonfinite; Session *s; uint32_t *index; } NodeWatch;

static void see_node(Watch *w, const SeenValues *v)
{
	NodeWatch *n = (NodeWatch *)w;
	Session *s = n->s;
	Array a = {.dtype = v->u->dtype, .rank = v->rank, .data = (void *)v->out};
	const Val *named = v->u->op == OP_BUFFER ? val_get(v->u->arg, "name") :
						   val_get(v->u->note, "name");
	const char *name = named && named->kind == VAL_STR ? named->s : "";
	const char *node = arena_printf("%%%u", n->index[v->u->id]), *op = op_name(v->u->op);

	if (n->nonfinite)
		n->nonfinite->see(n->nonfinite, v);
	for (int k = 0; k < v->rank; k++)
		a.dim[k] = v->dim[k];
	a.bytes = array_count(&a) * dtype_size(a.dtype);
	bool wanted = !s->o.dump || listed(s->o.dump, node) || listed(s->o.dump, name);
	s->dumped |= wanted;
	if (s->o.keep && wanted)
		npy_write(arena_printf("%s/%03u.%s%s%s.npy", s->o.keep, n->index[v->u->id], op,
				  *name && name_ok(named) ? "." : "",
				  name_ok(named) ? name : ""), &a);
	else if (s->o.dump && wanted)
		print_array(node, op, name, &a);
	if (s->o.range)
		range_line(node, op, name, &a);
}

Watch *inspect_graph(Session *s)
{
	NodeWatch *n;

	if (!session_inspects(&s->o))
		return NULL;
	n = arena_alloc(sizeof *n);
	*n = (NodeWatch){.watch = {see_node}, .s = s, .index = text_index(s->g)};
	if (s->o.check_nan)
		n->nonfinite = nonfinite_watch(NULL, s->o.context ? s->o.context : "");
	if (s->o.range)
		range_head(s);
	return &n->watch;
}
