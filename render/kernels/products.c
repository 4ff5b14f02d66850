/* How long a contraction takes on a GPU in groups that share their operands, roughly, by which the
 * elements of an item are chosen, and the parts of a sum.
 *
 * Each multiprocessor has its share of the groups, one after another. A step along the sum is as
 * many multiply-adds as a group has elements, besides what loads and moves their operands; or the
 * time in which the operands come from the last cache. */
#include "target/target.h"
#include "kernels/kernels.h"
#include <math.h>

/* What a load of an operand and its way into the group's memory take, of a multiply-add; what waits
 * cost where no other group of a multiprocessor runs meanwhile. */
#define LOADED 7
#define ALONE 1.25
/* of the time without them, for which parts pay */
#define GAIN 0.9

static double ceil_of(int64_t n, int64_t by) { return (double)((n + by - 1) / by); }

int product_items(int64_t size)
{
	int n = PRODUCT_ITEMS;
	while (n > size)
		n /= 2;
	return n;
}

double product_groups(const Product *p, const int *each)
{
	double n = p->others;
	for (int s = 0; s < 2; s++)
		n *= ceil_of(p->side[s], product_items(p->side[s]) * each[s]);
	return n;
}

static double product_ns(const Product *p, const int *each)
{
	const Machine *m = &target->machine;
	double i = each[0] * product_items(p->side[0]), j = each[1] * product_items(p->side[1]);
	double turns = ceil(product_groups(p, each) / m->cores);
	int at_once = target->access > p->size ? target->access / p->size : 1;
	double loads = ceil_of(each[0], at_once) + ceil_of(each[1], at_once);
	double adds = i * j * (1 + LOADED * loads / (each[0] * each[1])) / (m->ops * WARP);
	double compute = adds * 1000 / m->clock, memory = (i + j) * p->size / m->read[2];
	return turns * (double)p->sum * (compute > memory ? compute : memory) *
		(turns > 1 ? 1 : ALONE);
}

double product_tile(const Product *p, int *each)
{
	double best = 0;
	int limit[2], try[2];
	for (int s = 0; s < 2; s++)
		for (limit[s] = PRODUCT_EACH; product_items(p->side[s]) * limit[s] > p->side[s];)
			limit[s] /= 2;
	for (try[0] = limit[0]; try[0]; try[0] /= 2)
		for (try[1] = limit[1]; try[1]; try[1] /= 2) {
			double ns = product_ns(p, try);
			if (best && (ns >= best || try[0] * try[1] < PRODUCT_LEAST))
				continue;
			best = ns;
			each[0] = try[0];
			each[1] = try[1];
		}
	return best;
}

int64_t product_parts(const Product *p)
{
	const Machine *m = &target->machine;
	double elements = p->others * (double)p->side[0] * (double)p->side[1];
	int64_t best = 1;
	int each[2];
	double least = product_tile(p, each);
	for (int64_t parts = 2; p->sum / parts >= PRODUCT_PART; parts *= 2) {
		Product q = *p;
		q.others *= (double)parts;
		q.sum = (p->sum + parts - 1) / parts;
		double ns = product_tile(&q, each) + m->start +
			2 * (double)parts * elements * p->size / m->cores / m->read[3];
		if (ns < GAIN * least) {
			least = ns;
			best = parts;
		}
	}
	return best;
}
