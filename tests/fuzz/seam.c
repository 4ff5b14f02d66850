/* The seam between libFuzzer and the tools' code. The linker puts these functions in the place of
 * _Exit, die_bug, file_map and an endpoint's (--wrap in the Makefile). What a reader that died had from malloc is
 * lost, so a fuzzer is started anew now and then (fuzz.sh). */
#include "seam.h"
#include "base/base.h"
#include <setjmp.h>
#include <stdlib.h>

static jmp_buf outside;
static bool inside;             /* an attempt */
static struct { const uint8_t *p; size_t n; } file;
static size_t piece;            /* bytes of a frame */

_Noreturn void __real__Exit(int status);
_Noreturn void __wrap__Exit(int status);
_Noreturn void __wrap__Exit(int status)
{
	if (!inside)
		__real__Exit(status);       /* libFuzzer's own */
	longjmp(outside, 1);
}

_Noreturn void __wrap_die_bug(const char *path, int line, const char *what);
_Noreturn void __wrap_die_bug(const char *path, int line, const char *what)
{
	fprintf(stderr, "bug at %s:%d: %s does not hold\n", path, line, what);
	abort();
}

const void *__wrap_file_map(const char *path, size_t *n);
const void *__wrap_file_map(const char *path, size_t *n)
{
	*n = file.n;
	return file.p;
}

/* The frames of an endpoint are the file in pieces. */
void *__wrap_endpoint_in(const char *name);
void *__wrap_endpoint_in(const char *name) { return &file; }

bool __wrap_endpoint_get(void *e, const void **p, size_t *n);
bool __wrap_endpoint_get(void *e, const void **p, size_t *n)
{
	*n = file.n < piece ? file.n : piece;
	*p = file.p;
	file.p += *n;
	file.n -= *n;
	return *n > 0;
}

void attempt_pieces(size_t n) { piece = n; }

void attempt_file(const uint8_t *p, size_t n)
{
	file.p = p;
	file.n = n;
}

bool attempt(void (*read)(const uint8_t *p, size_t n), const uint8_t *p, size_t n)
{
	arena_reset();
	process.where = process.context = NULL;
	attempt_file(p, n);
	inside = true;
	bool died = setjmp(outside);
	if (!died)
		read(p, n);
	inside = false;
	return !died;
}

int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n);
int LLVMFuzzerTestOneInput(const uint8_t *p, size_t n)
{
	attempt(fuzz_one, p, n);
	return 0;
}
