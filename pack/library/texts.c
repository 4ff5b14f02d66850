/* Texts that are the same for every module but for its name. */
#include "library/library.h"

void emit_python(Buf *out, const Module *m) { emit_template(out, m, "python"); }

void emit_pc(Buf *out, const Module *m) { emit_template(out, m, "pc"); }
