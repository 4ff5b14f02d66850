/* ["stage", b, v, r…, space]: value v of the call that writes b is stored over the ranges r…, the
 * first outermost, by a call of its own, and read from there: `temp`, in each call, just before;
 * `prepared`, once, before the first call, where it depends on constants alone.
 *
 *     y[m,n] = Σk x[m,k]*w[n,k]      stage y LOAD.1 2 1 prepared
 *     →                              p[k,n] = w[n,k], once;  y[m,n] = Σk x[m,k]*p[k,n]
 *
 * ["split", b, r, n, t?]: what a kernel's own `split` is, carried out here, so that a buffer may
 * have an axis for each piece. The outer piece has r's number, the inner one a new one.
 *
 *     split y 1 48 overlap; stage y LOAD.1 1.0 2 1.1 prepared       p [21,512,48]: panels */
#include "document/document.h"
#include "index/ix.h"
#include "layout/layout.h"

/* ---- split */

/* The action as a kernel's own list has it, without the call. */
static const Val *of_kernel(const Val *a)
{
	const Val **v = arena_alloc(a->n * sizeof *v);
	size_t n = 0;
	for (size_t i = 0; i < a->n; i++)
		if (i != 1)
			v[n++] = a->a[i];
	return val_array(n, v);
}

static bool divides(UOp *size, const Val *n)
{
	int64_t rest;
	return n->kind == VAL_INT && n->i > 0 && ix_is_const(ix_mod(size, ix_const(n->i)), &rest) &&
		!rest;
}

/* Why the range may not be split so, though loops may do it: it has to be shown of the kernel, with
 * any loops, that items write apart. NULL: it may. */
static const char *split_misfit(const Facts *f, int axis, const Val *n, const Val *tail)
{
	const UOp *side = stored_along(f);
	for (int r = 0; r < f->nrange; r++)
		if (axis_of(f, r) == axis && f->scanned >> r & 1)
			return "a scan runs along it";
	if (val_is_str(tail, "peel"))
		return "only loops peel: it stands in the kernel";
	if (val_is_str(tail, "overlap"))
		return side && range_axis(side) == axis ? NULL :
			"pieces overlap only of the range along which stores are contiguous";
	for (int r = 0; r < f->nrange && f->gated; r++)
		if (axis_of(f, r) == axis && f->out >> r & 1 && !divides(f->range[r]->src[0], n))
			return "its stores have a gate already";
	return NULL;
}

UOp *schedule_split(const Schedule *s, UOp *call, Rewriting *w)
{
	const Val *a = s->action;
	Facts f;
	facts_find(&f, call->src[0], call_aliases(call));
	const char *why = split_misfit(&f, rewriting_axis(w, a->a[2]), a->a[3],
		a->n > 4 ? a->a[4] : VNIL);
	if (why)
		schedule_refuse(s, why);
	split_range(w, of_kernel(a));
	return call_with_kernel(call, w->kernel);
}

/* ---- whether it is legal */

/* Is u of what places or gates are made? Out of memory they could be any: nothing would show that
 * what they guard is within its buffer, or that items write apart. */
static bool is_of_places(const Facts *f, const UOp *u)
{
	VEC(UOp *) of = {0};
	bool found = false;
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *v = f->all.at[i];
		bool has = v->op == OP_STORE || v->op == OP_LOAD || v->op == OP_INDEX;
		for (uint32_t k = v->op == OP_STORE ? 2 : 1; has && k < v->nsrc; k++)
			vec_push(&of, v->src[k]);
	}
	Nodes all = walk_many(of.n, of.at);
	for (size_t i = 0; i < all.n && !found; i++)
		found = all.at[i] == u;
	vec_free(&of);
	return found;
}

