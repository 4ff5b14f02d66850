/* Walls around a process that reads what anybody may have written.
 *
 * A filter of system calls (seccomp) lets through what computing, reading and writing open
 * descriptors need; all else fails with EPERM: sockets, exec, new processes, and, in a stage,
 * opening files and code that is mapped. Landlock says the same once more where the kernel has it,
 * and for `run` which files may be read and written. What a kernel lacks is left out.
 *
 * The filter is a table of numbers, so it takes no library, and microseconds to put in force. A
 * stage that has to start others or to open a file asks a broker for it (broker.c), which was
 * started before. */
#include "process/process.h"
#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/landlock.h>
#include <linux/seccomp.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#if defined(__x86_64__)
#define ARCH AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCH AUDIT_ARCH_AARCH64
#endif

#ifdef ARCH
/* ---- the filter */

#define AT(field) offsetof(struct seccomp_data, field)
#define LOAD_FIELD(field) BPF_STMT(BPF_LD | BPF_W | BPF_ABS, AT(field))
#define RET(what) BPF_STMT(BPF_RET | BPF_K, what)
#define ALLOW RET(SECCOMP_RET_ALLOW)
#define DENY(error) RET(SECCOMP_RET_ERRNO | (error))
#define CALL(name) BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 1), ALLOW
/* allowed when no bit of mask is set in (or, _WITH, one is) the low half of an argument */
#define CALL_WITHOUT(name, arg, mask) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_FIELD(args[arg]), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 0, 1), DENY(EPERM), ALLOW
#define CALL_WITH(name, arg, mask) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_FIELD(args[arg]), \
	BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, mask, 1, 0), DENY(EPERM), ALLOW
#define CALL_IS(name, arg, value) \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_##name, 0, 4), LOAD_FIELD(args[arg]), \
	BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, value, 1, 0), DENY(EPERM), ALLOW

/* calls of another architecture's table, x32's too, are no calls */
#define START \
	LOAD_FIELD(arch), BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCH, 1, 0), DENY(ENOSYS), \
	LOAD_FIELD(nr), BPF_JUMP(BPF_JMP | BPF_JGE | BPF_K, 0x40000000, 0, 1), DENY(ENOSYS)

#ifdef __NR_poll
#define OLDER \
	CALL(poll), CALL(access), CALL(readlink), CALL(stat), CALL(lstat), CALL(time), CALL(dup2),
#else
#define OLDER
#endif
/* computing, reading, and writing to what is open */
#define COMMON \
	CALL(read), CALL(write), CALL(close), CALL(fstat), CALL(newfstatat), CALL(statx), OLDER \
	CALL(lseek), CALL(pread64), CALL(pwrite64), CALL(readv), CALL(writev), CALL(munmap), \
	CALL(mremap), CALL(madvise), CALL(brk), CALL(ppoll), CALL(futex), CALL(exit), \
	CALL(exit_group), CALL(rt_sigaction), CALL(rt_sigprocmask), CALL(rt_sigreturn), \
	CALL(sigaltstack), CALL(faccessat), CALL(faccessat2), CALL(readlinkat), CALL(getpid), \
	CALL(gettid), \
	CALL(getppid), CALL(tgkill), CALL(clock_gettime), CALL(gettimeofday), \
	CALL(clock_nanosleep), CALL(nanosleep), CALL(getrandom), CALL(sysinfo), CALL(uname), \
	CALL(sched_yield), CALL(sched_getaffinity), CALL(sched_setaffinity), CALL(setitimer), \
	CALL(fcntl), CALL(umask), CALL(getcwd), CALL(getrusage), CALL(prlimit64), CALL(rseq), \
	CALL(set_robust_list), CALL(restart_syscall), CALL(getdents64), CALL(dup), \
	CALL(dup3), \
	CALL(epoll_wait_or_pwait), CALL(epoll_ctl), CALL(membarrier), CALL(recvmsg), \
	CALL_IS(ioctl, 1, TCGETS), CALL_WITH(clone, 0, CLONE_THREAD)
