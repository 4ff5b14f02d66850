/* The list of calls: each slot has the buffer that its kernel expects, what is written may be
 * written, and a buffer is written before it is read.
 *
 *     K0: t0 = f(x)    K1: y = g(t0)        without K0, K1 reads a t0 that nobody wrote
 *
 * And the plan of memory: each temporary lies in the workspace, and two that are alive at the same
 * time lie apart. A temporary is alive from the first call that uses it to the last.
 *
 *     t0 at 0, 256 bytes, K0 to K2; t1 at 128, K2 to K3        K2 would find one in the other
 *
 * And sizes: of a kernel's grid, and size variables as declared.
 */
#include "document/document.h"
#include "prove/accesses.h"
#include "prove/places.h"
#include "shape/shape.h"
#include <stdlib.h>

/* What the calls so far have done: the buffers that they wrote. */
typedef struct { Map written; } Progress;

static bool starts_empty(const UOp *b)
{
	return !shape_empty(b->shape) &&
		(buffer_is(b, "temp") || buffer_is(b, "output") || buffer_is(b, "prepared"));
}

static void read_buffer(const Progress *p, const ProvedCall *c, const UOp *b)
{
	if (starts_empty(b) && !map_get(&p->written, PKEY(b)))
		prove_fault(c, "it reads buffer %.80s, which no call before it has written",
			buffer_name(b));
}

static void may_write(const ProvedCall *c, const UOp *b)
{
	if (buffer_is(b, "input") || buffer_is(b, "const"))
		prove_fault(c, "it writes buffer %.80s, which is %s", buffer_name(b),
			buffer_is(b, "input") ? "an input" : "a constant");
}

static void write_buffer(Progress *p, const ProvedCall *c, const UOp *b)
{
	may_write(c, b);
	map_put(&p->written, PKEY(b), (void *)b);
}

/* ---- slots */

static bool same_count(const UOp *buffer, const UOp *param)
{
	return buffer->shape == param->shape ||
		ix_plain(shape_count(buffer->shape)) == ix_plain(shape_count(param->shape));
}

static void check_param(const ProvedCall *c, const UOp *param)
{
	int64_t slot = param_slot(param);
	if (slot >= (int64_t)c->call->nsrc - 1)
		prove_fault(c, "the kernel uses slot %lld, and the call has %u buffers",
			(long long)slot, c->call->nsrc - 1);
	const UOp *b = c->call->src[1 + slot];
	if (b->dtype != param->dtype)
		prove_fault(c, "slot %lld is %s, and buffer %.80s is %s", (long long)slot,
			dtype_name(param->dtype), buffer_name(b), dtype_name(b->dtype));
	if (!same_count(b, param))
		prove_fault(c, "slot %lld has shape %s, and buffer %.80s %s", (long long)slot,
			shape_text(param->shape), buffer_name(b), shape_text(b->shape));
}

static void check_slots(const ProvedCall *c)
{
	Nodes all = walk_kept(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			check_param(c, all.at[i]);
}

/* ---- order */

/* The accesses of a kernel that matter here: of each PARAM the first of a kind. */
static Accesses first_accesses(UOp *kernel)
{
	static ARENA Map known;
	Accesses all = kernel_accesses(kernel), *first = map_get(&known, PKEY(kernel));
	Map seen = {0};
	if (first)
		return *first;
	Access *at = arena_alloc((all.n + 1) * sizeof *at);
	first = arena_alloc(sizeof *first);
	*first = (Accesses){at, 0};
	for (size_t i = 0; i < all.n; i++) {
		const Access *a = &all.at[i];
		uint64_t key = PKEY(memory_of(a)) + a->store + (a->value != NULL);
		if (memory_of(a)->op != OP_PARAM || map_get(&seen, key))
			continue;
		map_put(&seen, key, first);
		at[first->n++] = *a;
	}
	map_free(&seen);
	map_put(&known, PKEY(kernel), first);
	return *first;
}

static void check_kernel(Progress *p, const ProvedCall *c)
{
	Accesses all = first_accesses(c->kernel);
	Map first = {0};        /* buffer: the first access to it */
	check_slots(c);
	/* what a kernel writes before it reads it need not be written before */
	for (size_t i = 0; i < all.n; i++) {
		const UOp *b = access_buffer(c->call, &all.at[i]);
		const Access *a = b ? map_get(&first, PKEY(b)) : NULL;
		if (b && !a)
			map_put(&first, PKEY(b), (void *)(a = &all.at[i]));
		if (b && !all.at[i].store && !(a->store && a->value))
			read_buffer(p, c, b);
	}
	map_free(&first);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *b = access_buffer(c->call, &all.at[i]);
		if (b && all.at[i].store)
			write_buffer(p, c, b);
	}
}

