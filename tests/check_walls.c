/* What is left to a process between walls: check_walls FILE SECRET prints a line for each thing that it can do. */
#include "io/io.h"
#include "process/process.h"
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

static void say(const char *what, bool can)
{
	if (can)
		printf("%s\n", what);
}

int main(int argc, char **argv)
{
	size_t n;

	stage_begin("check_walls");
	confine_stage(false);
	say("open", open(argv[1], O_RDONLY) >= 0);
	say("write", open("written", O_WRONLY | O_CREAT, 0600) >= 0);
	say("socket", socket(AF_INET, SOCK_STREAM, 0) >= 0 || socket(AF_UNIX, SOCK_STREAM, 0) >= 0);
	say("fork", fork() >= 0);
	say("exec", execl("/bin/true", "true", NULL) == 0);
	say("code", mmap(NULL, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) != MAP_FAILED);
	say("unlink", unlink(argv[1]) == 0);
	say("ask", data_map(argv[1], &n) && n == 4);
	say("wait", process.opener(argv[1], OPEN_WAIT) >= 0);
	say("ask for a secret", process.opener(argv[2], OPEN_WAIT) >= 0 || process.opener(argv[2], OPEN_NOW) >= 0 ||
		process.opener(argv[2], OPEN_OWN) >= 0);
	return stage_end();
}
