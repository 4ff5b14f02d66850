/* Prepares a list of statements for evaluation. On a GPU target the lanes are the work items of a
 * group. Elsewhere they are the iterations of a loop that may run in any order, or the items of the
 * grid if there are more of those, so that an op works on many elements at a time. A value that is
 * the same for all lanes is computed once.
 *
 *     RANGE r0 16 loop      lanes r0 = 0 … 15
 *       DEFINE_REG 1        one for each lane
 *       RANGE r1 40 reduce  one counter
 *         STORE …           LOAD x[r0, r1] varies, LOAD w[r1] does not
 */
#include <stdlib.h>
#include "shape/shape.h"
#include "interp/loops.h"

enum { LANES = 128, MEMORY_MOST = 1 << 26 };

static int leaf_of(const LoopPlan *p, const UOp *u)
{
	return (int)(intptr_t)map_get(&p->leaf, PKEY(u)) - 1;
}

static int cell_push(LoopPlan *p, LoopCell c)
{
	vec_push(&p->cell, c);
	return (int)p->cell.n - 1;
}

static int leaf_put(LoopPlan *p, UOp *u, bool varies)
{
	int at = cell_push(p, (LoopCell){.u = u, .varies = varies});

	map_put(&p->leaf, PKEY(u), (void *)(intptr_t)(at + 1));
	return at;
}

static int64_t number(const LoopPlan *p, UOp *size)
{
	int64_t v;

	if (!size || !ix_eval(size, p->env, &v) || v < 0)
		die(MALFORMED, "kernel %s: a size is negative or cannot be computed", p->name);
	return v;
}

static int64_t number_of(const LoopPlan *p, const Val *v)
{
	const char *err;

	return number(p, size_from_val(v, &err));
}

/* ---- memory ---- */

static void memory_put(LoopPlan *p, UOp *u, char *at, int64_t count, bool per_lane)
{
	vec_push(&p->memory, ((Memory){u, at, count, per_lane}));
	map_put(&p->memory_of, PKEY(u), (void *)(uintptr_t)p->memory.n);
}

static int memory_at(const LoopPlan *p, const UOp *u)
{
	int m = (int)(intptr_t)map_get(&p->memory_of, PKEY(u)) - 1;

	if (m < 0)
		die(MALFORMED, "kernel %s: %s is used before it is declared", p->name,
			op_name(u->op));
	return m;
}

static void put_param(LoopPlan *p, UOp *u, size_t nbuf, void *const *buf)
{
	int64_t slot = param_slot(u), n = 1;

	if (slot < 0 || (uint64_t)slot >= nbuf)
		die(MALFORMED, "kernel %s: slot %lld, and %zu buffers", p->name, (long long)slot,
			nbuf);
	for (int i = 0; i < u->shape->rank; i++)
		if (number(p, u->shape->dim[i]) == 0)
			n = 0;
	for (int i = 0; n && i < u->shape->rank; i++)
		if (!mul_ok(n, number(p, u->shape->dim[i]), &n))
			die(MALFORMED, "kernel %s: slot %lld has 2^63 elements or more", p->name,
				(long long)slot);
	memory_put(p, u, buf[slot], n, false);
}

/* lanes: whether the declaration is within a loop over lanes */
static void put_define(LoopPlan *p, UOp *u, bool lanes)
{
	int64_t n = number_of(p, u->arg->a[1]);
	bool shared = u->op == OP_DEFINE_LOCAL && val_is_str(u->arg->a[2], "local");

	if (!map_get(&p->memory_of, PKEY(u)))
		memory_put(p, u, NULL, n, false);
	p->memory.at[memory_at(p, u)].per_lane |= lanes && !shared;
}

/* ---- expressions ---- */

typedef struct { UOp *u; uint32_t next; } Frame;

static bool is_leaf(const UOp *u)
{
	return u->op == OP_CONST || u->op == OP_VAR || u->op == OP_SPECIAL || u->op == OP_RANGE ||
		u->op == OP_LET;
}

