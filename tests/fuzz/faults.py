#!/usr/bin/env python3
"""What goes wrong around a tool: an allocation that fails, a write that stores a part, a full disk, a kill.

    faults.py --bin build/bin [--seed 1] [--seconds 60] [--cc cc]

Each run of a tool is one that is right by itself.  A failing allocation or write may end it with 1 and one line, or do nothing to
it; a short write does nothing; then a file is whole or is not there, and no tmp.* beside it.  After a kill, a file is whole or
is not there.  The cache is one of its own, which is empty from time to time."""
import argparse
import os
import random
import re
import resource
import shutil
import signal
import subprocess
import sys
import tempfile
import time

import judge

PROGRAM = """input x f32[n, 4] where n in 1..64
const w f32 = [[1, 0, -1], [0.5, 2, 0], [0, 1, 1], [-1, 0.5, 0]]
output y = softmax(relu(x @ w)), s = cumsum(x, axis=0), i = argsort(x[:, 1])
"""


class Faults:
    def __init__(self, args, folder):
        self.args, self.folder, self.wrong, self.tried = args, folder, [], 0
        self.cache = os.path.join(folder, "cache")
        for env in (judge.ENV, os.environ):
            env["XDG_CACHE_HOME"] = self.cache
        self.preload = os.path.join(folder, "failing.so")
        here = os.path.dirname(os.path.abspath(__file__))
        subprocess.run([args.cc, "-shared", "-fPIC", "-O1", "-o", self.preload, os.path.join(here, "failing.c"), "-ldl"], check=True)
        with open("g.t", "w", encoding="utf-8") as f:
            f.write(PROGRAM)
        for out, command in (("g.mp", ["trace", "g.t"]), ("s.mp", ["schedule", "g.mp"]), ("f.mp", ["fuse", "s.mp"]),
                             ("l.mp", ["lower", "-t", "clang", "f.mp"]), ("p.mp", ["render", "-t", "clang", "l.mp"])):
            self.keep(out, command)
        # commands, and the file that each writes (None: standard output)
        ends = ["x=rand", "n=40"]
        self.commands = [(c, None) for c in (
            ["trace", "g.t"], ["simplify", "g.mp"], ["schedule", "g.mp"], ["fuse", "s.mp"], ["lower", "-t", "clang", "f.mp"],
            ["render", "-t", "clang", "l.mp"], ["show", "l.mp"], ["show", "-g", "f.mp"], ["info", "g.mp"], ["compile", "p.mp"])]
        self.commands += [(["run", *how, "g.mp", *ends, "-o", "out.npz"], "out.npz") for how in ([], ["--interpret"])]
        self.right = [self.result(c, out) for c, out in self.commands]

    def argv(self, command):
        return [os.path.join(self.args.bin, command[0]), *command[1:]]

    def keep(self, out, command):
        with open(out, "wb") as f:
            f.write(subprocess.run(self.argv(command), check=True, stdout=subprocess.PIPE).stdout)

    def result(self, command, out):
        r = judge.run(self.argv(command))
        assert r.status == 0, r.err
        return self.taken(out) if out else r.out

    def taken(self, out):
        """The file's bytes, and it is gone; None when there was none."""
        if not os.path.exists(out):
            return None
        with open(out, "rb") as f:
            data = f.read()
        os.remove(out)
        return data

    def say(self, command, how, what):
        self.wrong.append(f"{how} {' '.join(command)}: {what}")

    def same(self, command, a, b):
        """Whether results are as good as each other.  What compile cannot store its result does not name, and where a compiler
        fails, run tries it again without the processor's own instructions, which round a product and a sum at once."""
        if a == b or not a or not b or command[0] not in ("compile", "run"):
            return a == b
        for name, data in (("a.npz", a), ("b.npz", b)):
            with open(name, "wb") as f:
                f.write(data)
        if command[0] == "run":
            return judge.run(self.argv(["diff", "--rtol", "1e-5", "--atol", "1e-6", "a.npz", "b.npz"])).status == 0
        bare = [re.sub(rb', (object|object_key|entry|mark): "[^"]*"', b"", judge.run(self.argv(["show", f])).out) for f in ("a.npz", "b.npz")]
        return bare[0] == bare[1]

    def check_file(self, command, out, right, how):
        got = self.taken(out)
        if got is not None and not self.same(command, got, right):
            self.say(command, how, f"{out} is {len(got)} bytes, not {len(right)}")
        return got

    def left(self, command, how):
        """Files that should not be there any more."""
        for f in os.listdir("."):
            if f.startswith(("tmp.", "out.npz.")):
                self.say(command, how, f"left {f}")
                os.remove(f)

    def fails(self, i, name, k):
        """The k-th call fails: status 0 and the right result, or 1, one line and no result."""
        (command, out), right = self.commands[i], self.right[i]
        how = f"{name}={k}"
        r = judge.run(self.argv(command), env=dict(judge.ENV, LD_PRELOAD=self.preload, **{name: str(k)}))
        got = self.check_file(command, out, right, how) if out else r.out
        what = judge.complaint(r, (0, 1))
        # trace adds the place in the program, and the stages that run for a tool each have their say
        if what and "not one line" not in what:
            self.say(command, how, what)
        if r.status == 0 and not self.same(command, got, right):
            self.say(command, how, "status 0, and another result")
        self.left(command, how)
        return r.status == 0

    def full(self, i, limit):
        """A file may not grow beyond the limit."""
        (command, out), right = self.commands[i], self.right[i]
        if not out:
            return
        how = f"RLIMIT_FSIZE={limit}"
        def begin():
            signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
            resource.setrlimit(resource.RLIMIT_FSIZE, (limit, limit))
        r = judge.run(self.argv(command), limit=begin)
        self.check_file(command, out, right, how)
        what = judge.complaint(r, (0, 1))
        if what:
            self.say(command, how, what)
        self.left(command, how)

    def killed(self, i, after, number):
        (command, out), right = self.commands[i], self.right[i]
        p = subprocess.Popen(self.argv(command), stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True)
        time.sleep(after)
        p.send_signal(number)
        got = p.communicate()[0]
        how = f"{signal.Signals(number).name} after {after:.4f} s"
        if out:
            self.check_file(command, out, right, how)
        elif got not in (b"", right) and number != signal.SIGKILL:
            self.say(command, how, f"{len(got)} bytes on standard output, not {len(right)}")
        if number == signal.SIGTERM:
            self.left(command, how)
        for f in os.listdir("."):
            if f.startswith("out.npz."):
                os.remove(f)

    def one(self, r):
        self.tried += 1
        i = r.randrange(len(self.commands))
        kind = r.randrange(6)
        if r.randrange(10) == 0:
            shutil.rmtree(self.cache, ignore_errors=True)
        if kind <= 2:
            self.fails(i, "FAIL_ALLOC", r.choice([r.randint(1, 30), r.randint(1, 300), r.randint(1, 3000)]))
        elif kind == 3:
            self.fails(i, r.choice(["SHORT_WRITE", "FULL_WRITE"]), r.randint(1, 4))
        elif kind == 4:
            self.full(i, r.choice([0, 1, 100, 1000]))
        else:
            self.killed(i, r.random() * r.choice([0.005, 0.05, 0.3]), r.choice([signal.SIGTERM, signal.SIGKILL]))


def main():
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--cc", default="cc")
    args = p.parse_args()
    args.bin = os.path.abspath(args.bin)
    r, end = random.Random(args.seed), time.time() + args.seconds
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        f = Faults(args, folder)
        while time.time() < end:
            f.one(r)
        os.chdir("/")
    print("\n".join(f.wrong))
    print(f"{f.tried} runs with faults around them (seed {args.seed}): {len(f.wrong)} wrong")
    return 1 if f.wrong else 0


if __name__ == "__main__":
    sys.exit(main())
