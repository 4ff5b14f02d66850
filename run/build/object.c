/* Objects: files of machine code or PTX that were opened and checked once, and are used by their
 * descriptors, so that what was checked is what is loaded.
 *
 *     entry of the cache, checked by its seal      \
 *     object of a document, by its object_hash or,  > descriptor → /proc/self/fd/7 → dlopen
 *       with an object_key, as an entry             |
 *     what a compiler has just written             /
 *
 * A descriptor stays open as long as the process: dlopen knows libraries by name, and the number of
 * one that was closed would name two. Hard links of one file are one object. */
#include "build/build.h"
#include <dlfcn.h>
#include <elf.h>
#include <fcntl.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

struct Object {
	int fd;
	dev_t dev;
	ino_t ino;
	size_t bytes;           /* of content, which may be followed by the cache's trailer */
	void *so;               /* loaded */
	bool relocatable;       /* so is LLVM's */
	bool tried;             /* loading it was tried */
};

/* Each object, by file: hash_mix of device and inode, and more in the next places. */
static Map objects;

static uint64_t file_key(const struct stat *st, uint64_t more)
{
	return hash_mix(hash_mix(st->st_ino, st->st_dev), more);
}

static Object *find(const struct stat *st, uint64_t *key)
{
	Object *o;

	for (uint64_t more = 0;; more++) {
		*key = file_key(st, more);
		o = map_get(&objects, *key);
		if (!o || (o->dev == st->st_dev && o->ino == st->st_ino))
			return o;
	}
}

Object *object_held(int fd)
{
	struct stat st;
	uint64_t key;
	Object *o = fstat(fd, &st) ? NULL : find(&st, &key);

	if (o && o->fd != fd)
		close(fd);
	return o;
}

/* A document of many kernels may need more descriptors than a process has at first. */
static void allow_descriptors(void)
{
	struct rlimit most;

	if (getrlimit(RLIMIT_NOFILE, &most) || most.rlim_cur == most.rlim_max)
		return;
	most.rlim_cur = most.rlim_max;
	setrlimit(RLIMIT_NOFILE, &most);
}

Object *object_hold(int fd, size_t bytes)
{
	enum { MANY = 128 };
	Object *o = xcalloc(1, sizeof *o);
	struct stat st;
	uint64_t key;

	if (fstat(fd, &st))
		die_errno("cannot look at an object");
	find(&st, &key);
	*o = (Object){.fd = fd, .dev = st.st_dev, .ino = st.st_ino, .bytes = bytes};
	map_put(&objects, key, o);
	if (objects.n == MANY)
		allow_descriptors();
	return o;
}

Object *object_new(const void *p, size_t n)
{
	int fd = memfd_create("object", MFD_CLOEXEC);

	if (fd < 0 || ftruncate(fd, n) || pwrite(fd, p, n, 0) != (ssize_t)n)
		die_errno("cannot keep an object in memory");
	return object_hold(fd, n);
}

char *object_text(const Object *o)
{
	char *text = xcalloc(o->bytes + 1, 1);
	ssize_t n = 0;

	for (size_t at = 0; at < o->bytes; at += n)
		if ((n = pread(o->fd, text + at, o->bytes - at, at)) <= 0)
			die(FAILED, "an object cannot be read");
	return text;
}

/* ---- machine code */

static void *load(int fd)
{
	return dlopen(arena_printf("/proc/self/fd/%d", fd), RTLD_NOW | RTLD_LOCAL);
}

/* A file system may be mounted so that nothing on it can be executed: then a copy in memory is. */
static void *load_copy(const Object *o)
{
	char *content = object_text(o);
	int fd = memfd_create("object", MFD_CLOEXEC);
	bool good = fd >= 0 && pwrite(fd, content, o->bytes, 0) == (ssize_t)o->bytes;
	void *so = good ? load(fd) : NULL;

	/* kept open for its number */
	if (fd >= 0 && !so)
		close(fd);
	free(content);
	return so;
}

/* Is it a file that a linker still has to place? */
static bool is_relocatable(const Object *o)
{
	Elf64_Ehdr head;

	return pread(o->fd, &head, sizeof head, 0) == sizeof head && head.e_type == ET_REL;
}

static void *load_relocatable(const Object *o)
{
	char *content = object_text(o);
	void *so = llvm_load(content, o->bytes);

	free(content);
	return so;
}

void *object_function(Object *o, const char *name)
{
	if (!o->tried) {
		o->relocatable = is_relocatable(o);
		o->so = o->relocatable ? load_relocatable(o) : load(o->fd);
		if (!o->so)
			o->so = load_copy(o);
	}
	o->tried = true;
	if (!o->so)
		return NULL;
	return o->relocatable ? llvm_function(o->so, name) : dlsym(o->so, name);
}

/* ---- the object that a document names */

static Object *given_open(const Program *p)
{
	const Val *hash = val_get(p->u->arg, "object_hash");
	struct stat st;
	Object *o;
	Digest d;
	int fd;

	if (!hash && p->key)
		return cache_object_at(p->object, program_suffix(p));
	if ((fd = own_open(p->object)) < 0)
		return NULL;
	if (!fstat(fd, &st) && st.st_size && (!hash || (file_digest(fd, "object", &d) &&
		val_is_str(hash, digest_text(&d).s))))
		return (o = object_held(fd)) ? o : object_hold(fd, cache_content(fd, st.st_size));
	close(fd);
	return NULL;
}

bool object_given(Program *p, bool load)
{
	p->file = given_open(p);
	if (p->file && load && p->runtime == RUNTIME_CPU) {
		p->function = object_function(p->file, program_entry(p));
		p->file = p->function ? p->file : NULL;
	}
	return p->file != NULL;
}
