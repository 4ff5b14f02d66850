/* The kernels of a document as nests of loops, for people:
 *
 *     K0 r_64_32(y; x)
 *       for r0 < 64
 *         s0 = max over r1 < 32 of x[r0, r1]
 *         y[r0] = s0
 *
 * At level schedule a kernel's free ranges are its loops, from the outermost, and each fold is a
 * line; from level loops on a kernel's statements are printed as they stand. */
#include "show/show.h"
#include "graph/ops.h"
#include "index/index.h"
#include "io/io.h"
#include <ctype.h>
#include <stdlib.h>

enum { PIECES_MOST = 4096 };    /* of a line: as text, shared nodes could fill a disk */
enum { DEPTH_MOST = 40 };

/* Text still to print: a node, within an operator of that precedence, or plain text. */
typedef struct { const UOp *u; const char *s; int outer; } Piece;
typedef struct {
	Buf *out;
	const UOp *call;
	Map name;               /* of folds that have their line, and of storage */
	int folds, regs, locals, depth;
	VEC(Piece) todo;
} Nest;

/* ---- values */

static void push(Nest *n, const UOp *u, const char *s, int outer)
{
	vec_push(&n->todo, ((Piece){u, s, outer}));
}

static const char *value_text(const Val *v)
{
	Buf b = {0};
	text_value(&b, v);
	const char *s = arena_printf("%s", buf_str(&b));
	buf_free(&b);
	return s;
}

/* A name as it is, or quoted where it could be taken for something else. */
static const char *plain_name(const Val *name)
{
	bool plain = name && name->kind == VAL_STR && name->n && !isdigit((uint8_t)name->s[0]);
	for (size_t i = 0; plain && i < name->n; i++)
		plain = isalnum((uint8_t)name->s[i]) || strchr("_./:", name->s[i]);
	return !name ? "" : plain ? name->s : value_text(name);
}

static const char *shown_name(const UOp *u)
{
	const Val *name = val_get(u->arg, "name");
	return u->op == OP_BUFFER && name ? plain_name(name) : arena_printf("t%u", u->id);
}

static const char *slot_name(const Nest *n, const UOp *param)
{
	int64_t slot = param_slot(param);
	bool known = slot >= 0 && slot + 1 < (int64_t)n->call->nsrc;
	return known ? shown_name(n->call->src[slot + 1]) : "?";
}

static const char *word(Op op)
{
	char *s = arena_printf("%s", op_name(op));
	for (char *c = s; *c; c++)
		*c = (char)tolower((uint8_t)*c);
	return s;
}

static const char *leaf(const Nest *n, const UOp *u)
{
	const char *name = map_get(&n->name, PKEY(u));
	if (name)
		return name;
	switch (u->op) {
	case OP_CONST: return value_text(u->arg);
	case OP_VAR: return plain_name(u->arg->a[0]);
	case OP_SPECIAL: return plain_name(u->arg);
	case OP_RANGE: return arena_printf("r%d", range_axis(u));
	case OP_LET: return arena_printf("v%lld", (long long)u->arg->i);
	case OP_PARAM: return slot_name(n, u);
	default: return NULL;
	}
}

/* Sources from the first on, in brackets. */
static void push_list(Nest *n, const UOp *u, uint32_t first, const char *end)
{
	push(n, NULL, end, 0);
	for (uint32_t i = u->nsrc; i-- > first;) {
		push(n, u->src[i], NULL, INFIX_NONE);
		if (i > first)
			push(n, NULL, ", ", 0);
	}
}

static void print_infix(Nest *n, const UOp *u, int outer)
{
	int own = op_info[u->op].precedence;
	bool brackets = own < outer;
	if (brackets)
		buf_printf(n->out, "(");
	if (brackets)
		push(n, NULL, ")", 0);
	push(n, u->src[1], NULL, own + 1);
	push(n, NULL, arena_printf(" %s ", op_info[u->op].infix), 0);
	push(n, u->src[0], NULL, own);
}

