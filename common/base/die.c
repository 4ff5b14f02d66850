/* The one way to fail: one line on standard error, cleanups, an exit status. */
#include "base/progress.h"
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>
#include <unistd.h>

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

/* The length of the character of UTF-8 at s, or 0 when the byte is to be escaped: no UTF-8, a
 * control character, or one that turns the direction of text. */
static size_t shown(const unsigned char *s)
{
	size_t n = *s < 0xc2 ? 0 : *s < 0xe0 ? 2 : *s < 0xf0 ? 3 : *s < 0xf5 ? 4 : 0;
	uint32_t c = n == 2 ? *s & 31 : n == 3 ? *s & 15 : *s & 7;

	if (*s < 0x80)
		return *s >= 32 && *s != 127;
	for (size_t i = 1; i < n; i++) {
		if ((s[i] & 0xc0) != 0x80)
			return 0;
		c = c << 6 | (s[i] & 63);
	}
	bool turns = (c >= 0x202a && c <= 0x202e) || (c >= 0x2066 && c <= 0x2069);
	return c < 0xa0 || c == 0x2028 || c == 0x2029 || turns ? 0 : n;
}

/* Escapes characters that would break the line or a terminal, cuts at LINE bytes. Returns the
 * length. */
static size_t escape(char *out, const char *text)
{
	const unsigned char *s = (const unsigned char *)text;
	size_t n = 0;

	while (*s && n < LINE - 5) {
		size_t k = shown(s);
		if (k)
			memcpy(out + n, s, k);
		n += k ? k : (size_t)sprintf(out + n,
			*s == '\n' ? "\\n" : *s == '\t' ? "\\t" : "\\x%02x", *s);
		s += k ? k : 1;
	}
	out[n] = 0;
	return n;
}

/* in one piece */
static void print_line(const char *text)
{
	char out[LINE + 8];
	size_t n = escape(out, text);

	out[n++] = '\n';
	progress_clear();
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
	leftovers_remove();
	/* a program that reads messages gets one line */
	if (process.context && isatty(2))
		fprintf(stderr, "%s\n", process.context);
	fflush(stderr);
	/* not exit(): a stage must not flush half a document */
	_Exit(status == FAILED && process.failed ? process.failed : status);
}

static void tell(int status, const char *fmt, va_list ap)
{
	void (*refused)(int, const char *, const char *) = process.refused;
	char text[4 * LINE], where[LINE + 8], line[LINE + 8];

	process.refused = NULL;
	vsnprintf(text, sizeof text, fmt, ap);
	escape(line, text);
	escape(where, process.where ? process.where : "");
	refused(status, where, line);
}

static bool first_to_tell(void)
{
	return !process.told || !__atomic_exchange_n(process.told, 1, __ATOMIC_RELAXED);
}

_Noreturn void die(int status, const char *fmt, ...)
{
	va_list ap;
	va_start(ap, fmt);
	if (process.refused) {
		va_list copy;
		va_copy(copy, ap);
		tell(status, fmt, copy);
		va_end(copy);
	}
	if (first_to_tell())
		message(fmt, ap, NULL);
	va_end(ap);
	leave(status);
}

_Noreturn void die_errno(const char *fmt, ...)
{
	const char *why = strerror(errno);
	va_list ap;
	va_start(ap, fmt);
	if (first_to_tell())
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
