/* Runs a command and prints what it took on standard error: CPU seconds (user and system, its
 * children's too) and the greatest resident memory of one process in MB.
 *
 *     measure COMMAND [ARG…]          0.412 58.3
 *
 * CPU and not elapsed time: other work on the machine shows less in it. */
#include <stdio.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

int main(int argc, char **argv)
{
	struct rusage r;
	int status;
	pid_t child = argc > 1 ? fork() : -1;
	if (!child) {
		execvp(argv[1], argv + 1);
		_exit(127);
	}
	if (child < 0 || waitpid(child, &status, 0) != child || getrusage(RUSAGE_CHILDREN, &r))
		return 1;
	double s = r.ru_utime.tv_sec + r.ru_stime.tv_sec +
		1e-6 * (r.ru_utime.tv_usec + r.ru_stime.tv_usec);
	fprintf(stderr, "%.4f %.1f\n", s, r.ru_maxrss / 1024.0);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}
