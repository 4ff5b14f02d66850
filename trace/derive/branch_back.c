/* Reverse mode through a branch: another one, of the same condition, whose values are the parts of
 * the cotangents of what either branch reads.
 *
 *     IF c x² y     g      IF c g·2·x' 0 (for x)  0 g (for y)     x' = WHERE c x 0 */
#include "primitives/primitives.h"
#include "derive/sweep.h"
#include <stdlib.h>

/* cot[k]: of the branches' value k, or NULL */
static bool cotangents(Sweep *s, const UOp *branch, UOp **cot)
{
	bool any = false;

	for (size_t i = 0; i < s->all.n; i++) {
		UOp *u = s->all.at[i], *g;
		if (u->op != OP_PICK || u->src[0] != branch || !(g = sweep_cotangent(s, u)))
			continue;
		UOp **at = &cot[pick_place(u)];
		*at = *at ? t_add(*at, t_reshape(g, (*at)->shape)) : g;
		any = true;
	}
	return any;
}

/* The parts that one branch has, of the cotangents of what it reads: adds reads and parts. */
static void side_back(Sweep *s, UOp *u, bool other, UOp *const *cot, NodeList *of, NodeList *part)
{
	size_t n = (size_t)u->arg->i;
	UOp *const *value = u->src + 1 + (other ? n : 0);
	Body b = branch_body(s->all, s->given, s->nout, s->out, u, other);
	NodeList out = {0}, g = {0}, wrt = {0};
	Map to = {0}, given = {0};
	NodeList reads = branch_reads(&b, u, other, &to, &given);

	body_copy(&b, n, value, &to);
	for (size_t k = 0; k < n; k++)
		if (cot[k]) {
			UOp *v = map_get(&to, PKEY(value[k]));
			vec_push(&out, v);
			vec_push(&g, t_reshape(cot[k], v->shape));
		}
	for (size_t i = 0; i < reads.n; i++)
		if (sweep_follows(s, reads.at[i])) {
			vec_push(&wrt, map_get(&to, PKEY(reads.at[i])));
			vec_push(of, reads.at[i]);
		}
	UOp **grad = arena_alloc((wrt.n + 1) * sizeof *grad);
	reverse_within(&given, out.n, out.at, g.at, wrt.n, wrt.at, grad);
	for (size_t i = 0; i < wrt.n; i++)
		vec_push(part, grad[i]);
	vec_free(&reads);
	vec_free(&out);
	vec_free(&g);
	vec_free(&wrt);
	map_free(&to);
	map_free(&given);
	body_free(&b);
}

void branch_back(Sweep *s, UOp *u)
{
	UOp **cot = arena_alloc(((size_t)u->arg->i + 1) * sizeof *cot);
	NodeList of = {0}, part = {0}, value[2] = {{0}}, to = {0};

	if (!cotangents(s, u, cot))
		return;
	side_back(s, u, false, cot, &of, &part);
	size_t first = of.n;
	side_back(s, u, true, cot, &of, &part);
	for (size_t i = 0; i < of.n; i++)
		if (part.at[i]) {
			vec_push(&to, of.at[i]);
			vec_push(&value[i >= first], part.at[i]);
			vec_push(&value[i < first], zero_of(of.at[i]));
		}
	UOp *back = to.n ? if_new(u->src[0], to.n, value[0].at, value[1].at) : NULL;
	for (size_t i = 0; i < to.n; i++)
		sweep_give(s, to.at[i], if_value(back, (int64_t)i, NULL));
	vec_free(&of);
	vec_free(&part);
	vec_free(&value[0]);
	vec_free(&value[1]);
	vec_free(&to);
}
