/* diff A B: the differences between two documents, up to the numbering of their nodes.
 *
 *     - %4 = ADD f32 %2 %3  # [3,4]
 *     + %7 = MUL f32 %5 %6  # [3,4]
 *
 * Nodes of both documents are numbered so that two nodes have the same number if they and all
 * nodes they depend on are equal. From the two SINKs down, pairs that differ in op, dtype, arg or
 * number of sources are printed; pairs that differ only in their sources are followed. */
#include "arrays/arrays.h"
#include "io/io.h"
#include "process/process.h"
#include <math.h>
#include <stdlib.h>

static struct {
	bool notes, quiet, zeros, bf16;
	const char *rtol, *atol, *ulp, *only;
} opt;
static const Option options[] = {
	{0, "notes", NULL, "compare notes too (they never change the meaning)", &opt.notes},
	{0, "rtol", "R", "results: the relative tolerance (1e-5)",
		&opt.rtol},
	{0, "atol", "A", "results: the absolute tolerance (1e-6)", &opt.atol},
	{0, "ulp", "N", "results: compare floats to within N ulp instead", &opt.ulp},
	{0, "zeros", NULL, "results: with --ulp, -0 differs from 0", &opt.zeros},
	{0, "bf16", NULL, "results: read u16 arrays as the bits of bf16", &opt.bf16},
	{0, "only", "PATTERN", "results: only the arrays whose name matches, as in a shell",
		&opt.only},
	{'q', "quiet", NULL, "print nothing, only set the exit status", &opt.quiet},
	{0},
};
static const Stage tool = {.name = "diff",
	.usage = "A B",
	.options = options,
	.summary =
		"Compares two documents up to the numbering of nodes, or two results (.npy, .npz,\n"
		"folders of .npy) by value: exit status 0 if equal, 1 if not, 5 if it failed."};

/* One of the two documents. same[i]: the number that equal nodes of both share. */
typedef struct { Graph *g; uint32_t *index, *same; } Side;

static ARENA Buf out;           /* the differences, as text */

static Graph *read_one(const char *file)
{
	Stream *s = source_open(file);
	Graph *g = stream_next(s ? s : stream_open(file), READ_RAW);
	if (!g && strcmp(file, "-") && !endpoint_is(file))
		die(MALFORMED, "%s: ends early at byte 0", file);
	if (!g)
		die_silent(MALFORMED);
	return g;
}

/* ---- numbers of equal nodes */

typedef struct {
	const UOp *u;
	const Side *side;
	uint32_t next;
} NodeClass; /* next: 1 + the position of the next class with the same hash; 0: none */
static ARENA VEC(NodeClass) classes;
static ARENA Map by_hash;

static bool equal_alone(const UOp *a, const UOp *b)
{
	return a->op == b->op && a->dtype == b->dtype && a->arg == b->arg &&
		(!opt.notes || a->note == b->note);
}

static uint32_t below(const Side *s, const UOp *u, uint32_t k)
{
	return s->same[s->index[u->src[k]->id]];
}

static bool equal_whole(const Side *s, const UOp *a, const NodeClass *c)
{
	if (!equal_alone(a, c->u) || a->nsrc != c->u->nsrc)
		return false;
	for (uint32_t k = 0; k < a->nsrc; k++)
		if (below(s, a, k) != below(c->side, c->u, k))
			return false;
	return true;
}

static uint32_t class_of(const Side *s, const UOp *u)
{
	uint64_t h = hash_mix(
		u->op * 31 + u->dtype, u->arg->hash ^ (opt.notes ? u->note->hash : 0));
	for (uint32_t k = 0; k < u->nsrc; k++)
		h = hash_mix(h, below(s, u, k));
	uintptr_t first = (uintptr_t)map_get(&by_hash, h);
	for (uint32_t i = first; i; i = classes.at[i - 1].next)
		if (equal_whole(s, u, &classes.at[i - 1]))
			return i;
	vec_push(&classes, ((NodeClass){u, s, (uint32_t)first}));
	map_put(&by_hash, h, (void *)(uintptr_t)classes.n);
	return classes.n;
}

static void number(Side *s)
{
	s->index = text_index(s->g);
	s->same = xmalloc(s->g->all.n * sizeof *s->same);
	for (size_t i = 0; i < s->g->all.n; i++)
		s->same[i] = class_of(s, s->g->all.at[i]);
}

/* ---- the differences */

static void print_one(const Side *s, const UOp *u, char sign)
{
	buf_printf(&out, "%c ", sign);
	text_node(&out, s->g, s->index[u->id], s->index);
	if (u->shape && u->shape->rank)
		buf_printf(&out, "  # %s", shape_text(u->shape));
	buf_printf(&out, "\n");
}

/* Marks differ wherever something does, and between users. */
static const Val *unmarked(const Val *meta)
{
	return val_get(meta, "mark") ? val_set(meta, "mark", NULL) : meta;
}

static void print_heading(const char *name, const Val *a, const Val *b)
{
	if (a == b)
		return;
	const Val *side[] = {a, b};
	for (int i = 0; i < 2; i++) {
		if (side[i] == VNIL)
			continue;
		buf_printf(&out, "%c %s ", "-+"[i], name);
		text_value(&out, side[i]);
		buf_printf(&out, "\n");
	}
}

