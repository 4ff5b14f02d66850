/* The actions that rewrite a kernel, carried out in the order of its list. A kernel stays STOREs
 * over RANGEs, so what each of them leaves can be shown, interpreted and proved.
 *
 *     split 2 256; order 0 2.0 1 2.1   →   Σ over r2, r3 of …[r2*256 + r3], order 0 2 1 3
 *
 * Ranges are named by path: "2" until it is split, then "2.0" and "2.1", then "2.1.0" … Axis
 * numbers follow the paths, so that plain loops run in the order in which they ran before. */
#include "actions/actions.h"
#include "target/target.h"
#include <stdlib.h>

static RangeName *find(const Rewriting *w, const char *path)
{
	for (int i = 0; i < w->nnames; i++)
		if (!strcmp(w->name[i].path, path))
			return (RangeName *)&w->name[i];
	return NULL;
}

const char *range_path(const Val *v)
{
	return v->kind == VAL_INT ? arena_printf("%lld", (long long)v->i) :
		v->kind == VAL_STR ? v->s :
				     "";
}

/* The range of which a loop makes the piece of that path; NULL: none. */
static RangeName *find_held(const Rewriting *w, const char *path)
{
	const char *at = strchr(path, '.');
	int i = 0;
	while (i < w->nheld && strcmp(w->held[i], path))
		i++;
	for (; i < w->nheld && at; at = strchr(at + 1, '.')) {
		RangeName *n = find(w, arena_printf("%.*s", (int)(at - path), path));
		if (n)
			return n;
	}
	return NULL;
}

