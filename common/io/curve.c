/* Keys for tcp endpoints: libzmq's CURVE.
 *
 *     DIR/secret          this user's own, -rw-------        DIR is --keys DIR,
 *     DIR/public          what peers are given of it         $XDG_CONFIG_HOME/sluice/keys
 *     DIR/peers/NAME      public keys of peers               or ~/.config/sluice/keys
 *
 * A reader lets in those alone whose public keys are in DIR/peers; a writer has to know its
 * reader's, which is --peer FILE or the only one in DIR/peers. A file holds a key as 40 characters
 * of Z85. An endpoint of this machine (ipc, or tcp of the loopback) takes keys only when --keys or
 * --peer asks for it. */
#include "io/curve.h"
#include "io/io.h"
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

/* ---- key files */

static const char *keys_folder(void)
{
	const char *xdg = getenv("XDG_CONFIG_HOME"), *home = getenv("HOME");

	if (process.keys)
		return process.keys;
	if (!(xdg && *xdg == '/') && !(home && *home == '/'))
		die(USAGE, "HOME names no folder for keys: say where they are, with --keys");
	return xdg && *xdg == '/' ? arena_printf("%s/sluice/keys", xdg) :
		arena_printf("%s/.config/sluice/keys", home);
}

static void key_read(const char *path, char key[KEY_TEXT])
{
	static const char z85[] = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
		".-:+=^!/*?&<>()[]{}@%$#";
	size_t n;
	const char *text = file_map(path, &n);
	size_t got = n < KEY_TEXT - 1 ? n : KEY_TEXT - 1;

	memcpy(key, text, got);
	key[got] = 0;
	if (got < KEY_TEXT - 1 || strspn(key, z85) < KEY_TEXT - 1 || n > KEY_TEXT)
		die(MALFORMED, "%s: it holds no key (keygen makes one)", path);
}

static void secret_read(const char *path, char key[KEY_TEXT])
{
	struct stat st;

	if (!stat(path, &st) && st.st_mode & 077)
		die(USAGE, "%s: others may read it: chmod 600", path);
	key_read(path, key);
}

static void peer_add(Peers *peers, const char *path)
{
	char *key = xmalloc(KEY_TEXT);

	key_read(path, key);
	vec_push(peers, key);
}

static Peers peers_read(const char *folder)
{
	Peers peers = {0};
	DIR *d = opendir(folder);

	for (struct dirent *e; d && (e = readdir(d));)
		if (e->d_name[0] != '.')
			peer_add(&peers, arena_printf("%s/%s", folder, e->d_name));
	if (d)
		closedir(d);
	return peers;
}

/* ---- making keys */

static void folders_make(char *path)
{
	for (char *p = strchr(path + 1, '/'); p; p = strchr(p + 1, '/')) {
		*p = 0;
		mkdir(path, 0700);
		*p = '/';
	}
	if (mkdir(path, 0700) && errno != EEXIST)
		die_errno("%s: cannot make the folder", path);
}

/* A key that is there is never replaced: peers know it. */
static void key_write(const char *path, mode_t mode, const char *key)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, mode);

	if (fd < 0)
		die_errno("%s: cannot make it", path);
	file_put(fd, path, key, KEY_TEXT - 1);
	file_put(fd, path, "\n", 1);
	if (close(fd))
		die_errno("%s: cannot write", path);
}

const char *keys_make(const char *folder)
{
	char *public = arena_alloc(KEY_TEXT), secret[KEY_TEXT];

	zmq_load("keygen");
	if (!zmq.has("curve") || zmq.curve_keypair(public, secret))
		die(FAILED, "this libzmq cannot make keys (it has no CURVE)");
	folder = folder ? folder : keys_folder();
	folders_make(arena_printf("%s/peers", folder));
	key_write(arena_printf("%s/secret", folder), 0600, secret);
	key_write(arena_printf("%s/public", folder), 0644, public);
	return public;
}

/* ---- an endpoint's keys */

/* tcp://127.…, tcp://localhost, tcp://[::1], and all that is not tcp */
static bool is_local(const char *name)
{
	static const char *const hosts[] = {"127.", "localhost:", "[::1]:"};

	if (!strncmp(name, "ipc:", 4) || !strncmp(name, "inproc:", 7))
		return true;
	if (strncmp(name, "tcp://", 6))
		return strncmp(name, "pgm:", 4) && strncmp(name, "epgm:", 5) &&
			strncmp(name, "udp:", 4) && strncmp(name, "ws", 2);
	for (size_t i = 0; i < sizeof hosts / sizeof *hosts; i++)
		if (!strncmp(name + 6, hosts[i], strlen(hosts[i])))
			/* no name of a host that only begins so */
			return i || strspn(name + 6, "0123456789.") == strcspn(name + 6, ":");
	return false;
}