static void print_load(Nest *n, const UOp *u)
{
	if (u->nsrc < 2) {
		push(n, u->src[0], NULL, INFIX_NONE);
		return;
	}
	push(n, NULL, " else 0)", 0);
	push(n, u->src[1], NULL, INFIX_NONE);
	push(n, NULL, " if ", 0);
	push(n, u->src[0], NULL, INFIX_NONE);
	push(n, NULL, "(", 0);
}

/* "x[e +: 16]" are 16 neighbours from x[e] on, "x[e +: 16 by 40]" so many that are 40 apart. */
static void print_ramp(Nest *n, const UOp *u)
{
	const char *by = u->arg->i == 1 ? "" : arena_printf(" by %lld", (long long)u->arg->i);
	push(n, NULL, arena_printf(" +: %d%s", dtype_lanes(u->dtype), by), 0);
	push(n, u->src[0], NULL, INFIX_NONE);
}

static const char *lane_numbers(const UOp *u)
{
	const char *s = "";
	for (uint32_t i = 0; i < u->arg->n; i++)
		s = arena_printf("%s %lld", s, (long long)u->arg->a[i]->i);
	return s;
}

static void print_piece(Nest *n, Piece x)
{
	const UOp *u = x.u;
	const char *name = leaf(n, u);
	if (name) {
		buf_printf(n->out, "%s", name);
	} else if (u->op == OP_LOAD) {
		print_load(n, u);
	} else if (u->op == OP_INDEX) {
		push_list(n, u, 1, "]");
		push(n, NULL, "[", 0);
		push(n, u->src[0], NULL, INFIX_NONE);
	} else if (u->op == OP_BROADCAST) {
		push(n, u->src[0], NULL, x.outer);
	} else if (u->op == OP_RAMP) {
		print_ramp(n, u);
	} else if (u->nsrc == 2 && op_info[u->op].infix) {
		print_infix(n, u, x.outer);
	} else {
		buf_printf(n->out, "%s(", u->op == OP_CAST || u->op == OP_BITCAST ?
			dtype_name(u->dtype) : word(u->op));
		push_list(n, u, 0, u->op == OP_SHUFFLE ? arena_printf(":%s)", lane_numbers(u)) :
			u->op == OP_EXCHANGE ? arena_printf(", %lld)", (long long)u->arg->i) : ")");
	}
}

static void print_value(Nest *n, const UOp *u)
{
	int pieces = 0;
	for (push(n, u, NULL, INFIX_NONE); n->todo.n;) {
		Piece x = n->todo.at[--n->todo.n];
		if (++pieces > PIECES_MOST) {
			buf_printf(n->out, "…");
			n->todo.n = 0;
		} else if (x.u) {
			print_piece(n, x);
		} else {
			buf_printf(n->out, "%s", x.s);
		}
	}
}

/* ---- lines */

static void begin(Nest *n)
{
	buf_printf(n->out, "%*s", 2 * (n->depth < DEPTH_MOST ? n->depth : DEPTH_MOST), "");
}

static void print_size(Nest *n, const UOp *range)
{
	buf_printf(n->out, "r%d < ", range_axis(range));
	print_value(n, range->src[0]);
}

static void open_range(Nest *n, const UOp *range)
{
	const char *kind = range_kind(range);
	begin(n);
	buf_printf(n->out, "for ");
	print_size(n, range);
	buf_printf(n->out, "%s%s\n", strcmp(kind, "loop") ? "  " : "",
		strcmp(kind, "loop") ? kind : "");
	n->depth++;
}

static void print_store(Nest *n, const UOp *u)
{
	begin(n);
	print_value(n, u->src[0]);
	buf_printf(n->out, " = ");
	print_value(n, u->src[1]);
	if (u->nsrc > 2) {
		buf_printf(n->out, " if ");
		print_value(n, u->src[2]);
	}
	buf_printf(n->out, "\n");
}

