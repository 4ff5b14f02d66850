/* Lists of actions that a search has found, by kernel, in a database. Sections follow the files. */
#ifndef RENDER_TUNED_TUNED_H
#define RENDER_TUNED_TUNED_H
#include "actions/actions.h"

/* ---- key.c: what a list is for */

/* The kernel by what it computes, without its name and its list; hexadecimal digits. */
const char *tuned_kernel(const KernelUse *use);
/* The target with its processor, "clang" or "clang:x86-64-v3". */
const char *tuned_target(void);
/* The processor that this machine has, or the name that the user gives (lower_opt.machine). To be
 * called before the walls for the first time. */
const char *tuned_device(void);

/* ---- database.c: SQLite, loaded when a database is used */

/* A list for a kernel, as text, and the nanoseconds of the kernel by the heuristic's list and by
 * this one. */
typedef struct { const char *kernel, *target, *device, *list; double before, after; } TunedRow;
/* Takes the database in a file for tuned_find, without writing to it; before the walls. Dies with
 * FAILED without libsqlite3 or such a file. */
void tuned_read(const char *path);
/* Opens or makes a database that tuned_find and tuned_put use; before the walls. */
void tuned_open(const char *path);
/* Is there a database? */
bool tuned_has(void);
/* The list of a kernel for the target and the device at hand, NULL when there is none; *row gets
 * the rest (NULL: not asked). What is in the file is not trusted: dies with MALFORMED when it is
 * no database of lists, or the text no list. Whether it fits the kernel is for plan_read to say. */
const Val *tuned_find(const KernelUse *use, TunedRow *row);
/* Stores a row in place of that of the same kernel, target and device. */
void tuned_put(const TunedRow *row);
/* Calls fn with every row, in the order of kernel, target, device. */
void tuned_each(void (*fn)(const TunedRow *row, void *ctx), void *ctx);

/* ---- rows.c: the database as text
 *
 *     sluice tuned 1
 *     KERNEL TARGET DEVICE BEFORE AFTER LIST      six fields, with tabs between
 */

/* Appends all rows of the database. */
void tuned_export(Buf *out);
/* Stores all rows of a text, or none: dies with MALFORMED and the line's number. name: of the text.
 * Returns how many there were. */
size_t tuned_import(const char *text, size_t n, const char *name);
#endif
