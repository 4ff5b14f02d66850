/* Learning rates over time: functions of a step counter, to be multiplied.
 *
 *     lr = 3e-4 * warmup(step, 100) * cosine_decay(step, 1000, last=0.1)
 *
 * The counter is a scalar that starts at 0, for example a state that each call increments. */
#include "library/library.h"
#include <math.h>

static UOp *counter(Args *a)
{
	UOp *step = arg_tensor(a, 0);

	if (t_rank(step))
		die(MALFORMED, "%s: the step is a scalar, not %s", a->fn->name,
			shape_text(step->shape));
	return dtype_float(step->dtype) ? step : t_cast(step, DT_F32);
}

/* a positive number of steps */
static double span(Args *a, int k)
{
	double n = arg_float(a, k);

	if (!(n > 0 && isfinite(n)))
		die(MALFORMED, "%s: %s is %g, not above 0", a->fn->name, param_name(a->fn, k), n);
	return n;
}

/* step / n, at most 1 */
static UOp *share(Args *a, UOp *step)
{
	return t_min(t_div(step, t_num(step->dtype, span(a, 1))), t_num(step->dtype, 1));
}

/* from 1 to last as x goes from 0 to 1 */
static UOp *falling(Args *a, UOp *x, int k)
{
	double last = arg_float(a, k);

	return t_addc(t_mulc(t_sub(t_num(x->dtype, 1), x), 1 - last), last);
}

Value fn_warmup(Args *a) { return v_tensor(share(a, t_addc(counter(a), 1))); }

Value fn_linear_decay(Args *a) { return v_tensor(falling(a, share(a, counter(a)), 2)); }

Value fn_cosine_decay(Args *a)
{
	UOp *x = share(a, counter(a));

	x = t_mulc(t_sub(t_num(x->dtype, 1), t_cos(t_mulc(x, M_PI))), 0.5);
	return v_tensor(falling(a, x, 2));
}

Value fn_step_decay(Args *a)
{
	UOp *step = counter(a), *n = t_floor(t_div(step, t_num(step->dtype, span(a, 1))));

	return v_tensor(t_pow(t_num(step->dtype, arg_float(a, 2)), n));
}
