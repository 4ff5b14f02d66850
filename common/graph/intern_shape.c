/* Shapes are interned, so that equal shapes are one pointer. */
#include "graph/graph.h"

static ARENA Map shapes;      /* hash → chain of shapes with that hash */
typedef struct Link Link;
struct Link { Link *next; Shape shape; };

const Shape *shape_new(int rank, UOp *const *dim)
{
	uint64_t h = rank + 1;
	for (int i = 0; i < rank; i++)
		h = hash_mix(h, dim[i]->id);
	Link *first = map_get(&shapes, h);
	for (Link *l = first; l; l = l->next)
		if (l->shape.rank == rank &&
			(!rank || !memcmp(l->shape.dim, dim, rank * sizeof *dim)))
			return &l->shape;
	Link *l = arena_alloc(sizeof *l + rank * sizeof *dim);
	l->next = first;
	l->shape.rank = rank;
	l->shape.hash = h;
	if (rank)
		memcpy(l->shape.dim, dim, rank * sizeof *dim);
	map_put(&shapes, h, l);
	return &l->shape;
}

const Shape *shape_scalar(void)
{
	static ARENA const Shape *scalar;
	return scalar ? scalar : (scalar = shape_new(0, NULL));
}
