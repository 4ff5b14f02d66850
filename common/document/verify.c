/* Checks a whole document against the rules of its level. infer.c checks single nodes; here are the
 * rules between nodes: which ops a level has (ops.def) and with which args (levels.def), names, one
 * ASSIGN per state, outputs, slots, nesting. */
#include "document/document.h"
#include "index/ix.h"
#include "shape/regions.h"
#include <stdlib.h>

/* "node 17 ADD (h)", for messages. */
static const char *node_text(size_t at, const UOp *u)
{
	const Val *name = u->op == OP_BUFFER ? val_get(u->arg, "name") : val_get(u->note, "name");
	if (name && name->kind == VAL_STR)
		return arena_printf("node %zu %s (%.60s)", at, op_name(u->op), name->s);
	return arena_printf("node %zu %s", at, op_name(u->op));
}

static _Noreturn void bad(int status, size_t at, const UOp *u, const char *why)
{
	die(status, "%s: %s", node_text(at, u), why);
}

/* the level has the op, with an arg of that form */
static void check_level(Level lv, size_t at, const UOp *u)
{
	const char *why;
	if (!(op_info[u->op].levels >> lv & 1))
		bad(MALFORMED, at, u, arena_printf("no such op at level %s", level_name[lv]));
	if ((why = arg_check(u->op, 1 << lv, u->arg)))
		bad(MALFORMED, at, u, why);
}

static void check_name(Map *names, size_t at, UOp *u)
{
	const Val *name = val_get(u->arg, "name");
	uint64_t key = PKEY(name) * 2 + buffer_is(u, "output");
	UOp *other = map_get(names, key);
	if (other)
		bad(MALFORMED, at, u, "two buffers have one name");
	map_put(names, key, u);
}

static void check_assign(Map *assigned, size_t at, UOp *u)
{
	UOp *other = map_get(assigned, PKEY(u->src[0]));
	if (other)
		bad(MALFORMED, at, u, "two ASSIGNs to one buffer");
	map_put(assigned, PKEY(u->src[0]), u);
}

/* Names must be distinct strings that can be file names, as many as outputs if outputs >= 0. */
static void check_names(const UOp *sink, size_t at, int64_t outputs)
{
	const Val *names = val_get(sink->arg, "names");
	if (!names || names == VNIL)
		return;
	if (outputs >= 0 && (int64_t)names->n != outputs)
		bad(MALFORMED, at, sink, "names are not one string for each output");
	Map seen = {0};
	for (size_t i = 0; i < names->n; i++) {
		if (!name_ok(names->a[i]))
			bad(MALFORMED, at, sink, "an output's name is not allowed");
		if (map_get(&seen, PKEY(names->a[i])))
			bad(MALFORMED, at, sink, "two outputs have one name");
		map_put(&seen, PKEY(names->a[i]), (void *)names);
	}
	map_free(&seen);
}

static void check_sink(Level lv, const UOp *sink, size_t at)
{
	if (lv <= LV_GRAPH) {
		size_t n = sink_outputs(sink);
		for (size_t i = 0; i < n; i++)
			if (lv == LV_GRAPH && !sink->src[i]->shape)
				bad(MALFORMED, at, sink, "an output has no value");
		check_names(sink, at, n);
		return;
	}
	for (uint32_t i = 0; i < sink->nsrc; i++)
		if (!list_entry(sink->src[i]))
			bad(MALFORMED, at, sink, arena_printf("%s is no entry of a list",
				op_name(sink->src[i]->op)));
	check_names(sink, at, -1);
}

/* A CUSTOM writes slot 0 and reads the slots after it, in the order of its sources. */
static void check_custom_call(size_t at, const UOp *call, const UOp *custom)
{
	if (call->nsrc != custom->nsrc + 2)
		bad(MALFORMED, at, call,
			"the number of buffers is not one more than the kernel's sources");
	for (uint32_t k = 1; k < call->nsrc; k++)
		if (call->src[k]->dtype != (k == 1 ? custom : custom->src[k - 2])->dtype)
			bad(MALFORMED, at, call,
				arena_printf("the dtype of buffer %u is not the kernel's", k - 1));
}

