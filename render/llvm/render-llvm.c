/* LLVM IR for the CPU, which run turns into code by LLVM's library. */
#include "target/target.h"
#include "llvm/llvm.h"

static const Dialect llvm = {
	.target = "llvm",
	.body = llvm_body,
	.head = llvm_head,
	.caller = llvm_caller,
	.value = llvm_value,
	.comment = "; %s\n",
	.sigil = "%",
	.type = {"i1", "i8", "i16", "i32", "i64", "i8", "i16", "i32", "i64", "i16", "i16", "float",
		"double"},
	.on_cpu = true,
	.lanes = true,
};

int main(int argc, char **argv) { return render_main(&llvm, argc, argv); }