Curve curve_of(const char *name, bool writer)
{
	const char *folder = keys_folder(), *secret = arena_printf("%s/secret", folder);
	Curve c = {.used = process.keys || process.peer || !is_local(name)};

	if (!c.used)
		return c;
	if (access(secret, F_OK))
		die(USAGE, "%s: beyond this machine an endpoint needs keys, and %s has none: "
			"run keygen there and here, and put the peer's `public` into its `peers`",
			name, folder);
	if (!zmq.has("curve"))
		die(FAILED, "%s: this libzmq cannot encrypt (it has no CURVE)", name);
	secret_read(secret, c.secret);
	key_read(arena_printf("%s/public", folder), c.public);
	if (process.peer)
		peer_add(&c.peers, process.peer);
	else
		c.peers = peers_read(arena_printf("%s/peers", folder));
	if (!c.peers.n)
		die(USAGE, "%s: %s/peers has no key of a peer", name, folder);
	if (writer && c.peers.n > 1)
		die(USAGE, "%s: %s/peers has several keys: say with --peer which is the reader's",
			name, folder);
	return c;
}

static void set_key(void *socket, int option, const char *key)
{
	if (zmq.setsockopt(socket, option, key, KEY_TEXT))
		die(FAILED, "cannot set a key: %s", zmq.strerror(errno));
}

void curve_set(Curve *c, void *context, void *socket, bool writer)
{
	int one = 1;

	if (!c->used)
		return;
	set_key(socket, ZMQ_CURVE_SECRETKEY, c->secret);
	if (writer) {
		set_key(socket, ZMQ_CURVE_PUBLICKEY, c->public);
		set_key(socket, ZMQ_CURVE_SERVERKEY, c->peers.at[0]);
		return;
	}
	zmq.setsockopt(socket, ZMQ_CURVE_SERVER, &one, sizeof one);
	zmq.setsockopt(socket, ZMQ_ZAP_DOMAIN, "sluice", 6);
	c->zap = zmq.socket(context, ZMQ_REP);
	if (!c->zap || zmq.bind(c->zap, "inproc://zeromq.zap.01"))
		die(FAILED, "cannot check keys: %s", zmq.strerror(errno));
}

void curve_close(Curve *c)
{
	if (c->zap)
		zmq.close(c->zap);
	c->zap = NULL;
}

/* ---- who is let in (ZeroMQ's RFC 27) */

enum { FRAMES = 7, VERSION = 0, REQUEST = 1, MECHANISM = 5, CREDENTIALS = 6, FRAME_MOST = 256 };
typedef struct { char bytes[FRAME_MOST]; size_t n; } Frame;

static bool known(const Curve *c, const Frame *f)
{
	char text[KEY_TEXT];

	if (f[MECHANISM].n != 5 || memcmp(f[MECHANISM].bytes, "CURVE", 5) ||
		f[CREDENTIALS].n != 32 || !zmq.z85_encode(text, (void *)f[CREDENTIALS].bytes, 32))
		return false;
	for (size_t i = 0; i < c->peers.n; i++)
		if (!strcmp(text, c->peers.at[i]))
			return true;
	return false;
}

void curve_answer(Curve *c)
{
	Frame f[FRAMES] = {0};
	int more = 1;

	for (int i = 0; more; i++) {
		zmq_msg_t m;
		zmq.msg_init(&m);
		if (zmq.msg_recv(&m, c->zap, 0) < 0)
			return;
		if (i < FRAMES && zmq.msg_size(&m) <= FRAME_MOST)
			memcpy(f[i].bytes, zmq.msg_data(&m), f[i].n = zmq.msg_size(&m));
		more = zmq.msg_more(&m);
		zmq.msg_close(&m);
	}
	bool good = known(c, f);
	zmq.send(c->zap, f[VERSION].bytes, f[VERSION].n, ZMQ_SNDMORE);
	zmq.send(c->zap, f[REQUEST].bytes, f[REQUEST].n, ZMQ_SNDMORE);
	zmq.send(c->zap, good ? "200" : "400", 3, ZMQ_SNDMORE);
	zmq.send(c->zap, "", 0, ZMQ_SNDMORE);
	zmq.send(c->zap, "", 0, ZMQ_SNDMORE);
	zmq.send(c->zap, "", 0, 0);
}
