/* Names kernels by what they do: a word and the sizes of the ranges, loops first.
 *
 *     STORE over loops of 64 and 48 with a reduction over 32   →   r_64_48_32
 *     another kernel of the same sizes                         →   r_64_48_32n1
 *
 * E is elementwise, r has a reduction; scan, sort and scatter run in order along an axis. */
#include "document/document.h"
#include <stdlib.h>

enum { NAME_CHARS = 96 };

/* Kinds of kernel; the last one that applies gives the name. */
enum { ELEMENTWISE, REDUCTION, SCATTER, SCAN, SORT };
static const char *const word[] = {"E", "r", "scatter", "scan", "sort"};

static bool has_kind(const UOp *range, const char *kind)
{
	return val_is_str(range->arg->a[1], kind);
}

static int kind_of(const UOp *u)
{
	switch (u->op) {
	case OP_RREDUCE: return REDUCTION;
	case OP_RSCAN: return SCAN;
	case OP_RSORT: return SORT;
	case OP_RANGE: return has_kind(u, "serial") ? SCATTER : ELEMENTWISE;
	default: return ELEMENTWISE;
	}
}

static int by_axis(const void *a, const void *b)
{
	const UOp *x = *(UOp *const *)a, *y = *(UOp *const *)b;
	bool r = has_kind(x, "reduce"), s = has_kind(y, "reduce");
	int64_t i = x->arg->a[0]->i, j = y->arg->a[0]->i;
	return r != s ? r - s : i != j ? (i < j ? -1 : 1) : (x->id > y->id) - (x->id < y->id);
}

static void add_size(Buf *out, const UOp *size)
{
	int64_t n;
	if (ix_is_const(size, &n))
		buf_printf(out, "_%lld", (long long)n);
	else if (size->op == OP_VAR)
		buf_printf(out, "_%.16s", size->arg->a[0]->s);
	else
		buf_printf(out, "_s");
}

/* The name of a KERNEL of level schedule, a C identifier: what it does and the sizes of its ranges.
 */
static const char *base_name(UOp *kernel)
{
	Nodes all = walk(kernel);
	VEC(UOp *) ranges = {0};
	int kind = ELEMENTWISE;
	for (size_t i = 0; i < all.n; i++) {
		kind = kind_of(all.at[i]) > kind ? kind_of(all.at[i]) : kind;
		if (all.at[i]->op == OP_RANGE)
			vec_push(&ranges, all.at[i]);
	}
	if (ranges.n)
		qsort(ranges.at, ranges.n, sizeof *ranges.at, by_axis);
	Buf name = {0};
	buf_printf(&name, "%s", word[kind]);
	for (size_t i = 0; i < ranges.n && name.n < NAME_CHARS; i++)
		add_size(&name, ranges.at[i]->src[0]);
	if (!ranges.n)
		buf_printf(&name, "_1");
	const char *s = arena_strdup(buf_str(&name));
	buf_free(&name);
	vec_free(&ranges);
	return s;
}

/* ---- distinct names in a schedule */

static const char *distinct(KernelNames *n, const char *base)
{
	const char *s = base;
	for (;;) {
		uint64_t key = hash_bytes(s, strlen(s), 0);
		uintptr_t asked = (uintptr_t)map_get(&n->taken, key);
		map_put(&n->taken, key, (void *)(asked + 1));
		if (!asked)
			return s;
		s = arena_printf("%sn%zu", base, (size_t)asked);
	}
}

static UOp *with_name(UOp *kernel, const char *name)
{
	const Val *arg = val_set(kernel->arg, "name", val_str(name));
	return node_like(kernel, kernel->nsrc, kernel->src, arg);
}

UOp *kernel_named(KernelNames *n, UOp *kernel)
{
	UOp *named = map_get(&n->named, PKEY(kernel));
	if (named)
		return named;
	UOp *bare = with_name(kernel, "");
	named = map_get(&n->named, PKEY(bare));
	if (!named) {
		named = with_name(kernel, distinct(n, base_name(kernel)));
		map_put(&n->named, PKEY(bare), named);
	}
	if (kernel != bare)
		map_put(&n->named, PKEY(kernel), named);
	return named;
}

void kernel_names_free(KernelNames *n)
{
	map_free(&n->named);
	map_free(&n->taken);
}

Graph *name_kernels(Graph *g)
{
	KernelNames n = {0};
	VEC(UOp *) calls = {0}, src = {0};
	for (uint32_t i = 0; i < g->sink->nsrc; i++) {
		UOp *call = g->sink->src[i];
		src.n = 0;
		for (uint32_t k = 0; k < call->nsrc; k++)
			vec_push(&src, call->src[k]->op == OP_KERNEL
				? kernel_named(&n, call->src[k]) : call->src[k]);
		vec_push(&calls, node_with(call, src.at));
	}
	g->sink = node_with(g->sink, calls.at);
	vec_free(&calls);
	vec_free(&src);
	kernel_names_free(&n);
	return g;
}
