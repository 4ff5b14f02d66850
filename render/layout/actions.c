/* The actions of the schedule, one after another. A list stands in the SINK, or --opt gives it;
 * what passes choose is such a list too, carried out here as soon as it is written.
 *
 *     ["split", b, r, n, t?]      range r of the call that writes b becomes r.0 and r.1 (stage.c)
 *     ["stage", b, v, r…, space]  its value v in a buffer over these ranges (stage.c)
 *     ["fuse_at", b, r, n?]       what writes b is computed in loop r of what reads it (fuse_at.c)
 *
 * A call is named by a buffer that it writes; where several do, by its number among them: "t6.1".
 * Ranges have the names that the kernel has for them where the action stands. */
#include "document/document.h"
#include "target/target.h"
#include "layout/layout.h"
#include <ctype.h>
#include <stdlib.h>

/* ---- the names of calls */

static const Val *name_of(const UOp *buffer) { return val_get(buffer->arg, "name"); }

UOp *buffer_named(const Schedule *s, const char *name)
{
	return map_get(&s->buffer, PKEY(val_str(name)));
}

void schedule_buffers(Schedule *s, const UOp *call)
{
	for (uint32_t k = 0; k < call->nsrc; k++)
		if (call->src[k]->op == OP_BUFFER)
			map_put(&s->buffer, PKEY(name_of(call->src[k])), call->src[k]);
}

static bool writes(const UOp *call, const UOp *buffer)
{
	for (uint32_t k = call_has_kernel(call); k && k < call->nsrc; k++)
		if (call->src[k] == buffer)
			return call_stores(call, buffer);
	return false;
}

/* How many of the n calls write the buffer, at most `most`; *at: the last of these. */
static size_t writers(size_t n, UOp *const *call, const UOp *buffer, size_t most, size_t *at)
{
	size_t count = 0;
	for (size_t i = 0; i < n && count < most; i++)
		if (writes(call[i], buffer)) {
			*at = i;
			count++;
		}
	return count;
}

static bool is_name(size_t n, UOp *const *call, const char *name)
{
	for (size_t i = 0; i < n; i++)
		for (uint32_t k = 1; k < call[i]->nsrc; k++)
			if (call[i]->src[k]->op == OP_BUFFER &&
				name_of(call[i]->src[k]) == val_str(name))
				return true;
	return false;
}

const char *call_path(size_t n, UOp *const *call, size_t i)
{
	for (uint32_t k = 1; k < call[i]->nsrc; k++) {
		const UOp *buffer = call[i]->src[k];
		size_t at;
		if (!writes(call[i], buffer))
			continue;
		if (writers(n, call, buffer, 2, &at) == 1)
			return buffer_name(buffer);
		const char *path = arena_printf("%s.%zu", buffer_name(buffer),
			writers(i, call, buffer, i, &at));
		if (!is_name(n, call, path))
			return path;
	}
	return NULL;
}

/* The place of the call of that name. */
static size_t call_named(const Schedule *s, const char *path)
{
	const char *dot = strrchr(path, '.');
	const UOp *buffer = buffer_named(s, path);
	size_t at = 0, count = buffer ? writers(s->call.n, s->call.at, buffer, SIZE_MAX, &at) : 0;
	if (!count && dot && isdigit((unsigned char)dot[1]) &&
		!dot[1 + strspn(dot + 1, "0123456789")]) {
		size_t number = strtoull(dot + 1, NULL, 10);
		buffer = buffer_named(s, arena_printf("%.*s", (int)(dot - path), path));
		if (buffer && number < s->call.n &&
			writers(s->call.n, s->call.at, buffer, number + 1, &at) == number + 1)
			return at;
	}
	if (!count)
		schedule_refuse(s, "no kernel writes a buffer of that name");
	if (count > 1)
		schedule_refuse(s, arena_printf("%zu calls write it: %s.0, %s.1 …", count, path,
			path));
	return at;
}

/* ---- one action */

_Noreturn void schedule_refuse(const Schedule *s, const char *why)
{
	const Val *of = s->action->a[1];
	die(MALFORMED, "SINK: %s %.60s: %s", s->action->a[0]->s, of->kind == VAL_STR ? of->s : "",
		why);
}

