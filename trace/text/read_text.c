/* A program in the text language to a graph: split into lines and tokens (lex_text.c), parsed into
 * trees (parse_text.c and parse_statements.c), and evaluated (eval_*.c) by functions of the tensor
 * library. The grammar is in README.md. */
#include "text/text.h"

Graph *read_text(const char *text, size_t n, const char *file)
{
	/* a NUL after the last character, since the parser looks ahead */
	char *copy = arena_alloc(n + 1);
	if (n)
		memcpy(copy, text, n);
	lex_start(copy, n, file);
	StmtBlock program = parse_text();
	return eval_program(program, file);
}
