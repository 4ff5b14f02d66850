/* What one change makes of a list.
 *
 *     order 0 1; tile 0 8 1; tile 1 3 16; grid 1
 *     →  order 1 0; …      tile 0 7 1      tile 0 16 1      grid 2      … without tile 0
 *        tile 0 24 1; tile 1 1 16     tile 0 6 1; tile 1 4 16 …
 *        … with partial 4      … with stage LOAD.1 2      split 2 64 before it
 *
 * What may be added is drawn from the rows of actions.def by their forms: ranges and values are the
 * kernel's, numbers are powers of two. Whether a list fits is not asked here. */
#include "target/target.h"
#include "tune/parts.h"
#include <stdlib.h>

enum { WORDS = MAX_RANGES + 4, CHOICES = 96 };
static const char *const words_known[] = {"unroll", "group", "item", "overlap"};
static const int64_t numbers_tried[] = {1, 2, 4, 8, 16, 64, 256};

typedef struct { const Val *list, *kind; const Fitted *of; MoveList *to; } Moves;

static void add(Moves *m, const Val *list) { vec_push(m->to, ((Move){list, m->kind})); }

/* What is added from here on is of this action's kind. */
static void set_kind(Moves *m, const Val *a)
{
	m->kind = a->n > 1 ? VARR(a->a[0], a->a[1]) : VARR(a->a[0]);
}

static bool is_action(const Val *a, const char *name) { return val_is_str(a->a[0], name); }

static const Action *row_of(const Val *a)
{
	size_t n;
	const Action *rows = action_rows(&n);
	for (size_t i = 0; i < n; i++)
		if (is_action(a, rows[i].name))
			return &rows[i];
	return NULL;
}

/* The list with its action i replaced (a NULL: left out), or (insert) with a before it. */
static const Val *edited(const Val *list, size_t i, const Val *a, bool insert)
{
	const Val **v = arena_alloc((list->n + 1) * sizeof *v);
	size_t n = 0;
	for (size_t k = 0; k < list->n; k++) {
		if (k == i && a)
			v[n++] = a;
		if (k != i || insert)
			v[n++] = list->a[k];
	}
	if (i == list->n)
		v[n++] = a;
	return val_array(n, v);
}

static const Val *with_word(const Val *a, size_t k, const Val *word)
{
	const Val **v = arena_alloc(a->n * sizeof *v);
	memcpy(v, a->a, a->n * sizeof *v);
	v[k] = word;
	return val_array(a->n, v);
}

/* ---- what is there, changed */

static void change_numbers(Moves *m, size_t i)
{
	const Val *a = m->list->a[i];
	const Action *row = row_of(a);
	for (size_t k = 1; row && k < a->n; k++) {
		int64_t n = a->a[k]->i;
		const int64_t other[] = {2 * n, n / 2, n + 1, n - 1};
		if (form_letter(row->args, k) != 'n' || a->a[k]->kind != VAL_INT)
			continue;
		for (int j = 0; j < 4; j++)
			if (other[j] > 0 && other[j] <= 4096 && (j < 2 || n > 2))
				add(m, edited(m->list, i, with_word(a, k, val_int(other[j])),
					false));
	}
}

/* A tile of another length, and another one as long as fills the same registers with it: as many
 * accumulators, or those that leave room for the vectors that they are added to. */
static void change_shape(Moves *m, size_t i)
{
	enum { LONGEST = 8 };
	const Val *a = m->list->a[i];
	for (size_t k = 0; k < m->list->n; k++) {
		const Val *b = m->list->a[k];
		if (k == i || !is_action(b, "tile"))
			continue;
		for (int64_t n = 1; n <= LONGEST; n++) {
			int64_t all = a->a[2]->i * b->a[2]->i;
			int64_t fill[] = {all / n, (target->registers - 2) / n - 1};
			const Val *of = edited(m->list, i, with_word(a, 2, val_int(n)), false);
			for (int j = 0; j < 2 && n != a->a[2]->i; j++)
				if (fill[j] > 0 && (!j || fill[1] != fill[0]))
					add(m, edited(of, k, with_word(b, 2, val_int(fill[j])),
						false));
		}
	}
}

