/* Nonlinear least squares by Levenberg–Marquardt: a decaying background and two peaks,
 *
 *     y = b0 exp(-b1 x) + b2 exp(-((x - b3) / b4)^2) + b5 exp(-((x - b6) / b7)^2)
 *
 * Each call is one step. The parameters, the damping and a table of the results of each step are
 * states. The Jacobian has one column per parameter, so it is computed by that many products in
 * forward mode. A step that does not lower the sum of squares is rejected, and the next one is
 * shorter. */
#include <sluice/tensor.h>

#ifndef STEPS
#define STEPS 12
#endif
#define PARAMETERS 8

/* initial values, as read off a plot of the data */
static const double guess[PARAMETERS] = {90, 0.01, 90, 70, 20, 60, 175, 25};

static Tensor peak(Tensor x, Tensor height, Tensor place, Tensor width)
{
	return mul(height, exp(neg(square(div(sub(x, place), width)))));
}

static Tensor model(Tensor x, Tensor p)
{
	Tensor b[PARAMETERS];
	for (int i = 0; i < PARAMETERS; i++)
		b[i] = at(p, i);
	Tensor background = mul(b[0], exp(neg(mul(b[1], x))));
	return add(background, add(peak(x, b[2], b[3], b[4]), peak(x, b[5], b[6], b[7])));
}

static Tensor squares(Tensor r) { return sum(square(r)); }

/* d r / d p, a column for each parameter */
static Tensor jacobian(Tensor r, Tensor p)
{
	Tensor unit = eye(PARAMETERS), column[PARAMETERS];
	for (int i = 0; i < PARAMETERS; i++)
		column[i] = jvp(r, p, at(unit, i));
	return stack(TENSORS(column, PARAMETERS), KW(axis, 1));
}

/* The table with a row for this call. */
static Tensor noted(Tensor row)
{
	Tensor steps = state("steps", full(LIST(STEPS, PARAMETERS + 1), NAN));
	Tensor call = state("call", cast(0, I64));
	Tensor here = equal(unsqueeze(arange(STEPS), 1), call);
	assign(call, add(call, 1));
	return assign(steps, where(here, row, steps));
}

SLUICE_FUNCTION(fit, SIZE(n, PARAMETERS + 1, 1000000), ARG(x, F64, n), ARG(y, F64, n))
{
	Tensor p = state("p", constant(guess)), damping = state("damping", 1e-3);
	Tensor r = sub(model(x, p), y), j = jacobian(r, p), jt = transpose(j), a = matmul(jt, j);

	Tensor next = sub(p, solve(add(a, diag(mul(damping, diag(a)))), matmul(jt, r)));
	Tensor before = squares(r), after = squares(sub(model(x, next), y)),
	       better = less(after, before);
	p = assign(p, where(better, next, p));
	assign(damping, where(better, div(damping, 3), mul(damping, 4)));

	Tensor rms = sqrt(div(minimum(after, before), size(x)));
	output("steps", noted(concat(reshape(rms, 1), p)));
	output("p", p);
	/* the standard deviation of each parameter, from the curvature at the start of the step */
	Tensor variance = div(before, sub(cast(size(x), F64), PARAMETERS));
	output("deviation", sqrt(mul(variance, diag(inv(a)))));
	output("rms", rms);
}