static void print_storage(Nest *n, const UOp *u)
{
	bool reg = u->op == OP_DEFINE_REG;
	const char *name = arena_printf("%s%d", reg ? "acc" : "buf",
		reg ? n->regs++ : n->locals++);
	map_put(&n->name, PKEY(u), (void *)name);
	begin(n);
	buf_printf(n->out, "%s %s[%s]%s%s\n", dtype_name(u->dtype), name, value_text(u->arg->a[1]),
		reg ? "" : "  ", reg ? "" : u->arg->a[2]->s);
}

static void print_statement(Nest *n, const UOp *u)
{
	switch (u->op) {
	case OP_RANGE: open_range(n, u); return;
	case OP_ENDRANGE: case OP_ENDIF: n->depth--; return;
	case OP_STORE: print_store(n, u); return;
	case OP_DEFINE_REG: case OP_DEFINE_LOCAL: print_storage(n, u); return;
	default: break;
	}
	begin(n);
	if (u->op == OP_LET)
		buf_printf(n->out, "v%lld = ", (long long)u->arg->i);
	else
		buf_printf(n->out, "%s%s", word(u->op), u->nsrc ? " " : "");
	if (u->nsrc)
		print_value(n, u->src[0]);
	buf_printf(n->out, "\n");
	n->depth += u->op == OP_IF;
}

/* ---- level schedule */

static bool is_fold(const UOp *u)
{
	return u->op == OP_RREDUCE || u->op == OP_RSCAN || u->op == OP_RSORT;
}

/* What is folded in words: a maximum, a component of a tuple. */
static const char *fold_word(const UOp *u)
{
	if (u->op == OP_RSORT)
		return "stable argsort";
	return folds_tuple(u) ? arena_printf("component %lld of tuples", (long long)u->arg->i) :
		word(op_find(u->arg->s));
}

static void print_folded(Nest *n, const UOp *u)
{
	const UOp *x = u->src[0];
	if (!folds_tuple(u)) {
		print_value(n, x);
		return;
	}
	for (uint32_t i = 0; i < tuple_size(x); i++) {
		buf_printf(n->out, "%s", i ? ", " : "(");
		print_value(n, x->src[i]);
	}
	buf_printf(n->out, ")");
}

static void print_fold(Nest *n, const UOp *u)
{
	const char *name = arena_printf("s%d", n->folds++), *gap = "";
	uint32_t last = u->op == OP_RREDUCE ? u->nsrc : 2;
	begin(n);
	buf_printf(n->out, "%s = %s%s over ", name, u->op == OP_RSCAN ? "running " : "",
		fold_word(u));
	for (uint32_t i = 1; i < last; i++, gap = ", ") {
		buf_printf(n->out, "%s", gap);
		print_size(n, u->src[i]);
	}
	buf_printf(n->out, " of ");
	print_folded(n, u);
	buf_printf(n->out, "\n");
	map_put(&n->name, PKEY(u), (void *)name);
}

static int by_axis(const void *a, const void *b)
{
	return range_axis(*(UOp *const *)a) - range_axis(*(UOp *const *)b);
}

typedef VEC(UOp *) Ranges;

/* The ranges that move the places stored to, from the outermost; they are free in all stores. */
static Ranges free_ranges(const UOp *kernel)
{
	Ranges range = {0};
	Map seen = {0};
	for (uint32_t i = 0; i < kernel->nsrc; i++) {
		Nodes all = walk_brief(kernel->src[i]->src[0]);
		for (size_t k = 0; k < all.n; k++)
			if (all.at[k]->op == OP_RANGE && !map_get(&seen, PKEY(all.at[k]))) {
				map_put(&seen, PKEY(all.at[k]), all.at[k]);
				vec_push(&range, all.at[k]);
			}
	}
	map_free(&seen);
	if (range.n)
		qsort(range.at, range.n, sizeof *range.at, by_axis);
	return range;
}