/* Checks the kernel of a call and the dtype of each slot. */
static void check_call(size_t at, const UOp *call)
{
	Nodes all = walk_kept(call->src[0]);
	const UOp *k = call->src[0]->op == OP_PROGRAM ? call->src[0]->src[0] : call->src[0];
	const Val *slots = val_get(k->arg, "slots");
	if (k->op == OP_CUSTOM)
		check_custom_call(at, call, k);
	if (slots && slots->kind == VAL_INT && slots->i != (int64_t)call->nsrc - 1)
		bad(MALFORMED, at, call, "the number of buffers is not the kernel's");
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op == OP_BUFFER)
			bad(MALFORMED, at, call, "the kernel has a BUFFER where a PARAM should be");
		if (u->op == OP_PARAM && param_slot(u) >= (int64_t)call->nsrc - 1)
			bad(MALFORMED, at, call, "the kernel has a slot beyond the call's buffers");
	}
}

/* The body of a vector loop is a list of LETs and STOREs, and its size is a number. */
static void check_vector(size_t at, const UOp *k, uint32_t i)
{
	int64_t n;
	if (strcmp(range_kind(k->src[i]), "vector"))
		return;
	if (!ix_is_const(k->src[i]->src[0], &n) || n < 1 || n > MOST_LANES || n & (n - 1))
		bad(MALFORMED, at, k, "the size of a vector loop is not a power of two up to 64");
	while (++i < k->nsrc && k->src[i]->op != OP_ENDRANGE)
		if (k->src[i]->op != OP_LET && k->src[i]->op != OP_STORE)
			bad(MALFORMED, at, k,
				arena_printf("%s in a vector loop", op_name(k->src[i]->op)));
		else if (dtype_lanes(k->src[i]->op == OP_LET ? k->src[i]->dtype :
			k->src[i]->src[0]->dtype) > 1)
			bad(MALFORMED, at, k, "lanes in a vector loop");
}

/* Loops and conditions of a KERNEL of level loops close in order, and each counter is used within
 * its loop. */
static void check_nesting(size_t at, const UOp *k)
{
	VEC(const UOp *) open = {0};
	for (uint32_t i = 0; i < k->nsrc; i++) {
		const UOp *s = k->src[i];
		if (s->op == OP_RANGE || s->op == OP_IF) {
			vec_push(&open, s);
			if (s->op == OP_RANGE)
				check_vector(at, k, i);
		} else if (s->op == OP_ENDRANGE || s->op == OP_ENDIF) {
			if (!open.n || open.at[--open.n] != s->src[0])
				bad(MALFORMED, at, k, "loops do not nest");
		} else if (op_info[s->op].cls != CLASS_LOOPS && s->op != OP_STORE) {
			bad(MALFORMED, at, k,
				arena_printf("%s is not a statement", op_name(s->op)));
		}
	}
	if (open.n)
		bad(MALFORMED, at, k, "a loop is not closed");
	vec_free(&open);
}

/* At levels after graph a CUSTOM's sources are PARAMs, from slot 1 on, and only CALLs use it. */
static void check_custom(Level lv, size_t at, const UOp *u)
{
	if (!process.custom_allowed)
		bad(UNSUPPORTED, at, u, custom_refusal);
	for (uint32_t i = 0; lv > LV_GRAPH && i < u->nsrc; i++)
		if (u->src[i]->op != OP_PARAM || param_slot(u->src[i]) != i + 1)
			bad(MALFORMED, at, u,
				arena_printf("source %u is not the PARAM of slot %u", i, i + 1));
}

static void check_uses(size_t at, const UOp *u)
{
	bool call = u->op == OP_CALL || u->op == OP_PROGRAM;
	for (uint32_t i = 0; !call && i < u->nsrc; i++)
		if (u->src[i]->op == OP_CUSTOM)
			bad(MALFORMED, at, u, "a CUSTOM is used by a node that is not a CALL");
}

/* The sizes of a grid that are text. */
static void check_grid(size_t at, const UOp *k)
{
	static const char *const key[] = {"global_size", "local_size", "work"};
	const char *err = NULL;
	for (int i = 0; i < 3; i++) {
		const Val *v = val_get(k->arg, key[i]);
		bool many = v && v->kind == VAL_ARRAY;
		for (size_t d = 0; v && v != VNIL && d < (many ? v->n : 1); d++)
			if (!size_from_val(many ? v->a[d] : v, &err))
				bad(MALFORMED, at, k, arena_printf("%s: %s", key[i], err));
	}
}

