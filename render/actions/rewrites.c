/* The actions that rewrite a kernel, carried out in the order of its list. A kernel stays STOREs
 * over RANGEs, so what each of them leaves can be shown, interpreted and proved.
 *
 *     split 2 256; order 0 2.0 1 2.1   →   Σ over r2, r3 of …[r2*256 + r3], order 0 2 1 3
 *
 * Ranges are named by path: "2" until it is split, then "2.0" and "2.1", then "2.1.0" … Axis
 * numbers follow the paths, so that plain loops run in the order in which they ran before. */
#include "actions/actions.h"

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

int rewriting_axis(const Rewriting *w, const Val *v)
{
	const char *path = range_path(v);
	const RangeName *n = find(w, path);
	Buf all = {0};
	if (n)
		return n->axis;
	for (int i = 0; i < w->nnames; i++)
		buf_printf(&all, "%s%s", i ? ", " : "", w->name[i].path);
	die(MALFORMED, "node %u KERNEL: an action names range '%.60s'; there are %s",
		w->kernel->id, path, buf_str(&all));
}

void rewriting_split(Rewriting *w, int axis)
{
	for (int i = w->nnames; i-- > 0;) {
		RangeName *n = &w->name[i];
		if (n->axis > axis) {
			n->axis++;
		} else if (n->axis == axis) {
			w->name[w->nnames++] =
				(RangeName){arena_printf("%s.1", n->path), axis + 1};
			n->path = arena_printf("%s.0", n->path);
		}
	}
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

static void names_begin(Rewriting *w, const KernelUse *use)
{
	Facts f;
	facts_find(&f, use->kernel, use->alias);
	*w = (Rewriting){.kernel = use->kernel, .alias = use->alias};
	for (int r = 0; r < f.nrange; r++) {
		const char *path = arena_printf("%d", axis_of(&f, r));
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

static bool is_range(const Action *row, size_t word)
{
	char letter = word ? form_letter(row->args, word) : 0;
	return letter == 'r' || letter == 'R';
}

/* An action that is not carried out here names ranges that exist at its place of the list. */
static void check_names(const Rewriting *w, const Action *row, const Val *a)
{
	for (size_t i = 1; i < a->n; i++)
		if (is_range(row, i))
			rewriting_axis(w, a->a[i]);
}

/* Names become axis numbers. Where any number of ranges may stand, those of one iteration, which
 * are no ranges any more, are left out. */
static const Val *with_axes(const Rewriting *w, uint64_t axes, const Val *a)
{
	const Action *row = action_find(w->kernel, a);
	const Val **v = arena_alloc(a->n * sizeof *v);
	size_t n = 0;
	for (size_t i = 0; i < a->n; i++) {
		if (!is_range(row, i)) {
			v[n++] = a->a[i];
			continue;
		}
		int axis = rewriting_axis(w, a->a[i]);
		if (axes >> axis & 1 || !strchr(row->args, '*'))
			v[n++] = val_int(axis);
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

static bool has_rewrites(const UOp *kernel, const Val *list)
{
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++)
		if (action_find(kernel, list->a[i])->rewrite)
			return true;
	return false;
}

UOp *kernel_rewritten(const KernelUse *use, Rewriting *w)
{
	const Val *list = val_get(use->kernel->arg, "actions");
	VEC(const Val *) left = {0};
	names_begin(w, use);
	for (size_t i = 0; i < list->n; i++) {
		const Action *row = action_find(w->kernel, list->a[i]);
		if (row->rewrite) {
			check_order(w, list, i);
			row->rewrite(w, list->a[i]);
		} else {
			check_names(w, row, list->a[i]);
			vec_push(&left, list->a[i]);
		}
	}
	uint64_t axes = axes_of(w->kernel);
	size_t n = 0;
	for (size_t i = 0; i < left.n; i++)
		if (!is_void(w, axes, left.at[i]))
			left.at[n++] = with_axes(w, axes, left.at[i]);
	const Val *plan = val_array(n, left.at);
	vec_free(&left);
	const Val *arg = val_set(w->kernel->arg, "plan", plan);
	if (w->noverlaps)
		arg = val_set(arg, "overlaps", overlaps(w));
	return node_like(w->kernel, w->kernel->nsrc, w->kernel->src, arg);
}

static UOp *kernel_rewrites(const KernelUse *use)
{
	Rewriting w;
	if (val_get(use->kernel->arg, "plan") ||
		!has_rewrites(use->kernel, val_get(use->kernel->arg, "actions")))
		return use->kernel;
	return kernel_rewritten(use, &w);
}

Graph *lower_rewrites(Graph *g) { return kernels_map(g, kernel_rewrites); }