static void check_copy(Progress *p, const ProvedCall *c)
{
	const UOp *to = c->call->src[0], *from = c->call->src[1];
	if (to->dtype != from->dtype || !same_count(to, from))
		prove_fault(c, "it copies %s %s to buffer %.80s, which is %s %s",
			dtype_name(from->dtype), shape_text(from->shape), buffer_name(to),
			dtype_name(to->dtype), shape_text(to->shape));
	read_buffer(p, c, from);
	write_buffer(p, c, to);
}

/* A CUSTOM writes slot 0 and reads the others. */
static void check_custom(Progress *p, const ProvedCall *c)
{
	for (uint32_t i = 2; i < c->call->nsrc; i++) {
		read_buffer(p, c, c->call->src[i]);
		if (c->call->src[i] == c->call->src[1])
			prove_fault(c, "it reads buffer %.80s, which it writes",
				buffer_name(c->call->src[i]));
	}
	if (c->call->nsrc > 1)
		write_buffer(p, c, c->call->src[1]);
}

static void check_outputs(const Progress *p, const Graph *g)
{
	Nodes all = walk_kept(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "output") &&
			starts_empty(all.at[i]) &&
			!map_get(&p->written, PKEY(all.at[i])))
			die(MALFORMED, "no call writes output %.80s", buffer_name(all.at[i]));
}

void prove_calls(const Graph *g)
{
	Progress p = {0};
	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		const ProvedCall c = proved_call(g, k);
		if (c.call->op == OP_MEMCPY)
			check_copy(&p, &c);
		else if (c.kernel)
			check_kernel(&p, &c);
		else
			check_custom(&p, &c);
	}
	check_outputs(&p, g);
	map_free(&p.written);
}

/* ---- the workspace */

enum { ALIGN = 64 };

typedef struct { const UOp *buffer; int64_t at, end; uint32_t first, last; } Life;
typedef VEC(Life) Lives;

/* The offset of a temporary, or -1 when it has none. */
static int64_t offset_of(const UOp *b)
{
	const Val *v = val_get(b->arg, "offset");
	if (!v || v == VNIL)
		return -1;
	if (v->kind != VAL_INT || v->i < 0 || v->i % ALIGN)
		die(MALFORMED, "buffer %.80s: its offset is not a multiple of %d bytes in the "
			"workspace", buffer_name(b), ALIGN);
	return v->i;
}

/* The workspace's bytes, or INT64_MAX when the document does not say. */
static int64_t workspace_of(const Graph *g)
{
	const Val *w = val_get(g->meta, "workspace");
	bool said = w && w->kind == VAL_ARRAY && w->n && w->a[0]->kind == VAL_INT;
	return said ? w->a[0]->i : INT64_MAX;
}

static void born(Lives *l, const Graph *g, const UOp *b, uint32_t call)
{
	int64_t at = offset_of(b), most = shape_max_count(b->shape), bytes, end;
	if (at < 0)
		return;
	if (!mul_ok(most, (int64_t)dtype_size(b->dtype), &bytes) || !add_ok(at, bytes, &end) ||
		end > workspace_of(g))
		die(MALFORMED, "buffer %.80s: %s %s at offset %lld does not fit the workspace",
			buffer_name(b), dtype_name(b->dtype), shape_text(b->shape), (long long)at);
	vec_push(l, ((Life){b, at, end, call, call}));
}

static void lives_of(Lives *l, const Graph *g)
{
	Map index = {0};
	for (uint32_t k = 0; k < g->sink->nsrc; k++) {
		const UOp *call = g->sink->src[k];
		for (uint32_t i = call->op == OP_CALL; i < call->nsrc; i++) {
			const UOp *b = call->src[i];
			intptr_t at = (intptr_t)map_get(&index, PKEY(b)) - 1;
			if (at >= 0)
				l->at[at].last = k;
			else if (buffer_is(b, "temp"))
				born(l, g, b, k);
			if (at < 0 && l->n && l->at[l->n - 1].buffer == b)
				map_put(&index, PKEY(b), (void *)(intptr_t)l->n);
		}
	}
	map_free(&index);
}

static int by_place(const void *a, const void *b)
{
	const Life *x = *(Life *const *)a, *y = *(Life *const *)b;
	return x->at != y->at ? (x->at < y->at ? -1 : 1) : x < y ? -1 : x > y;
}

/* Puts x into the list of those alive, which is ordered by place and whose members are apart, so
 * that only its neighbours can overlap it. */
