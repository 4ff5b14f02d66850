/* Texts that are the same for every module but for its name. */
#include "library/library.h"

void emit_python(Buf *out, const Module *m) { emit_template(out, m, "python"); }

void emit_pc(Buf *out, const Module *m) { emit_template(out, m, "pc"); }

void emit_test(Buf *out, const Module *m) { emit_template(out, m, "test"); }

void emit_makefile(Buf *out, const Module *m)
{
	buf_printf(out,
		"# %s: made by sluice pack. make, make test, make install PREFIX=/usr/local\n"
		"# what it is compiled for\nARCH = %s\nCFLAGS = %s -w\n",
		m->name, build_processor(m), build_tuning(m));
	emit_template(out, m, "makefile");
}
