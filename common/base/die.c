/* The one way to fail: one line on standard error, cleanups, an exit status. */
#include "base/base.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

Process process = {.stage = "sluice"};

enum { LINE = 1000, CLEANUPS = 64 };
static struct { struct { void (*fn)(void *); void *arg; } at[CLEANUPS]; int n; } cleanups;

void die_cleanup(void (*fn)(void *), void *arg)
{
	if (cleanups.n < CLEANUPS) {
		cleanups.at[cleanups.n].fn = fn;
		cleanups.at[cleanups.n++].arg = arg;
	}
}

/* Escapes characters that would break the line or a terminal, cuts at LINE bytes, writes in one
 * piece. */
static void print_line(const char *s)
{
	char out[LINE + 8];
	size_t n = 0;
	for (; *s && n < LINE - 5; s++) {
		unsigned char c = *s;
		if (c < 32 || c == 127)
			n += snprintf(out + n, 5,
				c == '\n'	  ? "\\n" :
					c == '\t' ? "\\t" :
						    "\\x%02x",
				c);
		else
			out[n++] = c;
	}
	if (*s) {
		/* do not cut inside a UTF-8 sequence */
		while (n && ((unsigned char)out[n - 1] & 0xc0) == 0x80)
			n--;
		if (n && (unsigned char)out[n - 1] >= 0xc0)
			n--;
	}
	out[n++] = '\n';
	fwrite(out, 1, n, stderr);
}

static void message(const char *fmt, va_list ap, const char *tail)
{
	char text[4 * LINE], line[5 * LINE];
	vsnprintf(text, sizeof text, fmt, ap);
	snprintf(line, sizeof line, "%s: %s%s%s%s%s", process.stage,
		process.where ? process.where : "", process.where ? ": " : "", text,
		tail ? ": " : "", tail ? tail : "");
	fflush(stdout);
	print_line(line);
}

static _Noreturn void leave(int status)
{
	while (cleanups.n > 0) {
		cleanups.n--;
		cleanups.at[cleanups.n].fn(cleanups.at[cleanups.n].arg);
	}
	if (process.context)
		fprintf(stderr, "%s\n", process.context);
	fflush(stderr);
	/* not exit(): a stage must not flush half a document */
	_Exit(status);
}

_Noreturn void die(int status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	message(fmt, ap, NULL);
	va_end(ap);
	leave(status);
}

_Noreturn void die_errno(const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;
	va_start(ap, fmt);
	message(fmt, ap, why);
	va_end(ap);
	leave(FAILED);
}

_Noreturn void die_silent(int status) { leave(status); }

_Noreturn void die_bug(const char *file, int line, const char *what)
{
	die(FAILED, "bug at %s:%d: %s does not hold; please report it with the document", file,
		line, what);
}

void warn(const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	message(fmt, ap, NULL);
	va_end(ap);
}

#ifdef __SANITIZE_ADDRESS__
/* A tool's memory lives as long as its process: memory left at the end is not a leak. */
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "detect_leaks=0"; }
#endif
