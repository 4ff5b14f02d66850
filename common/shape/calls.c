/* Calls of kernels: their buffers, and the slots by which kernels refer to them.
 *
 *     CALL (KERNEL, y, x)    y is slot 0, x is slot 1: in the kernel PARAM {slot: 1, shape: …} is x
 */
#include "shape/shape.h"

int64_t param_slot(const UOp *param)
{
	static ARENA const Val *key;
	const Val *arg = param->arg;
	size_t i = 0;
	key = key ? key : val_str("slot");
	while (arg->a[i] != key)
		i += 2;
	return arg->a[i + 1]->i;
}

/* A cache of recent PARAMs: the same one is often made again, and building its arg is not cheap. */
enum { RECENT = 256 };
typedef struct { UOp *param; const Shape *shape; int64_t slot; uint8_t dtype; } Recent;
static ARENA Recent recent[RECENT];

UOp *param_new(int64_t slot, const UOp *buffer)
{
	Recent *r = &recent[(buffer->shape->hash + slot * 8 + buffer->dtype) % RECENT];
	if (!r->param || r->slot != slot || r->dtype != buffer->dtype ||
		r->shape != buffer->shape) {
		UOp *p = LEAF(OP_PARAM, buffer->dtype, VMAP(val_str("slot"), val_int(slot),
			val_str("shape"), shape_to_val(buffer->shape)));
		*r = (Recent){p, buffer->shape, slot, buffer->dtype};
	}
	return r->param;
}

UOp *param_moved(const UOp *param, int64_t slot)
{
	return LEAF(OP_PARAM, param->dtype, val_set(param->arg, "slot", val_int(slot)));
}

UOp *buffer_of(const char *name, const char *role, DType dt, const Shape *shape)
{
	return LEAF(OP_BUFFER, dt, VMAP(val_str("name"), val_str(name), val_str("shape"),
		shape_to_val(shape), val_str("role"), val_str(role)));
}

bool call_has_kernel(const UOp *u) { return u->op == OP_CALL && u->src[0]->op == OP_KERNEL; }

/* quadratic, but there are few slots */
bool call_aliases(const UOp *call)
{
	for (uint32_t i = 2; i < call->nsrc; i++)
		for (uint32_t k = 1; k < i; k++)
			if (call->src[i] == call->src[k])
				return true;
	return false;
}

UOp *call_with_kernel(UOp *call, UOp *kernel)
{
	UOp **src = arena_alloc(call->nsrc * sizeof *src);
	memcpy(src, call->src, call->nsrc * sizeof *src);
	src[0] = kernel;
	return node_with(call, src);
}

UOp *call_with_buffer(const UOp *call, UOp *kernel, UOp *buffer)
{
	UOp **src = arena_alloc((call->nsrc + 1) * sizeof *src);
	memcpy(src, call->src, call->nsrc * sizeof *src);
	src[0] = kernel;
	src[call->nsrc] = buffer;
	return node_new(OP_CALL, DT_NONE, call->nsrc + 1, src, call->arg);
}

uint64_t call_writes(const UOp *call)
{
	const UOp *kernel = call->src[0]->op == OP_PROGRAM ? call->src[0]->src[0] : call->src[0];
	uint64_t slots = kernel->op == OP_CUSTOM;
	Nodes all = walk_kept(call->src[0]);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *u = all.at[i];
		if (u->op != OP_STORE || u->src[0]->op != OP_INDEX ||
			u->src[0]->src[0]->op != OP_PARAM)
			continue;
		const Val *slot = val_get(u->src[0]->src[0]->arg, "slot");
		if (slot && slot->kind == VAL_INT && slot->i >= 0 && slot->i < 64)
			slots |= (uint64_t)1 << slot->i;
	}
	return slots;
}

int call_slot(const UOp *call, const UOp *buffer)
{
	for (uint32_t k = 1; k < call->nsrc; k++)
		if (call->src[k] == buffer)
			return (int)k - 1;
	return -1;
}

bool call_touches(const UOp *call, const UOp *buffer)
{
	return (call->op != OP_CALL && call->src[0] == buffer) || call_slot(call, buffer) >= 0;
}

bool call_stores(const UOp *call, const UOp *buffer)
{
	if (call->op != OP_CALL)
		return call_touches(call, buffer);
	uint64_t writes = call_writes(call);
	for (uint32_t k = 1; k < call->nsrc && k <= 64; k++)
		if (call->src[k] == buffer && writes >> (k - 1) & 1)
			return true;
	return false;
}

uint64_t call_fills(const UOp *call)
{
	uint64_t slots = call_writes(call);
	Nodes all = walk_kept(call->src[0]);
	for (size_t i = 0; i < all.n; i++) {
		const UOp *to = all.at[i]->op == OP_RSORT ? all.at[i]->src[2]->src[0] : NULL;
		const Val *slot = to ? val_get(to->arg, "slot") : NULL;
		if (slot && slot->kind == VAL_INT && slot->i >= 0 && slot->i < 64)
			slots |= (uint64_t)1 << slot->i;
	}
	return slots;
}

const char *kernel_name(const UOp *kernel)
{
	const Val *name = val_get(kernel->arg, "name");
	return name && name->kind == VAL_STR ? name->s : "kernel";
}

const char *call_name(const UOp *call) { return kernel_name(call->src[0]); }

Graph *graph_with_calls(const Graph *g, size_t n, UOp *const *calls)
{
	Graph *r = arena_alloc(sizeof *r);
	*r = *g;
	r->all = (Nodes){0};
	r->sink = node_like(g->sink, n, calls, g->sink->arg);
	return r;
}
