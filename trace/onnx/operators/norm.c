/* BatchNormalization with the given statistics or, in training, with those of the batch.
 *
 *     training_mode 1   →   batchnorm(x, mean, var, ...) with each channel's own mean and variance,
 *                           and the running ones moved towards them */
#include "onnx/operators/space.h"

/* mean and variance over all axes but that of the channels, [c], in f32 at least */
static void batch_statistics(UOp *x, UOp **stat)
{
	UOp *channels = t_dim(x, 1), *d;
	int axes[MAX_RANK], n = 0;

	for (int i = 0; i < t_rank(x); i++)
		if (i != 1)
			axes[n++] = i;
	x = onnx_wide(x);
	stat[0] = t_mean(x, n, axes, true);
	d = t_sub(x, stat[0]);
	stat[1] = t_mean(t_mul(d, d), n, axes, true);
	for (int k = 0; k < 2; k++)
		stat[k] = t_reshapev(stat[k], 1, &channels);
}

/* Outputs 1 and 2 are old * momentum + new * (1 - momentum), where new are the batch's statistics;
 * outputs 3 and 4, in old versions, are new. */
static void give_statistics(OnnxCall *c, UOp *const *stat)
{
	double momentum = onnx_attr_float(c, "momentum", 0.9);

	for (int k = 0; k < 2; k++) {
		UOp *old = onnx_in(c, 3 + k), *wide = onnx_wide(old);
		UOp *now = t_mulc(t_cast(stat[k], wide->dtype), 1 - momentum);
		if (onnx_wants(c, 1 + k))
			onnx_set(c, 1 + k, t_cast(t_add(t_mulc(wide, momentum), now), old->dtype));
		if (onnx_wants(c, 3 + k))
			onnx_set(c, 3 + k, t_cast(stat[k], old->dtype));
	}
}

/* Before version 14 more than one output means training; since then an attribute says so. */
void onnx_BatchNormalization(OnnxCall *c)
{
	UOp *x = onnx_in(c, 0), *stat[2] = { onnx_in_rank(c, 3, 1), onnx_in_rank(c, 4, 1) };
	UOp *scale = onnx_in_rank(c, 1, 1), *bias = onnx_in_rank(c, 2, 1);
	Value eps = v_float(onnx_attr_float(c, "epsilon", 1e-5));
	bool training = onnx_version(c) >= 14 ? onnx_attr_int(c, "training_mode", 0) != 0
		: !onnx_attr_int(c, "is_test", 0) && onnx_wants(c, 1);

	if (t_rank(x) < 2)
		onnx_fail(c, MALFORMED, "x%s has no channels", shape_text(x->shape));
	if (onnx_version(c) < 9 && !onnx_attr_int(c, "spatial", 1))
		onnx_fail(c, UNSUPPORTED, "spatial is 0: a mean for each element");
	if (training) {
		batch_statistics(x, stat);
		give_statistics(c, stat);
	}
	Value in[] = { v_tensor(x), v_tensor(stat[0]), v_tensor(stat[1]), v_tensor(scale),
		v_tensor(bias) };
	onnx_set(c, 0, onnx_lib("batchnorm", 5, in, 1, (const char *[]){ "eps" }, &eps));
}
