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

static bool writes_named(const UOp *call, const char *name, size_t n)
{
	for (uint32_t k = call_has_kernel(call); k && k < call->nsrc; k++) {
		const char *is = buffer_name(call->src[k]);
		if (strlen(is) == n && !strncmp(is, name, n) && call_stores(call, call->src[k]))
			return true;
	}
	return false;
}

/* How many of the n calls write a buffer whose name is the first `length` bytes; *at: the last. */
static size_t writers(size_t n, UOp *const *call, const char *name, size_t length, size_t most,
	size_t *at)
{
	size_t count = 0;
	for (size_t i = 0; i < n && count < most; i++)
		if (writes_named(call[i], name, length)) {
			*at = i;
			count++;
		}
	return count;
}

const char *call_path(size_t n, UOp *const *call, size_t i)
{
	for (uint32_t k = 1; k < call[i]->nsrc; k++) {
		const char *name = buffer_name(call[i]->src[k]);
		size_t at = 0, before = 0, length = strlen(name);
		if (!writes_named(call[i], name, length))
			continue;
		if (writers(n, call, name, length, 2, &at) == 1)
			return name;
		before = writers(i, call, name, length, i, &at);
		name = arena_printf("%s.%zu", name, before);
		if (!writers(n, call, name, strlen(name), 1, &at))
			return name;
	}
	return NULL;
}

/* The place of the call of that name. */
static size_t call_named(const Schedule *s, const char *path)
{
	const char *dot = strrchr(path, '.');
	bool numbered = dot && isdigit((unsigned char)dot[1]) &&
		!dot[1 + strspn(dot + 1, "0123456789")];
	size_t at = 0, count = writers(s->call.n, s->call.at, path, strlen(path), SIZE_MAX, &at);
	if (!count && numbered) {
		size_t number = strtoull(dot + 1, NULL, 10);
		if (number < s->call.n && writers(s->call.n, s->call.at, path, dot - path,
			number + 1, &at) == number + 1)
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
	for (uint32_t i = 0; i < g->sink->nsrc; i++)
		vec_push(&s->call, g->sink->src[i]);
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
	return g;
}

const Val *schedule_list(const Graph *g)
{
	const Val *list = schedule_given(lower_opt.actions);
	if (!list)
		list = val_get(g->sink->arg, "actions");
	if (list && list != VNIL && list->kind != VAL_ARRAY)
		die(MALFORMED, "SINK: its actions are no list");
	return list && list != VNIL ? list : NULL;
}
