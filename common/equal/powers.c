/* What the field cannot tell. There EXP2 of a sum is no product of powers, but a running maximum,
 * or a fold of exponentials in parts, makes one of several:
 *
 *     2^(x - m)  →  2^(x - k) * 2^(k - m)        k: the greatest so far
 *
 * Nor is a weight that is faint beside the greatest 0 there. */
#include "equal/parts.h"

/* Does a kernel's arg say so: `online`, that it computes with a running maximum, `faint`, that
 * faint weights are 0? */
static bool says(const Graph *g, const char *what)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_KERNEL && val_get(all.at[i]->arg, what))
			return true;
	return false;
}

/* Whether some kernel's reductions were computed in parts, by an action that is done. */
static bool has_parts(const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++) {
		const Val *arg = all.at[i]->arg;
		const Val *list = all.at[i]->op == OP_KERNEL && val_get(arg, "plan") ?
			val_get(arg, "actions") : NULL;
		for (size_t k = 0; list && list->kind == VAL_ARRAY && k < list->n; k++)
			if (list->a[k]->kind == VAL_ARRAY && list->a[k]->n &&
				val_is_str(list->a[k]->a[0], "rfactor"))
				return true;
	}
	return false;
}

/* Whether a fold of a tuple multiplies by a power of 2 of a difference, as a running sum of
 * exponentials does whose maximum grows. */
static bool rescales(const Graph *g)
{
	Nodes all = walk(g->sink);
	for (size_t i = 0; i < all.n; i++)
		for (uint32_t k = 0; all.at[i]->op == OP_TUPLE && k < tuple_size(all.at[i]); k++) {
			Nodes rule = walk(tuple_rule(all.at[i], k));
			for (size_t j = 0; j < rule.n; j++)
				if (rule.at[j]->op == OP_EXP2)
					return true;
		}
	return false;
}

bool powers_differ(const Graph *a, const Graph *b, const Graph *normal_a, const Graph *normal_b)
{
	return says(a, "online") != says(b, "online") || says(a, "faint") != says(b, "faint") ||
		(has_parts(a) != has_parts(b) && (rescales(normal_a) || rescales(normal_b)));
}