/* The cell of a leaf; a CONST, VAR or SPECIAL gets one on first use. */
static int put_leaf(LoopPlan *p, UOp *u)
{
	int at = leaf_of(p, u);

	if (at >= 0)
		return at;
	if (u->op == OP_RANGE || u->op == OP_LET)
		die(MALFORMED, "kernel %s: a %s is used where it has no value", p->name,
			op_name(u->op));
	at = leaf_put(p, u, u->op == OP_SPECIAL && (p->items || u->arg->s[0] == 'l'));
	if (u->op == OP_SPECIAL)
		vec_push(&p->special, at);
	return at;
}

/* Operand i of u as an expression; the operands of a LOAD are its index and its gate. */
static UOp *operand(UOp *u, uint32_t i)
{
	if (u->op == OP_LOAD)
		return i == 0 ? u->src[0]->src[1] : i < u->nsrc ? u->src[i] : NULL;
	return i < u->nsrc ? u->src[i] : NULL;
}

static int cell_of(const LoopPlan *p, const Map *here, const UOp *u)
{
	return is_leaf(u) ? leaf_of(p, u) : (int)(intptr_t)map_get(here, PKEY(u)) - 1;
}

static void cell_add(LoopPlan *p, Map *here, UOp *u)
{
	LoopCell c = {.u = u};

	for (UOp *src; (src = operand(u, c.nsrc)); c.nsrc++) {
		c.src[c.nsrc] = cell_of(p, here, src);
		c.varies |= p->cell.at[c.src[c.nsrc]].varies;
	}
	if (u->op == OP_LOAD) {
		c.memory = memory_at(p, u->src[0]->src[0]);
		c.varies |= p->memory.at[c.memory].per_lane;
	}
	map_put(here, PKEY(u), (void *)(intptr_t)(cell_push(p, c) + 1));
}

/* Adds cells for the expression; `here` has the cells of this statement. */
static int put_expression(LoopPlan *p, Map *here, UOp *root)
{
	VEC(Frame) stack = {0};

	vec_push(&stack, ((Frame){root, 0}));
	while (stack.n) {
		Frame *f = &stack.at[stack.n - 1];
		UOp *u = f->u, *src = is_leaf(u) ? NULL : operand(u, f->next);
		if (is_leaf(u)) {
			put_leaf(p, u);
			stack.n--;
		} else if (src) {
			f->next++;
			if (cell_of(p, here, src) < 0)
				vec_push(&stack, ((Frame){src, 0}));
		} else if (!op_elementwise(u->op) && u->op != OP_LOAD && u->op != OP_EXCHANGE) {
			die(UNSUPPORTED, "kernel %s: %s cannot be interpreted", p->name,
				op_name(u->op));
		} else {
			if (cell_of(p, here, u) < 0)
				cell_add(p, here, u);
			stack.n--;
		}
	}
	vec_free(&stack);
	return cell_of(p, here, root);
}

/* ---- statements ---- */

static void match_ends(LoopPlan *p)
{
	VEC(int) open = {0};

	for (size_t i = 0; i < p->nstatement; i++) {
		Statement *s = &p->statement[i];
		if (s->u->op == OP_RANGE || s->u->op == OP_IF)
			vec_push(&open, (int)i);
		if (s->u->op != OP_ENDRANGE && s->u->op != OP_ENDIF)
			continue;
		if (!open.n || p->statement[open.at[open.n - 1]].u != s->u->src[0])
			die(MALFORMED, "kernel %s: statement %zu %s closes nothing", p->name, i,
				op_name(s->u->op));
		s->match = open.at[--open.n];
		p->statement[s->match].match = (int)i;
	}
	if (open.n)
		die(MALFORMED, "kernel %s: a %s has no end", p->name,
			op_name(p->statement[open.at[0]].u->op));
	vec_free(&open);
}

static bool is_loop(const Statement *s)
{
	return s->u->op == OP_RANGE && !strcmp(range_kind(s->u), "loop");
}

