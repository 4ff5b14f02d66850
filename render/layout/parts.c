/* Values that a call of its own computes, into a temporary over some ranges:
 *
 *     y[r0] = f(v[r1])   →   t[r1] = v[r1];  y[r0] = f(t[r1]) */
#include "document/document.h"
#include "layout/layout.h"

UOp *parts_buffer(const char *name, DType dtype, int n, UOp *const *range)
{
	UOp *dim[MAX_RANGES + 1];
	for (int i = 0; i < n; i++)
		dim[i] = range[i]->src[0];
	return buffer_of(name, "temp", dtype, shape_new(n, dim));
}

static UOp *place(const UOp *buffer, int slot, int n, UOp *const *range)
{
	UOp *at[MAX_RANGES + 2];
	at[0] = param_new(slot, buffer);
	memcpy(at + 1, range, n * sizeof *at);
	return node_new(OP_INDEX, buffer->dtype, n + 1, at, VNIL);
}

UOp *parts_load(const UOp *call, const UOp *buffer, int n, UOp *const *range)
{
	return NODE(OP_LOAD, buffer->dtype, VNIL, place(buffer, (int)call->nsrc - 1, n, range));
}

/* Moves the kernel's buffers up by one slot: the first slot is the one that is written. */
static UOp *slots_on(UOp *u, void *ctx)
{
	(void)ctx;
	return u->op == OP_PARAM ? param_moved(u, param_slot(u) + 1) : u;
}

UOp *parts_call(UOp *call, UOp *buffer, UOp *value, int n, UOp *const *range)
{
	value = walk_replace(value, slots_on, NULL);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, place(buffer, 0, n, range), value);
	const Val *arg =
		VMAP(val_str("name"), val_str(arena_printf("parts_%.200s", call_name(call))));
	UOp *kernel = NODE(OP_KERNEL, DT_NONE, arg, store);
	node_note(kernel, call->src[0]->note);
	UOp **src = arena_alloc((call->nsrc + 1) * sizeof *src);
	src[0] = kernel;
	src[1] = buffer;
	memcpy(src + 2, call->src + 1, (call->nsrc - 1) * sizeof *src);
	return call_compact(node_new(OP_CALL, DT_NONE, call->nsrc + 1, src, call->arg));
}
