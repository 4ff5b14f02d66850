/* .npy, .npz and safetensors: every array of a file, with its elements. */
#include "arrays/arrays.h"
#include "seam.h"

static uint64_t seen;

static void look(Array a)
{
	size_t bytes = (size_t)array_count(&a) * dtype_size(a.dtype);
	seen ^= hash_bytes(a.data, bytes, 0);
}

static void npy(const uint8_t *p, size_t n) { look(npy_read("a.npy", DT_NONE)); }

static void npz(const uint8_t *p, size_t n)
{
	const char **names;
	size_t count = npz_names("a.npz", &names);
	for (size_t i = 0; i < count; i++)
		look(npz_read("a.npz", names[i], DT_NONE));
}

static void safetensors(const uint8_t *p, size_t n)
{
	safetensors_note("a.safetensors", "note");
	if (safetensors_has("a.safetensors", "x"))
		look(safetensors_read("a.safetensors", "x"));
}

void fuzz_one(const uint8_t *p, size_t n)
{
	static void (*const readers[])(const uint8_t *, size_t) = {npy, npz, safetensors};
	if (n)
		attempt_file(p + 1, n - 1), readers[p[0] % 3](p + 1, n - 1);
}
