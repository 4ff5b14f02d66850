/* Texts that are files of their own in this folder, NAME standing for the module's name. */
#include "emit/emit.h"

static const struct { const char *name, *text; } templates[] = {
#include "templates.inc"
};

void emit_template(Buf *out, const Module *m, const char *name)
{
	const char *at = NULL, *next;

	for (size_t i = 0; i < sizeof templates / sizeof *templates; i++)
		if (!strcmp(templates[i].name, name))
			at = templates[i].text;
	CHECK(at);
	for (; (next = strstr(at, "NAME")); at = next + 4)
		buf_printf(out, "%.*s%s", (int)(next - at), at, m->name);
	buf_printf(out, "%s", at);
}
