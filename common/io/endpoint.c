/* ZeroMQ endpoints, for stages on different machines or terminals:
 *     a -o ipc:///tmp/x        b -i ipc:///tmp/x
 *
 * The reader binds a PULL socket and the writer connects a PUSH socket, so either may start first.
 * A message is a piece of the byte stream (stages send one document per message); an empty message
 * marks the end. Both sides watch the connection, so if the writer is killed or the reader exits,
 * the other side stops with an error instead of waiting. After the end the writer waits until the
 * reader has closed the connection: a socket whose queue is full when its peer disconnects drops
 * what it has not yet read from the kernel. The library is loaded only when an endpoint is used, so
 * other runs do not pay for it at start-up. */
#include "io/io.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <zmq.h>

/* In milliseconds: how long a failing writer waits for its reader to receive the end; how long a
 * reader waits for messages in transit from a writer that has disconnected; the time between
 * attempts to connect. QUEUE is how many messages a socket holds. */
enum { FAILING = 1000, LAST_WORDS = 200, RETRY = 10, QUEUE = 4 };

#define CALLS(X) X(ctx_new) X(ctx_term) X(socket) X(close) X(bind) X(connect) X(setsockopt) \
	X(send) X(poll) X(msg_init) X(msg_recv) X(msg_data) X(msg_size) X(msg_close) X(msg_more) \
	X(socket_monitor) X(strerror)
static struct {
#define X(name) __typeof__(&zmq_##name) name;
	CALLS(X)
#undef X
	void *lib;
} zmq;

typedef struct {
	const char *name;
	void *context, *socket, *monitor;
	bool writer, met, left, closed;  /* met: a peer has connected; left: it has disconnected */
	int peers;
	zmq_msg_t msg;
	bool holds;
} Endpoint;

bool endpoint_is(const char *name) { return name && strstr(name, "://"); }

static _Noreturn void failed(const Endpoint *e, const char *what)
{
	die(FAILED, "%s: cannot %s: %s", e->name, what, zmq.strerror(errno));
}

