/* Reading, writing, comparing and printing arrays. Sections follow the files. */
#ifndef COMMON_ARRAYS_ARRAYS_H
#define COMMON_ARRAYS_ARRAYS_H
#include "interp/interp.h"

/* ---- npy.c, npz.c, safetensors.c: arrays in files */

/* Reads .npy (v1–3, both orders, both endiannesses). want is the expected dtype, so that <u2 and V2
 * can be bf16 (DT_NONE: as the file says). Native C-order data is mapped, not copied. Dies with
 * FAILED (cannot open) or MALFORMED. */
Array npy_read(const char *path, DType want);
/* one member; NULL: the only one */
Array npz_read(const char *path, const char *name, DType want);
/* all members, without .npy (in the arena) */
size_t npz_names(const char *path, const char ***names);
Array safetensors_read(const char *path, const char *name);
/* Where the raw data of an array lies in such a file, for a BUFFER's file arg; false when it cannot
 * be read in place. */
bool npy_locate(const char *path, DType want, Array *head, int64_t *offset);
bool npz_locate(const char *path, const char *name, DType want, Array *head, int64_t *offset);
bool safetensors_locate(const char *path, const char *name, Array *head, int64_t *offset);
void npy_bytes(Buf *out, const Array *a);                    /* the bytes of a .npy file */
void npy_write(const char *path, const Array *a);            /* atomically */
void npz_bytes(Buf *out, size_t n, const char *const *names, const Array *a);
void npz_write(const char *path, size_t n, const char *const *names, const Array *a);
/* Appends the head of a file; the arrays' bytes follow it one after another. key and note are an
 * entry of plain text in its metadata; key may be NULL. */
void safetensors_head(Buf *out, size_t n, const char *const *names, const Array *a, const char *key,
	const char *note);
bool safetensors_has(const char *path, const char *name);
/* the entry, in the arena, or NULL */
const char *safetensors_note(const char *path, const char *key);

/* ---- array_diff.c: compares results: .npy, .npz, folders of .npy. Adds a line to out for each
 * array that differs by more than how allows (integers: at all), or in dtype or shape, or that one
 * side lacks. Returns true when there is none. */
typedef struct {
	double rtol, atol;
	int64_t ulp;            /* if ≥ 0: compare floats by units in the last place */
	bool zeros, bf16;       /* zeros: -0 differs from 0; bf16: u16 arrays hold bf16 */
	const char *only;       /* a shell pattern for the names to compare; NULL: all */
} Closeness;
bool arrays_are(const char *path);
bool arrays_diff(Buf *out, const char *path_a, const char *path_b, const Closeness *how);
/* Prints an array as NumPy does (abbreviated beyond 1000 elements). */
void array_print(FILE *f, const Array *a);
#endif
