/* Characters to tokens.
 *
 *     y = x[1:] @ w   # scores        NAME = NAME [ NUMBER : ] @ NAME LINE
 *
 * Lines end statements, except within ( ) and [ ] and after a backslash; a comment runs from # to
 * the end of its line. */
#include "text/text.h"
#include <ctype.h>
#include <errno.h>
#include <stdarg.h>
#include <stdlib.h>

static ARENA const char *text, *end, *p, *file_name;
static ARENA int line, col;
static ARENA char bracket[MAX_NESTING];
static ARENA Pos opened[MAX_NESTING];
static ARENA int nesting;

void lex_start(const char *t, size_t n, const char *file)
{
	text = p = t;
	end = t + n;
	file_name = file;
	line = col = 1;
	nesting = 0;
	if (n > MAX_TEXT)
		die(MALFORMED, "%s: more than %d MiB of text; put data in files", file,
			MAX_TEXT >> 20);
}

/* ---- places */

/* "g.t:3:14", in the arena */
static const char *pos_where(const Pos *pos)
{
	return arena_printf("%s:%d:%d", file_name, pos->line, pos->col);
}
const char *pos_line(const Pos *pos) { return arena_printf("%s:%d", file_name, pos->line); }

/* The line with a caret under the place; a long line is cut to the part around it. */
static const char *caret_lines(const Pos *pos)
{
	enum { BEFORE = 100, AFTER = 60 };
	Buf b = {0};
	const char *from = pos->at, *to = pos->at;
	while (from > text && from[-1] != '\n' && pos->at - from < BEFORE)
		from--;
	while (from < pos->at && ((unsigned char)*from & 0xc0) == 0x80)
		from++;
	while (to < end && *to != '\n' && to - pos->at < AFTER)
		to++;
	while (to < end && ((unsigned char)*to & 0xc0) == 0x80)
		to++;
	for (const char *s = from; s < to; s++)
		buf_add(&b, (unsigned char)*s < 32 && *s != '\t' ? " " : *s == 127 ? " " : s, 1);
	buf_add(&b, "\n", 1);
	for (const char *s = from; s < pos->at; s++)
		if (((unsigned char)*s & 0xc0) != 0x80)
			buf_add(&b, *s == '\t' ? "\t" : " ", 1);
	buf_add(&b, "^", 1);
	const char *lines = arena_strdup(buf_str(&b));
	buf_free(&b);
	return lines;
}

void at_pos(const Pos *pos)
{
	process.where = pos_where(pos);
	process.context = caret_lines(pos);
}

void fail_at(const Pos *pos, const char *fmt, ...)
{
	char message[1000];
	va_list ap;
	va_start(ap, fmt);
	vsnprintf(message, sizeof message, fmt, ap);
	va_end(ap);
	at_pos(pos);
	die(MALFORMED, "%s", message);
}

/* ---- characters */

static int peek(size_t k) { return (size_t)(end - p) > k ? (unsigned char)p[k] : 0; }

static void step(void)
{
	if (*p == '\n') {
		line++;
		col = 1;
	} else if (((unsigned char)*p & 0xc0) != 0x80) {
		col++;
	}
	p++;
}

static void skip_blanks(void)
{
	bool joined = nesting && bracket[nesting - 1] != '{';
	for (; p < end; step()) {
		if (*p == '#') {
			while (p < end && *p != '\n')
				step();
			if (p == end)
				return;
		}
		if (*p == '\\' && (peek(1) == '\n' || (peek(1) == '\r' && peek(2) == '\n'))) {
			while (*p != '\n')
				step();
			continue;
		}
		if (*p != ' ' && *p != '\t' && *p != '\r' && !(*p == '\n' && joined))
			return;
	}
}

static Token token(int kind, Pos pos) { return (Token){.kind = kind, .pos = pos}; }

static Token lex_name(Pos pos)
{
	Token t = token(T_NAME, pos);
	while (isalnum(peek(0)) || peek(0) == '_')
		step();
	if (p - pos.at > 255)
		fail_at(&pos, "a name of more than 255 characters");
	t.s = val_strn(pos.at, p - pos.at)->s;
	return t;
}

static const char *past(const char *s, bool (*is)(char c))
{
	while (s < end && is(*s))
		s++;
	return s;
}

static bool is_blank(char c) { return c == ' ' || c == '\t'; }
static bool is_name(char c) { return isalnum((unsigned char)c) || c == '_'; }

bool lex_updates(const Token *name)
{
	const char *s = name->pos.at;
	for (;; s++) {
		const char *from = past(s, is_blank);
		s = past(from, is_name);
		if (s == from)
			return false;
		s = past(s, is_blank);
		if (end - s < 2 || *s != ',')
			return end - s >= 2 && s[0] == '<' && s[1] == '-';
	}
}

static bool number_char(int c, bool hex) { return isdigit(c) || c == '_' || (hex && isxdigit(c)); }

static Value integer_value(const char *digits, const Pos *pos)
{
	errno = 0;
	bool hex = digits[0] == '0' && (digits[1] | 32) == 'x';
	char *stop;
	uint64_t u = strtoull(digits, &stop, hex ? 16 : 10);
	if (errno || *stop)
		fail_at(pos, "%.40s is no integer of at most 64 bits", digits);
	Value v = v_int((int64_t)u);
	v.f = (double)u;
	return v;
}

