/* Interprets a list with steps besides calls and copies: sizes that it binds, loops, branches, and
 * what becomes of buffers between them. A buffer is as large as its sizes were when it was written;
 * what a run of calls writes holds noise before. */
#include "base/progress.h"
#include "document/document.h"
#include "equal/parts.h"

/* A size of what has no elements, as no turn has said it. */
enum { ANY = -1 };

typedef struct {
	Run *run;
	VEC(const Val *) checks;        /* rows of the document and of the regions around */
	Map number;     /* entry → its number + 1; those of regions where the regions stand */
} List;

static _Noreturn void fault(const UOp *u, const char *why)
{
	die(MALFORMED, "node %u %s: %s", u->id, op_name(u->op), why);
}

static void number_entries(List *l, const UOp *list)
{
	for (uint32_t i = 0; i < list->nsrc; i++) {
		const UOp *u = list->src[i];
		if (map_get(&l->number, PKEY(u)))
			continue;
		map_put(&l->number, PKEY(u), (void *)(uintptr_t)(l->number.n + 1));
		for (uint32_t k = 0; list_step(u) && k < u->nsrc; k++)
			if (u->src[k]->op == OP_REGION)
				number_entries(l, u->src[k]);
	}
}

static uint32_t number_of(const List *l, const UOp *entry)
{
	return (uint32_t)(uintptr_t)map_get(&l->number, PKEY(entry)) - 1;
}

/* ---- buffers */

static bool is_written(const UOp *u)
{
	return buffer_is(u, "temp") || buffer_is(u, "output") || buffer_is(u, "prepared");
}

/* The array of a buffer; without data as long as nothing has been written to it. */
static Array *array_of(List *l, UOp *u)
{
	Array *a = buffer_at(l->run, u);
	if (!a) {
		a = arena_alloc(sizeof *a);
		*a = is_written(u) ? (Array){0} : run_content(l->run, u);
		map_put(&l->run->at, PKEY(u), a);
	}
	return a;
}

static Array *full_array(List *l, UOp *u)
{
	Array *a = array_of(l, u);
	if (!a->data)
		die(MALFORMED, "node %u BUFFER (%s): nothing has been written to it", u->id,
			buffer_name(u));
	return a;
}

static void copy_to(List *l, const UOp *step, UOp *u, const Array *from)
{
	Array made = array_new(from->dtype, from->rank, from->dim), *to = array_of(l, u);
	memcpy(made.data, from->data, from->bytes);
	array_free(to);
	*to = made;
	note_write(l->run, step, number_of(l, step), u);
}

static int64_t scalar_i64(List *l, Op step, UOp *u)
{
	const Array *a = full_array(l, u);
	int64_t v;
	if (a->dtype != DT_I64 || a->bytes != sizeof v)
		fault(u, "it is not an i64 scalar");
	memcpy(&v, a->data, sizeof v);
	return step_goes_by(step, v);
}

static bool scalar_bool(List *l, Op step, UOp *u)
{
	const Array *a = full_array(l, u);
	if (a->dtype != DT_BOOL || a->bytes != 1)
		fault(u, "it is not a bool scalar");
	return step_goes_by(step, *(const uint8_t *)a->data != 0);
}

/* ---- runs of calls */

static bool fits(const Array *have, const Array *want)
{
	bool fits = have->rank == want->rank;
	for (int d = 0; fits && d < want->rank; d++)
		fits = have->dim[d] == want->dim[d] || have->dim[d] == ANY;
	return fits;
}

/* What a call reads is of the sizes that hold now. What has no element need not be written. */
static void check_read(List *l, UOp *u)
{
	Array want = empty_array(l->run, u), *have = array_of(l, u);
	if (!have->data && !want.bytes)
		*have = empty_array(l->run, u);
	have = full_array(l, u);
	if (!fits(have, &want))
		die(MALFORMED, "node %u BUFFER (%s): the shape is not %s", u->id, buffer_name(u),
			shape_text(u->shape));
	memcpy(have->dim, want.dim, sizeof have->dim);
	array_free(&want);
}

/* The buffers of a call are made ready: those that it writes, once in a run of calls. */
static void ready(List *l, const UOp *call, Map *written)
{
	bool kernel = call->op == OP_CALL;
	uint64_t writes = kernel ? call_fills(call) : 1;
	for (uint32_t k = kernel; k < call->nsrc; k++) {
		UOp *u = call->src[k];
		bool writes_it = k - kernel < 64 && writes >> (k - kernel) & 1;
		if (writes_it && is_written(u) && !map_get(written, PKEY(u))) {
			Array *a = array_of(l, u);
			array_free(a);
			*a = empty_array(l->run, u);
			run_noise(l->run, a);
			map_put(written, PKEY(u), u);
		} else if (!map_get(written, PKEY(u))) {
			check_read(l, u);
		}
	}
}

static void check_sizes(const List *l)
{
	const Val *rows = val_array(l->checks.n, l->checks.at);
	Graph g = {.vars = l->run->g->vars, .meta = VMAP(val_str("checks"), rows)};
	if (!checks_hold(&g, &l->run->env))
		die(MALFORMED, "the sizes do not match");
}

/* The calls from entry i on, up to the next step; returns where that is. */
static uint32_t run_calls(List *l, const UOp *list, uint32_t i)
{
	Map written = {0};
	check_sizes(l);
	Progress progress = progress_start("calls", list->nsrc, true);
	for (; i < list->nsrc && !list_step(list->src[i]); i++) {
		progress_step(&progress, i);
		ready(l, list->src[i], &written);
		run_entry(l->run, list->src[i], number_of(l, list->src[i]));
	}
	progress_end(&progress);
	map_free(&written);
	return i;
}

