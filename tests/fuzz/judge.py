"""What every run of a tool must keep to, whatever it was given: a status that the tools have, one line of at most 1000 bytes
where it is not 0, nothing on standard output then, and an end within the time."""
import os
import resource
import signal
import subprocess

ENV = dict(os.environ, ASAN_OPTIONS="detect_leaks=0:exitcode=99", UBSAN_OPTIONS="print_stacktrace=1")
MEMORY = 4 << 30                 # of address space; sanitizers need more, and have none to keep to


class Result:
    def __init__(self, command, status, out, err):
        self.command, self.status, self.out, self.err = command, status, out, err


def run(command, stdin=b"", seconds=20, env=None, limit=None):
    """The result of a command; status -9 when it took longer.  limit: called in the child before it begins."""
    def begin():
        if "/san/" not in command[0] and "/fuzz/" not in command[0]:
            resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        if limit:
            limit()
    p = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=env or ENV,
                         preexec_fn=begin, start_new_session=True)
    try:
        out, err = p.communicate(stdin, timeout=seconds)
    except subprocess.TimeoutExpired:
        os.killpg(p.pid, signal.SIGKILL)
        out, err = p.communicate()
        return Result(command, -9, out, err)
    return Result(command, p.returncode, out, err)


def complaint(r, statuses=(0, 2, 3, 4)):
    """What is wrong with a result, or None."""
    text = r.err.decode("utf-8", "replace")
    if r.status == -9:
        return "hangs"
    if r.status not in statuses:
        return f"status {r.status}: {text[:300]}"
    if "runtime error" in text or "Sanitizer" in text:
        return text[:600]
    if r.status and r.out:
        return f"status {r.status}, and {len(r.out)} bytes on standard output"
    if r.status == 1 and not text and 1 in statuses:
        return None
    if r.status and (text.count("\n") != 1 or len(r.err) > 1001):
        return f"status {r.status}, not one line of at most 1000 bytes: {text[:300]!r}"
    return None
