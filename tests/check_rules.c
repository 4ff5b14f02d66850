/* check_rules [-v]: every rule of the built-in rule sets against the interpreter, and every
 * condition by leaving it out.
 *
 * A rule's pattern is built in every way that checks: each variable an input, a scalar or a
 * constant of each dtype that the ops take, several shapes, random args. Pattern and replacement
 * must come out as the same bits (any NaN is NaN; POW and its like may differ by what the contract
 * allows) on edge values, all combinations of them where the shape is that of one axis.
 * Then each condition is left out in turn: some instance must now differ, be no valid node, or be
 * rewritten without an end. A rule that matches nothing is a fault too.
 *
 *     simplify.rules:12: MUL(f32 x0 [32], f32 0.0): nan becomes 0, x0 = nan
 *
 * Each trial is a process of its own, so that one may die. -v shows what each condition is for. */
#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>
#include "check_rules.h"
#include "interp/interp.h"
#include "lower/lower.h"

/* The files of rewritings that speak of more than the library has; every other one is found by its
 * name. Files of rows, a line an op, are for other tests. */
static const struct { const char *file; const RuleNames *names; } known[] = {
	{"decompose", &decompose_names},
};
static const char *const rows[] = {"grad", "vmap"};      /* grad.bats, vmap.bats */

enum { SIZE_N = 3, SECONDS = 60 };
enum { RIGHT = 0, WRONG = 1, UNUSED = 10 };       /* a trial's exit status; or one of die's */

static bool verbose;

/* ---- inputs */

static VEC(Array) inputs;
static VEC(UOp *) input_of;

static Array content(UOp *u, void *ctx)
{
	for (size_t i = 0; i < inputs.n; i++)
		if (input_of.at[i] == u)
			return inputs.at[i];
	int64_t dim[MAX_RANK];
	for (int i = 0; i < u->shape->rank; i++)
		CHECK(ix_eval(u->shape->dim[i], ctx, &dim[i]));
	Array a = array_raw(u->dtype, u->shape->rank, dim);
	for (int64_t i = 0, n = array_count(&a); i < n; i++) {
		uint64_t bits = input_value(u, i, n);
		memcpy((char *)a.data + i * dtype_size(u->dtype), &bits, dtype_size(u->dtype));
	}
	vec_push(&inputs, a);
	vec_push(&input_of, u);
	return a;
}

static void forget_inputs(void)
{
	for (size_t i = 0; i < inputs.n; i++)
		array_free(&inputs.at[i]);
	inputs.n = input_of.n = 0;
}

/* ---- comparison */

static void print(Buf *b, const UOp *u)
{
	if (u->op == OP_BUFFER || u->op == OP_CONST) {
		buf_printf(b, "%s ", dtype_name(u->dtype));
		if (u->op == OP_CONST)
			val_print(b, u->arg);
		else
			buf_printf(b, "%s %s", buffer_name(u), shape_text(u->shape));
		return;
	}
	buf_printf(b, "%s(", op_name(u->op));
	for (uint32_t i = 0; i < u->nsrc; i++) {
		buf_printf(b, i ? ", " : "");
		print(b, u->src[i]);
	}
	buf_printf(b, ")");
	if (u->arg != VNIL)
		val_print(b, u->arg);
	if (op_info[u->op].cls == CLASS_CASTING)
		buf_printf(b, ":%s", dtype_name(u->dtype));
}

static void element(Buf *b, DType d, const Array *a, int64_t i)
{
	double f;
	uint64_t bits = 0;
	memcpy(&bits, (const char *)a->data + i * dtype_size(d), dtype_size(d));
	interp_cast(DT_F64, &f, d, &bits, 1);
	if (dtype_float(d))
		buf_printf(b, "%.17g", f == f ? f : NAN);
	else
		val_print(b, const_bits(d, &bits)->arg);
}

/* Units in the last place that the contract leaves to u's ops. */
static int64_t leeway(UOp *u)
{
	int64_t ulp = 0;
	Nodes all = walk(u);
	for (size_t i = 0; i < all.n; i++)
		switch (all.at[i]->op) {
		case OP_POW: case OP_EXP2: case OP_LOG2: case OP_SIN: ulp = 4; break;
		case OP_FDIV: case OP_RECIP: case OP_SQRT: ulp = ulp ? ulp : 1; break;
		default: break;
		}
	return ulp;
}