#ifdef __NR_epoll_wait
#define __NR_epoll_wait_or_pwait __NR_epoll_wait
#else
#define __NR_epoll_wait_or_pwait __NR_epoll_pwait
#endif
/* glibc falls back to clone, whose flags can be seen, where there is no clone3 */
#define END BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, __NR_clone3, 0, 1), DENY(ENOSYS), DENY(EPERM)

#ifdef __NR_open
#define UNLINK CALL(unlink), CALL(rmdir),
#define RENAMES CALL(open), CALL(unlink), CALL(rename), CALL(link), CALL(mkdir), CALL(rmdir),
#else
#define UNLINK
#define RENAMES
#endif

#define CHECKED_CODE CALL_WITHOUT(mmap, 2, PROT_EXEC), CALL_WITHOUT(mprotect, 2, PROT_EXEC)
#define NETWORK \
	CALL(socket), CALL(socketpair), CALL(bind), CALL(connect), CALL(listen), CALL(accept), \
	CALL(accept4), CALL(setsockopt), CALL(getsockopt), CALL(getsockname), \
	CALL(getpeername), CALL(sendto), CALL(recvfrom), CALL(sendmsg), CALL(shutdown), \
	CALL(eventfd2), CALL(pipe2), CALL(epoll_create1), CALL(unlinkat), \
	CALL(sched_getparam), CALL(sched_getscheduler), CALL(sched_setscheduler), UNLINK
#define FILES \
	RENAMES CALL(openat), CALL(unlinkat), CALL(renameat), CALL(renameat2), CALL(linkat), \
	CALL(mkdirat), CALL(fchmod), CALL(fsync), CALL(ftruncate), CALL(flock), CALL(fallocate), \
	CALL(utimensat), CALL(fdatasync), CALL(mmap), CALL(mprotect), CALL(msync), \
	CALL(sched_setscheduler), CALL(memfd_create), CALL(statfs), CALL(fstatfs), \
	CALL(landlock_create_ruleset), CALL(landlock_add_rule), CALL(landlock_restrict_self), \
	CALL(seccomp), CALL_IS(prctl, 0, PR_SET_NO_NEW_PRIVS),

static const struct sock_filter stage_filter[] = {START, COMMON, CHECKED_CODE, END};
/* A stage with an endpoint: its socket may have to be opened anew, and its library has threads of
 * its own, which were started before and are not confined. */
static const struct sock_filter endpoint_filter[] = {START, COMMON, CHECKED_CODE, NETWORK END};
/* run writes its outputs and cache: where is Landlock's to say. More walls may follow. */
static const struct sock_filter run_filter[] = {START, COMMON, FILES END};
static const struct sock_filter run_endpoint_filter[] = {START, COMMON, FILES NETWORK END};

typedef struct { const struct sock_filter *at; size_t n; } Filter;
#define FILTER(f) ((Filter){f, sizeof f / sizeof *f})

static bool filter_calls(Filter f, unsigned flags)
{
	struct sock_fprog program = {(unsigned short)f.n, (struct sock_filter *)f.at};

	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags, &program) == 0;
}

/* ---- Landlock */

enum {
	READS = LANDLOCK_ACCESS_FS_READ_FILE | LANDLOCK_ACCESS_FS_READ_DIR,
	CHANGES = LANDLOCK_ACCESS_FS_WRITE_FILE | LANDLOCK_ACCESS_FS_REMOVE_DIR |
		LANDLOCK_ACCESS_FS_REMOVE_FILE | LANDLOCK_ACCESS_FS_MAKE_DIR |
		LANDLOCK_ACCESS_FS_MAKE_REG | LANDLOCK_ACCESS_FS_MAKE_SYM,
	RUNS = LANDLOCK_ACCESS_FS_EXECUTE | LANDLOCK_ACCESS_FS_MAKE_CHAR |
		LANDLOCK_ACCESS_FS_MAKE_SOCK | LANDLOCK_ACCESS_FS_MAKE_FIFO |
		LANDLOCK_ACCESS_FS_MAKE_BLOCK,
	LINKS = 1 << 13,                /* to another folder, from ABI 2; before it nobody may */
	TRUNCATES = 1 << 14,            /* from ABI 3 */
};
/* struct landlock_ruleset_attr as of ABI 4, and its two rights to TCP */
typedef struct { uint64_t fs, net; } Rules;

