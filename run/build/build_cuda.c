/* Compiles CUDA C with NVRTC where its library is installed, else with nvcc: for the devices that
 * are here to their own code, which is loaded at once; on a machine without one, or for devices
 * that the compiler does not know, to PTX, a text that the driver translates when it is loaded.
 * Each kernel is one cache entry. */
#include "base/progress.h"
#include "io/io.h"
#include "build/build.h"
#include "host/cuda.h"
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <spawn.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

/* the library and its functions */
#define DECLARE(result, name, params) result (*name) params;
static struct { void *so; NVRTC_FUNCTIONS(DECLARE) } nvrtc;

/* the compute capability for machines without NVRTC and without a device: the least that nvcc 13
 * takes */
enum { LEAST = 75 };

static const char *const libraries[] = {
	"libnvrtc.so", "libnvrtc.so.13", "libnvrtc.so.12", "libnvrtc.so.11.2", NULL};

static bool nvrtc_open(void)
{
	for (int i = 0; !nvrtc.so && libraries[i]; i++)
		nvrtc.so = dlopen(libraries[i], RTLD_NOW | RTLD_LOCAL);
	if (!nvrtc.so)
		return false;
#define FIND(result, name, params) \
	if (!(nvrtc.name = (result(*) params)dlsym(nvrtc.so, #name))) \
		return false;
	NVRTC_FUNCTIONS(FIND)
	return true;
}

typedef struct { const Program *p; char *text, *error; size_t n; } CudaJob;
typedef struct {
	CudaJob *at;
	size_t n;
	const char *arch;       /* --gpu-architecture=… */
	bool own;               /* to the device's own code */
	atomic_size_t next, done;
} Jobs;

static void fail(CudaJob *j, nvrtcProgram prog)
{
	size_t n = 0;
	char *at;

	nvrtc.nvrtcGetProgramLogSize(prog, &n);
	j->error = xcalloc(n + 1, 1);
	nvrtc.nvrtcGetProgramLog(prog, j->error);
	at = strstr(j->error, "error");
	while (at && at > j->error && at[-1] != '\n')
		at--;
	at = at ? at : j->error;
	at[strcspn(at, "\n")] = 0;
	memmove(j->error, at, strlen(at) + 1);
}

/* What is compiled for: the devices' own code, or PTX of the greatest capability that they and the
 * compiler have in common, the compiler's least where there is no device. */
static void find_architecture(Jobs *jobs, bool there)
{
	int n = 0, known[256], least = LEAST, common = 0;
	bool alike, own = false;
	int here = cuda_capability(&alike);

	if (there && !nvrtc.nvrtcGetNumSupportedArchs(&n) && n > 0 &&
		n < (int)(sizeof known / sizeof *known) && !nvrtc.nvrtcGetSupportedArchs(known))
		least = known[0];
	for (int i = 0; i < n; i++) {
		least = known[i] < least ? known[i] : least;
		common = known[i] <= here && known[i] > common ? known[i] : common;
		own |= known[i] == here;
	}
	jobs->own = here && alike && (own || !there);
	common = common ? common : here ? here : least;
	jobs->arch = arena_printf("--gpu-architecture=%s_%d", jobs->own ? "sm" : "compute",
		jobs->own ? here : common);
}

static void compile_one(CudaJob *j, const Jobs *jobs)
{
	const char *options[] = {jobs->arch, "--std=c++14", "--fmad=false", "-default-device"};
	nvrtcProgram prog;

	if (nvrtc.nvrtcCreateProgram(&prog, j->p->src, j->p->name, 0, NULL, NULL)) {
		j->error = xstrdup("NVRTC does not accept the source");
		return;
	}
	if (nvrtc.nvrtcCompileProgram(prog, sizeof options / sizeof *options, options)) {
		fail(j, prog);
	} else {
		(jobs->own ? nvrtc.nvrtcGetCUBINSize : nvrtc.nvrtcGetPTXSize)(prog, &j->n);
		j->text = xmalloc(j->n + 1);
		(jobs->own ? nvrtc.nvrtcGetCUBIN : nvrtc.nvrtcGetPTX)(prog, j->text);
	}
	nvrtc.nvrtcDestroyProgram(&prog);
}

static void *worker(void *ctx)
{
	Jobs *jobs = ctx;
	size_t i;

	while ((i = atomic_fetch_add(&jobs->next, 1)) < jobs->n) {
		compile_one(&jobs->at[i], jobs);
		atomic_fetch_add(&jobs->done, 1);
	}
	return NULL;
}

static void compile_nvrtc(Jobs *jobs, const BuildOptions *o, Progress *progress)
{
	size_t n = o->jobs > 0 ? o->jobs : cores(), started = 0;
	pthread_t thread[64];

	n = n > jobs->n ? jobs->n : n;
	n = n > 64 ? 64 : n;
	while (started < n && !pthread_create(&thread[started], NULL, worker, jobs))
		started++;
	if (!started)
		worker(jobs);
	while (atomic_load(&jobs->done) < jobs->n) {
		progress_step(progress, atomic_load(&jobs->done));
		usleep(1000);
	}
	for (size_t i = 0; i < started; i++)
		pthread_join(thread[i], NULL);
}

/* ---- nvcc, where there is no NVRTC */

static void compile_nvcc(CudaJob *j, const Jobs *jobs)
{
	const char *src = arena_printf("%s/kernel.cu", cache_scratch());
	const char *out = arena_printf("%s/kernel.out", cache_scratch());
	const char *log = arena_printf("%s/kernel.err", cache_scratch());
	const char *argv[] = {"nvcc", jobs->own ? "-cubin" : "-ptx", jobs->arch, "--std=c++14",
		"--fmad=false", "-o", out, src, NULL};
	posix_spawn_file_actions_t fa;
	const void *p;
	pid_t pid;
	int status, err;

	file_write(src, j->p->src, strlen(j->p->src));
	posix_spawn_file_actions_init(&fa);
	posix_spawn_file_actions_addopen(&fa, 1, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&fa, 2, log, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	err = posix_spawnp(&pid, argv[0], &fa, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&fa);
	if (err)
		die(UNSUPPORTED, "no compiler for CUDA: neither libnvrtc.so nor nvcc was found");
	if (waitpid(pid, &status, 0) != pid || !WIFEXITED(status) || WEXITSTATUS(status)) {
		p = file_map(log, &j->n);
		j->error = xcalloc(j->n + 1, 1);
		memcpy(j->error, p, j->n);
		j->error[strcspn(j->error, "\n")] = 0;
		return;
	}
	p = file_map(out, &j->n);
	j->text = xcalloc(j->n + 1, 1);
	memcpy(j->text, p, j->n++);
}

/* ---- all */

void build_cuda(size_t n, Program *const *p, const BuildOptions *o)
{
	Jobs jobs = {.at = arena_alloc(n * sizeof *jobs.at)};
	Key *key = arena_alloc(n * sizeof *key);
	Program **missing = arena_alloc(n * sizeof *missing);
	bool there = nvrtc_open();
	int version[2] = { 0, 0 };

	if (there)
		nvrtc.nvrtcVersion(&version[0], &version[1]);
	find_architecture(&jobs, there);
	const char *suffix = jobs.own ? ".cubin" : ".ptx";
	for (size_t i = 0; i < n; i++) {
		Key k = key_adds(
			key_add(key_adds(key_start("cuda 3"), jobs.arch), version, sizeof version),
			p[i]->src);
		if (!(p[i]->file = cache_object(k, suffix, &p[i]->object))) {
			key[jobs.n] = k;
			missing[jobs.n] = p[i];
			jobs.at[jobs.n++] = (CudaJob){ p[i], NULL, NULL, 0 };
		}
	}
	Progress progress = progress_start("compiling", jobs.n, o->progress);
	if (there && jobs.n)
		compile_nvrtc(&jobs, o, &progress);
	for (size_t i = 0; i < jobs.n; i++) {
		if (!there)
			compile_nvcc(&jobs.at[i], &jobs);
		if (jobs.at[i].error)
			die(FAILED, "%s: the CUDA compiler failed: %s", missing[i]->name,
				jobs.at[i].error);
		missing[i]->file = object_new(jobs.at[i].text, jobs.at[i].n);
		cache_store(1, &key[i], suffix, jobs.at[i].text, jobs.at[i].n,
			&missing[i]->object);
		free(jobs.at[i].text);
	}
	progress_end(&progress);
}
