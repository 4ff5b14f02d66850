/* ONNX Runtime's products with what follows them: a third operand and an activation.
 *
 *     FusedConv(x, w, b, z), activation=Relu   →   relu(Conv(x, w, b) + z) */
#include "onnx/operators/space.h"

/* Activations as functions of the library, with the standard's defaults of their parameters, n of
 * them. */
static const struct { const char *name, *function; int n; double param[2];
} activations[] = {
	{ "", NULL, 0, { 0 } },
	{ "Clip", "clip", 2, { -3.4028234663852886e38, 3.4028234663852886e38 } },
	{ "Elu", "elu", 1, { 1 } },
	{ "HardSigmoid", "hardsigmoid", 2, { 0.2, 0.5 } },
	{ "HardSwish", "hardswish", 0, { 0 } },
	{ "LeakyRelu", "leaky_relu", 1, { 0.01 } },
	{ "Relu", "relu", 0, { 0 } },
	{ "Selu", "selu", 2, { 1.67326319217681884765625, 1.05070102214813232421875 } },
	{ "Sigmoid", "sigmoid", 0, { 0 } },
	{ "Softplus", "softplus", 0, { 0 } },
	{ "Softsign", "softsign", 0, { 0 } },
	{ "Tanh", "tanh", 0, { 0 } },
};

/* The activation of attribute `activation` of x, with the first n parameters given. */
static UOp *activated(OnnxCall *c, UOp *x, const double *param, int n)
{
	const char *name = onnx_attr_str(c, "activation", "");
	size_t k = 0, count = sizeof activations / sizeof *activations;
	Value v[3] = { v_tensor(x) };

	while (k < count && strcmp(activations[k].name, name))
		k++;
	if (k == count)
		onnx_fail(c, UNSUPPORTED, "activation '%s'", name);
	if (!activations[k].function)
		return x;
	for (int i = 0; i < activations[k].n; i++)
		v[i + 1] = v_float(i < n ? param[i] : activations[k].param[i]);
	return onnx_lib(activations[k].function, activations[k].n + 1, v, 0, NULL, NULL);
}

void onnx_microsoft_FusedConv(OnnxCall *c)
{
	double param[2];
	int n = onnx_attr_floats(c, "activation_params", param, 2);
	UOp *y = onnx_conv(c);

	y = onnx_has(c, 3) ? t_add(y, onnx_in(c, 3)) : y;
	onnx_set(c, 0, activated(c, y, param, n));
}

void onnx_microsoft_FusedGemm(OnnxCall *c)
{
	static const char *const names[] = { "activation_alpha", "activation_beta" };
	bool selu = !strcmp(onnx_attr_str(c, "activation", ""), "Selu");
	double param[2];
	int n = 0;

	for (int i = 0; i < 2; i++) {
		const char *name = i && selu ? "activation_gamma" : names[i];
		if (onnx_attr_has(c, name))
			param[n++] = onnx_attr_float(c, name, 0);
	}
	onnx_set(c, 0, activated(c, onnx_gemm(c), param, n));
}
