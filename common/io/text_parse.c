/* Reads the text form (see text.c) into a document; nodes keep the order of the lines and equal
 * ones stay distinct.
 *
 * An error is shown with its position:
 *     show: h.txt:4:12: there is no such node before this one
 *     %2 = MUL f32 %0 %7
 *                     ^
 * Nodes may have any numbers, as long as each is defined before it is used. */
#include "io/io.h"
#include <ctype.h>
#include <errno.h>
#include <math.h>
#include <stdarg.h>
#include <stdlib.h>


typedef struct {
	const char *s, *file;
	size_t n, at;
	int depth;
	VEC(const Val *) stack;
	Map labels;                     /* 1 + label → 1 + position */
} Parser;

/* Dies with "file:line:column: message", then, on a terminal, the line and a caret. */
static _Noreturn __attribute__((format(printf, 6, 7))) void die_at(
	int status, const char *file, const char *s, size_t n, size_t at, const char *fmt, ...)
{
	va_list ap;
	size_t line = 1, start = 0;
	at = at < n ? at : n;
	for (size_t i = 0; i < at; i++)
		if (s[i] == '\n') {
			line++;
			start = i + 1;
		}
	const char *eol = memchr(s + start, '\n', n - start);
	size_t end = eol ? (size_t)(eol - s) : n, col = 1;
	/* a part of the line, with tabs as spaces, so that the caret is at the right column */
	size_t from = at - start > 100 ? at - 100 : start, to = end - from > 160 ? from + 160 : end;
	Buf b = {0}, text = {0};
	for (size_t i = from; i < to; i++)
		buf_add(&b, (unsigned char)s[i] < 32 || s[i] == 127 ? " " : &s[i], 1);
	buf_add(&b, "\n", 1);
	for (size_t i = from; i < at; i++)
		if (((unsigned char)s[i] & 0xc0) != 0x80)
			buf_add(&b, " ", 1);
	buf_add(&b, "^", 1);
	for (size_t i = start; i < at; i++)
		col += ((unsigned char)s[i] & 0xc0) != 0x80;
	char message[2000];
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	buf_printf(&text, "%s:%zu:%zu", file, line, col);
	process.where = text.s;
	process.context = b.s;
	die(status, "%s", message);
}

#define FAIL(p, ...) die_at(MALFORMED, (p)->file, (p)->s, (p)->n, (p)->at, __VA_ARGS__)

static int peek(const Parser *p) { return p->at < p->n ? (unsigned char)p->s[p->at] : -1; }

/* Skips white space and comments, and inside brackets also line ends. */
static int skip(Parser *p)
{
	for (;;) {
		int c = peek(p);
		if (c == '#')
			while (peek(p) >= 0 && peek(p) != '\n')
				p->at++;
		else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && p->depth))
			p->at++;
		else
			return c;
	}
}

static void expect(Parser *p, char c)
{
	if (skip(p) != c)
		FAIL(p, "'%c' is missing", c);
	p->at++;
}

static size_t word(Parser *p, const char **s)
{
	size_t from = p->at;
	while (isalnum(peek(p)) || peek(p) == '_')
		p->at++;
	*s = p->s + from;
	return p->at - from;
}

static bool is_word(const char *s, size_t n, const char *w)
{
	return n == strlen(w) && !memcmp(s, w, n);
}

static int hex_digit(int c)
{
	return isdigit(c) ? c - '0' : isxdigit(c) ? tolower(c) - 'a' + 10 : -1;
}

static int hex_byte(Parser *p)
{
	int hi = p->at + 1 < p->n ? hex_digit((unsigned char)p->s[p->at]) : -1;
	int lo = hi >= 0 ? hex_digit((unsigned char)p->s[p->at + 1]) : -1;
	if (lo < 0)
		FAIL(p, "two hexadecimal digits are missing");
	p->at += 2;
	return hi * 16 + lo;
}

static char parse_escape(Parser *p)
{
	int c = peek(p);
	if (c < 0)
		FAIL(p, "the string does not end");
	p->at++;
	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	case 'r': return '\r';
	case '"': case '\\': case '/': return c;
	case 'x': return hex_byte(p);
	default:
		p->at--;
		FAIL(p, "unknown escape '\\%c'", c);
	}
}

static const Val *string_of(Parser *p, Buf *b)
{
	if (!utf8_ok(buf_str(b), b->n))
		FAIL(p, "the string is not UTF-8");
	const Val *v = val_strn(b->s, b->n);
	buf_free(b);
	return v;
}

static const Val *parse_string(Parser *p)
{
	Buf b = {0};
	size_t from = p->at++;
	for (;;) {
		int c = peek(p);
		if (c < 0 || c == '\n') {
			p->at = from;
			FAIL(p, "the string does not end");
		}
		p->at++;
		if (c == '"')
			break;
		char one = c == '\\' ? parse_escape(p) : c;
		buf_add(&b, &one, 1);
	}
	return string_of(p, &b);
}

