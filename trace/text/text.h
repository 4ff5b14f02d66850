/* The text language: tokens, trees, values.  Sections follow the files. */
#ifndef TEXT_H
#define TEXT_H
#include "library/library.h"

/* ---- lex_text.c: characters to tokens */

/* A place in the source: `at` points into its text; lines and columns (code points) count from
 * 1. */
typedef struct { const char *at; int line, col; } Pos;

typedef enum {
	T_END, T_LINE, T_NAME, T_NUMBER, T_STRING,
	/* T_OP + op: an infix operator of ops.def. Other symbols of two or more characters follow;
	 * other single characters are their own code. */
	T_OP = 256, T_LE = T_OP + OP_COUNT, T_GE, T_DOTS, T_ELLIPSIS
} TokenKind;
#define OPERATOR(NAME) (T_OP + OP_##NAME)

typedef struct {
	int kind;               /* TokenKind, or a character */
	Pos pos;
	const char *s;          /* NAME and STRING: interned, so compare with == */
	Value number;           /* NUMBER */
	int infix;              /* "+=" and the like: '=' with the operator here */
} Token;

enum { MAX_NESTING = 200, MAX_EXPRS = 1 << 20, MAX_TEXT = 16 << 20 };

void lex_start(const char *text, size_t n, const char *file);
Token lex_next(void);
/* the op of a token kind; -1: not an operator of ops.def ("@", ">" and so on) */
int operator_op(int kind);
/* how tightly an infix operator binds; INFIX_NONE: not an infix operator */
OpInfix operator_precedence(int kind);
const char *token_text(const Token *t);
/* whether name begins a list of names, separated by commas, that "<-" follows */
bool lex_updates(const Token *name);
/* "g.t:3", in the arena */
const char *pos_line(const Pos *p);
/* Errors from here on point at p. */
void at_pos(const Pos *p);
/* dies with MALFORMED at p */
_Noreturn void fail_at(const Pos *p, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/* ---- parse_text.c, parse_statements.c: tokens to trees */

typedef enum {
	X_VALUE, /* a number, text, true, false, none */
	X_NAME,
	X_LIST,
	X_UNARY,
	X_BINARY,
	X_AND,
	X_OR,
	X_NOT,
	X_IF,
	X_CALL,
	X_METHOD,
	X_INDEX,
	X_SLICE,
	X_ELLIPSIS,
	X_ATTR
} ExprKind;

/* X_BINARY: arg[0] op arg[1].  X_CALL: s(arg…), the last nkw of them named by kw; X_METHOD:
 * arg[0].s(arg[1]…). X_INDEX: arg[0][arg[1]…].  X_SLICE: arg[0]:arg[1]:arg[2], NULL where left out.
 * X_IF: arg[0] if arg[1] else arg[2]. */
typedef struct Expr Expr;
struct Expr {
	uint8_t kind;
	uint16_t op;
	uint32_t n, nkw;
	Pos pos;
	const char *s;
	Value *value;
	Expr **arg;
	const char **kw;
	const char *where, *context;    /* for errors here; made when first needed */
};

typedef struct { DType dt; bool shaped; uint32_t rank; Expr **dim; Pos pos; } Type;
typedef struct { const char *name; Expr *lo, *hi; Pos pos; } SizeRange;

typedef enum {
	S_INPUT,
	S_SIZES,
	S_CONST,
	S_STATE,
	S_OUTPUT,
	S_ASSIGN,
	S_UPDATE,
	S_DEF,
	S_RETURN,
	S_FOR,
	S_WHILE,
	S_IF,
	S_EXPR
} StmtKind;

typedef struct Stmt Stmt;
typedef struct { Stmt **at; size_t n; } StmtBlock;
struct Stmt {
	StmtKind kind;
	Pos pos;
	size_t n;               /* names, parameters of a def, outputs, sizes */
	const char **names;
	Pos *name_pos;
	/* outputs' values (NULL: the variable of that name), defaults of parameters */
	Expr **e;
	Expr *value;
	int op;                 /* ASSIGN: the operator of "+=" */
	Type *type;             /* INPUT, CONST, STATE; may be NULL for the last two */
	SizeRange *sizes;
	StmtBlock body, orelse;
};

/* parser state, shared by the two files */
extern Token tok;               /* the token not yet taken */
void take(void);
bool accept(int kind);
Token expect(int kind, const char *what);
bool accept_word(const char *w);
bool is_keyword(const char *name);
Expr *parse_expr(void);
/* expressions separated by commas; more than one, or a trailing comma, gives an X_LIST */
Expr *parse_expr_list(void);
StmtBlock parse_text(void);     /* the whole program */

/* ---- eval_text.c: expressions to values */

/* A variable; read is set when its value is read, if that is watched (eval_blocks.c). */
typedef struct { Value v; bool *read; } Variable;
typedef struct NameScope { Map vars; struct NameScope *outer; } NameScope;
extern NameScope globals, *scope;
Value eval(Expr *e);
/* counts one step; dies when the program exceeds MAX_STEPS */
void eval_step(const Pos *p);
/* enters and leaves a level of nesting; expressions, blocks and calls count together */
void eval_deeper(const Pos *p);
void eval_back(void);
enum { MAX_DEPTH = 1500, MAX_STEPS = 10000000 };
void expr_place(Expr *e);       /* errors from here on point at e */
Value *scope_find(const char *name);
Value *scope_read(const char *name);         /* the same, for one who uses the value */
/* The variable of this scope itself, kind V_UNSET without a reason when it has none; and it again,
 * as it was. */
Variable scope_keep(const char *name);
void scope_restore(const char *name, Variable v);
void scope_set(const char *name, Value v);
/* puts the note {loc} on those nodes of v whose id is at least start */
void note_new(const Value *v, uint32_t start, const Pos *p);
void note_name(const Value *v, const char *name);

/* ---- eval_operators.c: infix and prefix operators on values */

Value operate(int op, const Value *a, const Value *b);
Value operate_prefix(int op, const Value *a);
/* a value as true or false, while tracing; `what` names it in the error message */
bool value_truth(const Value *v, const char *what);
/* sqrt and so on of a plain number, which stays a number; false if there is no such function */
bool number_function(const char *name, const Value *x, Value *out);

/* ---- eval_index.c: x[1:, ::-1, none, i] */

typedef enum { I_AT, I_SLICE, I_NEW, I_ELLIPSIS } ItemKind;
/* mask: the size of the axis, when this came from a mask */
typedef struct { ItemKind kind; Value at, start, stop, step; UOp *mask; } IndexItem;
Value index_value(const Value *x, size_t n, const IndexItem *items);

/* ---- turns.c: loops and branches on values, for programs in any language */

bool value_same(const Value *a, const Value *b);
/* A condition that is data as a bool scalar; NULL when it is known while tracing. */
UOp *value_condition(const Value *v, const char *what);
/* list + list, where one of them is as long as a loop has turns; false: neither is. */
bool lists_join(const Value *a, const Value *b, Value *out);

/* A number of turns as the limit of a LOOP, i64; NULL when it is no integer. */
UOp *turns_limit(const Value *n);
/* A loop whose body is being made. limit, start: as in LoopEnd, either may be NULL. */
typedef struct Turns Turns;
Turns *turns_new(UOp *limit, UOp *start);
void turns_drop(Turns *t);                   /* instead of turns_end: the body is made anew */
Value turns_turn(const Turns *t);            /* 0, 1, …, weak */
/* A variable that is carried from turn to turn, init in the first: its value in a turn. like: what
 * it was behind a turn when that was tried; numbers in init take dtypes and shapes from there. */
Value turns_state(Turns *t, const Value *init, const Value *like);
bool turns_carries(const Value *v);          /* whether v can be init */
/* Whether init may be adapted so, to what the body, just made, gives. */
bool turns_adapts(const Turns *t, const Value *init, const Value *next);
/* Its value behind the turn, for each state in their order; false when that does not fit. */
bool turns_next(Turns *t, const Value *turn, const Value *next);
/* A list that the loop extends, in a turn; what is has got behind it: false when that is nothing,
 * or no such list. */
Value turns_extends(const Turns *t);
bool turns_extended(Turns *t, const Value *next);
void turns_end(Turns *t, UOp *next);         /* next: the condition behind a turn */
/* Behind the loop: the state that was `turn` in a turn; list k, `before` the loop. */
Value turns_last(const Turns *t, const Value *turn);
Value turns_list(const Turns *t, size_t k, const Value *before, const Value *next);

/* Two branches: the values that differ, merged in turn; then branch_end, and what each is behind
 * them. branch_merge is false when two values are of kinds that cannot be one. */
typedef struct { UOp *cond, *made; VEC(UOp *) then, other; } Branches;
bool branch_merge(Branches *b, const Value *then, const Value *other, Value *out);
void branch_end(Branches *b);
Value branch_value(const Branches *b, const Value *merged);
void branch_free(Branches *b);

/* ---- eval_statements.c: statements, declarations, functions */

/* Runs the program and gives its graph. */
Graph *eval_program(StmtBlock program, const char *file);
void eval_block(StmtBlock b);
/* A return that ends the function at hand, and what it returns. */
extern bool returning;
extern Value returned;
/* A function of the program, or NULL. */
Stmt *program_function(const char *name);
Value call_program_function(Stmt *f, size_t n, const Value *pos, size_t nkw, const char *const *kw,
	const Value *kwval, const Pos *p);

/* ---- eval_blocks.c: for, while and if, unrolled or as steps of the graph */

void eval_for(Stmt *s);
void eval_while(Stmt *s);
void eval_if(Stmt *s);

/* ---- eval_declare.c: input, const, size, load */

/* file: the program's; load looks in its folder */
void declare_start(const char *file);
void declare_sizes(const Stmt *s);
void declare_input(const Stmt *s);
void declare_const(const Stmt *s);
/* load("w.npy", "member") as a const buffer, named after the variable being declared */
Value load_value(size_t n, const Value *pos);
/* text("kernel.c"): the contents of a file */
Value load_text(size_t n, const Value *pos);
/* the value of a const or state as a tensor of its type; stem: prefix for the names of its data
 * buffers */
UOp *declared_value(const Stmt *s, const char *stem);

/* ---- eval_custom.c: user-written kernels */

Value custom_value(
	size_t n, const Value *pos, size_t nkw, const char *const *kw, const Value *kwval);

/* ---- eval_state.c: state and its updates */

void declare_state(const Stmt *s);
void update_state(const Stmt *s);

/* ---- read_text.c: a file to a graph */

Graph *read_text(const char *text, size_t n, const char *file);
#endif
