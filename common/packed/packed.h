/* What a packed module is as data: the structs of NAME_module.h, which `pack` writes into it and
 * `run` reads in a library. */
#ifndef PACKED_MODULE_H
#define PACKED_MODULE_H
#include <stdint.h>

/* What functions return: 0, or one of these, and in the bits from 8 on 1 + the number of the array
 * that is to blame, inputs first. SIZE: a size is outside its bounds, not known, or two do not
 * agree; ALIGN: a workspace is not at a multiple of its alignment; DTYPE, SHAPE, STRIDES (not
 * row-major and compact), DEVICE (not the CPU), MISSING (NULL): of an array; ROOM: an output's
 * memory is too small. FAILED: a GPU did, and the module's `error` says how. */
enum {
	PACKED_OK, PACKED_SIZE, PACKED_ALIGN, PACKED_WEIGHTS,
	PACKED_DTYPE, PACKED_SHAPE, PACKED_STRIDES, PACKED_DEVICE, PACKED_MISSING, PACKED_ROOM,
	PACKED_FAILED
};
enum { PACKED_ABI = 2 };

/* As DLPack's DLTensor is laid out, which may be given for it. strides may be NULL. */
typedef struct { uint8_t code, bits; uint16_t lanes; } packed_dtype;
typedef struct {
	void *data;
	struct { int32_t type, id; } device;    /* the CPU is 1 */
	int32_t ndim;
	packed_dtype dtype;
	int64_t *shape, *strides;
	uint64_t byte_offset;
} packed_tensor;

/* A size: the caller's, or one that the call sets. */
typedef struct {
	const char *name;
	int64_t min, max;
	int32_t set_by_call;
} packed_size;
/* A size of a shape: as text, an expression of sizes; as a number, -1 for an expression, -2 for one
 * that the call sets; and which size it is, if it is just one, or -1. */
typedef struct {
	const char *text;
	int64_t number;
	int32_t size;
} packed_dim;
/* An input, output or state. An input whose content is not read may be missing, and has ndim -1
 * where its shape does not matter either. offset: of a state in the state's memory. */
typedef struct {
	const char *name;
	packed_dtype dtype;
	int32_t ndim;
	const packed_dim *dim;
	int32_t read;
	int64_t offset;
} packed_array;
/* Who runs the items of a kernel; NULL: the caller of a function alone. No two parts at the same
 * time have the same number of a thread, which is less than how many there are. */
typedef struct {
	void (*parallel_for)(void *threads, int64_t items, int64_t work,
		void (*part)(void *context, int64_t thread, int64_t from, int64_t to),
		void *context);
	void *threads;
} packed_threads;
/* How a function runs; NULL: all of it is. With a device the workspace is not used. */
typedef struct {
	const packed_threads *threads;
	const void *weights;            /* from open_weights, of a module that has that */
	void *device;                   /* from open; NULL: the CPU */
} packed_how;
typedef struct {
	const char *name;
	int32_t sizes, inputs, outputs, states;
	const packed_size *size;
	const packed_array *input, *output, *state;
	int64_t state_bytes, ws_align, thread_bytes;
	/* Compares the inputs with the signature; sets the sizes that are -1 from their shapes. */
	int (*check)(const packed_tensor *const *in, int64_t *size);
	/* The shape of input k; of output k, for which sizes that the call sets have to be set. */
	void (*in_shape)(const int64_t *size, int32_t k, int64_t *dim);
	void (*shape)(const int64_t *size, int32_t k, int64_t *dim);
	/* Bytes that output k may need. */
	int64_t (*room)(const int64_t *size, int32_t k);
	/* For one thread; each other one needs thread_bytes more. */
	int64_t (*ws_bytes)(const int64_t *size);
	void (*init_state)(void *state);                /* NULL without states */
	/* To be called once for a workspace of these sizes, before calls. */
	int (*init_ws)(const int64_t *size, void *ws, const packed_how *how);
	/* check, then the function. An output's shape is compared, and where it has a size that the
	 * call sets, of which there has to be room for the most, set. No output may overlap with
	 * anything else. */
	int (*call)(const packed_tensor *const *in, packed_tensor *const *out, int64_t *size,
		void *state, void *ws, const packed_how *how);
} packed_function;
typedef struct {
	int32_t abi, functions;
	const char *name;
	const packed_function *function;
	/* Threads of its own, as many as said; NULL in both when it has none, or there is no
	 * memory. */
	void *(*pool_start)(int threads, packed_threads *to);
	void (*pool_stop)(void *pool);
	/* Weights in a file: its name, and that at a path, mapped and checked, or NULL. */
	const char *weights;
	const void *(*open_weights)(const char *path);
	/* GPUs: the module's NAME_open, _close and _error; NULL where it is packed for none. */
	void *(*open)(const char *which, char *why);
	void (*close)(void *device);
	const char *(*error)(const void *device);
} packed_module;
#endif
