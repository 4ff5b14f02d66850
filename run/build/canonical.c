/* The canonical form of a C source, on which the key of its object depends: comments removed, white
 * space collapsed, and the names of the kernel and its parameters replaced by their positions.
 *
 *     / * g.t:2 * /
 *     void r_64(float *restrict y, const float *restrict x)   →   void @(float *restrict @0, …
 *
 * so that the same kernel has the same key with other buffers, in another document or on another
 * line. Nothing else is renamed: neither struct members nor words on preprocessor lines. Two
 * sources with one canonical text therefore differ only by a renaming that does not matter to a
 * compiler. (@ stands for a byte that occurs in no C source.) */
#include "base/base.h"
#include <ctype.h>
#include <stdlib.h>

enum { MARK = 1, SPACE, WORD, OTHER, END };
typedef struct { int kind; const char *at; size_t n; } SourceToken;
typedef struct {
	const char *name, *call, *from; /* from: where the parameter list starts */
	Map param, macro;               /* word → 1 + its position; words on preprocessor lines */
	uintptr_t params;
	Buf out;
} Canon;

static bool in_word(char c) { return isalnum((unsigned char)c) || c == '_'; }

/* The end of the literal that starts at s. */
static const char *literal_end(const char *s)
{
	char quote = *s++;

	while (*s && *s != quote && *s != '\n')
		s += s[0] == '\\' && s[1] ? 2 : 1;
	return *s == quote ? s + 1 : s;
}

/* The end of the white space and comments that start at s. */
static const char *space_end(const char *s)
{
	for (;;) {
		if (s[0] == '/' && s[1] == '*') {
			s = strstr(s + 2, "*/");
			if (!s)
				return "";
			s += 2;
		} else if (s[0] == '/' && s[1] == '/') {
			s += strcspn(s, "\n");
		} else if (isspace((unsigned char)*s)) {
			s++;
		} else {
			return s;
		}
	}
}

/* The end of a number, with any letters in it: 0x1p-3f, 1e+5. */
static const char *number_end(const char *s)
{
	while (in_word(*s) || *s == '.' || ((*s == '+' || *s == '-') && strchr("eEpP", s[-1])))
		s++;
	return s;
}

static SourceToken token_at(const char *s)
{
	const char *end = space_end(s);

	if (!*s)
		return (SourceToken){END, s, 0};
	if (!*end && end[0] != s[0])
		return (SourceToken){SPACE, s, strlen(s)};
	if (end != s)
		return (SourceToken){SPACE, s, end - s};
	if (isdigit((unsigned char)*s) || (*s == '.' && isdigit((unsigned char)s[1])))
		return (SourceToken){OTHER, s, number_end(s + 1) - s};
	if (*s == '"' || *s == '\'')
		return (SourceToken){OTHER, s, literal_end(s) - s};
	while (in_word(*end))
		end++;
	return end > s ? (SourceToken){WORD, s, end - s} : (SourceToken){OTHER, s, 1};
}

static bool is_keyword(const char *s, size_t n)
{
	static const char all[] =
		" auto break case char const continue default do double else enum"
		" extern float for goto if inline int long register restrict return short signed "
		"sizeof"
		" static struct switch typedef union unsigned void volatile while ";
	return s[0] == '_' || strstr(all, arena_printf(" %.*s ", (int)n, s));
}

/* Equal for equal words alone: what has one canonical text shares an object. */
static uint64_t word_key(const char *s, size_t n) { return PKEY(val_strn(s, n)); }

/* Enters the last word of each parameter; s is just after the parenthesis that opens the list. */
static void find_params(Canon *c, const char *s)
{
	SourceToken last = {END};

	for (int depth = 1; depth > 0 && *s;) {
		SourceToken t = token_at(s);
		s += t.n;
		if (t.kind == WORD)
			last = t;
		if (t.kind != OTHER)
			continue;
		depth += *t.at == '(' ? 1 : *t.at == ')' ? -1 : 0;
		if (!(*t.at == ',' && depth == 1) && depth > 0)
			continue;
		if (last.kind == WORD && !is_keyword(last.at, last.n) &&
			!map_get(&c->macro, word_key(last.at, last.n)))
			map_put(&c->param, word_key(last.at, last.n), (void *)(c->params + 1));
		c->params++;
		last.kind = END;
	}
}

static bool is_word(const SourceToken *t, const char *s)
{
	return strlen(s) == t->n && !memcmp(t->at, s, t->n);
}

