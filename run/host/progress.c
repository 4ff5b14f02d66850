/* One line on a terminal while something takes long:
 *
 *     compiling 12/60 [=====>                  ]
 *
 * Nothing is drawn in the first second or when standard error is not a terminal. The line is erased
 * at the end. */
#include "host/host.h"
#include <unistd.h>

Progress progress_start(const char *what, size_t of, bool wanted)
{
	return (Progress){what, of, now_ms(), wanted && of > 0 && isatty(STDERR_FILENO), false};
}

void progress_step(Progress *p, size_t done)
{
	enum { WIDTH = 24 };
	char bar[WIDTH + 1];
	size_t k;

	if (!p->wanted || now_ms() - p->since < 1000)
		return;
	k = done * WIDTH / p->of;
	memset(bar, ' ', WIDTH);
	memset(bar, '=', k);
	if (k < WIDTH)
		bar[k] = '>';
	bar[WIDTH] = 0;
	fprintf(stderr, "\r%s: %s %zu/%zu [%s]", process.stage, p->what, done, p->of, bar);
	fflush(stderr);
	p->drawn = true;
}

void progress_end(Progress *p)
{
	if (p->drawn)
		fputs("\r\033[K", stderr);
}
