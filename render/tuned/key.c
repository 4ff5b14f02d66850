/* What a list is for: a kernel, a target, a device. */
#include "io/io.h"
#include "target/target.h"
#include "tuned/tuned.h"
#include "index/index.h"
#include <stdlib.h>

enum { DEVICE_MOST = 128 };

/* The bounds of its sizes belong to a kernel: what fits one may not fit the other. */
static void add_bounds(Hash *h, UOp *kernel)
{
	Nodes all = walk(kernel);
	for (size_t i = 0; i < all.n; i++) {
		int64_t bounds[2];
		if (all.at[i]->op != OP_VAR)
			continue;
		ix_bounds(all.at[i], &bounds[0], &bounds[1]);
		hash_add(h, bounds, sizeof bounds);
	}
}

const char *tuned_kernel(const KernelUse *use)
{
	UOp *kernel = use->kernel;
	const Val *arg = val_set(kernel->arg, "name", val_str("kernel"));
	Hash h;
	arg = val_set(val_set(arg, "actions", NULL), "plan", NULL);
	kernel = node_new(kernel->op, kernel->dtype, kernel->nsrc, kernel->src, arg);
	Graph g = {.level = LV_SCHEDULE, .vars = VNIL, .meta = VNIL, .sink = kernel};
	hash_begin(&h, "tuned");
	hash_add(&h, &(char){use->alias}, 1);
	add_bounds(&h, kernel);
	wire_hash(&h, &g, VNIL);
	Digest d = hash_end(&h);
	return arena_strdup(digest_text(&d).s);
}

const char *tuned_target(void)
{
	return *target->march ? arena_printf("%s:%s", target->name, target->march) : target->name;
}

/* The value of a key of /proc/cpuinfo. */
static bool cpu_says(const char *key, char *to)
{
	char line[512];
	bool found = false;
	FILE *f = fopen("/proc/cpuinfo", "re");
	while (f && !found && fgets(line, sizeof line, f)) {
		const char *colon = strchr(line, ':');
		found = colon && !strncmp(line, key, strlen(key));
		if (found)
			snprintf(to, DEVICE_MOST, "%.*s",
				(int)strcspn(colon + 2, "\n\t"), colon + 2);
	}
	if (f)
		fclose(f);
	return found;
}

const char *tuned_device(void)
{
	static char device[DEVICE_MOST];
	if (lower_opt.machine)
		return lower_opt.machine;
	if (!*device && !cpu_says("model name", device) && !cpu_says("CPU part", device))
		strcpy(device, "unknown");
	return device;
}
