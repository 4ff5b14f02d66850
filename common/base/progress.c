/* One line on a terminal while something takes long:
 *
 *     compile: units 12/60 [====>                   ]
 *     run: lower, 3 s
 *
 * Nothing is drawn in the first second of a process's work, or when standard error is not a
 * terminal. The line is erased at the end, and before a message. */
#include "base/progress.h"
#include <unistd.h>

enum { SECOND = 1000, OFTEN = 50, WIDTH = 24 };
/* when the process's first work began, and when a line was drawn */
static struct { double first, last; } shown;

Progress progress_start(const char *what, size_t of, bool wanted)
{
	double now = now_ms();

	shown.first = shown.first ? shown.first : now;
	return (Progress){what, of, now, wanted && isatty(STDERR_FILENO)};
}

static void draw(const Progress *p, size_t done, double now)
{
	char bar[WIDTH + 1];
	size_t k = p->of ? done * WIDTH / p->of : 0;

	memset(bar, ' ', WIDTH);
	memset(bar, '=', k);
	if (k < WIDTH)
		bar[k] = '>';
	bar[WIDTH] = 0;
	progress_clear();
	if (p->of)
		fprintf(stderr, "%s: %s %zu/%zu [%s]", process.stage, p->what, done, p->of, bar);
	else
		fprintf(stderr, "%s: %s, %.0f s", process.stage, p->what,
			(now - p->since) / SECOND);
	fflush(stderr);
	process.drawn = true;
}

void progress_step(Progress *p, size_t done)
{
	double now = p->wanted ? now_ms() : 0;

	if (!p->wanted || now - shown.first < SECOND || now - shown.last < OFTEN)
		return;
	shown.last = now;
	draw(p, done < p->of ? done : p->of, now);
}

void progress_end(Progress *p)
{
	if (p->wanted)
		progress_clear();
}

void progress_clear(void)
{
	if (process.drawn)
		fputs("\r\033[K", stderr);
	process.drawn = false;
}