/* What of the value cannot be computed elsewhere; NULL: nothing. */
static const char *value_misfit(const Staging *p)
{
	UOp *u = p->value;
	if (u->op != OP_LOAD && u->op != OP_RREDUCE && !op_elementwise(u->op))
		return "it is no value";
	if (is_of_places(&p->f, u))
		return "a place, or a gate, is made of it";
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *v = all.at[i];
		if (v->op == OP_RSCAN || v->op == OP_RSORT || v->op == OP_SIDE)
			return "a scan, a sort, or a fold of tuples is computed in it";
		if (reads_written(&p->f, v))
			return "it reads what its kernel writes";
		if (!p->prepared)
			continue;
		if (v->op == OP_VAR)
			return "it depends on a symbolic size";
		if (v->op == OP_LOAD && !is_constant(place_buffer(p->call, v->src[0])))
			return "it depends on more than constants";
	}
	return NULL;
}

/* Are the ranges those over which the value varies, each with a bound? */
static const char *ranges_misfit(const Staging *p)
{
	int64_t bytes = dtype_size(p->value->dtype), lo, hi;
	uint64_t set = 0;
	for (int i = 0; i < p->n; i++) {
		ix_bounds(p->order[i]->src[0], &lo, &hi);
		if (set & bit_of(p->order[i]))
			return "a range is named twice";
		if (hi > INT32_MAX || !mul_ok(bytes, hi, &bytes))
			return "its size has no bound";
		set |= bit_of(p->order[i]);
	}
	if (p->n > MAX_RANK)
		return "too many ranges";
	return set == free_of(p->value) ? NULL : "it varies over other ranges than these";
}

const char *staging_misfit(const Staging *p)
{
	if (val_get(p->f.kernel->arg, "slice"))
		return "its call shares loops with another: what is staged comes first";
	if (call_prepares(p->call) && !p->prepared)
		return "its call runs once: it can be prepared";
	const char *why = value_misfit(p);
	return why ? why : ranges_misfit(p);
}

const Val *staging_action(const Staging *p, const char *call, const Rewriting *w)
{
	const Val *word[MAX_RANGES + 4];
	int n = 0;
	word[n++] = val_str("stage");
	word[n++] = val_str(call);
	word[n++] = val_str(value_name(&p->f, p->value));
	for (int i = 0; i < p->n; i++) {
		const char *path = rewriting_path(w, range_axis(p->order[i]));
		word[n++] = strchr(path, '.') ? val_str(path) : val_int(range_axis(p->order[i]));
	}
	word[n++] = val_str(p->prepared ? "prepared" : "temp");
	return val_array(n, word);
}

/* ---- the call that stores it */

/* The value over loops of its own: the ranges in order, then those that it reduces. */
static UOp *value_over(const Staging *p, UOp **loop)
{
	UOp *from[MAX_RANGES], *to[MAX_RANGES];
	int n = p->n;
	uint64_t moved = 0;
	for (int i = 0; i < p->n; i++) {
		from[i] = p->order[i];
		to[i] = loop[i] = ix_range(i, "loop", p->order[i]->src[0]);
		moved |= bit_of(p->order[i]);
	}
	Nodes all = walk(p->value);
	for (int r = 0; r < p->f.nrange; r++)
		for (size_t i = 0; i < all.n && !(moved >> r & 1); i++)
			if (all.at[i] == p->f.range[r]) {
				from[n] = all.at[i];
				to[n] = ix_range(n, range_kind(from[n]), from[n]->src[0]);
				n++;
				break;
			}
	return substitute(p->value, n, from, to);
}

/* Names: constants in another order, w.packed0; other elements, x.turned0; what is computed,
 * y.staged0. */
enum { PACK, TURN, STAGE };
static const char *const kernel_of[] = {"pack", "turn", "stage"};
static const char *const buffer_suffix[] = {"packed", "turned", "staged"};

static int kind_of(const Staging *p)
{
	return p->value->op != OP_LOAD ? STAGE : p->prepared ? PACK : TURN;
}