static int rules_new(uint64_t fs, long abi)
{
	Rules r = {fs | (abi >= 2 ? LINKS : 0) | (abi >= 3 ? TRUNCATES : 0), 3};

	return (int)syscall(SYS_landlock_create_ruleset, &r, abi >= 4 ? 16 : 8, 0);
}

/* All rights to change what is in a folder. */
static uint64_t changes(long abi)
{
	return CHANGES | (abi >= 2 ? LINKS : 0) | (abi >= 3 ? TRUNCATES : 0);
}

static void rule_add(int rules, const char *path, uint64_t rights)
{
	struct landlock_path_beneath_attr r = {.allowed_access = rights};
	struct stat st;

	r.parent_fd = open(path, O_PATH | O_CLOEXEC);
	if (r.parent_fd < 0)
		return;
	/* a file has no rights of a folder */
	if (!fstat(r.parent_fd, &st) && !S_ISDIR(st.st_mode))
		r.allowed_access &= LANDLOCK_ACCESS_FS_READ_FILE |
			LANDLOCK_ACCESS_FS_WRITE_FILE | TRUNCATES;
	syscall(SYS_landlock_add_rule, rules, LANDLOCK_RULE_PATH_BENEATH, &r, 0);
	close(r.parent_fd);
}

static long landlock_abi(void)
{
	return syscall(SYS_landlock_create_ruleset, NULL, 0, LANDLOCK_CREATE_RULESET_VERSION);
}

static bool rules_hold(int rules)
{
	bool held = rules >= 0 && syscall(SYS_landlock_restrict_self, rules, 0) == 0;

	if (rules >= 0)
		close(rules);
	return held;
}
#endif

/* ---- the two walls */

static bool usable(void)
{
#if defined(ARCH) && !defined(__SANITIZE_ADDRESS__)
	return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0;
#else
	return false;           /* a sanitizer's runtime needs more calls */
#endif
}

void confine_stage(bool endpoint)
{
	if (process.confined || process.open)
		return;
	process.confined = true;
	broker_start();
	broker_opens();
#ifdef ARCH
	if (!usable())
		return;
	long abi = landlock_abi();
	if (abi > 0 && !endpoint)
		rules_hold(rules_new(READS | CHANGES | RUNS, abi));
	filter_calls(endpoint ? FILTER(endpoint_filter) : FILTER(stage_filter), 0);
#endif
}

void confine_build(bool endpoint, size_t nwrite, const char *const *writes)
{
	if (process.confined || process.open)
		return;
	process.confined = true;
	broker_start();
#ifdef ARCH
	if (!usable())
		return;
	long abi = landlock_abi();
	/* the cache is kept by links */
	int rules = abi >= 2 && !endpoint ? rules_new(CHANGES | RUNS, abi) : -1;
	for (size_t i = 0; rules >= 0 && i < nwrite; i++)
		rule_add(rules, writes[i], changes(abi));
	rules_hold(rules);
	filter_calls(endpoint ? FILTER(run_endpoint_filter) : FILTER(run_filter), 0);
#endif
}

void confine_run(size_t nread, const char *const *reads, size_t nwrite, const char *const *writes)
{
	bool held = false;
#ifdef ARCH
	long abi = usable() ? landlock_abi() : -1;
	int rules = abi > 0 ? rules_new(READS | CHANGES | RUNS, abi) : -1;

	for (size_t i = 0; rules >= 0 && i < nread; i++)
		rule_add(rules, reads[i], READS);
	for (size_t i = 0; rules >= 0 && i < nwrite; i++)
		rule_add(rules, writes[i], READS | changes(abi));
	held = rules_hold(rules) &&
		filter_calls(FILTER(run_filter), SECCOMP_FILTER_FLAG_TSYNC);
#endif
	if (!held)
		die(UNSUPPORTED, "--sandbox: this kernel has no seccomp or no Landlock");
}
