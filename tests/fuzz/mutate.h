/* Documents changed at random, as documents: see mutate.c. */
#include <stddef.h>
#include <stdint.h>

/* Changes the document in p[0] … p[n-1], in place, by a few changes that the seed decides. Returns
 * its new length; 0 when the bytes are no document, or it grew beyond most. */
size_t document_mutate(uint8_t *p, size_t n, size_t most, uint64_t seed);