static UOp *buffer_for(const Schedule *s, const Staging *p)
{
	int kind = kind_of(p), number = s->count[kind];
	const char *name, *of = buffer_name(kind == STAGE ? p->call->src[1] :
		place_buffer(p->call, p->value->src[0]));
	do
		name = arena_printf("%.200s.%s%d", of, buffer_suffix[kind], number++);
	while (buffer_named(s, name));
	return buffer_over(name, p->prepared ? "prepared" : "temp", p->value->dtype, p->n,
		p->order);
}

/* The buffer that has the value, and the call that stores it; NULL where it is stored already: one
 * order of the same constants. */
static UOp *stored(Schedule *s, const Staging *p, UOp **call)
{
	UOp *to = buffer_for(s, p), *loop[MAX_RANK], *value = value_over(p, loop);
	*call = stored_by(p->call, kernel_of[kind_of(p)], to, value, loop);
	uint64_t key = (*call)->src[0]->id;
	for (uint32_t k = 2; k < (*call)->nsrc; k++)
		key = hash_mix(key, (*call)->src[k]->id);
	UOp *made = p->prepared ? map_get(&s->made, key) : NULL;
	if (made) {
		*call = NULL;
		return made;
	}
	if (p->prepared)
		map_put(&s->made, key, to);
	s->count[kind_of(p)]++;
	return to;
}

/* The call that reads it there. */
static UOp *reading_call(const Staging *p, UOp *buffer)
{
	UOp *value = p->value, *load = load_over(p->call, buffer, p->order);
	UOp *kernel = substitute(p->f.kernel, 1, &value, &load);
	return call_compact(call_with_buffer(p->call, kernel, buffer));
}

/* ---- the action */

/* The range of that name, over which the value varies; NULL: it has one iteration, so there is no
 * such range. */
static UOp *range_named(const Schedule *s, const Staging *p, const Rewriting *w, const Val *name)
{
	int axis = rewriting_axis(w, name);
	bool is = false;
	for (int r = 0; r < p->f.nrange; r++) {
		if (axis_of(&p->f, r) == axis && free_of(p->value) >> r & 1)
			return p->f.range[r];
		is |= axis_of(&p->f, r) == axis;
	}
	if (is)
		schedule_refuse(s, arena_printf("it does not vary over range %s",
			range_path(name)));
	return NULL;
}

/* Do the pieces of a range overlap, of which this is one? Where they do, the buffer holds the same
 * at several places, and items write the same of it: prove takes that of what is prepared. */
static bool overlaps(const Rewriting *w, const char *path)
{
	for (int i = 0; i < w->noverlaps; i++) {
		size_t n = strlen(w->overlap[i]);
		if (!strncmp(path, w->overlap[i], n) && path[n] == '.')
			return true;
	}
	return false;
}

void schedule_stage(Schedule *s, size_t i, const Rewriting *w)
{
	const Val *a = s->action, *space = a->a[a->n - 1];
	Staging p = {.call = s->call.at[i], .prepared = val_is_str(space, "prepared")};
	if (!p.prepared && !val_is_str(space, "temp"))
		schedule_refuse(s, "it is staged in temp or prepared memory: what is in a "
			"register, or on the stack, stands in the kernel");
	facts_find(&p.f, p.call->src[0], call_aliases(p.call));
	p.value = value_named(&p.f, a->a[2]);
	for (size_t k = 3; k + 1 < a->n && p.n < MAX_RANGES; k++)
		if ((p.order[p.n] = range_named(s, &p, w, a->a[k])))
			p.n++;
	const char *why = staging_misfit(&p);
	for (size_t k = 3; k + 1 < a->n && !p.prepared && !why; k++)
		if (overlaps(w, range_path(a->a[k])))
			why = "pieces that overlap are staged in prepared memory alone";
	if (why)
		schedule_refuse(s, why);
	UOp *call, *buffer = stored(s, &p, &call);
	s->call.at[i] = reading_call(&p, buffer);
	if (!call)
		return;
	schedule_buffers(s, call);
	vec_push(&s->call, call);
	for (size_t k = s->call.n; --k > i;)
		s->call.at[k] = s->call.at[k - 1];
	s->call.at[i] = call;
}
