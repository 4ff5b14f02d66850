/* The inside of .npy that .npz shares. */
#ifndef NPY_H
#define NPY_H
#include "interp/interp.h"
#include "interp/elements.h"

typedef struct {
	Array array;            /* dtype, shape and bytes; no data */
	bool fortran, swap;     /* column-major; the other endianness */
	size_t at;              /* where the elements start */
} NpyHead;

/* The header of the .npy in n bytes, checked against n. file names it in messages. */
NpyHead npy_head(const char *file, const void *bytes, size_t n, DType want);
/* whether the elements lie there as they are in memory */
bool npy_in_place(const NpyHead *h);
/* The array: where it lies in bytes (not owned) or, when that cannot be, a copy. */
Array npy_content(const NpyHead *h, const void *bytes);

#endif
