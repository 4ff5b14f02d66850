/* sluice/tensor.h: tensor programs in C, and in C++ (tensor.hpp).
 *
 *     #include <sluice/tensor.h>
 *
 *     static const double base[3] = {0, 0, 0.3};
 *
 *     SLUICE_FUNCTION(reach, SIZE(n, 1, 64), ARG(q, F64, n, 2), ARG(target, F64, 3))
 *     {
 *             Tensor p = constant(base);
 *             for (int i = 0; i < dim(q, 1); i++)
 *                     p = add(p, stack(sin(at(q, 0, i)), cos(at(q, 0, i)), 0.0));
 *             output("error", sub(p, target));
 *     }
 *
 *     $ sluice trace reach.c | sluice run q=q.npy target=rand
 *
 * `trace` compiles the file and runs the function once with symbolic arguments. Its calls become a
 * graph; loops, ifs, arrays and numbers of C are evaluated at that time (tensor_steps.h has LOOP,
 * WHILE and IF, which stay in the graph). Every function of the
 * tensor library (functions.h, made from functions.def) takes Tensors, numbers, bools, strings and
 * LIST(…)s, with the same meaning as in the text language, except that fractions, and floats
 * computed from integers alone, are f64. An argument may be given by name: sum(x, KW(axis, 0),
 * KW(keepdims, true)).
 *
 * The functions are macros that record file and line. Those that <math.h> has too return plain
 * numbers for plain numbers. A macro that is in the way can be removed by #undef; CALL(norm, x)
 * still calls the library's function. */
#ifndef SLUICE_TENSOR_H
#define SLUICE_TENSOR_H
#include <math.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tensor_api.h"

#ifdef __cplusplus
extern "C" {
#endif
/* one shared instance of each in a program of several files */
#define SLUICE_ONE __attribute__((weak, visibility("default")))
SLUICE_ONE int sluice_api_version = SLUICE_API;
SLUICE_ONE const SluiceApi *sluice_api;
SLUICE_ONE SluiceFunction *sluice_functions;
SLUICE_ONE const char *sluice_source = __BASE_FILE__;

static inline void sluice_declare(SluiceFunction *f)
{
	SluiceFunction **end = &sluice_functions;
	while (*end)
		end = &(*end)->next;
	*end = f;
}
#ifdef __cplusplus
}
#endif

#include "tensor_steps.h"

#ifdef __cplusplus
#define SLUICE_HERE SluicePlace{__FILE__, __LINE__}
#else
#define SLUICE_HERE ((SluicePlace){__FILE__, __LINE__})
#endif

/* SLUICE_FUNCTION(name, SIZE(…), ARG(…), …) { body }: in the body, sizes and arguments are Tensors
 * of these names. */
