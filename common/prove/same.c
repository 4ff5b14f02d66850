#include "prove/apart.h"
bool same_values(const ProvedCall *c, const Items *x, Digits *d, const Access *const *a)
{
	(void)c; (void)x; (void)d; (void)a;
	return false;
}
