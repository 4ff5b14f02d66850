/* ZeroMQ endpoints, for stages on different machines or terminals:
 *     a -o ipc:///tmp/x        b -i ipc:///tmp/x
 *
 * The reader binds and the writer connects, so either may start first. A message is a piece of the
 * byte stream (stages send one document per message); an empty message marks the end. Both are
 * DEALER sockets, so that the reader can answer the end with an empty message of its own: only then
 * does the writer know that the reader has everything, and ends well. Another program's PULL socket
 * refuses the handshake; then the writer becomes PUSH, and waits until the reader has closed the
 * connection. Both sides watch the connection, so if
 * the writer is killed or the reader exits, the other side stops with an error instead of waiting;
 * who says nothing for limits.wait seconds is given up. Beyond this machine tcp is encrypted, and
 * open to those alone whose keys are known (curve.c). The library is loaded only when an endpoint
 * is used, so other runs do not pay for it at start-up. */
#include "io/curve.h"
#include "io/io.h"
#include <dlfcn.h>
#include <errno.h>
#include <stdlib.h>
#include <zmq.h>

/* In milliseconds: how long a failing writer waits for its reader to receive the end; how long a
 * reader waits for messages in transit from a writer that has disconnected; the time between
 * attempts to connect. QUEUE is how many messages a socket holds. */
enum { FAILING = 1000, LAST_WORDS = 200, RETRY = 10, QUEUE = 4 };

Zmq zmq;

typedef struct {
	const char *name;
	void *context, *socket, *monitor;
	Curve curve;                     /* keys; its zap answers who may connect */
	/* met: a peer has connected; left: it has disconnected. refused: a reader has another kind
	 * of socket; plain: so this one is PUSH. failing: the process ends with a message */
	bool writer, met, left, closed, refused, plain, failing;
	int peers;
	zmq_msg_t msg;
	bool holds;
} Endpoint;

bool endpoint_is(const char *name) { return name && strstr(name, "://"); }

static _Noreturn void failed(const Endpoint *e, const char *what)
{
	die(FAILED, "%s: cannot %s: %s", e->name, what, zmq.strerror(errno));
}

void zmq_load(const char *name)
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
	ZMQ_CALLS(X)
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
	int events = ZMQ_EVENT_HANDSHAKE_SUCCEEDED | ZMQ_EVENT_DISCONNECTED |
		ZMQ_EVENT_HANDSHAKE_FAILED_AUTH;
	int none = 0;
	if (zmq.socket_monitor(e->socket, "inproc://monitor", events))
		failed(e, "watch it");
	e->monitor = zmq.socket(e->context, ZMQ_PAIR);
	if (!e->monitor || zmq.connect(e->monitor, "inproc://monitor"))
		failed(e, "watch it");
	zmq.setsockopt(e->monitor, ZMQ_LINGER, &none, sizeof none);
}

/* A message is a document at most: what is larger than memory is none. A peer that does not even
 * answer heartbeats has gone. */
static void set_limits(Endpoint *e)
{
	int64_t most = (int64_t)(memory_most() / 2);
	int silence = (int)(limits.wait < 6553 ? limits.wait * 1000 : 6553000);

	if (!limits.none)
		zmq.setsockopt(e->socket, ZMQ_MAXMSGSIZE, &most, sizeof most);
	set(e, ZMQ_HEARTBEAT_IVL, silence / 4 + 1);
	set(e, ZMQ_HEARTBEAT_TIMEOUT, silence);
}

static void open_socket(Endpoint *e)
{
	int type = e->plain ? ZMQ_PUSH : ZMQ_DEALER;

	e->context = zmq.ctx_new();
	e->socket = e->context ? zmq.socket(e->context, type) : NULL;
	if (!e->socket)
		failed(e, "open it");
	set(e, ZMQ_SNDHWM, QUEUE);
	set(e, ZMQ_RCVHWM, QUEUE);
	set(e, ZMQ_RECONNECT_IVL, RETRY);
	set(e, ZMQ_IMMEDIATE, 1);
	set_limits(e);
	curve_set(&e->curve, e->context, e->socket, e->writer);
	watch(e);
	if (e->writer ? zmq.connect(e->socket, e->name) : zmq.bind(e->socket, e->name))
		failed(e, e->writer ? "connect" : "listen");
}

static Endpoint *endpoint_new(const char *name, bool writer)
{
	zmq_load(name);
	Endpoint *e = xcalloc(1, sizeof *e);
	e->name = xstrdup(name);
	e->writer = writer;
	e->curve = curve_of(name, writer);
	open_socket(e);
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
		} else if (event == ZMQ_EVENT_HANDSHAKE_FAILED_AUTH && e->writer && !e->failing) {
			die(FAILED, "%s: the reader does not know its key", e->name);
		} else if (event == ZMQ_EVENT_DISCONNECTED && !e->met) {
			e->refused = e->writer && !e->plain && !e->curve.used;
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
	curve_close(&e->curve);
	zmq.ctx_term(e->context);
}