static bool equal(DType d, uint64_t a, uint64_t b, int64_t ulp)
{
	double x, y;
	if (a == b || !dtype_float(d))
		return a == b;
	interp_cast(DT_F64, &x, d, &a, 1);
	interp_cast(DT_F64, &y, d, &b, 1);
	if (x != x || y != y)
		return x != x && y != y;
	/* neighbours of one sign have neighbouring bits; 0 and inf stay what they are */
	return x != 0 && isfinite(x) && signbit(x) == signbit(y) && llabs((int64_t)(a - b)) <= ulp;
}

static const Rule *rule;
static bool without;            /* one of its conditions */
static UOp *current;

static void where(Buf *b)
{
	buf_printf(b, "%s: ", rule->where);
	print(b, current);
}

static _Noreturn void wrong(Buf *b)
{
	printf("%s\n", buf_str(b));
	fflush(stdout);
	_exit(WRONG);
}

/* The values of the inputs that go with element i of count. */
static void print_inputs(Buf *b, int64_t i, int64_t count)
{
	for (size_t k = 0; k < inputs.n; k++) {
		int64_t n = array_count(&inputs.at[k]);
		if (n != 1 && n != count)
			continue;
		buf_printf(b, ", %s = ", buffer_name(input_of.at[k]));
		element(b, inputs.at[k].dtype, &inputs.at[k], n == 1 ? 0 : i);
	}
}

static uint64_t bits_at(DType d, const Array *a, int64_t i)
{
	uint64_t bits = 0;
	memcpy(&bits, (char *)a->data + i * dtype_size(d), dtype_size(d));
	return bits;
}

/* a: of the pattern; twice: the same with a rounding more; b: of the replacement */
static void compare_elements(UOp *u, const Array *a, const Array *twice, const Array *b)
{
	const int64_t ulp = leeway(u), n = array_count(a);
	Buf text = {0};
	for (int64_t i = 0; i < n; i++) {
		uint64_t y = bits_at(u->dtype, b, i);
		if (equal(u->dtype, bits_at(u->dtype, a, i), y, ulp) ||
		    equal(u->dtype, bits_at(u->dtype, twice, i), y, ulp))
			continue;
		where(&text);
		buf_printf(&text, ": ");
		element(&text, u->dtype, a, i);
		buf_printf(&text, " becomes ");
		element(&text, u->dtype, b, i);
		print_inputs(&text, i, n);
		wrong(&text);
	}
}

/* a·b + c may be rounded once or twice. Without a condition that is a difference, since there may
 * be rules for the sake of it. */
static UOp *round_twice(UOp *u, void *unused)
{
	if (u->op != OP_MULACC || without)
		return u;
	UOp *product = NODE(OP_MUL, u->dtype, VNIL, u->src[0], u->src[1]);
	return NODE(OP_ADD, u->dtype, VNIL, product, u->src[2]);
}

static void compare(UOp *u, UOp *v)
{
	static const VarEnv env = {1, {"n"}, {SIZE_N}};
	UOp *both[3] = {u, walk_replace(u, round_twice, NULL), v};
	Array out[3];
	Buf text = {0};
	if (u->dtype != v->dtype || !shape_equal(u->shape, v->shape)) {
		where(&text);
		buf_printf(&text, ": %s %s becomes %s %s", dtype_name(u->dtype),
			shape_text(u->shape), dtype_name(v->dtype), shape_text(v->shape));
		wrong(&text);
	}
	interp_graph(3, both, NULL, &env, content, (void *)&env, out);
	compare_elements(u, &out[0], &out[1], &out[2]);
	for (int i = 0; i < 3; i++)
		array_free(&out[i]);
	forget_inputs();
}

/* ---- trials */

/* A set of this rule alone. */
static Rules alone(Rule *r)
{
	Rules one = {.n = 1, .at = r};
	for (int op = 0; op < OP_COUNT; op++)
		if (r->from->kind == EX_ANY || r->from->op == (Op)op)
			vec_push(&one.by_op[op], 0);
	return one;
}

