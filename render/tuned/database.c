/* The database: one table in a file of SQLite's.
 *
 *     CREATE TABLE tuned (kernel, target, device, list, before, after)
 *
 * The library is loaded when a database is used, so that other runs do not pay for it. A file that
 * is only read may come from anybody: its bytes are mapped, and looked at between the stage's walls
 * as a database in memory, in which nothing but that table is read. */
#include "io/io.h"
#include "tuned/tuned.h"
#include <dlfcn.h>
#include <stdlib.h>

/* What is used of sqlite3.h, which need not be installed. */
typedef struct sqlite3 sqlite3;
typedef struct sqlite3_stmt sqlite3_stmt;
#define CALLS(X) \
	X(int, open_v2, (const char *, sqlite3 **, int, const char *)) \
	X(int, exec, (sqlite3 *, const char *, void *, void *, char **)) \
	X(int, prepare_v2, (sqlite3 *, const char *, int, sqlite3_stmt **, const char **)) \
	X(int, step, (sqlite3_stmt *)) \
	X(int, finalize, (sqlite3_stmt *)) \
	X(int, bind_text, (sqlite3_stmt *, int, const char *, int, void (*)(void *))) \
	X(int, bind_double, (sqlite3_stmt *, int, double)) \
	X(const unsigned char *, column_text, (sqlite3_stmt *, int)) \
	X(double, column_double, (sqlite3_stmt *, int)) \
	X(const char *, errmsg, (sqlite3 *)) \
	X(int, limit, (sqlite3 *, int, int)) \
	X(int, busy_timeout, (sqlite3 *, int)) \
	X(int, deserialize, (sqlite3 *, const char *, unsigned char *, int64_t, int64_t, unsigned))
enum { SQLITE_OK = 0, SQLITE_ROW = 100, SQLITE_DONE = 101, READWRITE = 2, CREATE = 4, MEMORY = 128,
	LIMIT_LENGTH = 0, DESERIALIZE_READONLY = 4 };
#define SQLITE_TRANSIENT ((void (*)(void *)) -1)
enum { TEXT_MOST = 1 << 16, WAIT = 10000 };

#define X(RESULT, NAME, ARGS) RESULT (*NAME) ARGS;
static struct {
	const char *path;
	sqlite3 *db;
	const void *bytes;      /* of a file that is only read, until it is looked at */
	size_t n;
	bool only_read;
	CALLS(X)
} tuned;
#undef X

static void load(const char *path)
{
	const char *const files[] = {"libsqlite3.so.0", "libsqlite3.so", "libsqlite3.dylib"};
	void *lib = NULL;
	for (size_t i = 0; !lib && i < sizeof files / sizeof *files; i++)
		lib = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!lib)
		die(FAILED, "%s: needs libsqlite3, which is not installed", path);