/* The reader is another program, with a PULL socket. */
static void become_plain(Endpoint *e)
{
	shut(e, 0);
	e->closed = e->refused = false;
	e->plain = true;
	open_socket(e);
}

/* Waits for up to ms (-1: for ever) until the socket is ready for `what` or something is heard;
 * returns whether the socket is ready. */
static bool ready(Endpoint *e, short what, int ms)
{
	zmq_pollitem_t item[] = {{.socket = e->socket, .events = what},
		{.socket = e->monitor, .events = ZMQ_POLLIN},
		{.socket = e->curve.zap, .events = ZMQ_POLLIN}};
	int n = zmq.poll(item, e->curve.zap ? 3 : 2, ms);

	if (n < 0 && errno != EINTR)
		failed(e, "wait for it");
	if (n > 0 && e->curve.zap && item[2].revents)
		curve_answer(&e->curve);
	if (n > 0 && item[0].revents & what)
		return true;
	hear(e, 0);
	if (e->refused)
		become_plain(e);
	return false;
}

static double patience(double since) { return limits.wait * 1000 - (now_ms() - since); }

static _Noreturn void give_up(const Endpoint *e)
{
	if (!e->writer)         /* messages name the input already */
		die(FAILED, "the writer has said nothing for %g seconds (--wait)", limits.wait);
	die(FAILED, "%s: the reader has said nothing for %g seconds (--wait)", e->name,
		limits.wait);
}

/* ---- reading */

void *endpoint_in(const char *name) { return endpoint_new(name, false); }

/* Waits for a message; false when the writer has disconnected without sending one. */
static bool readable(Endpoint *e)
{
	for (double since = now_ms(), left_at = 0;;) {
		double ms = patience(since);
		if (e->left && !left_at)
			left_at = now_ms();
		if (left_at && now_ms() - left_at > LAST_WORDS)
			return false;
		if (ms <= 0)
			give_up(e);
		if (ready(e, ZMQ_POLLIN, left_at || ms > LAST_WORDS ? LAST_WORDS : (int)ms + 1))
			return true;
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
	e->holds = false;
	/* all is here: the writer may go. It goes first, for what a socket has not read when its
	 * peer disconnects is lost. */
	if (zmq.send(e->socket, "", 0, ZMQ_DONTWAIT) >= 0)
		for (double since = now_ms(); !e->left && patience(since) > 0;)
			hear(e, FAILING);
	shut(e, 0);
	return false;
}

/* ---- writing */

/* Called when the process fails: tells the reader that nothing more will come. */
static void abandon(void *endpoint)
{
	Endpoint *e = endpoint;
	double since = now_ms();

	if (e->closed)
		return;
	e->failing = true;
	while (!e->left && zmq.send(e->socket, "", 0, ZMQ_DONTWAIT) < 0 &&
		now_ms() - since < FAILING)
		ready(e, ZMQ_POLLOUT, RETRY);
	while (e->met && !e->left && now_ms() - since < FAILING)
		hear(e, FAILING);
	shut(e, 0);
}

void *endpoint_out(const char *name)
{
	Endpoint *e = endpoint_new(name, true);
	die_cleanup(abandon, e);
	return e;
}

void endpoint_put(void *endpoint, const void *p, size_t n)
{
	Endpoint *e = endpoint;
	for (double since = now_ms();;) {
		hear(e, 0);
		if (e->left)
			die(FAILED, "%s: the reader left before the end", e->name);
		if (zmq.send(e->socket, p, n, ZMQ_DONTWAIT) >= 0)
			return;
		if (errno != EAGAIN && errno != EINTR)
			failed(e, "write");
		/* who is there but slow is waited for */
		if (!e->met && patience(since) <= 0)
			give_up(e);
		ready(e, ZMQ_POLLOUT, e->met ? FAILING : RETRY);
	}
}

void endpoint_close(void *endpoint)
{
	Endpoint *e = endpoint;
	if (e->closed)
		return;
	endpoint_put(e, "", 0);
	for (bool here = false; !here && !(e->plain && e->left);) {
		here = ready(e, e->plain ? 0 : ZMQ_POLLIN, FAILING);
		/* its answer may have come together with its end */
		if (e->left && !here && !e->plain && !ready(e, ZMQ_POLLIN, 0))
			die(FAILED, "%s: the reader left before the end", e->name);
	}
	shut(e, 0);
}