/* Finds the kernel's parameters, and the words on preprocessor lines, which must not be renamed. */
static void find_words(Canon *c, const char *src)
{
	bool line = false;
	SourceToken t;

	for (const char *s = src; (t = token_at(s)).kind != END; s += t.n) {
		bool starts = s == src || (t.kind == SPACE && memchr(t.at, '\n', t.n));
		if (t.kind == OTHER && *t.at == '#')
			line = true;
		else if (starts)
			line = s > src && s[-1] == '\\' && line;
		else if (t.kind == WORD && line)
			map_put(&c->macro, word_key(t.at, t.n), (void *)t.at);
		else if (t.kind == WORD && !c->from && is_word(&t, c->name) && s[t.n] == '(')
			c->from = s + t.n + 1;
	}
	if (c->from)
		find_params(c, c->from);
}

/* An arrow that is not the end of "-->", a decrement and a comparison. */
static bool is_arrow(const char *src, const char *s)
{
	return s - src >= 2 && s[-1] == '-' && s[-2] != '-';
}

static void put_word(Canon *c, const SourceToken *t, bool member)
{
	uintptr_t k = 0;

	if (c->from && t->at >= c->from && !member)
		k = (uintptr_t)map_get(&c->param, word_key(t->at, t->n));
	if (is_word(t, c->name))
		buf_printf(&c->out, "%c", MARK);
	else if (is_word(t, c->call))
		buf_printf(&c->out, "%c_call", MARK);
	else if (k)
		buf_printf(&c->out, "%c%zu", MARK, (size_t)k - 1);
	else
		buf_add(&c->out, t->at, t->n);
}

const char *source_canonical(const char *name, const char *src)
{
	Canon c = {.name = name, .call = arena_printf("%s_call", name)};
	const char *s, *text;
	bool member = false;
	SourceToken t;

	find_words(&c, src);
	for (s = src; (t = token_at(s)).kind != END; s += t.n) {
		if (t.kind == WORD)
			put_word(&c, &t, member);
		else if (t.kind == SPACE)
			buf_add(&c.out, memchr(t.at, '\n', t.n) ? "\n" : " ", 1);
		else
			buf_add(&c.out, t.at, t.n);
		if (t.kind != SPACE)
			member = *s == '.' || (*s == '>' && is_arrow(src, s));
	}
	text = arena_strdup(buf_str(&c.out));
	buf_free(&c.out);
	map_free(&c.param);
	map_free(&c.macro);
	return text;
}

/* ---- LLVM IR: a sign stands before each name, and a comment goes to the end of its line */

static size_t name_length(const char *s)
{
	size_t n = 0;

	while (in_word(s[n]) || (s[n] && strchr(".$-", s[n])))
		n++;
	return n;
}

/* Enters the values that the kernel's function takes; s is in its list of parameters. */
static void find_values(Canon *c, const char *s)
{
	for (; *s && *s != ')'; s++)
		if (*s == '%')
			map_put(&c->param, word_key(s + 1, name_length(s + 1)),
				(void *)++c->params);
}

/* The name at s, behind its sign; defines: in the first line of a function. */
static void put_name(Canon *c, const char *s, bool defines)
{
	SourceToken t = {WORD, s, name_length(s)};
	bool value = s[-1] == '%', kernel = !value && is_word(&t, c->name);
	uintptr_t k = value ? (uintptr_t)map_get(&c->param, word_key(s, t.n)) : 0;

	if (kernel && defines)
		find_values(c, s);
	if (kernel || (!value && is_word(&t, c->call)))
		buf_printf(&c->out, kernel ? "%c" : "%c_call", MARK);
	else if (k)
		buf_printf(&c->out, "%c%zu", MARK, (size_t)k - 1);
	else
		buf_add(&c->out, s, t.n);
}

const char *ir_canonical(const char *name, const char *src)
{
	Canon c = {.name = name, .call = arena_printf("%s_call", name)};
	const char *text, *line = src, *end;

	for (const char *s = src; *s; s = end) {
		end = *s == '"' ? literal_end(s) : *s == ';' ? s + strcspn(s, "\n") : s + 1;
		if (*s != ';')
			buf_add(&c.out, s, end - s);
		if (*s == '\n')
			line = end;
		if (*s != '@' && *s != '%')
			continue;
		put_name(&c, end, !strncmp(line, "define ", 7));
		end += name_length(end);
	}
	text = arena_strdup(buf_str(&c.out));
	buf_free(&c.out);
	map_free(&c.param);
	return text;
}
