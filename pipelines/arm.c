/* An arm of seven joints that follows a path with its tool pointing down: the residuals, as
 * equations in the joints' angles.
 *
 * n points of the path are solved together. Each has three equations for the position, three for
 * the orientation, and one for the free joint: the rotation of the upper arm about its axis is the
 * same at every point. So the equations of point k depend on its own angles and on one angle of
 * point k - 1, and the Jacobian, 7n by 7n, is almost all zeros. */
#include <sluice/tensor.h>

#define JOINTS 7
#define FREE 2          /* the joint that is the same everywhere */

/* the distance to the next joint along the axis of this one, in metres, and the angle between their
 * axes, in quarter turns */
static const double reach[JOINTS] = {0.36, 0, 0.42, 0, 0.4, 0, 0.126};
static const int twist[JOINTS] = {-1, 1, 1, -1, -1, 1, 0};
static const double free_angle = 0.2;

/* positions [n,3], and the three axes that rotate with the tool, each [n,3] */
typedef struct { Tensor place, x, y, z; } Frame;

static Frame turned(Frame f, Tensor angle, int quarters, double along)
{
	Tensor c = unsqueeze(cos(angle), 1), s = unsqueeze(sin(angle), 1), x = f.x;
	if (along)
		f.place = add(f.place, mul(along, f.z));
	f.x = add(mul(c, x), mul(s, f.y));
	f.y = sub(mul(c, f.y), mul(s, x));
	if (quarters) {
		Tensor y = f.y;
		f.y = mul(quarters, f.z);
		f.z = mul(-quarters, y);
	}
	return f;
}

static Frame tool(Tensor q, Tensor n)
{
	Tensor axes = eye(3);
	Frame f = {zeros(LIST(n, 3)), expand(at(axes, 0), n, 3), expand(at(axes, 1), n, 3),
		expand(at(axes, 2), n, 3)};
	for (int i = 0; i < JOINTS; i++)
		f = turned(f, at(q, ALL, i), twist[i], reach[i]);
	return f;
}

/* The cross product of a [n,3] and a vector b of three numbers. */
static Tensor cross(Tensor a, const double *b)
{
	Tensor x = at(a, ALL, 0), y = at(a, ALL, 1), z = at(a, ALL, 2);
	return stack(sub(mul(y, b[2]), mul(z, b[1])), sub(mul(z, b[0]), mul(x, b[2])),
		sub(mul(x, b[1]), mul(y, b[0])), KW(axis, 1));
}

SLUICE_FUNCTION(arm, SIZE(n, 2, 1000), ARG(q, F64, n, JOINTS), ARG(path, F64, n, 3))
{
	static const double ahead[3] = {1, 0, 0}, left[3] = {0, -1, 0}, down[3] = {0, 0, -1};
	Frame f = tool(q, n);
	Tensor miss = sub(f.place, path);
	Tensor turn = div(add(cross(f.x, ahead), add(cross(f.y, left), cross(f.z, down))), 2);
	Tensor roll = at(q, ALL, FREE), first = sub(at(roll, RANGE(0, 1)), free_angle);
	Tensor same = concat(first, sub(at(roll, RANGE(1, NONE)), at(roll, RANGE(0, -1))));

	Tensor r = concat(flatten(miss), flatten(turn), same);
	output("r", r);
	output("residual", sqrt(sum(square(r))));
	output("mm", mul(1000, max(sqrt(sum(square(miss), 1)))));
}
