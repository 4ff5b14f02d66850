/* How many processors this process may keep busy: those in its affinity mask, but no more than the
 * quota of its control group. */
#include "host/host.h"
#include <sched.h>
#include <stdlib.h>
#include <unistd.h>

/* The quota in processors, rounded up; 0: no limit. text is "200000 100000" or "max 100000" from
 * cpu.max (cgroup version 2), or "200000" or "-1", with the period from a second file (version 1).
 */
static int quota_of(const char *text, double period)
{
	char *end;
	double quota = strtod(text, &end);

	if (end == text || quota <= 0)
		return 0;
	if (period <= 0)
		period = strtod(end, NULL);
	return period > 0 ? (int)((quota + period - 1) / period) : 0;
}

static bool first_line(const char *path, char *line, int n)
{
	FILE *f = fopen(path, "r");
	bool good = f && fgets(line, n, f);

	if (f)
		fclose(f);
	return good;
}

/* The path of this process's group below /sys/fs/cgroup; "" for the root. */
static void group_path(char *path, size_t n)
{
	char line[400];
	FILE *f = fopen("/proc/self/cgroup", "r");

	path[0] = 0;
	while (f && fgets(line, sizeof line, f))
		if (!strncmp(line, "0::/", 4)) {
			line[strcspn(line, "\n")] = 0;
			snprintf(path, n, "%s", line[4] ? line + 3 : "");
		}
	if (f)
		fclose(f);
}

/* The lowest limit of the group and of those above it; 0: none. */
static int quota(void)
{
	char path[400], line[100], period[100];
	int least = 0;

	group_path(path, sizeof path);
	for (char *end = path + strlen(path); end; end = strrchr(path, '/')) {
		*end = 0;
		int n = first_line(
				arena_printf("/sys/fs/cgroup%s/cpu.max", path), line, sizeof line) ?
			quota_of(line, 0) :
			0;
		least = n && (!least || n < least) ? n : least;
	}
	if (!least && first_line("/sys/fs/cgroup/cpu/cpu.cfs_quota_us", line, sizeof line) &&
		first_line("/sys/fs/cgroup/cpu/cpu.cfs_period_us", period, sizeof period))
		least = quota_of(line, strtod(period, NULL));
	return least;
}

int cores(void)
{
	static ARENA int known;
	cpu_set_t set;
	long n = sysconf(_SC_NPROCESSORS_ONLN);
	int most;

	if (known)
		return known;
	if (!sched_getaffinity(0, sizeof set, &set))
		n = CPU_COUNT(&set);
	most = quota();
	n = most && most < n ? most : n;
	known = n < 1 ? 1 : n > MOST_THREADS ? MOST_THREADS : (int)n;
	return known;
}
