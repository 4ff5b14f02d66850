/* What libFuzzer changes documents with: most often as documents, else as bytes. */
#include "mutate.h"

size_t LLVMFuzzerMutate(uint8_t *p, size_t n, size_t most);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t most, unsigned seed);
size_t LLVMFuzzerCustomMutator(uint8_t *p, size_t n, size_t most, unsigned seed)
{
	size_t changed = seed % 8 ? document_mutate(p, n, most, seed) : 0;
	return changed ? changed : LLVMFuzzerMutate(p, n, most);
}
