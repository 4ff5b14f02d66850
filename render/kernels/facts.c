/* The ranges on which each value of a kernel depends. An RREDUCE binds its ranges, so values above
 * it no longer depend on them: in softmax's exp(x[r0,r1] - MAX over r1 of x[r0,r1]) the maximum
 * depends on r0 alone, the whole on r0 and r1. */
#include "kernels/kernels.h"
#include "index/ix.h"
#include <stdlib.h>

typedef struct { uint64_t free, bit; const UOp *kernel; } Fact;
static ARENA TABLE(Fact) fact;  /* entries of nodes outside the current kernel are stale */
static ARENA const UOp *current;

uint64_t free_of(const UOp *u) { return fact.at[u->id].free; }
uint64_t bit_of(const UOp *range) { return fact.at[range->id].bit; }

uint64_t free_of_made(const UOp *u)
{
	uint64_t set = 0;

	if (u->id < fact.cap && fact.at[u->id].kernel == current)
		return free_of(u);
	for (uint32_t i = 0; i < u->nsrc; i++)
		set |= free_of_made(u->src[i]);
	return set;
}

uint64_t bound_of(const UOp *reduce)
{
	uint64_t set = 0;
	for (uint32_t i = 1; i < reduce->nsrc; i++)
		set |= bit_of(reduce->src[i]);
	return set;
}

int axis_of(const Facts *f, int r) { return range_axis(f->range[r]); }
int last_axis(const Facts *f) { return f->nrange ? axis_of(f, f->nrange - 1) : 0; }

/* range[] is in order of axis numbers: loops over several ranges nest in that order */
static void add_range(Facts *f, UOp *u)
{
	int i = f->nrange++;
	if (i == MAX_RANGES)
		die(UNSUPPORTED, "a kernel with more than %d ranges", MAX_RANGES);
	for (; i > 0 && range_axis(f->range[i - 1]) > range_axis(u); i--)
		f->range[i] = f->range[i - 1];
	f->range[i] = u;
}

/* sources before users; extra: the ranges on which a LOAD of a written buffer depends in
 * addition */
static void find_free(Facts *f, uint64_t extra)
{
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		uint64_t set = 0;
		for (uint32_t s = 0; s < u->nsrc; s++)
			set |= fact.at[u->src[s]->id].free;
		if (u->op == OP_RANGE)
			set |= fact.at[u->id].bit;
		else if (u->op == OP_RREDUCE)
			set = fact.at[u->src[0]->id].free & ~bound_of(u);
		else if (reads_written(f, u))
			set |= extra;
		fact.at[u->id].free = set;
	}
}

bool reads_written(const Facts *f, const UOp *u)
{
	if (u->op != OP_LOAD || u->src[0]->src[0]->op != OP_PARAM)
		return false;
	for (int i = 0; i < f->nwritten; i++)
		if (f->written[i] == u->src[0]->src[0])
			return true;
	return f->alias;
}

/* Sources before users, depth first: an order determined by the kernel alone, so that actions can
 * count nodes by it. walk() orders by id, which depends on what else the process has created. A
 * fold of tuples comes with all of its components, since each may take the others. */
static Nodes depth_first(UOp *kernel)
{
	typedef struct { UOp *u; uint32_t next; } Frame;
	VEC(Frame) stack = {0};
	VEC(UOp *) found = {0};
	Map seen = {0};
	vec_push(&stack, ((Frame){kernel, 0}));
	while (stack.n) {
		Frame *f = &stack.at[stack.n - 1];
		UOp *u = f->u;
		if (f->next < u->nsrc) {
			UOp *s = u->src[f->next++];
			if (!map_get(&seen, PKEY(s))) {
				map_put(&seen, PKEY(s), s);
				vec_push(&stack, ((Frame){s, 0}));
			}
		} else {
			vec_push(&found, u);
			stack.n--;
			for (int64_t i = 0; folds_tuple(u) && i < tuple_size(u->src[0]); i++) {
				UOp *s = fold_component(u, i);
				if (!map_get(&seen, PKEY(s)))
					vec_push(&stack, ((Frame){s, s->nsrc}));
				map_put(&seen, PKEY(s), s);
			}
		}
	}
	Nodes r = {arena_alloc(found.n * sizeof *r.at), found.n};
	memcpy(r.at, found.at, found.n * sizeof *r.at);
	vec_free(&stack);
	vec_free(&found);
	map_free(&seen);
	return r;
}

void facts_find(Facts *f, UOp *kernel, bool alias)
{
	bool again = alias;
	*f = (Facts){.kernel = kernel, .alias = alias, .all = depth_first(kernel)};
	f->written = arena_alloc(kernel->nsrc * sizeof *f->written);
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		f->written[f->nwritten++] = kernel->src[i]->src[0]->src[0];
		f->gated |= kernel->src[i]->nsrc > 2;
		if (kernel->src[i]->src[1]->op == OP_RSORT)
			f->sort = kernel->src[i]->src[1];
	}
	table_fit(&fact);
	current = kernel;
	for (size_t i = 0; i < f->all.n; i++) {
		fact.at[f->all.at[i]->id] = (Fact){.kernel = kernel};
		if (f->all.at[i]->op == OP_RANGE)
			add_range(f, f->all.at[i]);
		again |= reads_written(f, f->all.at[i]);
	}
	f->in_place = again;
	for (int i = 0; i < f->nrange; i++)
		fact.at[f->range[i]->id].bit = 1ull << i;
	find_free(f, 0);
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		f->out |= free_of(kernel->src[i]);
	for (size_t i = 0; i < f->all.n; i++) {
		const UOp *u = f->all.at[i];
		if (u->op == OP_RREDUCE)
			f->reduced |= bound_of(u);
		if (u->op == OP_RSCAN)
			f->scanned |= bit_of(u->src[1]);
	}
	if (again)
		find_free(f, f->out);
	for (int i = 0; i < f->nrange; i++)
		if (val_is_str(f->range[i]->arg->a[1], "serial"))
			f->serial |= f->out & 1ull << i;
}

static int64_t iterations(const Facts *f, uint64_t set, bool least)
{
	/* more than any kernel does, and leaves room for products with sizes of tiles and dtypes */
	const int64_t most = INT64_C(1) << 48;
	int64_t n = 1, lo, hi;
	for (int i = 0; i < f->nrange; i++) {
		if (!(set >> i & 1))
			continue;
		ix_bounds(f->range[i]->src[0], &lo, &hi);
		hi = least ? lo : hi;
		if (hi < 1)
			return 0;
		if (!mul_ok(n, hi, &n) || n > most)
			n = most;
	}
	return n;
}

int64_t count_of(const Facts *f, uint64_t set) { return iterations(f, set, false); }
int64_t least_of(const Facts *f, uint64_t set) { return iterations(f, set, true); }

int ranges_in(uint64_t set, int *range)
{
	int n = 0;
	for (; set; set &= set - 1)
		range[n++] = __builtin_ctzll(set);
	return n;
}

Movement movement_of(const Facts *f, const UOp *load, int r)
{
	Sum s;
	UOp *at = load->src[0]->src[1], *range = f->range[r];
	if (!(free_of(at) >> r & 1))
		return STILL;
	sum_of(&s, at);
	if (sum_coef(&s, range) != 1)
		return FAR;
	for (int i = 0; i < s.n; i++)
		if (s.t[i].m != range && free_of_made(s.t[i].m) >> r & 1)
			return FAR;
	return NEXT;
}
