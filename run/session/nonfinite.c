/* --check-nan: the first op that made a NaN or an infinity of finite values.
 *
 *     run: culp.t:2 (y): LOG2 makes -inf of 0 at [2]; first seen in K0 r_4, buffer z
 *
 * A compiled call is only asked whether it wrote one. If it did, the document as it was given is
 * interpreted, where ops still are those of the program; else the kernel, on what it had read. An
 * op that was expanded there is known by the note of its expansion, `of`. */
#include "session/steps.h"
#include <math.h>
#include <stdlib.h>

enum { PIECE = 256, SEEN = 1, TAINTED = 2 };

typedef struct {
	Watch watch;
	const UOp *kernel;              /* NULL at level graph */
	const char *context;            /* ends the message */
	const char *expanded;           /* the first expansion that was not finite: what to say */
	TABLE(uint8_t) known;           /* by node id: SEEN, TAINTED */
} Finder;

double element_value(DType dt, const void *at, size_t i)
{
	double v;

	interp_cast(DT_F64, &v, dt, (const char *)at + i * dtype_size(dt), 1);
	return v;
}

bool values_finite(DType dt, const void *at, size_t n, size_t *where)
{
	double v[PIECE];

	for (size_t from = 0; dtype_float(dt) && from < n; from += PIECE) {
		size_t m = n - from < PIECE ? n - from : PIECE;
		interp_cast(DT_F64, v, dt, (const char *)at + from * dtype_size(dt), m);
		for (size_t i = 0; i < m; i++)
			if (!isfinite(v[i])) {
				*where = from + i;
				return false;
			}
	}
	return true;
}

/* ---- the op */

/* A note's key, of the node or else of its kernel. */
static const char *noted(const Finder *f, const UOp *u, const char *key)
{
	const Val *v = val_get(u->note, key);

	if (!v && f->kernel)
		v = val_get(f->kernel->note, key);
	return v && v->kind == VAL_STR ? v->s : NULL;
}

static bool is_fold(const UOp *u)
{
	const Val *op = u->op == OP_REDUCE || u->op == OP_SCAN ? u->arg->a[0] : u->arg;

	return (u->op == OP_REDUCE || u->op == OP_SCAN || u->op == OP_RREDUCE ||
		       u->op == OP_RSCAN || u->op == OP_SCATTER) &&
		(val_is_str(op, "ADD") || val_is_str(op, "MUL"));
}

/* Whether something that u folds was not finite: a source, or, where a product was summed at once,
 * a source of that. */
static bool folds_tainted(const Finder *f, const UOp *u)
{
	for (uint32_t i = 0; i < u->nsrc; i++) {
		const UOp *x = u->src[i];
		if (f->known.at[x->id] & TAINTED)
			return true;
		for (uint32_t k = 0; !f->known.at[x->id] && k < x->nsrc; k++)
			if (f->known.at[x->src[k]->id] & TAINTED)
				return true;
	}
	return false;
}

static bool operands_finite(const SeenValues *v, size_t i)
{
	for (uint32_t k = 0; k < v->nsrc; k++) {
		DType dt = dtype_element(v->u->src[k]->dtype);
		if (dtype_float(dt) && !isfinite(element_value(dt, v->in[k], i * v->step[k])))
			return false;
	}
	return true;
}

/* "LINE (NAME): ", as far as notes tell */
static const char *origin(const Finder *f, const UOp *u)
{
	const char *loc = noted(f, u, "loc"), *name = noted(f, u, "name");

	return arena_printf("%s%s%s%s%s%s", loc ? loc : "", loc && name ? " " : "", name ? "(" : "",
		name ? name : "", name ? ")" : "", loc || name ? ": " : "");
}

/* The op whose expansion u is, or NULL. */
static const char *expansion_of(const UOp *u)
{
	const Val *of = val_get(u->note, "of");

	return of && of->kind == VAL_STR ? of->s : NULL;
}

static _Noreturn void found(const Finder *f, const SeenValues *v, size_t i)
{
	const char *of = expansion_of(v->u);
	Buf b = {0}, place = {0};
	uint32_t n = of ? 0 : v->nsrc;

	buf_printf(&b, "%s%s makes %g", origin(f, v->u), of ? of : op_name(v->u->op),
		element_value(dtype_element(v->u->dtype), v->out, i));
	for (uint32_t k = 0; k < n; k++)
		buf_printf(&b, "%s%.9g", k ? " and " : " of ",
			element_value(dtype_element(v->u->src[k]->dtype), v->in[k],
				i * v->step[k]));
	buf_printf(&b, "%s", n ? "" : " of finite values");
	v->place(&place, v->run, i);
	die(FAILED, "%s%s%s%s", b.s, place.n ? " at " : "", buf_str(&place), f->context);
}

/* An op that the kernel computes something with: what it read is below. */
static bool computes(const UOp *u)
{
	return op_elementwise(u->op) || op_info[u->op].cls == CLASS_LANES || u->op == OP_LET ||
		u->op == OP_CONST;
}

/* Whether all that u is computed from was finite where the kernel read it. */
static bool reads_finite(const Finder *f, UOp *u)
{
	Nodes all = walk(u);

	for (size_t i = 0; i < all.n; i++) {
		const UOp *x = all.at[i];
		if (!computes(x) && f->known.at[x->id] & TAINTED)
			return false;
	}
	return true;
}