static const Val *parse_bin(Parser *p)
{
	Buf b = {0};
	p->at++;
	while (peek(p) != '"') {
		char one = hex_byte(p);
		buf_add(&b, &one, 1);
	}
	p->at++;
	/* a bin points to its bytes, which must live as long as the graph */
	char *bytes = arena_alloc(b.n);
	if (b.n)
		memcpy(bytes, b.s, b.n);
	const Val *v = val_bin(bytes, b.n);
	buf_free(&b);
	return v;
}

static const Val *parse_block(Parser *p)
{
	Buf b = {0};
	do {
		const char *from = p->s + ++p->at;
		const char *eol = memchr(from, '\n', p->n - p->at);
		size_t n = eol ? (size_t)(eol - from) : p->n - p->at;
		if (b.cap)
			buf_add(&b, "\n", 1);
		buf_add(&b, from, n);
		p->at += n;
	} while (skip(p) == '|');
	return string_of(p, &b);
}

static const Val *parse_nan(Parser *p)
{
	uint64_t bits = 0;
	double f;
	for (int i = 0; i < 8; i++)
		bits = bits << 8 | (unsigned)hex_byte(p);
	memcpy(&f, &bits, 8);
	return val_float(f);
}

static const Val *parse_number(Parser *p)
{
	char s[400];
	size_t n = 0;
	bool whole = true;
	for (int c; n < sizeof s - 1; p->at++) {
		c = peek(p);
		if (c != '-' && c != '+' && c != '.' && !isalnum(c))
			break;
		whole &= isdigit(c) || (c == '-' && n == 0);
		if (isalpha(c) && c != 'e' && c != 'E')
			FAIL(p, "a number with a letter in it");
		s[n++] = c;
	}
	s[n] = 0;
	char *end;
	errno = 0;
	if (whole && n > (s[0] == '-')) {
		const Val *v = s[0] == '-' ? val_int(strtoll(s, &end, 10))
					   : val_uint(strtoull(s, &end, 10));
		if (!errno)
			return v;
	}
	double f = strtod(s, &end);
	if (n == 0 || *end || (whole && errno)) {
		p->at -= n;
		if (n == 0)
			FAIL(p, "a value is missing");
		FAIL(p, "'%s' is no value", s);
	}
	return val_float(f);
}

static const Val *parse_value(Parser *p);

static const Val *parse_key(Parser *p)
{
	const char *s;
	if (skip(p) == '"')
		return parse_string(p);
	size_t n = word(p, &s);
	if (!n)
		FAIL(p, "a key is missing");
	return val_strn(s, n);
}

static const Val *parse_list(Parser *p, bool map)
{
	size_t base = p->stack.n, from = p->at++;
	char end = map ? '}' : ']';
	if (++p->depth > WIRE_DEPTH)
		FAIL(p, "nested too deep");
	while (skip(p) != end) {
		if (p->stack.n > base)
			expect(p, ',');
		if (map) {
			const Val *key = parse_key(p);
			vec_push(&p->stack, key);
			expect(p, ':');
		}
		if (skip(p) < 0) {
			p->at = from;
			FAIL(p, "the bracket does not close");
		}
		const Val *v = parse_value(p);
		vec_push(&p->stack, v);
	}
	p->at++;
	p->depth--;
	size_t n = p->stack.n - base;
	const Val *const *at = n ? p->stack.at + base : NULL;
	p->stack.n = base;
	const Val *twice = map ? val_key_twice(n / 2, at) : NULL;
	if (twice)
		FAIL(p, "the key '%.40s' is given twice", twice->s);
	return map ? val_map(n / 2, at) : val_array(n, at);
}

static const Val *parse_value(Parser *p)
{
	const char *s;
	int c = skip(p);
	if (c == '"')
		return parse_string(p);
	if (c == '[' || c == '{')
		return parse_list(p, c == '{');
	if (c == '|' && p->depth)
		return parse_block(p);
	if (!isalpha(c))
		return c == '-' && p->n - p->at >= 4 && !memcmp(p->s + p->at, "-inf", 4) ?
			(p->at += 4, val_float(-INFINITY)) : parse_number(p);
	size_t from = p->at, n = word(p, &s);
	if (is_word(s, n, "nil") || is_word(s, n, "null"))
		return VNIL;
	if (is_word(s, n, "true") || is_word(s, n, "false"))
		return val_bool(*s == 't');
	if (is_word(s, n, "inf"))
		return val_float(INFINITY);
	if (is_word(s, n, "nan") && peek(p) == ':')
		return p->at++, parse_nan(p);
	if (is_word(s, n, "nan"))
		return val_float(NAN);
	if (is_word(s, n, "b") && peek(p) == '"')
		return parse_bin(p);
	p->at = from;
	FAIL(p, "'%.*s' is no value", n < 40 ? (int)n : 40, s);
}