/* Each loop at each other place. */
static void change_order(Moves *m, size_t i)
{
	const Val *a = m->list->a[i], **v = arena_alloc(a->n * sizeof *v);
	for (size_t from = 1; from < a->n; from++)
		for (size_t to = 1; to < a->n; to++) {
			size_t n = 1;
			v[0] = a->a[0];
			for (size_t k = 1; k < a->n; k++) {
				if (k == from)
					continue;
				if (n == to)
					v[n++] = a->a[from];
				v[n++] = a->a[k];
			}
			if (n < a->n)
				v[n++] = a->a[from];
			if (from != to && to != from - 1)
				add(m, edited(m->list, i, val_array(n, v), false));
		}
}

/* ---- actions that are added */

static bool there(const Moves *m, const char *name, const Val *range)
{
	for (size_t i = 0; i < m->list->n; i++)
		if (is_action(m->list->a[i], name) && (!range || m->list->a[i]->n < 2 ||
			m->list->a[i]->a[1] == range))
			return true;
	return false;
}

/* A range's path as a word: a number until it is split. */
static const Val *path_word(const char *path)
{
	return strchr(path, '.') ? val_str(path) : val_int(atoll(path));
}

/* The word in an action of a range of this path after it was split; order has both pieces. */
static const Val *split_word(const Val *word, const Val *range, int piece)
{
	return word != range ? word :
		val_str(arena_printf("%s.%d", range_path(range), piece));
}

/* An action of a list after range was split. For an order `front` says where the outer piece
 * goes. */
static const Val *after_split(const Val *a, const Val *range, bool front)
{
	const Action *row = row_of(a);
	bool order = is_action(a, "order"), found = false;
	const Val *v[2 * WORDS];
	size_t n = 0;
	v[n++] = a->a[0];
	for (size_t k = 1; k < a->n; k++)
		found |= a->a[k] == range;
	const Val *outer = split_word(range, range, 0);
	if (order && front)
		v[n++] = outer;
	for (size_t k = 1; k < a->n; k++) {
		char letter = row ? form_letter(row->args, k) : 0;
		bool is = (letter == 'r' || letter == 'R') && a->a[k] == range;
		if (order && is && !front)
			v[n++] = outer;
		v[n++] = is ? split_word(range, range, 1) : a->a[k];
	}
	if (order && front && !found)
		v[n++] = split_word(range, range, 1);
	return val_array(n, v);
}

/* A rewrite goes behind those that there are, and what follows speaks of pieces. */
static void add_rewrite(Moves *m, const Val *a)
{
	size_t at = 0;
	while (at < m->list->n && row_of(m->list->a[at]) && row_of(m->list->a[at])->rewrite)
		at++;
	for (int front = 0; front < (is_action(a, "split") ? 2 : 1); front++) {
		const Val **v = arena_alloc((m->list->n + 1) * sizeof *v);
		size_t n = 0;
		for (size_t k = 0; k < at; k++)
			v[n++] = m->list->a[k];
		v[n++] = a;
		for (size_t k = at; k < m->list->n; k++)
			v[n++] = is_action(a, "split") ?
				after_split(m->list->a[k], a->a[1], front) : m->list->a[k];
		add(m, val_array(n, v));
	}
}

/* The order of tiles is that of their lanes: before the others, and behind them. */
static void add_action(Moves *m, const Action *row, const Val *a)
{
	size_t first = m->list->n, behind = m->list->n;
	set_kind(m, a);
	if (row->rewrite) {
		add_rewrite(m, a);
		return;
	}
	for (size_t i = m->list->n; i-- > 0;)
		if (is_action(m->list->a[i], row->name)) {
			behind = behind == m->list->n ? i + 1 : behind;
			first = i;
		}
	add(m, edited(m->list, behind, a, true));
	if (first < behind)
		add(m, edited(m->list, first, a, true));
}

/* The ranges on which a value depends: all that a reduction binds, and each by itself. */
static size_t range_sets(const Moves *m, const UOp *value, const Val *set[CHOICES])
{
	const Facts *f = &m->of->f;
	size_t n = 0;
	uint64_t folds = free_of(value) & f->reduced & ~f->out;
	for (int r = -1; r < f->nrange && n < CHOICES; r++) {
		uint64_t over = r < 0 ? folds : free_of(value) & 1ull << r;
		const Val *v[MAX_RANGES];
		size_t k = 0;
		for (int i = 0; i < m->of->w.nnames && k < MAX_RANGES; i++)
			for (int q = 0; q < f->nrange; q++)
				if (over >> q & 1 && axis_of(f, q) == m->of->w.name[i].axis)
					v[k++] = path_word(m->of->w.name[i].path);
		if (k && (r < 0 || over != folds))
			set[n++] = val_array(k, v);
	}
	return n;
}

