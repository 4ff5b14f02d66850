/* One line on a terminal while something takes long:
 *
 *     compiling 12/60 [=====>                  ]
 *
 * Nothing is drawn in the first second, nor when standard error is not a terminal; the line is
 * wiped at the end. */
#include "host/host.h"
#include <unistd.h>

static struct { const char *what; size_t of; double since; bool wanted, drawn; } now;

void progress_start(const char *what, size_t of, bool wanted)
{
	now.what = what;
	now.of = of;
	now.since = now_ms();
	now.wanted = wanted && of > 0 && isatty(STDERR_FILENO);
	now.drawn = false;
}

void progress_step(size_t done)
{
	enum { WIDTH = 24 };
	char bar[WIDTH + 1];
	size_t k;

	if (!now.wanted || now_ms() - now.since < 1000)
		return;
	k = done * WIDTH / now.of;
	memset(bar, ' ', WIDTH);
	memset(bar, '=', k);
	if (k < WIDTH)
		bar[k] = '>';
	bar[WIDTH] = 0;
	fprintf(stderr, "\r%s: %s %zu/%zu [%s]", die_stage, now.what, done, now.of, bar);
	fflush(stderr);
	now.drawn = true;
}

void progress_end(void)
{
	if (now.drawn)
		fputs("\r\033[K", stderr);
	now.wanted = now.drawn = false;
}
