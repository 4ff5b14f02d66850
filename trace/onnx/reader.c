/* Decodes a model file into the structures of protobuf-c, which gets the file's bytes without the
 * data of large tensors (wire.c), and limited memory: a message of two bytes can ask for a
 * structure of two hundred. */
#include "io/io.h"
#include "onnx/proto.h"
#include <stdlib.h>
#ifdef HAVE_ONNX

ARENA const char *onnx_file, *onnx_folder;

static ARENA size_t memory_left;

static void *take(void *ctx, size_t n)
{
	if (n > memory_left)
		die(MALFORMED, "it needs far more memory than its size");
	memory_left -= n;
	return arena_alloc(n ? n : 1);
}

static void leave(void *ctx, void *p)
{
}

static void set_paths(const char *file)
{
	char *full = data_given(file) < 0 ? realpath(file, NULL) : NULL;
	if (!full && data_given(file) >= 0) {
		onnx_file = file;
		onnx_folder = ".";
		return;
	}
	if (!full)
		die_errno("cannot open %s", file);
	onnx_file = arena_strdup(full);
	*strrchr(full, '/') = 0;
	onnx_folder = arena_strdup(full);
	free(full);
}

Onnx__ModelProto *onnx_read(const char *file)
{
	ProtobufCAllocator bounded = {take, leave, NULL};
	size_t n;
	Buf small = {0};
	const uint8_t *p = data_given(file) < 0 ? file_map(file, &n) : data_map(file, &n);
	set_paths(file);
	if (!n)
		die(MALFORMED, "ends early at byte 0");
	onnx_reduce(&small, p, n);
	memory_left = ((size_t)128 << 20) + 3 * small.n;
	Onnx__ModelProto *m = NULL;
	if (small.n)
		m = onnx__model_proto__unpack(&bounded, small.n, (const uint8_t *)small.s);
	buf_free(&small);
	if (!m || !m->graph)
		die(MALFORMED, "it is no ONNX model");
	return m;
}
#else

Graph *read_onnx(const char *file)
{
	die(UNSUPPORTED,
		"%s: built without ONNX (it needs libprotobuf-c-dev, protobuf-c-compiler and "
		"libonnx-dev)",
		file);
}
#endif
