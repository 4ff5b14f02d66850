/* Verdicts on pairs of kernels: pairs that differ only in their buffers are judged once.
 *
 *     CALL(K, y, t, x) and CALL(T, t, x, w)   →   buffers y t x w; T's slots are 1 2 3 of these
 *
 * In a deep network, whose layers repeat, most pairs that a pass examines have been seen before. */
#include "shape/shape.h"
#include "fuse.h"
#include <stdlib.h>

static uint32_t slot_among(UOp *const *buffer, uint32_t n, const UOp *b)
{
	uint32_t k = 0;
	while (k < n && buffer[k] != b)
		k++;
	return k;
}

Pair pair_of(UOp *first, UOp *second)
{
	static ARENA VEC(UOp *) buffer;
	static ARENA VEC(uint32_t) slot;
	buffer.n = slot.n = 0;
	for (uint32_t i = 1; i < first->nsrc; i++)
		vec_push(&buffer, first->src[i]);
	for (uint32_t i = 1; i < second->nsrc; i++) {
		uint32_t k = slot_among(buffer.at, first->nsrc - 1, second->src[i]);
		if (k == first->nsrc - 1) {
			k = buffer.n;
			vec_push(&buffer, second->src[i]);
		}
		vec_push(&slot, k);
	}
	return (Pair){first->src[0], second->src[0], buffer.at, buffer.n, first->nsrc - 1,
		slot.at, slot.n};
}

UOp *pair_second(const Pair *p)
{
	static ARENA VEC(UOp *) from, to;
	from.n = to.n = 0;
	for (uint32_t i = 0; i < p->slots; i++) {
		const UOp *buffer = p->buffer[p->slot[i]];
		vec_push(&from, param_new(i, buffer));
		vec_push(&to, param_new(p->slot[i], buffer));
	}
	return substitute(p->second, p->slots, from.at, to.at);
}

static bool is_of(const Verdict *v, const Pair *p, uint64_t how)
{
	return v->first == p->first && v->second == p->second && v->how == how &&
		!memcmp(v->slot, p->slot, p->slots * sizeof *p->slot);
}

Verdict *verdict_of(Verdicts *all, const Pair *p, uint64_t how)
{
	uint64_t key = hash_mix(hash_mix(PKEY(p->first), PKEY(p->second)), how);
	key = hash_bytes(p->slot, p->slots * sizeof *p->slot, key);
	Verdict *last = map_get(all, key), *v = last;
	while (v && !is_of(v, p, how))
		v = v->next;
	if (v)
		return v;
	v = arena_alloc(sizeof *v + p->slots * sizeof *v->slot);
	*v = (Verdict){.first = p->first, .second = p->second, .how = how, .next = last};
	memcpy(v->slot, p->slot, p->slots * sizeof *v->slot);
	map_put(all, key, v);
	return v;
}
