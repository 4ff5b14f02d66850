/* The name that somebody may have meant, for messages: "there is no pass 'fold'; did you mean
 * 'folds'?" */
#include "base/base.h"

enum { LONGEST = 64 };

static size_t least(size_t a, size_t b) { return a < b ? a : b; }

/* How many characters are to be changed, added, removed, or exchanged with the next one, to make b
 * of a: optimal string alignment, a row of the table at a time. */
static size_t edits(const char *a, size_t n, const char *b, size_t m)
{
	size_t rows[3][LONGEST + 1];

	for (size_t i = 0; i <= n; i++) {
		size_t *row = rows[i % 3], *above = rows[(i + 2) % 3], *over = rows[(i + 1) % 3];
		row[0] = i;
		for (size_t j = 1; j <= m; j++) {
			if (!i) {
				row[j] = j;
				continue;
			}
			row[j] = least(least(above[j], row[j - 1]) + 1,
				above[j - 1] + (a[i - 1] != b[j - 1]));
			if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
				row[j] = least(row[j], over[j - 2] + 1);
		}
	}
	return rows[n % 3][m];
}

void nearest_try(Nearest *n, const char *name)
{
	size_t a = strlen(n->word), b = strlen(name);

	if (!a || a > LONGEST || b > LONGEST)
		return;
	size_t d = edits(n->word, a, name, b);
	/* the beginning of a name is as good as a typing error */
	if (a > 2 && !strncmp(n->word, name, a))
		d = least(d, 1);
	if (d <= 1 + a / 4 && d < b && (!n->name || d < n->edits)) {
		n->name = name;
		n->edits = d;
	}
}

const char *nearest_hint(const Nearest *n)
{
	return n->name ? arena_printf("; did you mean '%.80s'?", n->name) : "";
}
