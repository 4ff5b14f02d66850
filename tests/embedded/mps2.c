/* QEMU's MPS2 boards (Cortex-M3: mps2-an385, M4: mps2-an386, M7: mps2-an500), without a library:
 * vectors, start-up, semihosting (ARM's "Semihosting for AArch32 and AArch64"), and the SysTick
 * timer (ARMv7-M Architecture Reference Manual, B3.3). */
#include "board.h"

extern uint32_t data_from[], data_start[], data_end[], bss_start[], bss_end[], stack_low[],
	stack_top[];
int main(void);

#define REGISTER(at) (*(volatile uint32_t *)(at))
enum { SYST_CSR = 0xE000E010, SYST_RVR = 0xE000E014, SYST_CVR = 0xE000E018, CPACR = 0xE000ED88 };

/* ---- semihosting */

enum { SYS_OPEN = 1, SYS_CLOSE = 2, SYS_WRITE0 = 4, SYS_WRITE = 5, SYS_READ = 6, SYS_EXIT = 0x20 };

static int ask(int what, const void *arg)
{
	register int r0 __asm__("r0") = what;
	register const void *r1 __asm__("r1") = arg;

	__asm__ volatile("bkpt 0xAB" : "+r"(r0) : "r"(r1) : "memory");
	return r0;
}

static void leave(int status)
{
	const uint32_t arg[2] = {0x20026, (uint32_t)status};  /* ADP_Stopped_ApplicationExit */

	ask(SYS_EXIT, arg);
	for (;;)
		;
}

static void fail(const char *why)
{
	ask(SYS_WRITE0, why);
	leave(1);
}

/* mode: 1 is "rb", 5 "wb" */
static int open_file(const char *name, uint32_t length, uint32_t mode)
{
	const uint32_t arg[3] = {(uint32_t)name, mode, length};
	int f = ask(SYS_OPEN, arg);

	if (f < 0)
		fail("a file cannot be opened\n");
	return f;
}

static void transfer(int what, int f, const void *at, size_t n)
{
	const uint32_t arg[3] = {(uint32_t)f, (uint32_t)at, n};

	if (ask(what, arg))
		fail("a file cannot be read or written\n");
}

void board_read(void *to, size_t n)
{
	static int f = -1;

	if (f < 0)
		f = open_file("in", 2, 1);
	transfer(SYS_READ, f, to, n);
}

void board_write(const void *from, size_t n)
{
	static int f = -1;

	if (f < 0)
		f = open_file("out", 3, 5);
	transfer(SYS_WRITE, f, from, n);
}

void board_tell(const char *name, uint64_t value)
{
	char text[24], *p = text + sizeof text;

	*--p = 0;
	*--p = '\n';
	do
		*--p = (char)('0' + value % 10);
	while (value /= 10);
	*--p = ' ';
	ask(SYS_WRITE0, name);
	ask(SYS_WRITE0, p);
}

/* ---- measures */

/* Under `-icount shift=0` an instruction takes a nanosecond, and the processor's clock of 25 MHz has
 * a tick in 40 of them. */
enum { INSTRUCTIONS_A_TICK = 40 };

uint64_t board_instructions(void (*f)(void), int times)
{
	REGISTER(SYST_RVR) = 0xFFFFFF;
	REGISTER(SYST_CVR) = 0;
	REGISTER(SYST_CSR) = 5;  /* on, the processor's clock, no interrupt */
	while (!REGISTER(SYST_CVR))
		;
	(void)REGISTER(SYST_CSR);
	uint32_t from = REGISTER(SYST_CVR);
	for (int i = 0; i < times; i++)
		f();
	uint32_t to = REGISTER(SYST_CVR);
	if (REGISTER(SYST_CSR) & 1u << 16)
		fail("the timer went round\n");
	return (uint64_t)(from - to) * INSTRUCTIONS_A_TICK;
}

/* What is below the stack pointer is painted; what f() did not overwrite is counted. */
__attribute__((noinline)) size_t board_stack(void (*f)(void))
{
	const uint32_t paint = 0xA5A5A5A5;
	uint32_t *sp, *p;

	__asm__ volatile("mov %0, sp" : "=r"(sp));
	for (p = stack_low; p < sp; p++)
		*(volatile uint32_t *)p = paint;
	f();
	for (p = stack_low; p < sp && *(volatile uint32_t *)p == paint;)
		p++;
	if (p == stack_low)
		fail("the stack is too small\n");
	return (size_t)((char *)sp - (char *)p);
}

/* ---- start */

static void fault(void) { fail("a fault of the processor\n"); }

static void start(void)
{
	uint32_t *from = data_from;

	for (uint32_t *p = data_start; p < data_end; p++)
		*p = *from++;
	for (uint32_t *p = bss_start; p < bss_end; p++)
		*p = 0;
#ifdef __ARM_FP
	REGISTER(CPACR) |= 0xFu << 20;  /* the floating-point unit on */
	__asm__ volatile("dsb\n\tisb");
#endif
	leave(main());
}

extern void *const vectors[16];
__attribute__((section(".vectors"), used)) void *const vectors[16] = {
	stack_top, start, fault, fault, fault, fault, fault,
};
