/* The internals of endpoints: the library, and keys. */
#ifndef COMMON_IO_CURVE_H
#define COMMON_IO_CURVE_H
#include "base/base.h"
#include <zmq.h>

#define ZMQ_CALLS(X) X(ctx_new) X(ctx_term) X(socket) X(close) X(bind) X(connect) X(setsockopt) \
	X(send) X(poll) X(msg_init) X(msg_recv) X(msg_data) X(msg_size) X(msg_close) X(msg_more) \
	X(socket_monitor) X(strerror) X(recv) X(has) X(curve_keypair) X(z85_encode)
/* Its functions, once the library has been loaded. */
typedef struct {
#define X(name) __typeof__(&zmq_##name) name;
	ZMQ_CALLS(X)
#undef X
	void *lib;
} Zmq;
extern Zmq zmq;
void zmq_load(const char *name);

enum { KEY_TEXT = 41 };         /* 40 characters of Z85 and a NUL */
typedef VEC(const char *) Peers;
/* The keys of an endpoint. used: it is encrypted. */
typedef struct {
	bool used;
	char secret[KEY_TEXT], public[KEY_TEXT];
	Peers peers;            /* public keys that are let in, or that of the reader */
	void *zap;              /* answers the library's questions who is let in */
} Curve;
/* Keys for an endpoint of that name. Beyond this machine tcp needs them: dies with USAGE when there
 * are none. */
Curve curve_of(const char *name, bool writer);
void curve_set(Curve *c, void *context, void *socket, bool writer);
/* Answers one question. */
void curve_answer(Curve *c);
void curve_close(Curve *c);
#endif
