/* The parts of the .npy reader that .npz shares. */
#ifndef NPY_H
#define NPY_H
#include "interp/interp.h"
#include "interp/elements.h"

typedef struct {
	Array array;            /* dtype, shape and bytes; no data */
	bool fortran, swap;     /* column-major; the other endianness */
	size_t at;              /* offset of the elements */
} NpyHead;

/* The header of a .npy of `all` bytes, of which n are there, checked against all. file names it in
 * messages. */
NpyHead npy_head(const char *file, const void *bytes, size_t n, size_t all, DType want);
/* How many bytes the header has that begins with these n; 0 when they are none. */
size_t npy_head_bytes(const void *bytes, size_t n);
/* Whether the elements in the file have the form that they have in memory. */
bool npy_in_place(const NpyHead *h);
/* The array: in place (not owned) or, where that is not possible, a copy. */
Array npy_content(const NpyHead *h, const void *bytes);

#endif
