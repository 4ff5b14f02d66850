/* JSON that may stand in a <script> of a page. A text in it cannot end the script or begin a
 * comment, since < is written as an escape:
 *
 *     </script>   →   "\u003c/script>" */
#include "io/io.h"
#include "page.h"
#include <math.h>

enum { VALUE_MOST = 600 };

/* The bytes of s to keep so that no character is cut. */
static size_t cut(const char *s, size_t n, size_t most)
{
	if (n <= most)
		return n;
	while (most && ((unsigned char)s[most] & 0xc0) == 0x80)
		most--;
	return most;
}

static void put_char(Buf *out, unsigned char c)
{
	if (c == '"' || c == '\\')
		buf_add(out, "\\", 1);
	if (c == '\n')
		buf_add(out, "\\n", 2);
	else if (c == '\t')
		buf_add(out, "\\t", 2);
	else if (c < 32 || c == '<' || c == 127)
		buf_printf(out, "\\u%04x", c);
	else
		buf_add(out, &c, 1);
}

void json_text(Buf *out, const char *s, size_t n, size_t most)
{
	size_t keep = cut(s, n, most);

	buf_add(out, "\"", 1);
	for (size_t i = 0, plain; i < keep; i = plain + 1) {
		for (plain = i; plain < keep && (unsigned char)s[plain] >= 32 &&
			!strchr("\"\\<\177", s[plain]);)
			plain++;
		buf_add(out, s + i, plain - i);
		if (plain < keep)
			put_char(out, s[plain]);
	}
	if (keep < n)
		buf_printf(out, "…");
	buf_add(out, "\"", 1);
}

void json_string(Buf *out, const char *s) { json_text(out, s, strlen(s), SIZE_MAX); }

void json_number(Buf *out, double v)
{
	buf_printf(out, isfinite(v) ? "%.10g" : "null", v);
}

static const Val *without_keys(const Val *v, const char *const *without)
{
	for (; v->kind == VAL_MAP && without && *without; without++)
		if (val_get(v, *without))
			v = val_set(v, *without, NULL);
	return v;
}

void json_value(Buf *out, const Val *v, const char *const *without)
{
	Buf text = {0};

	text_value(&text, without_keys(v, without));
	json_text(out, buf_str(&text), text.n, VALUE_MOST);
	buf_free(&text);
}