static void load(const char *name)
{
	if (zmq.lib)
		return;
	const char *files[] = {"libzmq.so.5", "libzmq.so", "libzmq.5.dylib", "libzmq.dylib"};
	for (size_t i = 0; !zmq.lib && i < sizeof files / sizeof *files; i++)
		zmq.lib = dlopen(files[i], RTLD_NOW | RTLD_LOCAL);
	if (!zmq.lib)
		die(FAILED, "%s: endpoints need libzmq, which is not installed", name);
#define X(f) if (!(zmq.f = (__typeof__(zmq.f))dlsym(zmq.lib, "zmq_" #f))) \
		die(FAILED, "%s: this libzmq has no zmq_" #f, name);
	CALLS(X)
#undef X
}

static void set(Endpoint *e, int option, int value)
{
	if (zmq.setsockopt(e->socket, option, &value, sizeof value))
		failed(e, "set it up");
}

/* Opens the monitor socket, which reports connects and disconnects. */
static void watch(Endpoint *e)
{
	int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED;
	int none = 0;
	if (zmq.socket_monitor(e->socket, "inproc://monitor", events))
		failed(e, "watch it");
	e->monitor = zmq.socket(e->context, ZMQ_PAIR);
	if (!e->monitor || zmq.connect(e->monitor, "inproc://monitor"))
		failed(e, "watch it");
	zmq.setsockopt(e->monitor, ZMQ_LINGER, &none, sizeof none);
}

static Endpoint *endpoint_new(const char *name, int type)
{
	load(name);
	Endpoint *e = xcalloc(1, sizeof *e);
	e->name = xstrdup(name);
	e->context = zmq.ctx_new();
	e->socket = e->context ? zmq.socket(e->context, type) : NULL;
	if (!e->socket)
		failed(e, "open it");
	set(e, ZMQ_SNDHWM, QUEUE);
	set(e, ZMQ_RCVHWM, QUEUE);
	set(e, ZMQ_RECONNECT_IVL, RETRY);
	watch(e);
	return e;
}

/* Reads an event from the monitor, waiting for up to wait_ms; false when there was none. */
static bool hear(Endpoint *e, int wait_ms)
{
	zmq_pollitem_t item = {.socket = e->monitor, .events = ZMQ_POLLIN};
	bool heard = false;
	while (zmq.poll(&item, 1, wait_ms) > 0) {
		uint16_t event = 0;
		zmq_msg_t m;
		for (int more = 1, frame = 0; more; frame++) {
			zmq.msg_init(&m);
			if (zmq.msg_recv(&m, e->monitor, 0) < 0)
				return heard;
			if (frame == 0 && zmq.msg_size(&m) >= sizeof event)
				memcpy(&event, zmq.msg_data(&m), sizeof event);
			more = zmq.msg_more(&m);
			zmq.msg_close(&m);
		}
		if (event == ZMQ_EVENT_HANDSHAKE_SUCCEEDED) {
			e->met = true;
			e->peers++;
		} else if (event == ZMQ_EVENT_DISCONNECTED && e->peers > 0) {
			e->peers--;
		}
		e->left = e->met && e->peers == 0;
		wait_ms = 0;
		heard = true;
	}
	return heard;
}

static void shut(Endpoint *e, int linger)
{
	e->closed = true;
	set(e, ZMQ_LINGER, linger);
	zmq.socket_monitor(e->socket, NULL, 0);
	zmq.close(e->monitor);
	zmq.close(e->socket);
	zmq.ctx_term(e->context);
}

/* ---- reading */

void *endpoint_in(const char *name)
{
	Endpoint *e = endpoint_new(name, ZMQ_PULL);
	if (zmq.bind(e->socket, name))
		failed(e, "listen");
	return e;
}

/* Waits for a message; false when the writer has disconnected without sending one. */
static bool readable(Endpoint *e)
{
	zmq_pollitem_t item[] = {{.socket = e->socket, .events = ZMQ_POLLIN},
		{.socket = e->monitor, .events = ZMQ_POLLIN}};
	for (;;) {
		int n = zmq.poll(item, 2, e->left ? LAST_WORDS : -1);
		if (n < 0 && errno != EINTR)
			failed(e, "wait for it");
		if (n >= 0 && item[0].revents & ZMQ_POLLIN)
			return true;
		if (n == 0)
			return false;
		hear(e, 0);
	}
}

bool endpoint_get(void *endpoint, const void **p, size_t *n)
{
	Endpoint *e = endpoint;
	if (e->closed)
		return false;
	if (e->holds)
		zmq.msg_close(&e->msg);
	e->holds = false;
	if (!readable(e))
		die(FAILED, "the writer left before its end");
	zmq.msg_init(&e->msg);
	if (zmq.msg_recv(&e->msg, e->socket, 0) < 0)
		failed(e, "read");
	e->holds = true;
	*p = zmq.msg_data(&e->msg);
	*n = zmq.msg_size(&e->msg);
	if (*n)
		return true;
	zmq.msg_close(&e->msg);
	shut(e, 0);
	return false;
}

/* ---- writing */

/* Called when the process fails: tells the reader that nothing more will come. */
static void abandon(void *endpoint)
{
	Endpoint *e = endpoint;
	if (e->closed || e->left)
		return;
	zmq.send(e->socket, "", 0, ZMQ_DONTWAIT);
	while (!e->left && hear(e, FAILING))
		;
	shut(e, 0);
}

void *endpoint_out(const char *name)
{
	Endpoint *e = endpoint_new(name, ZMQ_PUSH);
	e->writer = true;
	if (zmq.connect(e->socket, name))
		failed(e, "connect");
	die_cleanup(abandon, e);
	return e;
}

void endpoint_put(void *endpoint, const void *p, size_t n)
{
	Endpoint *e = endpoint;
	for (;;) {
		hear(e, 0);
		if (e->left)
			die(FAILED, "%s: the reader left before the end", e->name);
		if (zmq.send(e->socket, p, n, ZMQ_DONTWAIT) >= 0)
			return;
		if (errno != EAGAIN && errno != EINTR)
			failed(e, "write");
		zmq_pollitem_t item[] = {{.socket = e->socket, .events = ZMQ_POLLOUT},
			{.socket = e->monitor, .events = ZMQ_POLLIN}};
		zmq.poll(item, 2, -1);
	}
}

void endpoint_close(void *endpoint)
{
	Endpoint *e = endpoint;
	if (e->closed)
		return;
	endpoint_put(e, "", 0);
	while (!e->left)
		hear(e, -1);
	shut(e, 0);
}
