/* Reductions that a list names have ranges of their own. Two reductions may bind one RANGE, which
 * is free in what is stored too: so they share loops, and the values that they have in common.
 * Where a list says RREDUCE.1.2, range 2 of that reduction alone is meant, and it is folded over
 * ranges that nothing else has, numbered behind all there are:
 *
 *     split RREDUCE.1.1 8      max r1 of x[r0,r1], Σ r1 of exp(x[r0,r1] - …)
 *                              →   max r1 of x[r0,r1], Σ r2 of exp(x[r0,r2] - …); split 2 8
 *
 * RREDUCE.*.1 is range 1 of all reductions that are not named by themselves: they share it with
 * each other, not with the output. Names mean the kernel as it is before all actions of the
 * list. */
#include "actions/actions.h"
#include <ctype.h>
#include <stdlib.h>

/* Reductions by the name that the list gives them (of a fold of tuples one of its components), the
 * ranges over which they run, and their own, by place in f.range[]. */
typedef struct { const char *name; uint64_t over; UOp *range[MAX_RANGES]; } Own;
typedef struct {
	Facts f;
	VEC(const Val *) words; /* the names in the list */
	Map of;                 /* by reduction: its Own */
	Own every;              /* of RREDUCE.* */
	VEC(const Val *) names; /* [path, axis number] */
	int axis;               /* the last number that is in use */
} Binders;

static _Noreturn void refuse(const Binders *b, const char *path, const char *why)
{
	die(MALFORMED, "node %u KERNEL: range '%.60s': %s", b->f.kernel->id, path, why);
}

/* Where the name of a value ends and that of its range begins, NULL: there is no value's name. */
static const char *range_part(const Val *word)
{
	const char *at = word->kind == VAL_STR && isalpha((unsigned char)*word->s) ?
		strchr(word->s, '.') : NULL;
	return at ? strchr(at + 1, '.') : NULL;
}

/* A component of a tuple is not folded without the others. */
static void add_fold(Binders *b, UOp *u, Own *own)
{
	if (map_get(&b->of, PKEY(u)))
		return;
	own->over |= bound_of(u);
	map_put(&b->of, PKEY(u), own);
	for (int64_t i = 0; folds_tuple(u) && i < tuple_size(u->src[0]); i++)
		map_put(&b->of, PKEY(fold_component(u, i)), own);
}

static bool runs_over(const Binders *b, const UOp *u, const char *axis)
{
	uint64_t over = u->op == OP_RREDUCE ? bound_of(u) : 0;
	bool runs = false;
	for (int r = 0; r < b->f.nrange && isdigit((unsigned char)*axis); r++)
		runs |= over >> r & 1 && axis_of(&b->f, r) == strtol(axis, NULL, 10);
	return runs;
}

/* The reduction that the word names; or (every) each that runs over that range. */
static void add_word(Binders *b, const Val *word, bool every)
{
	const char *at = range_part(word), *path = word->s;
	const char *name = arena_printf("%.*s", (int)(at++ - path), path);
	bool any = false;

	if (!strcmp(name, "RREDUCE.*") != every)
		return;
	if (val_get(b->f.kernel->arg, "slice"))
		refuse(b, path, "its kernel is part of slices");
	const UOp *one = every ? NULL : value_named(&b->f, val_str(name));
	Own *own = every ? &b->every : arena_alloc(sizeof *own);
	own->name = name;
	for (size_t i = 0; i < b->f.all.n; i++) {
		UOp *u = b->f.all.at[i];
		if ((one && u != one) || !runs_over(b, u, at))
			continue;
		add_fold(b, u, own);
		any = true;
	}
	if (!any)
		refuse(b, path, "no reduction of that name runs over it");
}

/* Numbers in the order of those that the reductions have: their loops nest as before. */
static void number(Binders *b, Own *own)
{
	for (int r = 0; r < b->f.nrange; r++) {
		if (!(own->over >> r & 1) || own->range[r])
			continue;
		if (++b->axis >= MAX_RANGES)
			refuse(b, own->name, "its kernel has no number left for another range");
		own->range[r] = ix_range(b->axis, "reduce", b->f.range[r]->src[0]);
		vec_push(&b->names,
			VARR(val_str(arena_printf("%s.%d", own->name, axis_of(&b->f, r))),
				val_int(b->axis)));
	}
}

