/* What the fuzzers' targets share: die() comes back instead of ending the process, and every file
 * is the bytes at hand. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls read(p, n); true when it returned, false when it died. What it left in the arena is there
 * until the next call. A broken CHECK is a crash. */
bool attempt(void (*read)(const uint8_t *p, size_t n), const uint8_t *p, size_t n);
/* The bytes of the attempt, as what a target makes up from them. */
void attempt_file(const uint8_t *p, size_t n);
/* How many bytes each message of an endpoint has. */
void attempt_pieces(size_t n);
/* One target: what reads the input. */
void fuzz_one(const uint8_t *p, size_t n);