static uint64_t parse_label(Parser *p)
{
	uint64_t v = 0;
	if (skip(p) != '%')
		FAIL(p, "a node begins with its number, as in %%3");
	p->at++;
	if (!isdigit(peek(p)))
		FAIL(p, "a number is missing");
	for (; isdigit(peek(p)); p->at++)
		if (v > (UINT64_MAX >> 8) / 10)
			FAIL(p, "the number is too large");
		else
			v = v * 10 + (peek(p) - '0');
	return v + 1;
}

static void parse_node(Parser *p, Doc *d, size_t place)
{
	VEC(uint64_t) src = {0};
	const char *op, *dtype = NULL, *s;
	const Val *arg = VNIL, *note = VNIL;
	uint64_t label = parse_label(p);
	if (map_get(&p->labels, label))
		FAIL(p, "this number is used twice");
	expect(p, '=');
	skip(p);
	size_t op_at = p->at, nop = word(p, &op), ndtype = 0;
	if (!nop)
		FAIL(p, "the op is missing");
	skip(p);
	size_t after = p->at;
	ndtype = word(p, &s);
	char name[8] = "";
	if (ndtype < sizeof name)
		memcpy(name, s, ndtype);
	if (dtype_find_lanes(name) != DT_NONE)
		dtype = s;
	else
		p->at = after;
	while (skip(p) == '%') {
		size_t here = p->at;
		void *to = map_get(&p->labels, parse_label(p));
		if (!to) {
			p->at = here;
			FAIL(p, "there is no such node before this one");
		}
		vec_push(&src, (uint64_t)(uintptr_t)to - 1);
	}
	if (skip(p) != '@' && skip(p) != '\n' && skip(p) >= 0)
		arg = parse_value(p);
	if (skip(p) == '@') {
		p->at++;
		if (skip(p) != '{')
			FAIL(p, "a note is a map");
		note = parse_value(p);
	}
	if (skip(p) != '\n' && skip(p) >= 0)
		FAIL(p, "the line should end here");
	int status;
	const char *err = doc_node(d, op, nop, dtype, ndtype, src.n, src.at, arg, note, &status);
	if (err)
		die_at(status, p->file, p->s, p->n, op_at, "%s", err);
	map_put(&p->labels, label, (void *)(uintptr_t)(place + 1));
	vec_free(&src);
}

static void skip_lines(Parser *p)
{
	while (skip(p) == '\n')
		p->at++;
}

static const Val *parse_heading(Parser *p, const char *name)
{
	size_t n = strlen(name);
	skip_lines(p);
	if (p->n - p->at <= n || memcmp(p->s + p->at, name, n) ||
		isalnum((unsigned char)p->s[p->at + n]))
		return VNIL;
	p->at += n;
	if (skip(p) != '{')
		FAIL(p, "'%s' is followed by a map", name);
	return parse_value(p);
}

static Level parse_header(Parser *p)
{
	const char *s;
	size_t n = word(p, &s);
	if (!is_word(s, n, "sluice"))
		FAIL(p, "a document begins with 'sluice 1 LEVEL'");
	skip(p);
	n = word(p, &s);
	if (!is_word(s, n, "1"))
		die_at(UNSUPPORTED, p->file, p->s, p->n, p->at - n,
			"format version '%.*s' is not supported, only 1", n < 20 ? (int)n : 20, s);
	skip(p);
	n = word(p, &s);
	for (int l = 0; l < LV_COUNT; l++)
		if (is_word(s, n, level_name[l]))
			return l;
	p->at -= n;
	FAIL(p, "there is no level '%.*s'", n < 20 ? (int)n : 20, s);
}

Graph *text_next(const char *s, size_t n, const char *file, size_t *at)
{
	Parser p = {.s = s, .n = n, .file = file, .at = *at};
	const char *err;
	skip_lines(&p);
	if (skip(&p) < 0)
		return NULL;
	size_t from = p.at;
	Level level = parse_header(&p);
	const Val *vars = parse_heading(&p, "vars"), *meta = parse_heading(&p, "meta");
	Doc *d = doc_begin(level, vars, meta, READ_RAW, &err);
	if (!d)
		die_at(MALFORMED, file, s, n, from, "%s", err);
	for (size_t place = 0;; place++) {
		skip_lines(&p);
		if (skip(&p) != '%')
			break;
		parse_node(&p, d, place);
	}
	if (skip(&p) >= 0 && peek(&p) != 's')
		FAIL(&p, "a node begins with its number, as in %%3");
	Graph *g = doc_end(d, &err);
	if (!g)
		FAIL(&p, "%s", err);
	vec_free(&p.stack);
	map_free(&p.labels);
	*at = p.at;
	return g;
}