static void put_alive(const Life **alive, size_t *n, const Life *x)
{
	size_t i = *n;
	for (; i && by_place(&alive[i - 1], &x) > 0; i--)
		alive[i] = alive[i - 1];
	alive[i] = x;
	++*n;
	for (int side = 0; side < 2; side++) {
		const Life *y = side ? (i + 1 < *n ? alive[i + 1] : NULL) : i ? alive[i - 1] : NULL;
		if (y && x->at < y->end && y->at < x->end)
			die(MALFORMED, "buffers %.80s and %.80s overlap in the workspace, at bytes "
				"%lld to %lld and %lld to %lld, and K%u needs both",
				buffer_name(x->buffer), buffer_name(y->buffer), (long long)x->at,
				(long long)x->end, (long long)y->at, (long long)y->end, x->first);
	}
}

/* Lives are in the order of their first calls. Empty ones overlap nothing. */
void prove_workspace(const Graph *g)
{
	Lives l = {0};
	lives_of(&l, g);
	const Life **alive = xcalloc(l.n + 1, sizeof *alive);
	size_t n = 0;
	for (size_t i = 0; i < l.n; i++) {
		size_t kept = 0;
		for (size_t k = 0; k < n; k++)
			if (alive[k]->last >= l.at[i].first)
				alive[kept++] = alive[k];
		n = kept;
		if (l.at[i].end > l.at[i].at)
			put_alive(alive, &n, &l.at[i]);
	}
	free(alive);
	vec_free(&l);
}

/* ---- the grid of a kernel of level loops: gidxD has as its size global_size[D], lidxD
 * local_size[D], a size that is not given being 1, and `work` is not negative */

UOp *grid_size(const UOp *kernel, bool local, int d)
{
	const char *err;
	const Val *v = val_get(kernel->arg, local ? "local_size" : "global_size");
	if (!v || v->kind != VAL_ARRAY || d >= (int)v->n)
		return ix_const(1);
	return size_from_val(v->a[d], &err);
}

bool special_axis(const UOp *special, bool *local, int *d)
{
	const char *s = special->arg->s;
	*local = s[0] == 'l';
	*d = strlen(s) == 5 ? s[4] - '0' : -1;
	return (!strncmp(s, "gidx", 4) || *local) && !strncmp(s + 1, "idx", 3) && *d >= 0 && *d < 3;
}

static void check_special(const ProvedCall *c, const UOp *special)
{
	bool local;
	int d;
	if (!special_axis(special, &local, &d))
		prove_fault(c, "SPECIAL %.20s is not gidx0 to gidx2 or lidx0 to lidx2",
			special->arg->s);
	UOp *size = ix_plain(special->src[0]);
	UOp *grid = ix_plain(grid_size(c->kernel, local, d));
	if (size != grid && !(ix_prove_le(size, grid) && ix_prove_le(grid, size)))
		prove_fault(c, "%s is below %s, and the grid has %s", special->arg->s,
			index_text(size), index_text(grid));
}

static int64_t greatest(UOp *size)
{
	int64_t lo, hi;
	ix_bounds(size, &lo, &hi);
	return hi;
}

static void check_sizes(const ProvedCall *c)
{
	const char *err;
	const Val *work = val_get(c->kernel->arg, "work");
	for (int k = 0; k < 6; k++)
		if (greatest(grid_size(c->kernel, k / 3, k % 3)) < k / 3)
			prove_fault(c, "%s[%d] is %s, which is below %d",
				k / 3 ? "local_size" : "global_size", k % 3,
				index_text(grid_size(c->kernel, k / 3, k % 3)), k / 3);
	if (work && work != VNIL && greatest(size_from_val(work, &err)) < 0)
		prove_fault(c, "work is negative");
}

void prove_grid(const ProvedCall *c)
{
	if (!c->kernel || c->graph->level < LV_LOOPS ||
		proved_before(c, "grid"))
		return;
	check_sizes(c);
	Nodes all = walk_kept(c->kernel);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_SPECIAL)
			check_special(c, all.at[i]);
}

/* ---- sizes as declared */

static bool declared(const Val *vars, const UOp *var)
{
	for (size_t i = 0; vars && vars->kind == VAL_MAP && i < vars->n; i++)
		if (vars->a[2 * i] == var->arg->a[0])
			return vars->a[2 * i + 1]->a[0] == var->arg->a[1] &&
				vars->a[2 * i + 1]->a[1] == var->arg->a[2];
	return var_is_bound(var);
}

void check_vars(const Graph *g)
{
	Nodes all = walk_kept(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_VAR && !declared(g->vars, u))
			die(MALFORMED, "VAR %.60s from %lld to %lld is not what vars declares",
				u->arg->a[0]->s, (long long)u->arg->a[1]->i,
				(long long)u->arg->a[2]->i);
	}
}
