/* Whether threads help the turns of a loop, found by trying. Kernels of a few microseconds gain
 * little by sharing, and lose a lot where other processes take the threads' processors: a turn then
 * waits for a thread that does not run.
 *
 *     with threads, 32 turns | alone, 8 | with, 64 | alone, 8 | …     as long as threads are faster
 *
 * The longer nothing changes, the rarer are trials. Which thread computes what never changes a
 * result. */
#include "session/list.h"

enum { TRIAL = 8, FIRST = 32, LONGEST = 1 << 14 };

bool pace_begin(Pace *p)
{
	p->begin = now_ms();
	return pool_alone(p->alone != p->trying);
}

void pace_end(Pace *p, bool before)
{
	p->ms += now_ms() - p->begin;
	pool_alone(before);
}

/* Takes what was tried if it is faster by more than chance. */
static void judge(Pace *p, double each)
{
	const double faster = 0.9;
	bool better = each < faster * p->each;
	p->alone ^= better;
	p->stretch = better ? FIRST : p->stretch < LONGEST ? 2 * p->stretch : LONGEST;
}

bool pace_turn(Pace *p)
{
	p->stretch = p->stretch ? p->stretch : FIRST;
	if (++p->turns >= (p->trying ? TRIAL : p->stretch)) {
		double now = now_ms(), each = (p->ms + now - p->begin) / (double)p->turns;
		if (p->trying)
			judge(p, each);
		else
			p->each = each;
		p->trying ^= true;
		p->turns = 0;
		p->ms = 0;
		p->begin = now;
		pool_alone(p->alone != p->trying);
	}
	return p->alone == p->trying;
}