#define SLUICE_FUNCTION(name, ...) \
	static void sluice_body_##name(__VA_OPT__(SLUICE_COMMA(SLUICE_PARAMETER, __VA_ARGS__))); \
	static void sluice_trace_##name(void) \
	{ \
		__VA_OPT__(SLUICE_EACH(SLUICE_ARGUMENT, __VA_ARGS__)) \
		sluice_body_##name(__VA_OPT__(SLUICE_COMMA(SLUICE_ITS_NAME, __VA_ARGS__))); \
	} \
	__attribute__((constructor)) static void sluice_declare_##name(void) \
	{ \
		static SluiceFunction f = { \
			#name, {__FILE__, __LINE__}, sluice_trace_##name, NULL}; \
		sluice_declare(&f); \
	} \
	static void sluice_body_##name(__VA_OPT__(SLUICE_COMMA(SLUICE_PARAMETER, __VA_ARGS__)))
/* an input: name, dtype and sizes, which may be expressions: ARG(x, F32, n, 3); without sizes a
 * scalar */
#define ARG(name, ...) (".input", name, __VA_ARGS__)
/* a size variable from lo to hi, for the arguments after it */
#define SIZE(name, lo, hi) (".size", name, lo, hi)
#define SLUICE_PARAMETER(item) SLUICE_PARAMETER_ item
#define SLUICE_PARAMETER_(word, name, ...) SLUICE_TENSOR name
#define SLUICE_ITS_NAME(item) SLUICE_ITS_NAME_ item
#define SLUICE_ITS_NAME_(word, name, ...) name
#define SLUICE_ARGUMENT(item) SLUICE_ARGUMENT_ item
#define SLUICE_ARGUMENT_(word, name, ...) \
	SLUICE_TENSOR name = SLUICE_CALL(word, #name, __VA_ARGS__);

#ifdef __cplusplus
#include "tensor.hpp"
#else

/* ---- values */

/* a tensor, or a size, number, string or list that becomes one where needed */
typedef SluiceValue Tensor;
#define SLUICE_TENSOR Tensor

static inline Tensor sluice_same(Tensor v) { return v; }
static inline Tensor sluice_integer(int64_t v) { return sluice_api->integer(v); }
static inline Tensor sluice_real(double v) { return sluice_api->real(v); }
static inline Tensor sluice_truth(bool v) { return sluice_api->truth(v); }
static inline Tensor sluice_text(const char *s) { return sluice_api->text(s); }
/* an integer of 2^63 or more, passed as its digits */
static inline Tensor sluice_natural(uint64_t v)
{
	char digits[24];
	snprintf(digits, sizeof digits, "%llu", (unsigned long long)v);
	Tensor text = sluice_api->text(digits);
	return v <= INT64_MAX ? sluice_api->integer((int64_t)v)
		: sluice_api->call((SluicePlace){NULL, 0}, ".natural", 1, &text);
}

#define SLUICE_UNSET ((Tensor){0})
#define SLUICE_GIVEN(x) SLUICE_VALUE(x)
#define SLUICE_TENSOR_OF(v) (v)
#define SLUICE_SLOT(p) (p)
#define SLUICE_SLOT_ARRAY (Tensor *const[])

/* Any C value as a Tensor; x is evaluated once. */
#define SLUICE_VALUE(x) \
	({ \
		__auto_type sluice_x = (x); \
		_Generic(sluice_x, \
	Tensor: sluice_same, bool: sluice_truth, char: sluice_integer, \
	signed char: sluice_integer, \
	unsigned char: sluice_integer, short: sluice_integer, unsigned short: sluice_integer, \
	int: sluice_integer, unsigned: sluice_integer, long: sluice_integer, \
	unsigned long: sluice_natural, long long: sluice_integer, \
	unsigned long long: sluice_natural, \
	float: sluice_real, double: sluice_real, long double: sluice_real, \
	char *: sluice_text, const char *: sluice_text)(sluice_x); \
	})
#define SLUICE_VALUES(...) \
	SLUICE_COUNT(__VA_ARGS__), (const Tensor[]){SLUICE_COMMA(SLUICE_VALUE, __VA_ARGS__)}
#define SLUICE_CALL(name, ...) sluice_api->call(SLUICE_HERE, name, SLUICE_VALUES(__VA_ARGS__))
#define SLUICE_WORD(name) sluice_api->call(SLUICE_HERE, name, 0, NULL)

/* calls a function of the library by its name */
#define CALL(name, ...) SLUICE_CALL(#name, __VA_ARGS__)
/* an argument with its parameter's name, after the positional ones */
#define KW(name, v) SLUICE_CALL(".named", #name, v)
#define NONE SLUICE_WORD(".none")
/* a list of the arguments, for shapes, axes and others; and of n Tensors in an array */
#define LIST(...) SLUICE_CALL(".list", __VA_ARGS__)
#define TENSORS(array, n) sluice_api->call(SLUICE_HERE, ".list", (int)(n), (array))

/* ---- parts: at(x, 1, RANGE(0, 4), ALL, REST, NEW) is NumPy's x[1, 0:4, :, ..., None] */

#define at(x, ...) SLUICE_CALL(".at", x, __VA_ARGS__)
/* start, stop and perhaps step, each a number, a size or NONE */
#define RANGE(...) SLUICE_CALL(".range", __VA_ARGS__)
#define ALL SLUICE_WORD(".all")
#define REST SLUICE_WORD(".rest")
#define NEW SLUICE_WORD(".new")

/* ---- constants, states, outputs */

/* A C array of one to four dimensions as a constant, with its current content and its own type. */
#define constant(array) ({ \
	_Static_assert(!__builtin_types_compatible_p(__typeof__(array), __typeof__(&(array)[0])), \
		"constant takes an array; for a pointer: constant_at(pointer, sizes...)"); \
	_Static_assert(SLUICE_IS_ROW(SLUICE_ROW(SLUICE_ROW(SLUICE_ROW(array)))), \
		"constant takes arrays of at most four dimensions"); \
	sluice_api->data(SLUICE_HERE, #array, SLUICE_DTYPE_OF(array), SLUICE_RANK(array), \
		(const int64_t[]){SLUICE_DIM(array), SLUICE_DIM(SLUICE_ROW(array)), \
			SLUICE_DIM(SLUICE_ROW(SLUICE_ROW(array))), \
			SLUICE_DIM(SLUICE_ROW(SLUICE_ROW(SLUICE_ROW(array))))}, (array)); })
/* the data at a pointer, with these sizes */
#define constant_at(pointer, ...) \
	sluice_api->data(SLUICE_HERE, #pointer, SLUICE_DTYPE_OF(pointer), \
		SLUICE_COUNT(__VA_ARGS__), (const int64_t[]){__VA_ARGS__}, (pointer))
