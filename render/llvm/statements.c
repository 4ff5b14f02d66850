/* LLVM IR, as text: statements and the function; values.c has expressions.
 *
 *     define void @r_64_32(float* noalias %y, float* noalias readonly %a) noinline nounwind {
 *         %acc0 = alloca [1 x float], align 64
 *         …
 *     loop1:
 *         %r1 = phi i64 [0, %loop0], [%n1, %next1]
 *         …
 *     next1:
 *         %n1 = add nsw i64 %r1, 1
 *         %t5 = icmp slt i64 %n1, 64
 *         br i1 %t5, label %loop1, label %end1
 *
 * Registers are arrays on the stack, from which LLVM makes values. Pointers have types, as
 * LLVM 14 wants them. */
#include "shape/shape.h"
#include "llvm/llvm.h"
#include <stdarg.h>

const char *llvm_line(Printer *p, bool value, const char *fmt, ...)
{
	const char *name = value ? arena_printf("%%t%d", p->temps++) : "";
	size_t was = p->out->n;
	va_list ap;

	buf_printf(p->out, value ? "\t%s = " : "\t%s", name);
	va_start(ap, fmt);
	buf_vprintf(p->out, fmt, ap);
	va_end(ap);
	buf_add(p->out, "\n", 1);
	llvm_declare(p, buf_str(p->out) + was);
	if (!strncmp(buf_str(p->out) + was, "\tbr ", 4))
		p->block = NULL;
	return name;
}

void llvm_label(Printer *p, const char *name, int number)
{
	if (p->block)
		llvm_do(p, "br label %%%s%d", name, number);
	p->block = arena_printf("%s%d", name, number);
	buf_printf(p->out, "%s:\n", p->block);
}

int llvm_branch(Printer *p, UOp *cond)
{
	int n = p->lets++;
	llvm_do(p, "br i1 %s, label %%then%d, label %%done%d", llvm_operand(p, cond), n, n);
	llvm_label(p, "then", n);
	return n;
}

/* ---- statements */

static void loop_turn(Printer *p, const char *counter, PrinterBlock b)
{
	llvm_do(p, "br i1 %s, label %%loop%d, label %%end%d",
		llvm_emit(p, "icmp slt i64 %s, %s", counter, b.below), b.number, b.number);
}

/* A loop from one number to below another, which runs at least once if `once`; returns its
 * counter. */
static const char *loop_begin(Printer *p, const char *from, const char *to, bool once)
{
	int n = p->lets++;
	const char *counter = arena_printf("%%r%d", n), *before = p->block;

	vec_push(&p->blocks, ((PrinterBlock){n, to}));
	if (!once)
		loop_turn(p, from, p->blocks.at[p->blocks.n - 1]);
	llvm_label(p, "loop", n);
	llvm_do(p, "%s = phi i64 [%s, %%%s], [%%n%d, %%next%d]", counter, from, before, n, n);
	return counter;
}

static void loop_end(Printer *p)
{
	PrinterBlock b = p->blocks.at[--p->blocks.n];

	llvm_label(p, "next", b.number);
	llvm_do(p, "%%n%d = add nsw i64 %%r%d, 1", b.number, b.number);
	loop_turn(p, arena_printf("%%n%d", b.number), b);
	llvm_label(p, "end", b.number);
}

static void print_range(Printer *p, UOp *u)
{
	int64_t size;
	bool once = const_is_int(u->src[0], &size) && size > 0;
	name_put(p, u, loop_begin(p, "0", llvm_operand(p, u->src[0]), once));
}

static void print_statement(Printer *p, UOp *u)
{
	p->texts->round++;
	switch (u->op) {
	case OP_LET: name_put(p, u, llvm_operand(p, u->src[0])); break;
	case OP_STORE: llvm_store(p, u); break;
	case OP_RANGE: print_range(p, u); break;
	case OP_ENDRANGE: loop_end(p); break;
	case OP_IF: vec_push(&p->blocks, ((PrinterBlock){llvm_branch(p, u->src[0]), NULL})); break;
	case OP_ENDIF: llvm_label(p, "done", p->blocks.at[--p->blocks.n].number); break;
	case OP_PREFETCH: llvm_prefetch(p, u); break;
	case OP_DEFINE_REG: case OP_DEFINE_LOCAL: break;        /* print_storage */
	default: die(MALFORMED, "node %u %s: is no statement", u->id, op_name(u->op));
	}
}

