/* Values that a call of its own computes, into a buffer over some ranges:
 *
 *     y[r0] = f(v[r1])   →   t[r1] = v[r1];  y[r0] = f(t[r1]) */
#include "document/document.h"
#include "layout/layout.h"

UOp *buffer_over(const char *name, const char *role, DType dtype, int n, UOp *const *range)
{
	UOp *dim[MAX_RANGES + 1];
	for (int i = 0; i < n; i++)
		dim[i] = range[i]->src[0];
	return buffer_of(name, role, dtype, shape_new(n, dim));
}

static UOp *place(const UOp *buffer, int slot, UOp *const *range)
{
	UOp *at[MAX_RANGES + 2];
	int n = buffer->shape->rank;
	at[0] = param_new(slot, buffer);
	memcpy(at + 1, range, n * sizeof *at);
	return node_new(OP_INDEX, buffer->dtype, n + 1, at, VNIL);
}

UOp *load_over(const UOp *call, const UOp *buffer, UOp *const *range)
{
	return NODE(OP_LOAD, buffer->dtype, VNIL, place(buffer, (int)call->nsrc - 1, range));
}

/* Moves the kernel's buffers up by one slot: the first slot is the one that is written. */
static UOp *slots_on(UOp *u, void *ctx)
{
	(void)ctx;
	return u->op == OP_PARAM ? param_moved(u, param_slot(u) + 1) : u;
}

UOp *stored_by(const UOp *call, const char *name, UOp *buffer, UOp *value, UOp *const *range)
{
	value = walk_replace(value, slots_on, NULL);
	UOp *to = place(buffer, 0, range);
	UOp *store = NODE(OP_STORE, DT_NONE, VNIL, to, value);
	UOp **src = arena_alloc((call->nsrc + 1) * sizeof *src);
	src[0] = NODE(OP_KERNEL, DT_NONE, VMAP(val_str("name"), val_str(name)), store);
	src[1] = buffer;
	memcpy(src + 2, call->src + 1, (call->nsrc - 1) * sizeof *src);
	return call_compact(node_new(OP_CALL, DT_NONE, call->nsrc + 1, src, call->arg));
}

UOp *parts_call(UOp *call, UOp *buffer, UOp *value, UOp *const *range)
{
	const char *name = arena_printf("parts_%.200s", call_name(call));
	UOp *made = stored_by(call, name, buffer, value, range);
	node_note(made->src[0], call->src[0]->note);
	return made;
}