static Token lex_number(Pos pos)
{
	Token t = token(T_NUMBER, pos);
	bool hex = peek(0) == '0' && (peek(1) | 32) == 'x', fraction = false;
	char digits[128];
	size_t n = 0;
	while (p < end) {
		bool dot = *p == '.' && !hex && !fraction && peek(1) != '.' && !isalpha(peek(1));
		dot = dot ||
			(*p == '.' && !hex && !fraction && (peek(1) | 32) == 'e' &&
				isdigit(peek(2)));
		bool exponent = !hex && (*p | 32) == 'e' && (isdigit(peek(1)) ||
			((peek(1) == '-' || peek(1) == '+') && isdigit(peek(2))));
		if (!number_char(*p, hex) && !dot && !exponent &&
			!(hex && (*p | 32) == 'x' && n == 1))
			break;
		fraction |= dot || exponent;
		if (n + 2 >= sizeof digits)
			fail_at(&pos, "a number of more than %zu characters", sizeof digits - 2);
		if (*p != '_')
			digits[n++] = *p;
		step();
		if (exponent && !isdigit(peek(0))) {
			digits[n++] = *p;
			step();
		}
	}
	digits[n] = 0;
	if (isalpha(peek(0)))
		fail_at(&(Pos){p, line, col}, "a letter within a number");
	t.number = fraction ? v_float(strtod(digits, NULL)) : integer_value(digits, &pos);
	return t;
}

static char escaped(void)
{
	char c = peek(0);
	switch (c) {
	case 'n': return '\n';
	case 't': return '\t';
	case '\\': case '"': case '\'': return c;
	default: fail_at(&(Pos){p, line, col}, "an escape that is none of \\n \\t \\\\ \\\" \\'");
	}
}

static Token lex_string(Pos pos)
{
	Token t = token(T_STRING, pos);
	Buf b = {0};
	char quote = *p;
	for (step(); p < end && *p != quote && *p != '\n'; step()) {
		char c = *p;
		if (c == '\\') {
			step();
			c = escaped();
		}
		if (!c)
			fail_at(&pos, "a NUL in a text");
		buf_add(&b, &c, 1);
	}
	if (p == end || *p != quote)
		fail_at(&pos, "the text does not end on its line");
	step();
	t.s = val_str(buf_str(&b))->s;
	buf_free(&b);
	return t;
}

static void track_brackets(int c, const Pos *pos)
{
	if (strchr("([{", c)) {
		if (nesting == MAX_NESTING)
			fail_at(pos, "brackets nested more than %d deep", MAX_NESTING);
		opened[nesting] = *pos;
		bracket[nesting++] = c;
	} else if (strchr(")]}", c)) {
		char want = c == ')' ? '(' : c == ']' ? '[' : '{';
		if (!nesting || bracket[nesting - 1] != want)
			fail_at(pos, "'%c' closes nothing", c);
		nesting--;
	}
}

int operator_op(int kind) { return kind >= T_OP && kind < T_OP + OP_COUNT ? kind - T_OP : -1; }

OpInfix operator_precedence(int kind)
{
	int op = operator_op(kind);
	if (op >= 0)
		return op_info[op].precedence;
	if (kind == '@')
		return INFIX_PRODUCT;
	return kind == '>' || kind == T_LE || kind == T_GE ? INFIX_COMPARE : INFIX_NONE;
}

static const struct { const char *s; int kind; } symbols[] = {
	{"...", T_ELLIPSIS}, {"<=", T_LE}, {">=", T_GE}, {"..", T_DOTS},
};

/* the longest operator or symbol here, and its length */
static int symbol_here(size_t *length)
{
	int op = op_infix(p, end - p, length);
	int kind = op < 0 ? *p : T_OP + op;
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
		size_t k = strlen(symbols[i].s);
		if (k > *length && (size_t)(end - p) >= k && !memcmp(p, symbols[i].s, k)) {
			kind = symbols[i].kind;
			*length = k;
		}
	}
	*length += !*length;
	return kind;
}

static Token lex_symbol(Pos pos)
{
	size_t n;
	Token t = token(symbol_here(&n), pos);
	if (t.kind < T_OP && !strchr("()[]{},:;=@>~.\n", *p))
		fail_at(&pos,
			isprint((unsigned char)*p) ? "unexpected '%c'" : "unexpected byte 0x%02x",
			(unsigned char)*p);
	while (n--)
		step();
	if (peek(0) == '=' && peek(1) != '=' && operator_precedence(t.kind) > INFIX_COMPARE) {
		t.infix = t.kind;
		t.kind = '=';
		step();
	}
	if (t.kind == '\n')
		t.kind = T_LINE;
	else if (t.kind < T_OP)
		track_brackets(t.kind, &pos);
	return t;
}

Token lex_next(void)
{
	skip_blanks();
	Pos pos = {p, line, col};
	if (p == end) {
		if (nesting)
			fail_at(&opened[nesting - 1], "'%c' is not closed", bracket[nesting - 1]);
		return token(T_END, pos);
	}
	if (!*p)
		fail_at(&pos, "unexpected byte 0x00");
	if (isalpha((unsigned char)*p) || *p == '_')
		return lex_name(pos);
	if (isdigit((unsigned char)*p) || (*p == '.' && isdigit(peek(1))))
		return lex_number(pos);
	if (*p == '"' || *p == '\'')
		return lex_string(pos);
	return lex_symbol(pos);
}

const char *token_text(const Token *t)
{
	switch (t->kind) {
	case T_END: return "the end of the text";
	case T_LINE: return "the end of the line";
	case T_NAME: return arena_printf("'%s'", t->s);
	case T_NUMBER: return "a number";
	case T_STRING: return "a text";
	}
	if (t->infix)
		return "an assignment";
	for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++)
		if (symbols[i].kind == t->kind)
			return arena_printf("'%s'", symbols[i].s);
	int op = operator_op(t->kind);
	return op >= 0 ? arena_printf("'%s'", op_info[op].infix) : arena_printf("'%c'", t->kind);
}