/* ---- the function */

/* Where the function begins, since what stands in a loop would take memory in each turn. */
static void print_storage(Printer *p, UOp *u)
{
	bool reg = u->op == OP_DEFINE_REG;
	const char *name = arena_printf(reg ? "%%acc%d" : "%%buf%d", reg ? p->regs++ : p->bufs++);
	const char *t = arena_printf("[%lld x %s]", (long long)storage_elements(u),
		llvm_type(p, llvm_stored(u->dtype)));

	llvm_do(p, "%s = alloca %s, align 64", name, t);
	name_put(p, u, llvm_emit(p, "getelementptr inbounds %s, %s* %s, i64 0, i64 0", t, t, name));
}

void llvm_head(Printer *p, Buf *out, const char *name)
{
	const char *comma = "";

	buf_printf(out, "define void @%s(", name);
	for (int k = 0; k < p->slots; k++, comma = ", ")
		buf_printf(out, "%s%s*%s%s %s", comma,
			llvm_type(p, llvm_stored(p->call->src[1 + k]->dtype)),
			p->restricted ? " noalias" : "", is_stored(p, k) ? "" : " readonly",
			p->slot_name[k]);
	for (size_t i = 0; i < p->vars.n; i++, comma = ", ")
		buf_printf(out, "%si64 %s", comma, p->var_name[i]);
	if (p->from)
		buf_printf(out, "%si64 %s, i64 %s", comma, p->from, p->to);
	buf_printf(out, ") noinline nounwind {");
}

void llvm_body(Printer *p, const Nodes *all)
{
	const char *item;

	p->block = "0";
	for (size_t i = 0; i < all->n; i++)
		if (all->at[i]->op == OP_DEFINE_REG || all->at[i]->op == OP_DEFINE_LOCAL)
			print_storage(p, all->at[i]);
	item = p->from ? loop_begin(p, p->from, p->to, false) : NULL;
	name_item(p, all, item);
	for (uint32_t i = 0; i < p->kernel->nsrc; i++)
		print_statement(p, p->kernel->src[i]);
	if (item)
		loop_end(p);
	llvm_do(p, "ret void");
}

void llvm_caller(Buf *out, const Dialect *d, const char *name, size_t slots, UOp *const *buffer,
	size_t vars, bool grid)
{
	const char *comma = "";
	Buf call = {0};

	buf_printf(out, "\ndefine void @%s_call(i8** %%bufs, i64* %%vars, i64 %%from, i64 %%to) "
		"nounwind {\n", name);
	for (size_t k = 0; k < slots; k++, comma = ", ") {
		const char *t = d->type[llvm_stored(buffer[k]->dtype)];
		buf_printf(out, "\t%%a%zu = getelementptr inbounds i8*, i8** %%bufs, i64 %zu\n"
			"\t%%b%zu = load i8*, i8** %%a%zu\n"
			"\t%%p%zu = bitcast i8* %%b%zu to %s*\n", k, k, k, k, k, k, t);
		buf_printf(&call, "%s%s* %%p%zu", comma, t, k);
	}
	for (size_t k = 0; k < vars; k++, comma = ", ") {
		buf_printf(out, "\t%%v%zu = getelementptr inbounds i64, i64* %%vars, i64 %zu\n"
			"\t%%n%zu = load i64, i64* %%v%zu\n", k, k, k, k);
		buf_printf(&call, "%si64 %%n%zu", comma, k);
	}
	buf_printf(out, "\tcall void @%s(%s%s%s)\n\tret void\n}\n", name, buf_str(&call),
		grid ? comma : "", grid ? "i64 %from, i64 %to" : "");
	buf_free(&call);
}
