/* Arrays in files, compared, and printed.  Sections follow the files. */
#ifndef COMMON_ARRAYS_ARRAYS_H
#define COMMON_ARRAYS_ARRAYS_H
#include "interp/interp.h"

/* ---- npy.c, npz.c, safetensors.c: arrays in files */

/* Reads .npy (v1–3, both orders, both endiannesses); want: the dtype expected, so that <u2 and V2 can be bf16
 * (DT_NONE: as the file says). Native C-order data is mapped, not copied. Dies: FAILED cannot open, MALFORMED. */
Array npy_read(const char *path, DType want);
Array npz_read(const char *path, const char *name, DType want);     /* one member; NULL: the only one */
size_t npz_names(const char *path, const char ***names);            /* of all members, without .npy; in the arena */
Array safetensors_read(const char *path, const char *name);
/* where an array's raw data lies in such a file, for a BUFFER's file arg; false when it cannot be read in place */
bool npy_locate(const char *path, DType want, Array *head, int64_t *offset);
bool npz_locate(const char *path, const char *name, DType want, Array *head, int64_t *offset);
bool safetensors_locate(const char *path, const char *name, Array *head, int64_t *offset);
void npy_bytes(Buf *out, const Array *a);                    /* the file's bytes */
void npy_write(const char *path, const Array *a);            /* whole or not at all */
void npz_write(const char *path, size_t n, const char *const *names, const Array *a);
/* What stands before the arrays' bytes, which follow one another; key: a note of plain text in its metadata, or NULL. */
void safetensors_head(Buf *out, size_t n, const char *const *names, const Array *a, const char *key, const char *note);
bool safetensors_has(const char *path, const char *name);
const char *safetensors_note(const char *path, const char *key);     /* in the arena; NULL when there is none */

/* ---- array_diff.c: results compared: .npy, .npz, folders of .npy. A line in out for each array that differs by more
 * than how allows (integers: at all), in dtype or in shape, or that one side lacks; true when there is none. */
typedef struct {
	double rtol, atol;
	int64_t ulp;            /* from 0: floats by units in the last place instead */
	bool zeros, bf16;       /* -0 is not 0; u16 arrays are the bits of bf16 */
	const char *only;       /* the names that count, as the shell matches file names; NULL: all */
} Closeness;
bool arrays_are(const char *path);
bool arrays_diff(Buf *out, const char *path_a, const char *path_b, const Closeness *how);
/* as NumPy prints it (summarised beyond 1000 elements) */
void array_print(FILE *f, const Array *a);
#endif