static uint64_t bit_of(const UOp *range) { return 1ull << (range_axis(range) & 63); }

/* The folds that have all they need in these loops, and no line yet. */
static void print_folds(Nest *n, Nodes all, uint64_t closed)
{
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		uint64_t needs = range_mask(u);
		for (uint32_t k = 1; u->op == OP_RREDUCE && k < u->nsrc; k++)
			needs &= ~bit_of(u->src[k]);
		if (is_fold(u) && !(needs & closed) && !map_get(&n->name, PKEY(u)))
			print_fold(n, u);
	}
}

static void print_stores(Nest *n, UOp *kernel)
{
	Ranges range = free_ranges(kernel);
	uint64_t closed = 0;
	for (size_t i = 0; i < range.n; i++)
		closed |= bit_of(range.at[i]);
	Nodes all = walk(kernel);
	for (size_t i = 0; i < range.n; i++) {
		print_folds(n, all, closed);
		closed &= ~bit_of(range.at[i]);
		open_range(n, range.at[i]);
	}
	print_folds(n, all, 0);
	for (uint32_t i = 0; i < kernel->nsrc; i++)
		print_store(n, kernel->src[i]);
	vec_free(&range);
}

/* ---- kernels */

static void print_actions(Nest *n, const Val *list)
{
	for (uint32_t i = 0; list && i < list->n; i++) {
		const Val *a = list->a[i];
		buf_printf(n->out, "%s", i ? ";" : "  actions:");
		for (uint32_t k = 0; k < a->n; k++)
			buf_printf(n->out, " %s", a->a[k]->kind == VAL_STR ?
				plain_name(a->a[k]) : value_text(a->a[k]));
	}
	if (list && list->n)
		buf_printf(n->out, "\n");
}

static void print_head(Nest *n, const UOp *kernel, size_t number)
{
	const Val *global = val_get(kernel->arg, "global_size"),
		  *local = val_get(kernel->arg, "local_size");
	buf_printf(n->out, "K%zu %s(", number, plain_name(val_get(kernel->arg, "name")));
	for (uint32_t i = 1; i < n->call->nsrc; i++)
		buf_printf(n->out, "%s%s", i == 1 ? "" : ", ", shown_name(n->call->src[i]));
	buf_printf(n->out, ")\n");
	if (global && global->kind == VAL_ARRAY)
		buf_printf(n->out, "  grid %s%s%s\n", value_text(global),
			local && local->kind == VAL_ARRAY ? " of groups of " : "",
			local && local->kind == VAL_ARRAY ? value_text(local) : "");
	print_actions(n, val_get(kernel->arg, "actions"));
}

void loops_print(Buf *out, const Graph *g)
{
	size_t number = 0;
	if (g->level < LV_SCHEDULE)
		die(USAGE, "level %s has no loops: trace … | fuse | show --loops",
			level_name[g->level]);
	/* calls in the order of the sink; of segments as the nodes come */
	bool segments = steps_listed(g);
	size_t calls = segments ? g->all.n : g->sink->nsrc;
	for (size_t i = 0; i < calls; i++) {
		UOp *u = segments ? g->all.at[i] : g->sink->src[i];
		UOp *k = u->op == OP_CALL ? u->src[0] : NULL;
		k = k && k->op == OP_PROGRAM ? k->src[0] : k;
		if (!k || k->op != OP_KERNEL)
			continue;
		Nest n = {.out = out, .call = u};
		print_head(&n, k, segments ? number++ : i);
		n.depth = 1;
		if (g->level == LV_SCHEDULE)
			print_stores(&n, k);
		for (uint32_t s = 0; g->level > LV_SCHEDULE && s < k->nsrc; s++)
			print_statement(&n, k->src[s]);
		map_free(&n.name);
		vec_free(&n.todo);
	}
}