/* a .npy, .npz (name a member) or .safetensors file, read in place */
#define load(...) SLUICE_CALL(".load", __VA_ARGS__)
/* state: a value kept from call to call, with its content at the first call; assign sets its next
 * content, once per call */
#define state(name, first) SLUICE_CALL(".state", name, first)
#define assign(s, next) SLUICE_CALL(".assign", s, next)
#define output(name, x) ((void)SLUICE_CALL(".output", name, x))

/* ---- values known while tracing, for loops and ifs in C */

#define rank(x) ((int)sluice_api->to_integer(SLUICE_HERE, SLUICE_CALL(".rank", x)))
#define dim(x, axis) sluice_api->to_integer(SLUICE_HERE, SLUICE_CALL(".dim", x, axis))
#define length(list) ((int)sluice_api->to_integer(SLUICE_HERE, SLUICE_CALL(".length", list)))
#define dtype(x) sluice_api->to_text(SLUICE_HERE, SLUICE_CALL(".dtype", x))
#define number(v) sluice_api->to_real(SLUICE_HERE, SLUICE_VALUE(v))

/* ---- helpers of constant: SLUICE_ROW makes a row of numbers an array of one row */

#define SLUICE_TYPES(M, v) M(double, "f64", v) M(float, "f32", v) M(bool, "bool", v) \
	M(signed char, "i8", v) M(short, "i16", v) M(int, "i32", v) \
	M(long, sizeof(long) == 8 ? "i64" : "i32", v) M(long long, "i64", v) \
	M(unsigned char, "u8", v) M(unsigned short, "u16", v) M(unsigned, "u32", v) \
	M(unsigned long, sizeof(long) == 8 ? "u64" : "u32", v) M(unsigned long long, "u64", v)
#define SLUICE_EVERY(T, name, v) T *: v, const T *: v,
#define SLUICE_NAMED(T, name, v) T *: name, const T *: name,
#define SLUICE_IS_ROW(a) _Generic((a), SLUICE_TYPES(SLUICE_EVERY, 1) default: 0)
#define SLUICE_ROW(a) (_Generic((a), SLUICE_TYPES(SLUICE_EVERY, (double (*)[1])0) default: (a))[0])
#define SLUICE_RANK(a) (SLUICE_IS_ROW(a) ? 1 : SLUICE_IS_ROW(SLUICE_ROW(a)) ? 2 : \
	SLUICE_IS_ROW(SLUICE_ROW(SLUICE_ROW(a))) ? 3 : 4)
#define SLUICE_DIM(a) (int64_t)(sizeof(a) / sizeof((a)[0]))
#define SLUICE_DTYPE_OF(a) SLUICE_ROW_DTYPE(a, SLUICE_ROW_DTYPE(SLUICE_ROW(a), \
	SLUICE_ROW_DTYPE(SLUICE_ROW(SLUICE_ROW(a)), \
		SLUICE_ROW_DTYPE(SLUICE_ROW(SLUICE_ROW(SLUICE_ROW(a))), "array"))))
#define SLUICE_ROW_DTYPE(a, other) _Generic((a), SLUICE_TYPES(SLUICE_NAMED, ) default: other)

/* ---- functions of <math.h>: for plain numbers as usual, for a Tensor those of the library */

#define SLUICE_PLAIN(v) _Generic(v, Tensor: 0, default: v)
#define SLUICE_MATH(name, plain, x) ({ __auto_type sluice_m = (x); _Generic(sluice_m, \
	Tensor: SLUICE_CALL(name, sluice_m), default: plain(SLUICE_PLAIN(sluice_m))); })
#define SLUICE_MATH2(name, plain, x, y) \
	({ \
		__auto_type sluice_m = (x); \
		__auto_type sluice_n = (y); \
		_Generic(sluice_m, Tensor \
			 : SLUICE_CALL(name, sluice_m, sluice_n), default \
			 : _Generic(sluice_n, Tensor \
				    : SLUICE_CALL(name, sluice_m, sluice_n), default \
				    : plain(SLUICE_PLAIN(sluice_m), SLUICE_PLAIN(sluice_n)))); \
	})
#define SLUICE_ABS(v) _Generic(v, double: fabs, float: fabsf, default: llabs)(v)
static inline bool sluice_isnan(double v) { return isnan(v); }
static inline bool sluice_isinf(double v) { return isinf(v); }
static inline bool sluice_isfinite(double v) { return isfinite(v); }
static inline bool sluice_signbit(double v) { return signbit(v); }
#endif

#include "functions.h"
#endif
