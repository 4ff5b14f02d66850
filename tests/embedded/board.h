/* What the program of a test needs of where it runs: mps2.c, on the bare metal of QEMU's MPS2
 * boards, or unix.c, a process. */
#ifndef BOARD_H
#define BOARD_H
#include <stddef.h>
#include <stdint.h>

/* The next n bytes of the file "in", which has the inputs one after another. */
void board_read(void *to, size_t n);
/* n bytes more for the file "out". */
void board_write(const void *from, size_t n);
/* A line of the test's report: "NAME VALUE". */
void board_tell(const char *name, uint64_t value);
/* Instructions executed by f(), in sum over `times` calls; 0 where they are not counted. */
uint64_t board_instructions(void (*f)(void), int times);
/* Bytes of stack that f() used, its callees' included; 0 where that is not known. */
size_t board_stack(void (*f)(void));
#endif
