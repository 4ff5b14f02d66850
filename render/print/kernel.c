/* A kernel's source, in any language: what its function brings along, the function, and what run
 * calls. The function's own text is C's (cstyle.c) unless the Dialect has another printer. */
#include "print/print.h"

/* Dies with UNSUPPORTED when the language lacks what work groups share. */
static void check_groups(const Printer *p, const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++) {
		UOp *u = all->at[i];
		bool shared = u->op == OP_DEFINE_LOCAL && u->arg->n > 2 &&
			val_is_str(u->arg->a[2], "local");
		if (shared && !p->d->local)
			die(UNSUPPORTED, "node %u DEFINE_LOCAL: target %s has no local memory",
				u->id, p->d->target);
		if (u->op == OP_BARRIER && !p->d->barrier)
			die(UNSUPPORTED, "node %u BARRIER: target %s has no work groups", u->id,
				p->d->target);
	}
}

static bool uses_f64(const Printer *p, const Nodes *all)
{
	for (size_t i = 0; i < all->n; i++)
		if (dtype_element(all->at[i]->dtype) == DT_F64)
			return true;
	for (size_t i = 0; i < p->helpers.names.n; i++)
		if (strstr(p->helpers.names.at[i], "f64"))
			return true;
	return false;
}

const Val *print_kernel(
	Buf *out, const Dialect *d, UOp *kernel, const char *name, UOp *call, bool restricted)
{
	static ARENA Texts texts;       /* for all kernels: statements are numbered on */
	Buf body = {0};
	Printer p = {.d = d, .texts = &texts, .kernel = kernel, .call = call, .out = &body,
		.helpers = {.d = d}, .restricted = restricted};
	Nodes all = walk(kernel);
	narrow_find(&p, &all);
	signature_find(&p, &all, name);
	check_groups(&p, &all);
	if (d->prelude)
		helper_put(&p.helpers, d->target, d->prelude);
	d->body ? d->body(&p, &all) : cstyle_body(&p, &all);
	bool f64 = uses_f64(&p, &all);
	if (f64 && !d->type[DT_F64])
		die(UNSUPPORTED, "kernel %s: target %s has no f64", name, d->target);
	buf_printf(out, "%s%s%s", d->first_line ? d->first_line : "",
		f64 && d->f64_line ? d->f64_line : "", buf_str(&p.helpers.text));
	print_origin(&p, out);
	d->head ? d->head(&p, out, name) : cstyle_head(&p, out, name);
	buf_printf(out, "\n%s}\n", buf_str(&body));
	p.out = out;
	if (d->caller)
		d->caller(out, d, name, p.slots, call->src + 1, p.vars.n, p.from != NULL);
	else if (d->on_cpu)
		cstyle_caller(&p, name);
	buf_free(&body);
	return signature_end(&p);
}