/* Whether the iterations of the RANGE at i use only buffers and memory that they declare. */
static bool independent(const LoopPlan *p, int i)
{
	Map own = {0};
	bool ok = true;

	for (int k = i + 1; ok && k < p->statement[i].match; k++) {
		UOp *u = p->statement[k].u;
		if (u->op == OP_DEFINE_REG || u->op == OP_DEFINE_LOCAL)
			map_put(&own, PKEY(u), u);
		if (u->op == OP_BARRIER)
			ok = false;
		if (u->op == OP_STORE && u->src[0]->src[0]->op != OP_PARAM &&
			!map_get(&own, PKEY(u->src[0]->src[0])))
			ok = false;
	}
	map_free(&own);
	return ok;
}

/* The longest of the loop at i and the loops perfectly nested in it. */
static int longest(const LoopPlan *p, int i)
{
	int best = i, k = i;
	int64_t most = -1, n;

	for (;; k++) {
		n = ix_eval(p->statement[k].u->src[0], p->env, &n) ? n : 0;
		if (n > most) {
			most = n;
			best = k;
		}
		if (!is_loop(&p->statement[k + 1]) ||
			p->statement[k + 1].match != p->statement[k].match - 1)
			return best;
	}
}

/* The bytes declared by DEFINE_LOCAL. */
static int64_t stack_bytes(const LoopPlan *p)
{
	int64_t all = 0, n;

	for (size_t i = 0; i < p->nstatement; i++) {
		UOp *u = p->statement[i].u;
		if (u->op == OP_DEFINE_LOCAL &&
			(!mul_ok(number_of(p, u->arg->a[1]), element_size(u->dtype), &n) ||
				(all += n) > MEMORY_MOST))
			return MEMORY_MOST;
	}
	return all;
}

/* Chooses the lanes: on a CPU the items of the grid, unless a loop in them is longer. */
static void choose_lanes(LoopPlan *p)
{
	int64_t most = p->group || stack_bytes(p) > MEMORY_MOST / LANES ? INT64_MAX : 1, n;

	for (int i = 0; !p->group && i < (int)p->nstatement; i++) {
		if (!is_loop(&p->statement[i]) || !independent(p, i))
			continue;
		i = longest(p, i);
		n = ix_eval(p->statement[i].u->src[0], p->env, &n) ? n : 0;
		most = n > most ? n : most;
		p->statement[i].lanes = true;
		i = p->statement[i].match;
	}
	p->items = p->global[0] > most;
	for (size_t i = 0; p->items && i < p->nstatement; i++)
		p->statement[i].lanes = false;
}

static void put_store(LoopPlan *p, Map *here, Statement *s)
{
	UOp *u = s->u;

	s->gate = u->nsrc > 2 ? put_expression(p, here, u->src[2]) : NO_CELL;
	s->first = (int)p->cell.n;
	s->memory = memory_at(p, u->src[0]->src[0]);
	s->place = put_expression(p, here, u->src[0]->src[1]);
	s->value = put_expression(p, here, u->src[1]);
}

/* lanes: the statement is within a loop over lanes or in a work group, or items are lanes */
static void put_statement(LoopPlan *p, Statement *s, bool lanes)
{
	Map here = {0};
	UOp *u = s->u;

	s->first_gate = s->first = (int)p->cell.n;
	switch (u->op) {
	case OP_RANGE:
	case OP_IF:
	case OP_LET:
		s->value = put_expression(p, &here, u->src[0]);
		break;
	case OP_STORE:
		put_store(p, &here, s);
		break;
	case OP_DEFINE_REG:
	case OP_DEFINE_LOCAL:
		put_define(p, u, lanes);
		break;
	case OP_ENDRANGE: case OP_ENDIF: case OP_BARRIER: case OP_PREFETCH:
		break;
	case OP_SPECIAL: case OP_CONST: case OP_VAR:
		put_leaf(p, u);
		break;
	default:
		die(UNSUPPORTED, "kernel %s: %s is not a statement", p->name, op_name(u->op));
	}
	s->end = (int)p->cell.n;
	if (u->op == OP_RANGE)
		s->own = leaf_put(p, u, s->lanes);
	else if (u->op == OP_LET)
		s->own = leaf_put(p, u, p->cell.at[s->value].varies);
	map_free(&here);
}

