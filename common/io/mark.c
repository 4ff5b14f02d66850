/* The mark by which a user's tools know a program as their own.
 *
 *     meta {…, mark: "5f0c…"}        the BLAKE2b of the document with the user's secret, as text
 *
 * A program is code: its sources, objects and flags are executed when it carries the mark, which
 * `render` and `compile` put there, or with --allow-code. The mark covers everything that decides
 * what is executed: level, size variables, meta and all nodes that the SINK reaches. It does not
 * cover notes, meta.timings and the order of nodes, which decide nothing. An object is a path; what
 * the mark covers is the hash of its bytes in `object_hash`, which whoever loads it compares. With
 * `object_key` the object is an entry of the cache, which has a seal of its own: its bytes, and so
 * their hash, depend on what else was compiled in the same unit.
 *
 * Another mark is put on a document that a stage has proved and hands to one that it starts, and
 * says that it need not be proved again. */
#include "io/io.h"
#include <unistd.h>

/* What a mark says: that this user's tools made a program; that a document was proved, without the
 * order of what items touch and with it. */
static const char made[] = "mark", *const proved[] = {"proved but for order", "proved"};

static bool mark_of(const Graph *g, const char *purpose, DigestText *text)
{
	const Val *meta = val_set(val_set(g->meta, "mark", NULL), "timings", NULL);
	Digest d;
	Hash h;

	if (!hash_begin_secret(&h, purpose))
		return false;
	wire_hash(&h, g, meta);
	d = hash_end(&h);
	*text = digest_text(&d);
	return true;
}

/* ---- putting it */

/* What a render-X made itself, or another device's compiler, has no hash yet; what `compile` read
 * with one keeps it. */
static UOp *object_hashed(UOp *u, void *unused)
{
	const Val *object = u->op == OP_PROGRAM ? val_get(u->arg, "object") : NULL;
	Digest d;

	if (!object || object->kind != VAL_STR || val_get(u->arg, "object_hash") ||
		val_get(u->arg, "object_key"))
		return u;
	int fd = own_open(object->s);
	if (fd < 0 || !file_digest(fd, "object", &d))
		die_errno("node %u PROGRAM: its object '%s' cannot be read", u->id, object->s);
	close(fd);
	const Val *hash = val_str(digest_text(&d).s);
	return node_like(u, u->nsrc, u->src, val_set(u->arg, "object_hash", hash));
}

static bool mark_set(Graph *g, const char *purpose)
{
	DigestText text;
	bool is = mark_of(g, purpose, &text);

	if (is || val_get(g->meta, "mark"))
		g->meta = val_set(g->meta, "mark", is ? val_str(text.s) : NULL);
	return is;
}

void mark_put_proved(Graph *g, bool order) { mark_set(g, proved[order]); }

Graph *mark_put(Graph *g)
{
	g->sink = walk_replace(g->sink, object_hashed, NULL);
	g->all = (Nodes){0};
	if (mark_set(g, made))
		return g;
	if (process.verbose)
		warn("the program carries no mark: %s", secret_missing());
	return g;
}

/* ---- asking for it */

static bool mark_holds(const Graph *g, const char *purpose)
{
	const Val *mark = val_get(g->meta, "mark");
	DigestText text;

	return mark && mark_of(g, purpose, &text) && val_is_str(mark, text.s);
}

bool mark_proved(const Graph *g, bool order)
{
	return mark_holds(g, proved[true]) || (!order && mark_holds(g, proved[false]));
}

static bool programs_in(const Graph *g)
{
	Nodes all = g->level == LV_PROGRAM ? walk(g->sink) : (Nodes){0};

	for (size_t i = 0; i < all.n; i++)
		if (all.at[i]->op == OP_PROGRAM)
			return true;
	return false;
}

bool code_check(const Graph *g)
{
	static const char what[] = "a program is code, which is compiled and run:";
	bool own = g->level != LV_PROGRAM || mark_holds(g, made);

	if (process.code_allowed || !programs_in(g))
		return own;
	if (process.from_socket)
		die(UNSUPPORTED, "%s from a socket it needs --allow-code", what);
	if (own)
		return true;
	if (secret_missing())
		die(UNSUPPORTED, "%s it needs --allow-code, for there is no secret to know a mark "
			"by: %s", what, secret_missing());
	die(UNSUPPORTED, "%s %s; if you trust where it comes from, give --allow-code", what,
		val_get(g->meta, "mark") ?
			"it was changed after its mark was made, or made by another user" :
			"it has no mark of your own render or compile");
}