int rewriting_axis(const Rewriting *w, const Val *v)
{
	const char *path = range_path(v);
	const RangeName *n = find(w, path);
	Buf all = {0};
	n = n ? n : find_held(w, path);
	if (n)
		return n->axis;
	for (int i = 0; i < w->nnames; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", w->name[i].path);
	die(MALFORMED, "node %u KERNEL: an action names range '%.60s'; there are %s",
		w->kernel->id, path, buf_str(&all));
}

const char *rewriting_path(const Rewriting *w, int axis)
{
	int i = 0;
	while (w->name[i].axis != axis)
		i++;
	return w->name[i].path;
}

void rewriting_split(Rewriting *w, int axis, int inner)
{
	for (int i = w->nnames; i-- > 0;) {
		RangeName *n = &w->name[i];
		if (n->axis > axis && !w->behind) {
			n->axis++;
		} else if (n->axis == axis) {
			w->name[w->nnames++] = (RangeName){arena_printf("%s.1", n->path), inner};
			n->path = arena_printf("%s.0", n->path);
		}
	}
}

void rewriting_new(Rewriting *w, int axis)
{
	int number = 0;
	for (int i = 0; i < w->nnames; i++)
		if (atoi(w->name[i].path) >= number)
			number = atoi(w->name[i].path) + 1;
	w->name[w->nnames++] = (RangeName){arena_printf("%d", number), axis};
}

void rewriting_overlap(Rewriting *w, int axis)
{
	for (int i = 0; i < w->nnames; i++)
		if (w->name[i].axis == axis)
			w->overlap[w->noverlaps++] = w->name[i].path;
}

/* Is the range of this path the outer (0) or the inner (1) piece of `whole`, or made of it? */
static bool is_piece(const char *path, const char *whole, int piece)
{
	const char *is = arena_printf("%s.%d", whole, piece);
	size_t n = strlen(is);
	return !strncmp(path, is, n) && (!path[n] || path[n] == '.');
}

/* The pairs of an outer and an inner piece that overlap. */
static const Val *overlaps(const Rewriting *w)
{
	VEC(const Val *) pair = {0};
	for (int k = 0; k < w->noverlaps; k++)
		for (int i = 0; i < w->nnames; i++)
			for (int j = 0; j < w->nnames; j++)
				if (is_piece(w->name[i].path, w->overlap[k], 0) &&
					is_piece(w->name[j].path, w->overlap[k], 1))
					vec_push(&pair,
						VARR(val_int(w->name[i].axis),
							val_int(w->name[j].axis)));
	const Val *v = val_array(pair.n, pair.at);
	vec_free(&pair);
	return v;
}

/* The name of a range before any action: that of a reduction's own (binders.c), or its number. */
static const char *first_name(const UOp *kernel, int axis)
{
	const Val *own = val_get(kernel->arg, "binders");
	for (size_t i = 0; own && own->kind == VAL_ARRAY && i < own->n; i++) {
		const Val *a = own->a[i];
		if (a->kind != VAL_ARRAY || a->n != 2 || a->a[0]->kind != VAL_STR)
			die(MALFORMED, "node %u KERNEL: binders are [name, number]", kernel->id);
		if (a->a[1]->kind == VAL_INT && a->a[1]->i == axis)
			return a->a[0]->s;
	}
	return arena_printf("%d", axis);
}

void rewriting_begin(Rewriting *w, const KernelUse *use)
{
	Facts f;
	*w = (Rewriting){.kernel = kernel_binders(use), .alias = use->alias};
	facts_find(&f, w->kernel, use->alias);
	for (int r = 0; r < f.nrange; r++) {
		const char *path = first_name(w->kernel, axis_of(&f, r));
		if (!find(w, path))
			w->name[w->nnames++] = (RangeName){path, axis_of(&f, r)};
	}
}

char form_letter(const char *form, size_t word)
{
	char letter = 0;
	for (; *form; form++) {
		if (*form == ' ' || *form == '?' || *form == '*')
			continue;
		letter = *form;
		if (!--word)
			break;
	}
	return letter;
}

/* Does the action name a range of one iteration, of which there is nothing to say? */
static bool is_void(const Rewriting *w, uint64_t axes, const Val *a)
{
	const Action *row = action_find(w->kernel, a);
	for (size_t i = 1; i < a->n; i++)
		if (form_letter(row->args, i) == 'R' &&
			!(axes >> rewriting_axis(w, a->a[i]) & 1))
			return true;
	return false;
}

bool is_range_word(const Action *row, const Val *a, size_t word)
{
	char letter = word ? form_letter(row->args, word) : 0;
	return (letter == 'r' || letter == 'R') && !val_is_str(a->a[word], "register");
}

/* An action that is not carried out here names ranges that exist at its place of the list. */
static void check_names(const Rewriting *w, const Action *row, const Val *a)
{
	for (size_t i = 1; i < a->n; i++)
		if (is_range_word(row, a, i))
			rewriting_axis(w, a->a[i]);
}

/* A range by its axis number; a piece of one that a loop makes by that and what follows. */
static const Val *axis_name(const Rewriting *w, const Val *v)
{
	const char *path = range_path(v);
	int axis = rewriting_axis(w, v);
	const RangeName *n = find_held(w, path);
	return n && !find(w, path) ? val_str(arena_printf("%d%s", axis, path + strlen(n->path))) :
		val_int(axis);
}

/* Names become axis numbers. Where any number of ranges may stand, those of one iteration, which
 * are no ranges any more, are left out. */
static const Val *with_axes(const Rewriting *w, uint64_t axes, const Val *a)
{
	const Action *row = action_find(w->kernel, a);
	const Val **v = arena_alloc(a->n * sizeof *v);
	size_t n = 0;
	for (size_t i = 0; i < a->n; i++) {
		if (!is_range_word(row, a, i)) {
			v[n++] = a->a[i];
			continue;
		}
		int axis = rewriting_axis(w, a->a[i]);
		if (axes >> axis & 1 || !strchr(row->args, '*'))
			v[n++] = axis_name(w, a->a[i]);
	}
	return val_array(n, v);
}

static uint64_t axes_of(const UOp *kernel)
{
	uint64_t set = 0;
	Nodes all = walk_brief((UOp *)kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_RANGE)
			set |= 1ull << range_axis(all.at[i]);
	return set;
}

/* Nodes are named by their number in the kernel as it is at that place of the list. */
static void check_order(const Rewriting *w, const Val *list, size_t i)
{
	for (size_t k = 0; k < i; k++)
		if (strchr(action_find(w->kernel, list->a[k])->args, 'v'))
			die(MALFORMED, "node %u KERNEL: %s stands behind an action that names a "
				       "node, whose number it changes; it belongs before that",
				w->kernel->id, list->a[i]->a[0]->s);
}

/* ---- splits that loops carry out, not the graph */

static void hold(Rewriting *w, const Val *a)
{
	for (int i = 0; i < 2 && w->nheld < 8 * MAX_RANGES; i++)
		w->held[w->nheld++] = arena_printf("%s.%d", range_path(a->a[1]), i);
}

/* Does an action behind it say that elements of its inner piece stand side by side, or vectors of
 * it? */
static bool is_side(const Val *list, size_t i)
{
	const char *path = range_path(list->a[i]->a[1]);
	const char *side = arena_printf("%s.1", path), *vectors = arena_printf("%s.1.0", path);
	for (size_t k = i + 1; k < list->n; k++) {
		const Val *a = list->a[k];
		if (a->kind != VAL_ARRAY || a->n != 3 || !val_is_str(a->a[0], "kind"))
			continue;
		bool jam = val_is_str(a->a[2], "jam");
		const char *of = range_path(a->a[1]);
		if (((jam || val_is_str(a->a[2], "vector")) && !strcmp(of, side)) ||
			(jam && !strcmp(of, vectors)))
			return true;
	}
	return false;
}

/* Where an action may be carried out either way: is it one of loops? */
static bool is_of_loops(const Rewriting *w, const Val *list, size_t i)
{
	const Val *a = list->a[i];
	if (find_held(w, range_path(a->a[1])))
		return true;
	if (val_is_str(a->a[0], "rfactor"))
		return a->n > 2;
	return a->n > 3 && (val_is_str(a->a[3], "peel") ||
		(val_is_str(a->a[3], "overlap") && is_side(list, i)));
}

static bool has_rewrites(const UOp *kernel, const Val *list)
{
	if (!list || list->kind != VAL_ARRAY)
		return false;
	for (size_t i = 0; i < list->n; i++)
		if (action_find(kernel, list->a[i])->rewrite)
			return true;
	return val_get(kernel->arg, "binders") != NULL;
}

static size_t actions_most(Graph *g)
{
	Nodes all = walk(g->sink);
	size_t most = 0;
	for (size_t i = 0; i < all.n; i++) {
		bool kernel = all.at[i]->op == OP_KERNEL;
		const Val *list = kernel ? val_get(all.at[i]->arg, "actions") : NULL;
		if (list && list->kind == VAL_ARRAY && list->n > most)
			most = list->n;
	}
	return most;
}

PassParts rewrites_parts = {"action", .taken = SIZE_MAX, .most = actions_most};

/* As much of a kernel's list as is to be carried out. */
static const Val *taken(const Val *list)
{
	bool all = list->kind != VAL_ARRAY || list->n <= rewrites_parts.taken;
	return all ? list : val_array(rewrites_parts.taken, list->a);
}

UOp *kernel_rewritten(const KernelUse *use, Rewriting *w)
{
	const Val *list = val_get(use->kernel->arg, "actions");
	VEC(const Val *) left = {0}, done = {0};
	rewriting_begin(w, use);
	/* those that are not taken still say what is meant by those before them */
	for (size_t i = 0; i < list->n && i < rewrites_parts.taken; i++) {
		const Action *row = action_find(w->kernel, list->a[i]);
		bool loops = row->read && row->rewrite && is_of_loops(w, list, i);
		if (row->rewrite && !loops) {
			check_order(w, list, i);
			row->rewrite(w, list->a[i]);
			vec_push(&done, list->a[i]);
		} else {
			check_names(w, row, list->a[i]);
			vec_push(&left, list->a[i]);
			if (loops && val_is_str(list->a[i]->a[0], "split"))
				hold(w, list->a[i]);
		}
	}
	uint64_t axes = axes_of(w->kernel);
	size_t n = 0;
	for (size_t i = 0; i < left.n; i++)
		if (!is_void(w, axes, left.at[i]))
			left.at[n++] = with_axes(w, axes, left.at[i]);
	const Val *plan = val_array(n, left.at);
	w->done = val_array(done.n, done.at);
	vec_free(&left);
	vec_free(&done);
	const Val *arg = val_set(w->kernel->arg, "plan", plan);
	arg = val_set(arg, "actions", taken(list));
	if (w->noverlaps)
		arg = val_set(arg, "overlaps", overlaps(w));
	return node_like(w->kernel, w->kernel->nsrc, w->kernel->src, arg);
}

/* ---- --explain */

/* Axis numbers of a rewritten kernel's list as the paths that name its ranges. */
static const Val *with_paths(const Rewriting *w, const Val *list)
{
	VEC(const Val *) v = {0}, all = {0};
	for (size_t i = 0; i < list->n; i++) {
		const Val *a = list->a[i];
		const Action *row = action_find(w->kernel, a);
		v.n = 0;
		for (size_t k = 0; k < a->n; k++) {
			const char *path = NULL, *of = range_path(a->a[k]);
			for (int j = 0; is_range_word(row, a, k) && j < w->nnames; j++)
				if (w->name[j].axis == atoi(of))
					path = w->name[j].path;
			vec_push(&v, !path ? a->a[k] : val_str(arena_printf("%s%s", path,
				of + strspn(of, "0123456789"))));
		}
		vec_push(&all, val_array(v.n, v.at));
	}
	list = val_array(all.n, all.at);
	vec_free(&v);
	vec_free(&all);
	return list;
}

static void explain_actions(const KernelUse *use)
{
	const Val *words = val_get(use->kernel->arg, "actions");
	if (!words || words->kind != VAL_ARRAY || !(lower_opt.explain || lower_opt.reasons))
		return;
	Rewriting w;
	Plan p;
	Facts f;
	Buf b = {0};
	facts_find(&f, kernel_rewritten(use, &w), use->alias);
	const Val *loops = with_paths(&w, plan_primitives(&p, &f));
	actions_text(&b, taken(words));
	if (lower_opt.explain)
		explain(use->kernel, "actions: %s", buf_str(&b));
	buf_free(&b);
	actions_text(&b, w.done);
	buf_printf(&b, "%s", w.done->n && loops->n ? "; " : "");
	actions_text(&b, loops);
	explain(use->kernel, "primitives: %s", buf_str(&b));
	buf_free(&b);
}

static UOp *kernel_rewrites(const KernelUse *use)
{
	Rewriting w;
	if (val_get(use->kernel->arg, "plan"))
		return use->kernel;
	explain_actions(use);
	const Val *list = val_get(use->kernel->arg, "actions");
	if (has_rewrites(use->kernel, list))
		return kernel_rewritten(use, &w);
	return !list || taken(list) == list ? use->kernel :
		node_like(use->kernel, use->kernel->nsrc, use->kernel->src,
			val_set(use->kernel->arg, "actions", taken(list)));
}

Graph *lower_rewrites(Graph *g) { return reasons_leave(kernels_map(g, kernel_rewrites)); }
