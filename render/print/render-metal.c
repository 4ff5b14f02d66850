/* Metal shading language; it has no doubles. Precise functions are named explicitly, whatever the
 * compiler's fast-math default. */
#include "target/target.h"
#include "print/print.h"

static const Dialect metal = {
	.target = "metal",
	.type = {"bool", "char", "short", "int", "long", "uchar", "ushort", "uint", "ulong",
		"ushort", "ushort", "float", NULL},
	.first_line = "#include <metal_stdlib>\nusing namespace metal;\n\n",
	.aligned = "",
	.kernel = "kernel void",
	.pointer = "device ",
	.restricted = "",
	.inline_fn = "static inline",
	.local = "threadgroup ",
	.barrier = "threadgroup_barrier(mem_flags::mem_threadgroup);",
	.group_id = {"group_at.x", "group_at.y", "group_at.z"},
	.item_id = {"item_at.x", "item_at.y", "item_at.z"},
	.inf = {"INFINITY", NULL},
	.nan = {"NAN", NULL},
	.function = {"precise::%s"},
	.named = {[OP_TRUNC] = "trunc"},
	.i64_suffix = "L",
	.narrow = "int",
	.attributes = true,
	.bitcast = "return as_type<$T>(x);",
};

int main(int argc, char **argv) { return render_main(&metal, argc, argv); }
