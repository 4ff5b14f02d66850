"""Cases drawn from seeds, one after the other until the time is over: each in a folder of its own, which is kept when
something is wrong with it."""
import argparse
import os
import shutil
import sys
import time

import judge

# how near floats are, by the least precise dtype that they were computed with
CLOSE = {"f64": ("1e-9", "1e-9"), "f32": ("1e-3", "1e-4"), "f16": ("3e-2", "3e-2"), "bf16": ("2e-1", "2e-1")}


class Case:
    """The tools in the folder of one case; complaints in self.wrong."""

    def __init__(self, bin_folder):
        self.bin, self.wrong = bin_folder, []

    def tool(self, name, *rest, status=(0,)):
        r = judge.run([os.path.join(self.bin, name), *rest], seconds=60)
        if r.status not in status:
            self.wrong.append(f"{' '.join(r.command)}: {judge.complaint(r, status) or r.status}")
            return None
        return r

    def step(self, out, name, *rest):
        """A stage: writes the file out; False when it does not end with 0 (3: it is not supported)."""
        r = self.tool(name, *rest, status=(0, 3))
        if not r or r.status:
            return False
        with open(out, "wb") as f:
            f.write(r.out)
        return True

    def values(self, out, document, operands, *options):
        return self.tool("run", *options, document, *operands, "-o", out) is not None

    def same(self, a, b, way, *how):
        r = self.tool("diff", *how, a, b, status=(0, 1))
        if r and r.status:
            self.wrong.append(f"{way}: {r.out.decode()[:300]}")

    def close(self, a, b, names, way):
        """Outputs NAME_DTYPE as near as the dtype allows; NAME_exact bit for bit."""
        for name in names:
            rtol, atol = CLOSE.get(name.rsplit("_", 1)[1], ("0", "0"))
            self.same(a, b, way, "--rtol", rtol, "--atol", atol, "--only", name)


def options(**more):
    """The options that every generator has, and more: NAME={…} as add_argument takes them."""
    p = argparse.ArgumentParser()
    p.add_argument("--bin", required=True)
    p.add_argument("--seed", type=int, default=int(time.time()))
    p.add_argument("--seconds", type=float, default=60)
    p.add_argument("--count", type=int, default=1 << 30)
    p.add_argument("--found", default="build/fuzz/work/found")
    for name, how in more.items():
        p.add_argument("--" + name, **how)
    args = p.parse_args()
    args.bin, args.found = os.path.abspath(args.bin), os.path.abspath(args.found)
    return args


def draw(args, kind, what, try_one, left_out=()):
    """try_one(seed, case) for each seed, in the folder KIND-SEED; ends with 1 when anything was wrong.  left_out: what was
    drawn and could not be tried."""
    end, tried, wrong = time.time() + args.seconds, 0, 0
    while time.time() < end and tried < args.count:
        name = f"{kind}-{args.seed + tried}"
        folder = os.path.join(args.found, name)
        os.makedirs(folder, exist_ok=True)
        os.chdir(folder)
        case = Case(args.bin)
        try_one(args.seed + tried, case)
        tried += 1
        os.chdir(args.found)
        for line in case.wrong:
            print(f"{name}: {line}")
        wrong += bool(case.wrong)
        if not case.wrong:
            shutil.rmtree(folder)
    tried_all = f"{tried - len(left_out)} {what} (from seed {args.seed}): {wrong} with faults"
    print(tried_all + (f"; {len(left_out)} left out" if left_out else ""))
    sys.exit(1 if wrong else 0)