typedef VEC(const UOp *) Pairs;         /* a, b, a, b, … */
static ARENA Map seen;

static void add_pair(const Side *a, const UOp *x, const Side *b, const UOp *y, Pairs *todo)
{
	uint32_t i = a->index[x->id], k = b->index[y->id];
	if (a->same[i] == b->same[k])
		return;
	uint64_t key = (uint64_t)i << 32 | k;
	if (map_get(&seen, key) || seen.n > 8 * (a->g->all.n + b->g->all.n))
		return;
	map_put(&seen, key, (void *)x);
	vec_push(todo, x);
	vec_push(todo, y);
}

/* Compares the sources pairwise, without the equal ones at the front and the back of both lists, so
 * that an inserted source shows as one difference. */
static void compare_sources(const Side *a, const UOp *x, const Side *b, const UOp *y, Pairs *todo)
{
	uint32_t from = 0, nx = x->nsrc, ny = y->nsrc;
	while (from < nx && from < ny && below(a, x, from) == below(b, y, from))
		from++;
	while (nx > from && ny > from && below(a, x, nx - 1) == below(b, y, ny - 1)) {
		nx--;
		ny--;
	}
	for (uint32_t k = from; k < nx || k < ny; k++) {
		if (k < nx && k < ny)
			add_pair(a, x->src[k], b, y->src[k], todo);
		else if (k < nx)
			print_one(a, x->src[k], '-');
		else
			print_one(b, y->src[k], '+');
	}
}

static void compare_from_sinks(const Side *a, const Side *b)
{
	Pairs todo = {0};
	add_pair(a, a->g->sink, b, b->g->sink, &todo);
	/* in order of discovery: differences nearest to the outputs come first */
	for (size_t i = 0; i < todo.n; i += 2) {
		const UOp *x = todo.at[i], *y = todo.at[i + 1];
		bool list = x->op == OP_SINK || x->op == OP_KERNEL;
		if (!equal_alone(x, y) || (x->nsrc != y->nsrc && !list)) {
			print_one(a, x, '-');
			print_one(b, y, '+');
		}
		if (equal_alone(x, y) && (x->nsrc == y->nsrc || list))
			compare_sources(a, x, b, y, &todo);
	}
	vec_free(&todo);
}

/* Prints the nodes that no output needs and the other document lacks. */
static void compare_dead(const Side *a, const Side *b, char sign)
{
	uint8_t *known = xcalloc(classes.n + 1, 1), *alive = xcalloc(a->g->all.n, 1);
	Nodes all = walk(a->g->sink);
	for (size_t i = 0; i < all.n; i++)
		alive[a->index[all.at[i]->id]] = 1;
	for (size_t i = 0; i < b->g->all.n; i++)
		known[b->same[i]] = 1;
	for (size_t i = 0; i < a->g->all.n; i++)
		if (!alive[i] && !known[a->same[i]])
			print_one(a, a->g->all.at[i], sign);
	free(known);
	free(alive);
}

static void compare(Side *a, Side *b)
{
	if (a->g->level != b->g->level) {
		buf_printf(&out, "- sluice 1 %s\n+ sluice 1 %s\n", level_name[a->g->level],
			level_name[b->g->level]);
		return;
	}
	print_heading("vars", a->g->vars, b->g->vars);
	print_heading("meta", unmarked(a->g->meta), unmarked(b->g->meta));
	number(a);
	number(b);
	compare_from_sinks(a, b);
	compare_dead(a, b, '-');
	compare_dead(b, a, '+');
}

static double tolerance(const char *text, double otherwise)
{
	char *end;
	double v = text ? strtod(text, &end) : otherwise;
	if (text && (*end || end == text || !(v >= 0)))
		die(USAGE, "a tolerance is a number from 0, not '%s'", text);
	return v;
}

static int result(void)
{
	if (!opt.quiet)
		stream_put(NULL, buf_str(&out), out.n);
	stage_end();
	return out.n ? 1 : 0;
}

int main(int argc, char **argv)
{
	stage_begin("diff");
	process.failed = FAILED_APART;
	stage_prints();
	int first = options_parse(&tool, argc, argv);
	if (argc - first != 2)
		die(USAGE, "two documents or results (.npy, .npz, folders) are needed: diff A B");
	if (arrays_are(argv[first]) && arrays_are(argv[first + 1])) {
		Closeness how = {.rtol = tolerance(opt.rtol, 1e-5),
			.atol = tolerance(opt.atol, 1e-6),
			.ulp = opt.ulp ? (int64_t)fmin(tolerance(opt.ulp, 0), 1e18) : -1,
			.zeros = opt.zeros,
			.bf16 = opt.bf16,
			.only = opt.only};
		arrays_diff(&out, argv[first], argv[first + 1], &how);
		return result();
	}
	Side a = {.g = read_one(argv[first])}, b = {.g = read_one(argv[first + 1])};
	compare(&a, &b);
	return result();
}
