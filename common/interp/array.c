/* Arrays in memory. Sizes are checked for overflow; data is 64-byte aligned so that generated code
 * may use aligned vectors.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include "interp/interp.h"
#include "interp/elements.h"

enum { ALIGN = 64, HUGE_PAGE = 2 << 20 };

int64_t array_count(const Array *a)
{
	int64_t n = 1;

	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] == 0)
			return 0;
	for (int i = 0; i < a->rank; i++)
		if (a->dim[i] < 0 || !mul_ok(n, a->dim[i], &n) || n >= INT64_C(1) << 62)
			die(MALFORMED, "an array has 2^62 elements or more");
	return n;
}

size_t array_size(DType dt, int rank, const int64_t *dim)
{
	Array a = {.dtype = dt, .rank = rank};
	int64_t bytes;

	CHECK(rank >= 0 && rank <= MAX_RANK);
	if (rank)
		memcpy(a.dim, dim, rank * sizeof *dim);
	if (!mul_ok(array_count(&a), element_size(dt), &bytes) || bytes > INT64_MAX - ALIGN)
		die(FAILED, "no memory: an array of %s with more than 2^63 bytes", dtype_name(dt));
	return (size_t)bytes;
}

/* Asks for huge pages for the part of the n bytes that holds whole ones. */
static void prefer_huge(void *p, size_t n)
{
	uintptr_t at = ((uintptr_t)p + HUGE_PAGE - 1) / HUGE_PAGE * HUGE_PAGE;
	uintptr_t end = ((uintptr_t)p + n) / HUGE_PAGE * HUGE_PAGE;

	if (at < end)
		madvise((void *)at, end - at, MADV_HUGEPAGE);
}

Array array_raw(DType dt, int rank, const int64_t *dim)
{
	Array a = {.dtype = dt, .rank = rank, .bytes = array_size(dt, rank, dim), .owned = true};

	if (rank)
		memcpy(a.dim, dim, rank * sizeof *dim);
	if (a.bytes > memory_most())
		die_memory("an array", a.bytes);
	a.data = xaligned(ALIGN, a.bytes);
	if (a.bytes >= 2 * HUGE_PAGE)
		prefer_huge(a.data, a.bytes);
	return a;
}

Array array_new(DType dt, int rank, const int64_t *dim)
{
	Array a = array_raw(dt, rank, dim);

	memset(a.data, 0, a.bytes);
	return a;
}

void array_free(Array *a)
{
	if (a->owned)
		free(a->data);
	a->data = NULL;
	a->owned = false;
}