/* ---- steps */

static void run_region(List *l, const UOp *list);

static void size_set(List *l, const char *name, int64_t v)
{
	VarEnv *env = &l->run->env;
	if (env->n == SIZES_MOST)
		die(UNSUPPORTED, "more than %d sizes", SIZES_MOST);
	env->name[env->n] = name;
	env->value[env->n++] = v;
}

static int64_t size_value(List *l, const UOp *u, const Val *size)
{
	const char *err;
	int64_t v;
	UOp *x = size_from_val(size, &err);
	if (!x || !ix_eval(x, &l->run->env, &v))
		fault(u, "a size has no value");
	return v;
}

static void run_bind(List *l, const UOp *u)
{
	int64_t n = scalar_i64(l, OP_BIND, u->src[0]);
	if (n < size_value(l, u, u->arg->a[1]) || n > size_value(l, u, u->arg->a[2]))
		fault(u, "the size is outside its bounds");
	size_set(l, u->arg->a[0]->s, n);
}

static void run_append(List *l, const UOp *u)
{
	Array *to = array_of(l, u->src[0]), *v = full_array(l, u->src[1]);
	int64_t n = to->data ? to->dim[0] : 0, dim[MAX_RANK];
	if (v->rank == MAX_RANK || (n && (to->rank != v->rank + 1 ||
		memcmp(to->dim + 1, v->dim, (size_t)v->rank * sizeof *dim))))
		fault(u, "the values of its turns differ in shape");
	dim[0] = n + 1;
	memcpy(dim + 1, v->dim, (size_t)v->rank * sizeof *dim);
	Array made = array_new(v->dtype, v->rank + 1, dim);
	if (n)
		memcpy(made.data, to->data, to->bytes);
	memcpy((char *)made.data + made.bytes - v->bytes, v->data, v->bytes);
	array_free(to);
	*to = made;
	note_write(l->run, u, number_of(l, u), u->src[0]);
}

static void run_swap(List *l, const UOp *u)
{
	Array *a = array_of(l, u->src[0]), *b = array_of(l, u->src[1]), c = *a;
	*a = *b;
	*b = c;
}

/* The stacks of a LOOP are empty when it starts. */
static void stacks_begin(List *l, const UOp *region)
{
	for (uint32_t i = 0; i < region->nsrc; i++) {
		const UOp *to = region->src[i]->src[0];
		if (region->src[i]->op != OP_APPEND)
			continue;
		Array *a = array_of(l, region->src[i]->src[0]);
		int64_t dim[MAX_RANK] = {0};
		array_free(a);
		*a = array_new(to->dtype, to->shape->rank, dim);
		for (int d = 1; d < a->rank; d++)
			a->dim[d] = ANY;
	}
}

static void run_loop(List *l, const UOp *u)
{
	bool limited = val_get(u->arg, "limit")->b, tested = val_get(u->arg, "while")->b;
	const char *turn = val_get(u->arg, "turn")->s;
	UOp *const *src = u->src;
	int64_t limit = limited ? scalar_i64(l, OP_LOOP, *src++) : INT64_MAX, n = 0;
	bool more = !tested || scalar_bool(l, OP_LOOP, src[0]);
	UOp *region = u->src[u->nsrc - 1];
	const int sizes = l->run->env.n;
	stacks_begin(l, region);
	for (; more && n < limit; n++) {
		step_goes_by(OP_TURN, n);
		size_set(l, turn, n);
		run_region(l, region);
		l->run->env.n = sizes;
		more = !tested || scalar_bool(l, OP_LOOP, src[1]);
	}
	copy_to(l, u, u->src[u->nsrc - 2],
		&(Array){.dtype = DT_I64, .data = &n, .bytes = sizeof n});
}

static void run_step(List *l, const UOp *u)
{
	switch (u->op) {
	case OP_BIND: run_bind(l, u); break;
	case OP_LOOP: run_loop(l, u); break;
	case OP_IF: run_region(l, u->src[scalar_bool(l, OP_IF, u->src[0]) ? 1 : 2]); break;
	case OP_SWAP: run_swap(l, u); break;
	case OP_APPEND: run_append(l, u); break;
	default: copy_to(l, u, u->src[0], full_array(l, u->src[1]));
	}
}

/* Sizes that a region binds, and its checks, hold within it. */
static void run_region(List *l, const UOp *list)
{
	const size_t checks = l->checks.n;
	const int sizes = l->run->env.n;
	const Val *rows =
		val_get(list->op == OP_REGION ? list->arg : l->run->g->meta, "checks");
	for (size_t i = 0; rows && rows->kind == VAL_ARRAY && i < rows->n; i++)
		vec_push(&l->checks, rows->a[i]);
	for (uint32_t i = 0; i < list->nsrc;) {
		if (list_step(list->src[i]))
			run_step(l, list->src[i++]);
		else
			i = run_calls(l, list, i);
	}
	if (list->op == OP_REGION) {
		l->checks.n = checks;
		l->run->env.n = sizes;
	}
}

/* Outputs are written, and what no turn has given is of the sizes that are said. */
static void check_outputs(List *l)
{
	Nodes all = walk(l->run->g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_BUFFER && buffer_is(all.at[i], "output"))
			check_read(l, all.at[i]);
}

void run_list(Run *r)
{
	List l = {.run = r};
	number_entries(&l, r->g->sink);
	run_region(&l, r->g->sink);
	check_outputs(&l);
	vec_free(&l.checks);
	map_free(&l.number);
}

void list_free(Run *r)
{
	for (size_t i = 0; i < r->at.cap; i++)
		if (r->at.val && r->at.val[i] && is_written((UOp *)(uintptr_t)r->at.key[i]))
			array_free(r->at.val[i]);
}
