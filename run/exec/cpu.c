/* The CPU as a device: its memory is host memory, and a kernel is a function in a shared object. */
#include "exec/exec.h"
#include <stdlib.h>

static int cpu_list(void (*tell)(void *, const char *, const char *), void *ctx)
{
	char line[512], text[300] = "C compiler", *at;
	FILE *f = fopen("/proc/cpuinfo", "r");

	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "model name", 10) && (at = strchr(line, ':'))) {
			at[strcspn(at, "\n")] = 0;
			snprintf(text, sizeof text, "%.250s", at + 2);
			break;
		}
	if (f)
		fclose(f);
	snprintf(text + strlen(text), sizeof text - strlen(text), ", %d core%s", cores(),
		cores() == 1 ? "" : "s");
	tell(ctx, "cpu", text);
	return 1;
}

static void cpu_open(int i)
{
	if (i)
		die(UNSUPPORTED, "no device 'cpu:%d'", i);
}

static void *cpu_slice(void *mem, size_t offset, size_t bytes)
{
	return (char *)mem + offset;
}

static void cpu_copy(void *to, void *from, size_t bytes)
{
	if (bytes)
		memmove(to, from, bytes);
}

static void cpu_put(void *mem, const void *host, size_t bytes)
{
	if (bytes)
		memmove(mem, host, bytes);
}

/* build_cpu has loaded them. */
static void cpu_load(size_t n, Program *const *p, void **kernel)
{
	for (size_t i = 0; i < n; i++)
		kernel[i] = p[i]->function;
}

static void cpu_launch(const Launch *l)
{
	Items call;

	memcpy(&call, &l->kernel, sizeof call);
	if (l->share.threads > 1)
		pool_run(call, l->buf, l->vars, l->groups[0], &l->share);
	else
		call(l->buf, l->vars, 0, l->groups[0]);
}

static void cpu_sync(void)
{
}

const Exec exec_cpu = {
	.name = "cpu",
	.host = true,
	.align = 64,
	.list = cpu_list,
	.open = cpu_open,
	.alloc = memory_alloc,
	.slice = cpu_slice,
	.release = memory_free,
	.put = cpu_put,
	.get = cpu_copy,
	.copy = cpu_copy,
	.load = cpu_load,
	.launch = cpu_launch,
	.sync = cpu_sync,
};