#define X(RESULT, NAME, ARGS) \
	if (!(tuned.NAME = (__typeof__(tuned.NAME))dlsym(lib, "sqlite3_" #NAME))) \
		die(FAILED, "%s: this libsqlite3 has no sqlite3_" #NAME, path);
	CALLS(X)
#undef X
	tuned.path = path;
}

/* A database of the user's own that cannot be written is a failure; what is only read is input. */
static _Noreturn void failed(void)
{
	die(tuned.only_read ? MALFORMED : FAILED, "%s: %s", tuned.path, tuned.errmsg(tuned.db));
}

static void check(int code)
{
	if (code != SQLITE_OK && code != SQLITE_DONE && code != SQLITE_ROW)
		failed();
}

static void begin(const char *path, int flags)
{
	check(tuned.open_v2(path, &tuned.db, flags, NULL));
	tuned.limit(tuned.db, LIMIT_LENGTH, 1 << 24);
	tuned.busy_timeout(tuned.db, WAIT);
	/* a file's own views and triggers call nothing that has effects */
	check(tuned.exec(tuned.db, "PRAGMA trusted_schema = OFF; PRAGMA cell_size_check = ON; "
		"PRAGMA temp_store = MEMORY", NULL, NULL, NULL));
}

void tuned_read(const char *path)
{
	load(path);
	tuned.only_read = true;
	tuned.bytes = file_map(path, &tuned.n);
	begin(":memory:", READWRITE | CREATE | MEMORY);
}

void tuned_open(const char *path)
{
	load(path);
	begin(path, READWRITE | CREATE);
	check(tuned.exec(tuned.db, "CREATE TABLE IF NOT EXISTS tuned (kernel TEXT, target TEXT, "
		"device TEXT, list TEXT, before REAL, after REAL, "
		"PRIMARY KEY (kernel, target, device))", NULL, NULL, NULL));
}

bool tuned_has(void) { return tuned.db; }

static sqlite3_stmt *prepare(const char *sql)
{
	sqlite3_stmt *s = NULL;
	if (tuned.bytes) {
		const void *p = tuned.bytes;
		tuned.bytes = NULL;
		check(tuned.deserialize(tuned.db, "main", (unsigned char *)p, (int64_t)tuned.n,
			(int64_t)tuned.n, DESERIALIZE_READONLY));
		/* a view of that name could be anything */
		check(tuned.prepare_v2(tuned.db, "SELECT 1 FROM sqlite_schema WHERE "
			"name = 'tuned' AND type = 'table' AND sql LIKE 'CREATE TABLE %'", -1, &s,
			NULL));
		int found = tuned.step(s);
		check(found);
		tuned.finalize(s);
		if (found != SQLITE_ROW)
			die(MALFORMED, "%s: it has no table of tuned kernels", tuned.path);
	}
	check(tuned.prepare_v2(tuned.db, sql, -1, &s, NULL));
	return s;
}

static void bind(sqlite3_stmt *s, int i, const char *text)
{
	check(tuned.bind_text(s, i, text, -1, SQLITE_TRANSIENT));
}

static const char *text_at(sqlite3_stmt *s, int i)
{
	const char *text = (const char *)tuned.column_text(s, i);
	if (!text || strlen(text) > TEXT_MOST)
		die(MALFORMED, "%s: a row of tuned kernels has no text, or too much", tuned.path);
	return arena_strdup(text);
}

static TunedRow row_at(sqlite3_stmt *s)
{
	return (TunedRow){text_at(s, 0), text_at(s, 1), text_at(s, 2), text_at(s, 3),
		tuned.column_double(s, 4), tuned.column_double(s, 5)};
}

const Val *tuned_find(const KernelUse *use, TunedRow *row)
{
	const char *kernel = tuned_kernel(use);
	sqlite3_stmt *s = prepare("SELECT kernel, target, device, list, before, after FROM tuned "
		"WHERE kernel = ?1 AND target = ?2 AND device = ?3");
	bind(s, 1, kernel);
	bind(s, 2, tuned_target());
	bind(s, 3, tuned_device());
	int code = tuned.step(s);
	check(code);
	TunedRow found = {0};
	if (code == SQLITE_ROW)
		found = row_at(s);
	tuned.finalize(s);
	if (row)
		*row = found;
	return found.list ? actions_parse(found.list, MALFORMED, tuned.path) : NULL;
}

void tuned_put(const TunedRow *row)
{
	const char *const text[] = {row->kernel, row->target, row->device, row->list};
	sqlite3_stmt *s = prepare("INSERT OR REPLACE INTO tuned VALUES (?1, ?2, ?3, ?4, ?5, ?6)");
	for (int i = 0; i < 4; i++)
		bind(s, i + 1, text[i]);
	check(tuned.bind_double(s, 5, row->before));
	check(tuned.bind_double(s, 6, row->after));
	check(tuned.step(s));
	tuned.finalize(s);
}

void tuned_each(void (*fn)(const TunedRow *row, void *ctx), void *ctx)
{
	sqlite3_stmt *s = prepare("SELECT kernel, target, device, list, before, after FROM tuned "
		"ORDER BY kernel, target, device");
	int code;
	while ((code = tuned.step(s)) == SQLITE_ROW) {
		TunedRow row = row_at(s);
		fn(&row, ctx);
	}
	check(code);
	tuned.finalize(s);
}
