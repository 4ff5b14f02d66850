/* schema [LEVEL]: the ops, dtypes and levels of documents as JSON, for programs in other languages.
 *
 *     {"version": 1, "dtypes": {"f32": {"bytes": 4, "kind": "float"}, …}, "levels": {"graph":
 *      {"ops": {"NEG": {"class": "unary", "sources": [1, 1], "takes": ["f32", …],
 *      "gives": "source", "arg": {"type": "null"}}, …}}, …}}
 *
 * All of it comes from ops.def, dtypes.def and levels.def; an arg's form is JSON Schema. */
#include "io/io.h"
#include "process/process.h"
#include "shape/shape.h"

static const char *const class_names[] = {
	[CLASS_LEAF] = "leaf", [CLASS_UNARY] = "unary", [CLASS_CASTING] = "casting",
	[CLASS_BINARY] = "binary", [CLASS_COMPARE] = "compare", [CLASS_TERNARY] = "ternary",
	[CLASS_AXES] = "axes", [CLASS_MOVEMENT] = "movement", [CLASS_INDEXING] = "indexing",
	[CLASS_SAME] = "same", [CLASS_EFFECT] = "effect", [CLASS_ROOT] = "root",
	[CLASS_KERNEL] = "kernel", [CLASS_CALLS] = "calls", [CLASS_LOOPS] = "loops",
	[CLASS_FLOW] = "flow",
};
static const char *const gives_names[] = {
	[GIVES_SOURCE] = "source", [GIVES_BOOL] = "bool", [GIVES_I64] = "i64",
	[GIVES_SAID] = "said",
};

static void put_dtypes(Buf *out)
{
	buf_printf(out, "\"dtypes\": {");
	for (DType d = 0; d < DT_COUNT; d++) {
		const DTypeInfo *t = &dtype_info[d];
		buf_printf(out, "%s\n\"%s\": {\"bytes\": %d, \"kind\": \"%s\"}", d ? "," : "",
			t->name, t->size, t->kind == 'F' ? "float" : t->kind == 'I' ? "int" :
			t->kind == 'U' ? "uint" : "bool");
	}
	buf_printf(out, "}");
}

static void put_op(Buf *out, Op op, Level level)
{
	const OpInfo *o = &op_info[op];
	const char *comma = "";
	buf_printf(out, "\n\"%s\": {\"class\": \"%s\", \"sources\": [%d, ", o->name,
		class_names[o->cls], o->min_src);
	buf_printf(out, o->max_src < 0 ? "null]" : "%d]", o->max_src);
	buf_printf(out, ", \"takes\": [");
	for (DType d = 0; d < DT_COUNT; d++)
		if (op_takes(op, d)) {
			buf_printf(out, "%s\"%s\"", comma, dtype_name(d));
			comma = ", ";
		}
	buf_printf(out, "], \"gives\": \"%s\", \"commutes\": %s, \"associates\": %s",
		gives_names[o->gives], o->commutes ? "true" : "false",
		o->associates ? "true" : "false");
	if (o->infix)
		buf_printf(out, ", \"infix\": \"%s\"", o->infix);
	buf_printf(out, ", \"arg\": ");
	arg_schema(out, op, 1 << level);
	buf_printf(out, "}");
}

static void put_level(Buf *out, Level level)
{
	const char *comma = "";
	buf_printf(out, "\n\"%s\": {\"ops\": {", level_name[level]);
	for (Op op = 0; op < OP_COUNT; op++)
		if (op_info[op].levels >> level & 1) {
			buf_printf(out, "%s", comma);
			put_op(out, op, level);
			comma = ",";
		}
	buf_printf(out, "}}");
}

static Level level_named(const char *name)
{
	Nearest near = {.word = name};
	for (Level l = 0; l < LV_COUNT; l++) {
		if (!strcmp(level_name[l], name))
			return l;
		nearest_try(&near, level_name[l]);
	}
	die(USAGE, "there is no level '%.80s'%s", name, nearest_hint(&near));
}

int main(int argc, char **argv)
{
	static const Option none[] = {{0}};
	static const Stage form = {.name = "schema", .usage = "[LEVEL]", .options = none,
		.summary = "Prints the ops, dtypes and levels of documents as JSON."};
	Buf out = {0};

	stage_begin(form.name);
	int first = options_parse(&form, argc, argv);
	if (argc - first > 1)
		die(USAGE, "one level is enough: '%.80s' is too much", argv[first + 1]);
	Level from = first < argc ? level_named(argv[first]) : 0;
	Level to = first < argc ? from + 1 : LV_COUNT;
	buf_printf(&out, "{\"version\": %d,\n", WIRE_VERSION);
	put_dtypes(&out);
	buf_printf(&out, ",\n\"levels\": {");
	for (Level l = from; l < to; l++) {
		buf_printf(&out, "%s", l > from ? "," : "");
		put_level(&out, l);
	}
	buf_printf(&out, "}}\n");
	fwrite(out.s, 1, out.n, stdout);
	buf_free(&out);
	return stage_end();
}
