/* NonMaxSuppression: boxes in order of falling score, without those that overlap a better one too
 * much. Their number depends on values: for known boxes and scores the result is data, [n, (batch,
 * class, box)]; other inputs go to suppress.c. */
#include "onnx/onnx.h"
#include "onnx/operators/boxes.h"
#include <stdlib.h>

typedef struct { float y1, x1, y2, x2; } Box;
typedef struct { float score; int64_t at; } Scored;
typedef struct { int64_t most; float iou, score; bool any_score; } Wanted;

/* The two corners may come in either order. */
static Box box_at(const float *v, bool center)
{
	Box b = { v[0], v[1], v[2], v[3] };

	if (center)
		return (Box){ v[1] - v[3] / 2, v[0] - v[2] / 2, v[1] + v[3] / 2, v[0] + v[2] / 2 };
	if (b.y1 > b.y2)
		b = (Box){ b.y2, b.x1, b.y1, b.x2 };
	return b.x1 > b.x2 ? (Box){ b.y1, b.x2, b.y2, b.x1 } : b;
}

static float area(Box b) { return (b.y2 - b.y1) * (b.x2 - b.x1); }

static bool overlap(Box a, Box b, float iou)
{
	Box c = { a.y1 > b.y1 ? a.y1 : b.y1, a.x1 > b.x1 ? a.x1 : b.x1, a.y2 < b.y2 ? a.y2 : b.y2,
		a.x2 < b.x2 ? a.x2 : b.x2 };
	float shared = c.y2 > c.y1 && c.x2 > c.x1 ? area(c) : 0, all = area(a) + area(b) - shared;

	return area(a) > 0 && area(b) > 0 && all > 0 && shared / all > iou;
}

static int by_score(const void *a, const void *b)
{
	const Scored *x = a, *y = b;

	if (x->score != y->score)
		return x->score > y->score ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

/* Writes the places of the boxes that are kept, at most w->most of them, to out. */
static int64_t suppress(const float *boxes, const float *scores, int64_t n, bool center,
	const Wanted *w, int64_t *out)
{
	Scored *s = arena_alloc((n + 1) * sizeof *s);
	int64_t m = 0, kept = 0;

	for (int64_t i = 0; i < n; i++)
		if (w->any_score ? scores[i] == scores[i] : scores[i] > w->score)
			s[m++] = (Scored){ scores[i], i };
	qsort(s, m, sizeof *s, by_score);
	for (int64_t i = 0; i < m && kept < w->most; i++) {
		Box b = box_at(boxes + 4 * s[i].at, center);
		bool free = true;
		for (int64_t k = 0; k < kept && free; k++)
			free = !overlap(box_at(boxes + 4 * out[k], center), b, w->iou);
		if (free)
			out[kept++] = s[i].at;
	}
	return kept;
}

static double one_number(OnnxCall *c, int k, double otherwise)
{
	double v = otherwise;

	if (onnx_has(c, k) && onnx_known_floats(c, k, &v, 1) != 1)
		onnx_fail(c, MALFORMED, "input %d is not one number", k);
	return v;
}

static UOp *scalar_or(OnnxCall *c, int k, UOp *otherwise)
{
	UOp *u = onnx_in_or(c, k, NULL);

	if (u && shape_count(u->shape) != ix_const(1))
		onnx_fail(c, MALFORMED, "input %d is not one number", k);
	return u ? t_reshape(u, shape_scalar()) : otherwise;
}

/* Sizes that may be equal are, or run finds that they are not. */
static bool agree(UOp *a, UOp *b)
{
	if (a != b && size_may_equal(a, b))
		size_check("eq", a, b);
	return size_equal(a, b);
}

static void check_boxes(OnnxCall *c)
{
	UOp *boxes = onnx_in(c, 0), *scores = onnx_in(c, 1);
	bool fit = t_rank(boxes) == 3 && t_rank(scores) == 3 && boxes->dtype == DT_F32 &&
		scores->dtype == DT_F32;

	if (!fit || !agree(t_dim(boxes, 2), ix_const(4)) ||
		!agree(t_dim(boxes, 0), t_dim(scores, 0)) ||
		!agree(t_dim(boxes, 1), t_dim(scores, 2)))
		onnx_fail(c, MALFORMED, "boxes %s and scores %s do not fit",
			shape_text(boxes->shape), shape_text(scores->shape));
}

void onnx_NonMaxSuppression(OnnxCall *c)
{
	Array boxes, scores, out;
	bool center = onnx_attr_int(c, "center_point_box", 0) != 0;
	UOp *limit = t_cast(scalar_or(c, 2, const_int(DT_I64, 0)), DT_I64);
	int64_t n, classes, *kept;
	VEC(int64_t) found = { 0 };

	check_boxes(c);
	if (onnx_has(c, 2) && onnx_try_known(c, 2, &out))
		limit = const_int(DT_I64, onnx_known_int(c, 2));
	if (!onnx_try_known(c, 0, &boxes) || !onnx_try_known(c, 1, &scores) || !is_const(limit)) {
		onnx_set(c, 0, onnx_suppress(onnx_in(c, 0), onnx_in(c, 1), center, limit,
			scalar_or(c, 3, const_num(DT_F32, 0)), scalar_or(c, 4, NULL)));
		return;
	}
	Wanted w = { 0, one_number(c, 3, 0), one_number(c, 4, 0), !onnx_has(c, 4) };
	const_is_int(limit, &w.most);
	n = boxes.dim[1];
	classes = scores.dim[1];
	kept = arena_alloc((n + 1) * sizeof *kept);
	for (int64_t i = 0; i < boxes.dim[0] * classes; i++) {
		int64_t m = suppress((float *)boxes.data + i / classes * n * 4,
			(float *)scores.data + i * n, n,
			center, &w, kept);
		for (int64_t k = 0; k < m; k++) {
			vec_push(&found, i / classes);
			vec_push(&found, i % classes);
			vec_push(&found, kept[k]);
		}
	}
	out = (Array){ .dtype = DT_I64, .rank = 2 };
	out.dim[0] = found.n / 3;
	out.dim[1] = 3;
	out.bytes = found.n * sizeof(int64_t);
	out.data = arena_alloc(out.bytes + 1);
	if (found.n)
		memcpy(out.data, found.at, out.bytes);
	vec_free(&found);
	onnx_set(c, 0, array_tensor(&out));
}