/* ---- the rewrite */

/* The reduction, of whose sources `fold` has those that are rewritten already, over its own ranges.
 * What is folded within it, and does not depend on them, stays what it is elsewhere. */
static UOp *renamed(const Own *own, UOp *fold)
{
	VEC(UOp *) from = {0}, to = {0};
	UOp **src = arena_alloc(fold->nsrc * sizeof *src);
	uint64_t mask = 0;

	for (uint32_t i = 1; i < fold->nsrc; i++) {
		mask |= 1ull << range_axis(fold->src[i]);
		src[i] = own->range[__builtin_ctzll(bit_of(fold->src[i]))];
		vec_push(&from, fold->src[i]);
		vec_push(&to, src[i]);
	}
	Nodes all = walk(fold->src[0]);
	for (size_t i = 0; i < all.n; i++) {
		if (all.at[i]->op != OP_RREDUCE || range_mask(all.at[i]) & mask)
			continue;
		vec_push(&from, all.at[i]);
		vec_push(&to, all.at[i]);
	}
	src[0] = substitute(fold->src[0], from.n, from.at, to.at);
	vec_free(&from);
	vec_free(&to);
	return node_with(fold, src);
}

static UOp *with_own(const Binders *b)
{
	Map to = {0};
	for (size_t i = 0; i < b->f.all.n; i++) {
		UOp *u = b->f.all.at[i], *now = u, **src = arena_alloc(u->nsrc * sizeof *src);
		const Own *own = map_get(&b->of, PKEY(u));
		bool changed = false;
		for (uint32_t k = 0; k < u->nsrc; k++) {
			UOp *s = map_get(&to, PKEY(u->src[k]));
			changed |= s != NULL;
			src[k] = s ? s : u->src[k];
		}
		now = changed ? node_with(u, src) : u;
		now = own ? renamed(own, now) : now;
		if (now != u)
			map_put(&to, PKEY(u), now);
	}
	UOp *kernel = map_get(&to, PKEY(b->f.kernel));
	map_free(&to);
	return kernel;
}

static void find_words(Binders *b, const UOp *kernel, const Val *list)
{
	for (size_t i = 0; list && list->kind == VAL_ARRAY && i < list->n; i++) {
		const Val *a = list->a[i];
		for (size_t k = 1; a->kind == VAL_ARRAY && k < a->n; k++)
			if (range_part(a->a[k]) && is_range_word(action_find(kernel, a), a, k))
				vec_push(&b->words, a->a[k]);
	}
}

static UOp *kernel_named(Binders *b, const KernelUse *use)
{
	facts_find(&b->f, use->kernel, use->alias);
	b->axis = last_axis(&b->f);
	for (int every = 0; every < 2; every++)
		for (size_t i = 0; i < b->words.n; i++)
			add_word(b, b->words.at[i], every);
	for (size_t i = 0; i < b->f.all.n; i++) {
		Own *own = map_get(&b->of, PKEY(b->f.all.at[i]));
		if (own)
			number(b, own);
	}
	UOp *kernel = with_own(b);
	const Val *names = val_array(b->names.n, b->names.at);
	return node_like(
		kernel, kernel->nsrc, kernel->src, val_set(kernel->arg, "binders", names));
}

UOp *kernel_binders(const KernelUse *use)
{
	UOp *kernel = use->kernel;
	Binders b = {0};

	if (!val_get(kernel->arg, "binders"))
		find_words(&b, kernel, val_get(kernel->arg, "actions"));
	if (b.words.n)
		kernel = kernel_named(&b, use);
	vec_free(&b.words);
	vec_free(&b.names);
	map_free(&b.of);
	return kernel;
}

Graph *lower_binders(Graph *g) { return kernels_map(g, kernel_binders); }