/* Notes the op that u is the expansion of, which may have made the i-th value. */
static void note_expanded(Finder *f, const SeenValues *v, size_t i)
{
	const char *of = expansion_of(v->u);
	Buf place = {0};

	if (f->expanded || !of || !reads_finite(f, (UOp *)v->u))
		return;
	v->place(&place, v->run, i);
	f->expanded = arena_printf("%s makes %g%s%s; ", of,
		element_value(dtype_element(v->u->dtype), v->out, i), place.n ? " at " : "",
		buf_str(&place));
	buf_free(&place);
}

static void see(Watch *w, const SeenValues *v)
{
	Finder *f = (Finder *)w;
	const DType dt = dtype_element(v->u->dtype);
	size_t i;

	if (!dtype_float(dt))
		return;
	f->known.at[v->u->id] |= SEEN;
	if (values_finite(dt, v->out, v->n, &i))
		return;
	for (; i < v->n; i++) {
		if ((v->mask && !v->mask[i]) ||
			isfinite(element_value(dt, v->out, i)))
			continue;
		f->known.at[v->u->id] |= TAINTED;
		/* bits of what was not finite are no number */
		if (v->u->op == OP_BITCAST)
			continue;
		if (v->nsrc ? operands_finite(v, i) : is_fold(v->u) && !folds_tainted(f, v->u))
			found(f, v, i);
		note_expanded(f, v, i);
	}
}

static Finder *finder(const UOp *kernel, const char *context)
{
	Finder *f = arena_alloc(sizeof *f);

	*f = (Finder){.watch = {see}, .kernel = kernel, .context = context};
	f->known.at = arena_alloc(node_limit());
	return f;
}

Watch *nonfinite_watch(const UOp *kernel, const char *context)
{
	return &finder(kernel, context)->watch;
}

/* ---- a compiled call */

/* Interprets the document as it was given, from the states of this call; dies if it finds the op.
 */
static void ask_origin(Session *s, const char *context)
{
	SessionOptions o = {.interpret = true, .check_nan = true, .context = context};
	Session *again = session_open(s->o.origin, s->in, &o);
	const char *const *name;
	const Array *at;
	size_t n = session_states(again, &name, &at);

	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < s->nbefore; k++)
			if (!strcmp(name[i], s->before[k].name) &&
				at[i].bytes == s->before[k].at.bytes && at[i].bytes)
				memcpy(at[i].data, s->before[k].at.data, at[i].bytes);
	session_call(again);
}

/* What is worst among n elements: 0 all are finite, 1 there is an infinity, 2 a NaN. */
static int worst(const Array *a, const void *at)
{
	size_t n = array_count(a), i = 0;
	int most = 0;

	if (values_finite(a->dtype, at, n, &i))
		return 0;
	for (most = 1; i < n && most < 2; i++)
		most = isnan(element_value(a->dtype, at, i)) ? 2 : 1;
	return most;
}

static int worst_read(const Session *s, const Step *t, void *const *read)
{
	int most = 0;

	for (size_t k = 0; k < t->nbuf && k < 64; k++)
		if (step_reads(t) >> k & 1) {
			int w = worst(&s->b.host[t->slot[k]], read[k]);
			most = w > most ? w : most;
		}
	return most;
}

/* No op was found, for `lower` has expanded it to others: says at least which kernel it is in, and
 * whose expansion was not finite first. An infinity may be meant, as in a mask. */
static void tell_kernel(Session *s, size_t i, size_t slot, int before, const Finder *f)
{
	int after = worst(&s->b.host[slot], s->b.host[slot].data);
	const char *text = arena_printf("%s%s%s writes %s to buffer %s, of %s values",
		origin(f, f->kernel), f->expanded ? f->expanded : "", step_name(s, i),
		after == 2 ? "NaN" : "an infinity", buffer_name(s->b.u[slot]),
		before ? "infinite" : "finite");

	if (after == 2 && before < 2)
		die(FAILED, "%s", text);
	/* where every op was looked at, it is meant */
	if (after > before && !s->o.origin)
		warn("%s", text);
}

void nonfinite_ask(Session *s, size_t i, size_t slot, void *const *read)
{
	const Step *t = &s->step[i];
	const UOp *kernel = kernel_of(t->callee);
	const int before = worst_read(s, t, read);
	bool finite = true;

	Session *top = session_top(s);
	if (s->o.origin && !top->asked)
		ask_origin(top, arena_printf("; the first buffer with one is %s, of %s",
			buffer_name(s->b.u[slot]), step_name(s, i)));
	top->asked = true;
	Finder *f = finder(kernel, arena_printf("; in %s", step_name(s, i)));
	if (kernel->op != OP_CUSTOM) {
		interpret_call(
			t->callee, s->g->level, &s->in->env, t->nbuf, read, &f->watch);
		for (size_t k = 0; k < t->nbuf; k++)
			if (t->slot[k] == slot)
				finite = !worst(&s->b.host[slot], read[k]);
		if (finite)
			die(FAILED,
				"%s: buffer %s is not finite when compiled, and finite when "
				"interpreted", step_name(s, i), buffer_name(s->b.u[slot]));
	}
	tell_kernel(s, i, slot, before, f);
}
