/* sluice/tensor_api.h: the interface between a compiled program and trace. The program gets a table
 * of functions when it is loaded, so it needs no library to link with; trace finds the program's
 * functions in a list. */
#ifndef SLUICE_TENSOR_API_H
#define SLUICE_TENSOR_API_H
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif
enum { SLUICE_API = 1 };
typedef struct { uint32_t id; } SluiceValue;          /* 0: never set */
typedef struct { const char *file; int line; } SluicePlace;
typedef struct SluiceApi {
	SluiceValue (*integer)(int64_t v);
	SluiceValue (*real)(double v);
	SluiceValue (*truth)(bool v);
	SluiceValue (*text)(const char *s);
	/* an array of C, row-major, as a constant; name may be any expression */
	SluiceValue (*data)(SluicePlace at, const char *name, const char *dtype, int rank,
		const int64_t *dim, const void *bytes);
	/* a function of the library, or one of the header's own words: ".list", ".input", … */
	SluiceValue (*call)(SluicePlace at, const char *function, int n, const SluiceValue *arg);
	/* back to C: values known while tracing */
	int64_t (*to_integer)(SluicePlace at, SluiceValue v);
	double (*to_real)(SluicePlace at, SluiceValue v);
	const char *(*to_text)(SluicePlace at, SluiceValue v);
} SluiceApi;
/* A function that the file declares, in order of declaration. */
typedef struct SluiceFunction {
	const char *name;
	SluicePlace at;
	void (*trace)(void);
	struct SluiceFunction *next;
} SluiceFunction;

#ifdef __cplusplus
}
#endif
#endif
