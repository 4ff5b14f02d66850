/* KERNEL of level loops → PROGRAM: its source, its launch data, its slots. Together with a Dialect
 * this is a whole render-X.
 *
 *     CALL(KERNEL …, y, a)  →  CALL(PROGRAM(KERNEL …) {name, src, target, ins, outs, …}, y, a)
 *
 * A KERNEL node becomes one PROGRAM, however often it is called. Symbols are distinct within a
 * document. */
#include "document/document.h"
#include "shape/shape.h"
#include "process/process.h"
#include "target/target.h"
#include "kernels/kernels.h"
#include "print/print.h"
#include <stdlib.h>

static struct {
	const Dialect *dialect;
	bool describe;
	const char *target;     /* the -t option for the stages that run first */
} opt;
static ARENA Map symbols;       /* names given within the document */

/* slots that the kernel loads from, or stores to */
static const Val *slots_of(UOp *kernel, Op op)
{
	const Val **v;
	uint64_t seen[64] = {0};
	Nodes all = walk(kernel);
	size_t n = 0;
	v = arena_alloc((all.n + 1) * sizeof *v);
	for (size_t i = 0; i < all.n; i++) {
		UOp *u = all.at[i];
		if (u->op != op || u->src[0]->op != OP_INDEX || u->src[0]->src[0]->op != OP_PARAM)
			continue;
		int64_t slot = param_slot(u->src[0]->src[0]);
		if (slot >= 4096)
			die(UNSUPPORTED, "node %u PARAM: more than 4096 buffers in one kernel",
				u->src[0]->src[0]->id);
		if (seen[slot / 64] >> slot % 64 & 1)
			continue;
		seen[slot / 64] |= 1ull << slot % 64;
		v[n++] = val_int(slot);
	}
	return val_array(n, v);
}

static const Val *globals_of(const UOp *call)
{
	const Val **v = arena_alloc(call->nsrc * sizeof *v);
	for (uint32_t i = 1; i < call->nsrc; i++)
		v[i - 1] = val_str(dtype_name(call->src[i]->dtype));
	return val_array(call->nsrc - 1, v);
}

/* the target's flags, and the processor that the kernel was lowered for */
static const char *flags_of(const UOp *kernel)
{
	const Val *march = val_get(kernel->arg, "march");
	if (!march)
		return target->flags;
	if (march->kind != VAL_STR || !name_plain(march->s, march->n))
		die(MALFORMED, "node %u KERNEL: march is no name of a processor", kernel->id);
	return arena_printf("%s%s-march=%s", target->flags, *target->flags ? " " : "", march->s);
}

static UOp *make_program(const KernelUse *use)
{
	static const char *const kept[] = {"global_size", "local_size", "work", "brief",
		"alternate"};
	UOp *kernel = use->kernel;
	Buf src = {0};
	const Val *name = val_get(kernel->arg, "name"), *made_for = val_get(kernel->arg, "target");
	if (made_for && !val_is_str(made_for, opt.dialect->target))
		die(MALFORMED, "node %u KERNEL: lowered for %s, not for %s", kernel->id,
			made_for->kind == VAL_STR ? made_for->s : "?", opt.dialect->target);
	const char *symbol = name_unique(&symbols, name_safe(name->s, name->n));
	/* to a language without lanes they are loops of kind vector */
	UOp *printed = opt.dialect->lanes ? kernel : lanes_as_loops(kernel);
	const Val *vars = print_kernel(&src, opt.dialect, printed, symbol, use->call,
		!use->alias);
	const Val *arg = VMAP(val_str("name"), val_str(symbol), val_str("src"),
		val_strn(buf_str(&src), src.n), val_str("target"), val_str(opt.dialect->target),
		val_str("flags"), val_str(flags_of(kernel)), val_str("globals"),
		globals_of(use->call), val_str("ins"), slots_of(kernel, OP_LOAD), val_str("outs"),
		slots_of(kernel, OP_STORE), val_str("vars"), vars);
	if (opt.dialect->runtime)
		arg = val_set(arg, "runtime", val_str(opt.dialect->runtime));
	for (size_t i = 0; i < sizeof kept / sizeof *kept; i++) {
		const Val *v = val_get(kernel->arg, kept[i]);
		arg = v ? val_set(arg, kept[i], v) : arg;
	}
	UOp *p = NODE(OP_PROGRAM, DT_NONE, arg, kernel);
	node_note(p, kernel->note);
	buf_free(&src);
	return p;
}

static UOp *make_custom(UOp *custom, const UOp *call)
{
	return custom_program(custom, opt.dialect, flags_of(custom), globals_of(call));
}

static Graph *render(Graph *g)
{
	if (!target)
		target = target_find(opt.dialect->target);
	Graph *r = customs_map(kernels_map(g, make_program), make_custom);
	r->level = LV_PROGRAM;
	return r;
}

static const Option options[] = {
	{'t', "target", "TARGET",
		"the target to lower for first, when that is missing (default: its own)",
		&opt.target},
	{0, "describe", NULL, "print only the properties of the target", &opt.describe},
	{0},
};

static const Pass passes[] = {
	{"render", render, "a kernel is a program: its source, with launch data"},
	{0},
};

int render_main(const Dialect *d, int argc, char **argv)
{
	char name[64];          /* not the arena's: it is said of the next documents too */
	Stage stage = {
		.name = name,
		.summary = "source and launch data for each kernel",
		.usage = "[FILE]",
		.options = options,
		.level_in = LV_LOOPS,
		.steps = STEPS_SEGMENTS,
		.level_out = LV_PROGRAM,
		.passes = passes,
	};
	snprintf(name, sizeof name, "render-%s", d->target);
	opt.dialect = d;
	opt.target = d->target;
	if (argc == 2 && !strcmp(argv[1], "--describe")) {
		Buf out = {0};
		stage_begin(stage.name);
		target_print(&out, target_find(d->target));
		fputs(buf_str(&out), stdout);
		return stage_end();
	}
	return stage_main(&stage, argc, argv);
}
