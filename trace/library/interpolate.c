/* Resizes the last axes of x[n,c,...], one axis at a time, as PyTorch does: place i of n' reads
 * place (i + 0.5) * n / n' - 0.5 of n (pixel centres), or i * (n-1) / (n'-1) with align_corners;
 * nearest reads floor(i * n / n').
 *
 *     interpolate(x, scale=2)   →   each element repeated twice along each axis */
#include "library/library.h"
#include <math.h>

static ResizeHow how_of(Args *a)
{
	const char *mode = arg_str(a, 3);
	bool nearest = !strcmp(mode, "nearest");

	if (!nearest && strcmp(mode, "linear") && strcmp(mode, "cubic"))
		die(MALFORMED, "interpolate: mode is nearest, linear or cubic, not '%s'", mode);
	return (ResizeHow){ .mode = *mode, .round = ROUND_FLOOR, .a = -0.75,
		.map = nearest ? MAP_ASYMMETRIC : arg_bool(a, 4) ? MAP_CORNERS : MAP_HALF };
}

/* n elements to `size`, or by scale if size is 0 */
static ResizeAxis axis_of(const ResizeHow *h, int64_t n, int64_t size, double scale)
{
	ResizeAxis ax = { .n = n, .to = size ? size : (int64_t)floor(n * scale), .crop = { 0, 1 } };

	ax.scale = size || h->map == MAP_CORNERS ? (double)ax.to / n : scale;
	if (n < 1 || ax.to < 1)
		die(MALFORMED, "interpolate: an axis of x is empty, or would be");
	return ax;
}

Value fn_interpolate(Args *a)
{
	UOp *x = arg_tensor(a, 0), *y = x;
	int nd = t_rank(x) - 2;
	int64_t size[MAX_RANK] = { 0 };
	double scale = 0;
	ResizeHow h = how_of(a);

	if (nd < 1 || arg_given(a, 1) == arg_given(a, 2))
		die(MALFORMED, "interpolate: needs x[n,c,...] and one of size and scale");
	if (arg_given(a, 1))
		space_numbers(a, 1, nd, size, 1);
	else
		scale = arg_float(a, 2);
	if (arg_given(a, 2) && !(scale > 0 && scale < 1e6))
		die(MALFORMED, "interpolate: scale %g is out of range", scale);
	if (h.mode != 'n') {
		x = t_float(x);
		y = t_cast(x, dtype_acc(x->dtype));
	}
	for (int i = 0; i < nd; i++) {
		ResizeAxis ax = axis_of(&h, shape_dim(x->shape, 2 + i), size[i], scale);
		y = t_resize(&h, y, 2 + i, &ax);
	}
	return v_tensor(t_cast(y, x->dtype));
}