static void say_where(void *unused)
{
	Buf b = {0};
	if (current)
		where(&b);
	printf("%s: it dies\n", buf_str(&b));
	fflush(stdout);
}

/* Every instance of r: once, as far as the rule goes, and to its end. */
static _Noreturn void try_rule(Rule *r)
{
	Rules one = alone(r);
	size_t once, more, applied = 0;
	die_cleanup(say_where, NULL);
	instances_begin(r);
	do {
		if (!(current = instance(r)))
			continue;
		UOp *v = rewrite_once(current, &one, &once);
		if (!once)
			continue;
		applied++;
		compare(current, v);
		compare(current, rewrite(current, &one, &more));
	} while (instances_next());
	if (verbose)
		printf("%s: %zu instances\n", r->where, applied);
	fflush(stdout);
	_exit(applied ? RIGHT : UNUSED);
}

/* Its status; negative: the signal that ended it. */
static int trial(Rule *r, bool is_less)
{
	int status, null = open("/dev/null", O_WRONLY);
	fflush(stdout);
	pid_t child = fork();
	if (!child) {
		if (is_less) {
			dup2(null, 2);
			if (!verbose)
				dup2(null, 1);
		}
		setrlimit(RLIMIT_CPU, &(struct rlimit){SECONDS, SECONDS});
		rule = r;
		without = is_less;
		try_rule(r);
	}
	close(null);
	CHECK(child > 0 && waitpid(child, &status, 0) == child);
	return WIFSIGNALED(status) ? -WTERMSIG(status) : WEXITSTATUS(status);
}

static void print_condition(const Rule *r, const Cond *c)
{
	printf("%s%s(", c->negate ? "!" : "", c->row->name);
	for (int i = 0; i < c->row->nargs; i++)
		printf("%s%s", i ? ", " : "", c->arg[i] == SELF ? "self" : r->var[c->arg[i]]);
	printf(")");
}

static int faults, conditions;

static void check_sound(Rule *r)
{
	int status = trial(r, false);
	faults += status != RIGHT;
	if (status == UNUSED)
		printf("%s: the rule applies to no instance\n", r->where);
	else if (status < 0)
		printf("%s: ended by signal %d\n", r->where, -status);
}

static void check_needed(Rule *r, int k)
{
	Rule less = *r;
	less.nconds--;
	memmove(&less.cond[k], &less.cond[k + 1], (less.nconds - k) * sizeof *less.cond);
	if (verbose) {
		printf("without ");
		print_condition(r, &r->cond[k]);
		printf(": ");
	}
	int status = trial(&less, true);
	conditions++;
	if (status > 0 && status <= MALFORMED)
		return;
	faults++;
	printf("%s: without ", r->where);
	print_condition(r, &r->cond[k]);
	if (status < 0)
		printf(" a trial is ended by signal %d\n", -status);
	else
		printf(" nothing is wrong: the condition is not needed, or no instance shows it\n");
}

static bool has_rows(const char *file)
{
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (!strcmp(rows[i], file))
			return true;
	return false;
}

static Rules *rules_of(const char *file)
{
	const RuleNames *names = NULL;
	for (size_t i = 0; i < sizeof known / sizeof *known; i++)
		if (!strcmp(known[i].file, file))
			names = known[i].names;
	return rules_add_builtin(NULL, file, names);
}

/* A section's condition asks what a target would rather have: its rules are sound wherever they
 * stand. */
static void check_rule(Rule *r)
{
	r->when = NULL;
	check_sound(r);
	for (int c = 0; c < r->nconds; c++)
		check_needed(r, c);
}

int main(int argc, char **argv)
{
	const char *file;
	size_t n = 0;
	verbose = argc > 1 && !strcmp(argv[1], "-v");
	process.stage = "check_rules";
	CHECK(!vars_declare(VMAP(val_str("n"), VARR(val_int(1), val_int(8)))));
	for (size_t i = 0; (file = rules_builtin_name(i)); i++) {
		Rules *all = has_rows(file) ? NULL : rules_of(file);
		for (size_t k = 0; all && k < all->n; k++, n++)
			check_rule(&all->at[k]);
	}
	printf("%zu rules, %d conditions, %d faults\n", n, conditions, faults);
	return faults > 0 || !n;
}