typedef struct { const Action *row; const Val *word[WORDS]; size_t n; const UOp *value; } Draft;

static void draft(Moves *m, Draft *d);

static void draft_with(Moves *m, Draft *d, const Val *word)
{
	d->word[d->n++] = word;
	draft(m, d);
	d->n--;
}

static void draft_values(Moves *m, Draft *d)
{
	const Facts *f = &m->of->f;
	for (size_t i = 0; i < f->all.n; i++) {
		UOp *u = f->all.at[i];
		if ((u->op != OP_LOAD && u->op != OP_RREDUCE) || !free_of(u))
			continue;
		d->value = u;
		draft_with(m, d, val_str(value_name(f, u)));
		d->value = NULL;
	}
}

static void draft_sets(Moves *m, Draft *d)
{
	const Val *set[CHOICES];
	size_t n = d->value ? range_sets(m, d->value, set) : 0, had = d->n;
	for (size_t i = 0; i < n; i++) {
		for (size_t k = 0; k < set[i]->n && d->n < WORDS; k++)
			d->word[d->n++] = set[i]->a[k];
		add_action(m, d->row, val_array(d->n, d->word));
		d->n = had;
	}
}

/* Word number k of a form, from 0 on, as "r", "n?" or "r*"; NULL at its end. */
static const char *form_token(const char *form, size_t k)
{
	for (; *form && k; k--) {
		form += strcspn(form, " ");
		form += *form == ' ';
	}
	return *form ? form : NULL;
}

static void draft_ranges(Moves *m, Draft *d)
{
	for (int i = 0; i < m->of->w.nnames; i++) {
		const Val *word = path_word(m->of->w.name[i].path);
		if (d->n > 1 || d->row->rewrite || !there(m, d->row->name, word))
			draft_with(m, d, word);
	}
}

/* The actions of a row whose first words are those of d. */
static void draft(Moves *m, Draft *d)
{
	const char *token = form_token(d->row->args, d->n - 1);
	if (!token || token[1] == '?')
		add_action(m, d->row, val_array(d->n, d->word));
	/* what a kind's number says, words say: jam, bind, group */
	if (!token || (token[1] == '?' && d->row->read && !d->row->rewrite))
		return;
	if (token[1] == '*') {
		draft_sets(m, d);
		return;
	}
	switch (*token) {
	case 'r':
	case 'R': draft_ranges(m, d); break;
	case 'v': draft_values(m, d); break;
	case 'n':
		for (size_t i = 0; i < sizeof numbers_tried / sizeof *numbers_tried; i++)
			if (numbers_tried[i] > 1 || !d->row->rewrite)
				draft_with(m, d, val_int(numbers_tried[i]));
		break;
	case 't':
		for (size_t i = 0; i < sizeof words_known / sizeof *words_known; i++)
			draft_with(m, d, val_str(words_known[i]));
		break;
	}
}

/* An action of which a list has one, whatever it is of. */
static bool single(const Action *row) { return *row->args != 'r' && *row->args != 'R' &&
	*row->args != 'v'; }

void moves_of(const Val *list, const Fitted *of, MoveList *to)
{
	Moves m = {list, NULL, of, to};
	size_t n;
	const Action *rows = action_rows(&n);
	for (size_t i = 0; i < list->n; i++) {
		set_kind(&m, list->a[i]);
		if (is_action(list->a[i], "order"))
			change_order(&m, i);
		else
			add(&m, edited(list, i, NULL, false));
		change_numbers(&m, i);
		if (is_action(list->a[i], "tile"))
			change_shape(&m, i);
	}
	for (size_t i = 0; i < n; i++) {
		Draft d = {.row = &rows[i], .word = {val_str(rows[i].name)}, .n = 1};
		if (!single(&rows[i]) || !there(&m, rows[i].name, NULL))
			draft(&m, &d);
	}
}