/* Without those that the kernel's own list gives its reductions. */
void call_ranges(Rewriting *w, UOp *call)
{
	UOp *kernel = call->src[0];
	const Val *arg = val_set(kernel->arg, "actions", NULL);
	rewriting_begin(w, &(KernelUse){.alias = call_aliases(call),
		.kernel = node_like(kernel, kernel->nsrc, kernel->src, arg)});
	w->kernel = kernel;
	w->behind = true;
}

/* The names of the ranges of call i, which are kept from split to split. */
static Rewriting *ranges_named(Schedule *s, const char *path, size_t i)
{
	for (size_t k = 0; k < s->named.n; k++)
		if (!strcmp(s->named.at[k]->path, path)) {
			s->named.at[k]->w.kernel = s->call.at[i]->src[0];
			return &s->named.at[k]->w;
		}
	NamedCall *made = arena_alloc(sizeof *made);
	made->path = path;
	call_ranges(&made->w, s->call.at[i]);
	vec_push(&s->named, made);
	return &made->w;
}

static Graph *as_graph(Schedule *s)
{
	size_t once = 0;
	VEC(UOp *) call = {0};
	for (size_t i = 0; i < s->call.n; i++)
		if (call_prepares(s->call.at[i]))
			vec_push(&call, s->call.at[i]);
	once = call.n;
	largest_first(once, call.at);
	for (size_t i = 0; i < s->call.n; i++)
		if (!call_prepares(s->call.at[i]))
			vec_push(&call, s->call.at[i]);
	Graph *g = graph_with_calls(s->g, call.n, call.at);
	vec_free(&call);
	return g;
}

static void take_calls(Schedule *s, Graph *g)
{
	s->g = g;
	s->call.n = 0;
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		vec_push(&s->call, g->sink->src[i]);
		schedule_buffers(s, g->sink->src[i]);
	}
}

static void tell(const Schedule *s, const UOp *kernel)
{
	Buf b = {0};
	if (!lower_opt.explain && !lower_opt.reasons)
		return;
	actions_text(&b, VARR(s->action));
	explain(kernel, "of the schedule: %s", buf_str(&b));
	buf_free(&b);
}

static void carry_out(Schedule *s)
{
	const Val *a = s->action;
	action_find(s->g->sink, a);
	if (a->a[1]->kind != VAL_STR)
		schedule_refuse(s, "a call is named by a buffer that it writes");
	if (val_is_str(a->a[0], "fuse_at")) {
		/* it gives the loops of both calls other numbers */
		take_calls(s, layout_fuse_at(as_graph(s), a));
		s->named.n = 0;
		return;
	}
	size_t i = call_named(s, a->a[1]->s);
	Rewriting *w = ranges_named(s, a->a[1]->s, i);
	tell(s, w->kernel);
	if (val_is_str(a->a[0], "split"))
		s->call.at[i] = schedule_split(s, s->call.at[i], w);
	else
		schedule_stage(s, i, w);
}

/* ---- the list */

Graph *layout_actions(Graph *g, size_t n, const Val *const *list)
{
	Schedule s = {0};
	take_calls(&s, g);
	for (size_t i = 0; i < n; i++) {
		s.action = list[i];
		carry_out(&s);
	}
	g = as_graph(&s);
	vec_free(&s.call);
	vec_free(&s.named);
	map_free(&s.made);
	map_free(&s.buffer);
	return g;
}

/* One list behind another. */
static const Val *joined(const Val *a, const Val *b)
{
	const Val **all = arena_alloc((a->n + b->n + 1) * sizeof *all);
	memcpy(all, a->a, a->n * sizeof *all);
	memcpy(all + a->n, b->a, b->n * sizeof *all);
	return val_array(a->n + b->n, all);
}

const Val *schedule_list(const Graph *g)
{
	const Val *list = NULL;
	for (size_t i = 0; i < lower_opt.actions.n; i++) {
		const Val *given = schedule_given(lower_opt.actions.at[i]);
		list = list && given ? joined(list, given) : given ? given : list;
	}
	if (!list)
		list = val_get(g->sink->arg, "actions");
	if (list && list != VNIL && list->kind != VAL_ARRAY)
		die(MALFORMED, "SINK: its actions are no list");
	return list && list != VNIL ? list : NULL;
}