/* ---- the kernel ---- */

static void grid(LoopPlan *p)
{
	const Val *local = val_get(p->kernel->arg, "local_size"),
		  *global = val_get(p->kernel->arg, "global_size");
	int64_t n = 1;

	for (int d = 0; d < 3; d++)
		p->local[d] = p->global[d] = 1;
	if (!local && !global)
		return;
	for (int d = 0; d < 3; d++) {
		if (local && local->kind == VAL_ARRAY && d < local->n)
			p->local[d] = number_of(p, local->a[d]);
		if (global && global->kind == VAL_ARRAY && d < global->n)
			p->global[d] = number_of(p, global->a[d]);
		if (!mul_ok(n, p->local[d], &n) || n > 1 << 20)
			die(UNSUPPORTED, "kernel %s: a work group of more than 2^20 items",
				p->name);
	}
	p->group = local ? n : 0;
}

/* Fixes what a cell does each time its statement runs, now that all lanes have memory. */
static void bind(LoopPlan *p, LoopCell *c)
{
	for (uint32_t k = 0; k < c->nsrc; k++) {
		c->in[k] = p->cell.at[c->src[k]].lane;
		c->step[k] = p->cell.at[c->src[k]].varies;
	}
	if (c->nsrc && op_elementwise(c->u->op))
		c->fn = interp_function(c->u->op, c->u->src[c->nsrc > 1]->dtype);
}

static void allocate(LoopPlan *p)
{
	p->lanes = p->group ? p->group : LANES;
	if (!p->group && p->cell.n > MEMORY_MOST / (8 * LANES))
		p->lanes = p->cell.n < MEMORY_MOST / 8 ? MEMORY_MOST / (8 * p->cell.n) : 1;
	for (size_t i = 0; i < p->cell.n; i++)
		p->cell.at[i].lane = xcalloc(p->cell.at[i].varies ? p->lanes : 1, 8);
	for (size_t i = 0; i < p->cell.n; i++)
		bind(p, &p->cell.at[i]);
	for (size_t i = 0; i < p->memory.n; i++) {
		Memory *m = &p->memory.at[i];
		int64_t n = m->count;
		if (m->u->op == OP_PARAM)
			continue;
		if (!mul_ok(n, m->per_lane ? p->lanes : 1, &n) ||
			!mul_ok(n, element_size(m->u->dtype), &n))
			die(FAILED, "kernel %s: no memory for its local arrays", p->name);
		m->at = xcalloc(n + 1, 1);
	}
}

void loops_plan(LoopPlan *p, UOp *kernel, const VarEnv *env, size_t nbuf, void *const *buf)
{
	const Val *name = val_get(kernel->arg, "name");
	Nodes all = walk(kernel);
	int lanes_end = -1;

	*p = (LoopPlan){.kernel = kernel, .env = env,
		.name = name && name->kind == VAL_STR ? name->s : "?"};
	p->nstatement = kernel->nsrc;
	p->statement = xcalloc(kernel->nsrc + 1, sizeof *p->statement);
	for (size_t i = 0; i < p->nstatement; i++)
		p->statement[i].u = kernel->src[i];
	grid(p);
	match_ends(p);
	choose_lanes(p);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PARAM)
			put_param(p, all.at[i], nbuf, buf);
	for (int i = 0; i < (int)p->nstatement; i++) {
		put_statement(p, &p->statement[i], p->group || p->items || i < lanes_end);
		if (p->statement[i].lanes)
			lanes_end = p->statement[i].match;
	}
	allocate(p);
}

void loops_plan_free(LoopPlan *p)
{
	for (size_t i = 0; i < p->cell.n; i++)
		free(p->cell.at[i].lane);
	for (size_t i = 0; i < p->memory.n; i++)
		if (p->memory.at[i].u->op != OP_PARAM)
			free(p->memory.at[i].at);
	free(p->statement);
	vec_free(&p->cell);
	vec_free(&p->special);
	vec_free(&p->memory);
	map_free(&p->leaf);
	map_free(&p->memory_of);
}
