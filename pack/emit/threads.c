/* Kernels whose items several threads may share.
 *
 *     CALL r_64 y x, global_size [n]   →   {
 *                                                  void *const buf[] = {y, (void *)x};
 *                                                  NAME_job job = {r_64_call, buf, NULL, NULL, 0};
 *                                                  NAME_share(threads, n, 20, &job);
 *                                          }
 */
#include "emit/emit.h"

void emit_shared_call(Emit *e, const UOp *call, const Kernel *k)
{
	const Val *arg = call->src[0]->arg, *vars = val_get(arg, "vars");
	const Val *work = val_get(arg, "work");
	bool sized = vars && vars->kind == VAL_ARRAY && vars->n;

	emit_line(e, "{");
	e->tabs++;
	emit_start(e);
	buf_printf(e->out, "void *const buf[] = {");
	for (uint32_t i = 1; i < call->nsrc; i++)
		buf_printf(e->out, "%s(void *)%s", i > 1 ? ", " : "",
			function_buffer(e->f, call->src[i])->id);
	buf_printf(e->out, "};\n");
	if (sized) {
		emit_start(e);
		buf_printf(e->out, "const int64_t size[] = {");
		for (size_t i = 0; i < vars->n; i++) {
			buf_printf(e->out, i ? ", " : "");
			emit_size_val(e, vars->a[i]);
		}
		buf_printf(e->out, "};\n");
	}
	emit_line(e, "%s_job job = {%s_call, buf, %s, %s, %lld};", e->m->name, k->id,
		sized ? "size" : "NULL", k->scratch ? "scratch" : "NULL",
		k->scratch ? (long long)e->f->scratch : 0);
	emit_start(e);
	buf_printf(e->out, "%s_share(threads, ", e->m->name);
	emit_size_val(e, val_get(arg, "global_size")->a[0]);
	buf_printf(e->out, ", ");
	emit_size_val(e, work ? work : val_int(1));
	buf_printf(e->out, ", &job);\n");
	e->tabs--;
	emit_line(e, "}");
}

void emit_threads_header(Buf *out, const Module *m)
{
	if (m->threads != THREADS_NONE)
		emit_template(out, m, "threads_header");
	if (m->threads == THREADS_POOL)
		emit_template(out, m, "pool_header");
}

void emit_threads_source(Buf *out, const Module *m)
{
	emit_template(out, m, "threads_source");
}

void emit_pool(Buf *out, const Module *m) { emit_template(out, m, "pool"); }