static void check_kernel(Level lv, size_t at, const UOp *k)
{
	if (lv >= LV_LOOPS) {
		check_nesting(at, k);
		check_grid(at, k);
		return;
	}
	for (uint32_t i = 0; i < k->nsrc; i++)
		if (k->src[i]->op != OP_STORE)
			bad(MALFORMED, at, k, "a kernel's sources are STOREs");
}

/* Loops, branches and the sizes that are bound between them. */
static void check_regions(const Nodes *all)
{
	size_t at;
	int status;
	const char *why = regions_check(all, &at, &status);
	if (why)
		bad(status, at, all->at[at], why);
}

/* A place is no value: it is loaded from, stored to, sorted in. Nor is what places are in. */
static void check_places(size_t at, const UOp *u)
{
	for (uint32_t i = 0; i < u->nsrc; i++) {
		int op = u->src[i]->op;
		bool place = u->op == OP_RSORT ? i == 2 :
			(u->op == OP_LOAD || u->op == OP_STORE || u->op == OP_PREFETCH) && !i;
		if (op == OP_INDEX && !place)
			bad(MALFORMED, at, u, "a place is used as a value");
		if (op == OP_EXCHANGE && (u->op != OP_STORE || i != 1 || u->nsrc != 2))
			bad(MALFORMED, at, u, "an EXCHANGE is no STORE's whole value");
		if (op == OP_PARAM && u->op != OP_CUSTOM && (u->op != OP_INDEX || i))
			bad(MALFORMED, at, u, "a PARAM is used as a value");
	}
}

/* A tuple stands in a reduction alone, and what combines two of them in a tuple alone. */
static void check_tuples(size_t at, UOp *kernel)
{
	Map seen = {0};
	VEC(UOp *) stack = {0};
	vec_push(&stack, kernel);
	while (stack.n) {
		UOp *u = stack.at[--stack.n];
		uint32_t n = u->op == OP_TUPLE ? tuple_size(u) : u->nsrc;
		if (map_get(&seen, PKEY(u)))
			continue;
		map_put(&seen, PKEY(u), u);
		for (uint32_t i = 0; i < n; i++) {
			if (u->src[i]->op == OP_SIDE)
				bad(MALFORMED, at, kernel, "a SIDE outside the rule of a tuple");
			if (u->src[i]->op == OP_TUPLE && !folds_tuple(u))
				bad(MALFORMED, at, kernel, "a TUPLE that no RREDUCE folds");
			vec_push(&stack, u->src[i]);
		}
	}
	vec_free(&stack);
	map_free(&seen);
}

void verify(const Graph *g)
{
	Nodes all = g->all.n ? g->all : walk(g->sink);
	Map names = {0}, assigned = {0};
	bool tuples = false;
	if (g->sink->op != OP_SINK)
		die(MALFORMED, "the last node is not the SINK");
	if (g->level > LV_GRAPH)
		check_list(&all);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		check_level(g->level, i, u);
		tuples |= u->op == OP_TUPLE || u->op == OP_SIDE;
		if (g->level > LV_GRAPH)
			check_places(i, u);
		if (process.custom_allowed && g->level > LV_GRAPH)
			check_uses(i, u);
		if (u->op == OP_CUSTOM) {
			check_custom(g->level, i, u);
		} else if (u->op == OP_BUFFER) {
			check_name(&names, i, u);
		} else if (u->op == OP_ASSIGN && g->level == LV_GRAPH) {
			check_assign(&assigned, i, u);
		} else if (u->op == OP_CALL) {
			check_call(i, u);
		} else if (u->op == OP_RANGE && g->level == LV_SCHEDULE) {
			if (!ix_fixed(u->src[0]))
				bad(MALFORMED, i, u, "its size is another loop's, or data");
		} else if (u->op == OP_KERNEL) {
			if (tuples)
				check_tuples(i, u);
			check_kernel(g->level, i, u);
		} else if (u->op == OP_PROGRAM) {
			check_grid(i, u);
		} else if (u->op == OP_SINK && u != g->sink) {
			bad(MALFORMED, i, u, "the SINK is not the last node");
		}
	}
	check_sink(g->level, g->sink, all.n - 1);
	if (g->level == LV_GRAPH)
		check_regions(&all);
	if (g->level > LV_GRAPH)
		check_prepared(g);
	map_free(&names);
	map_free(&assigned);
}
