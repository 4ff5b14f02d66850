"""What bench.py lets run against each other: peers, each in a process that peers.py is, and programs of Sluice.

A contestant is started, called a few times, and then measured in turns with the others.  While it is not its turn its whole
process group is stopped, so that neither its threads' waiting nor its collector takes part in another's time."""
import ctypes, json, os, resource, select, shlex, signal, subprocess, sys, tempfile, time

HERE = os.path.dirname(os.path.abspath(__file__))

class Failed(Exception): pass

def environment(threads, folder, more=()):
    """Threads as many as are given, no accelerator, freed memory kept: otherwise page faults of temporaries are measured."""
    e = {k: v for k, v in os.environ.items() if not k.startswith("OPENBLAS_")}
    for k in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS", "NUM_CPU_THREADS"):
        e[k] = str(threads)
    e.update(MALLOC_MMAP_MAX_="0", MALLOC_TRIM_THRESHOLD_=str(1 << 40), MALLOC_TOP_PAD_=str(64 << 20), CUDA_VISIBLE_DEVICES="",
             JAX_PLATFORMS="cpu", DEV="CPU", TF_CPP_MIN_LOG_LEVEL="3", XDG_CACHE_HOME=os.path.join(folder, "cache"),
             TORCHINDUCTOR_CACHE_DIR=os.path.join(folder, "cache", "inductor"))
    e.update(more)
    return e

def placed(threads):
    """In the child: on the last cores, and gone with its parent."""
    cores = sorted(os.sched_getaffinity(0))
    def begin():
        os.sched_setaffinity(0, cores[-threads:])
        ctypes.CDLL(None).prctl(1, signal.SIGKILL)
    return begin

def busy():
    """Seconds of processor time that anyone used, and those of this process's children that have ended."""
    with open("/proc/stat") as f:
        t = [int(v) for v in f.readline().split()[1:9]]
    r = resource.getrusage(resource.RUSAGE_CHILDREN)
    return (sum(t) - t[3] - t[4]) / os.sysconf("SC_CLK_TCK"), r.ru_utime + r.ru_stime

class Contestant:
    """name, and of the first call: build_ms, first_ms, rss_mb (peak, with imports), base_mb (imports alone)."""
    ours = False
    def start(self): pass
    def wait(self): pass
    def stop(self): pass

    def turn(self, seconds, least):
        """Times in ms, and how many cores others used meanwhile."""
        begin, before = time.perf_counter(), busy()
        used = self.used()
        times = self.time(seconds, least)
        took, after = time.perf_counter() - begin, busy()
        own = self.used() - used + after[1] - before[1]
        return times, max(0, after[0] - before[0] - own) / max(took, 0.02)

    def used(self): return 0

class PeerProcess(Contestant):
    def __init__(self, name, python, folder, work, threads, limit, more=()):
        self.name, self.threads, self.limit = name, threads, limit
        self.command = [python, os.path.join(HERE, "peers.py"), name, work, str(threads)]
        self.env = environment(threads, folder, dict({"BEAM": "2"} if name.endswith("-beam") else {}, **dict(more)))
        self.child, self.rest = None, b""

    def start(self):
        self.log = tempfile.TemporaryFile()
        self.begun = time.perf_counter()
        self.child = subprocess.Popen(self.command, env=self.env, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self.log,
                                      start_new_session=True, preexec_fn=placed(self.threads))

    def wait(self):
        self.__dict__.update(self.answer())
        self.whole_ms = 1e3 * (time.perf_counter() - self.begun)
        self.signal(signal.SIGSTOP)

    def signal(self, number):
        try:
            os.killpg(self.child.pid, number)
        except ProcessLookupError:
            pass

    def answer(self):
        end = time.monotonic() + self.limit
        while b"\n" not in self.rest:
            if not select.select([self.child.stdout], [], [], max(0, end - time.monotonic()))[0]:
                self.stop()
                raise Failed("over %g s" % self.limit)
            more = os.read(self.child.stdout.fileno(), 1 << 20)
            if not more:
                self.stop()
                raise Failed(self.last_words())
            self.rest += more
        line, self.rest = self.rest.split(b"\n", 1)
        return json.loads(line)

    def last_words(self):
        self.log.seek(0)
        said = [line for line in self.log.read().decode(errors="replace").splitlines() if line.strip()]
        return (said or ["it ended without a word"])[-1][:300]

    def ask(self, text):
        self.signal(signal.SIGCONT)
        try:
            self.child.stdin.write((text + "\n").encode())
            self.child.stdin.flush()
        except BrokenPipeError:
            raise Failed(self.last_words())
        got = self.answer()
        self.signal(signal.SIGSTOP)
        return got

    def time(self, seconds, least): return self.ask("time %g %d" % (seconds, least))["times_ms"]

    def save(self, folder):
        got = self.ask("save " + folder)
        self.rss_mb = got["rss_mb"]

    def used(self):
        try:
            with open("/proc/%d/stat" % self.child.pid) as f:
                v = f.read().rsplit(")", 1)[1].split()
        except OSError:
            return 0
        return sum(map(int, v[11:15])) / os.sysconf("SC_CLK_TCK")

    def stop(self):
        if self.child:
            self.signal(signal.SIGKILL)
            self.child.wait()

class SluiceProgram(Contestant):
    """A program compiled by `command`, a pipeline of the tools in `tools`, and then run anew each turn."""
    ours = True
    def __init__(self, name, tools, command, folder, work, threads, limit, options=()):
        self.name, self.tools, self.threads, self.limit, self.options = name, tools, threads, limit, list(options)
        self.env = environment(threads, folder, {"PATH": tools + ":" + os.environ["PATH"]})
        self.program = os.path.join(work, "%s.program" % name)
        command = command.replace("{onnx}", shlex.quote(os.path.join(work, "model.onnx")))
        self.command = "set -o pipefail; %s >%s" % (command, shlex.quote(self.program))
        with open(os.path.join(work, "meta.json")) as f:
            names = json.load(f)["inputs"]
        self.feeds = ["@%d=%s" % (k, os.path.join(work, "in_%s.npy" % n)) for k, n in enumerate(names)]
        self.base_mb = 0

    def start(self):
        begin = time.perf_counter()
        self.shell(["bash", "-c", self.command])
        self.build_ms = 1e3 * (time.perf_counter() - begin)

    def shell(self, argv, pin=False):
        p = subprocess.Popen(argv, env=self.env, stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True, start_new_session=True,
                             preexec_fn=placed(self.threads) if pin else None)
        try:
            _, said = p.communicate(timeout=self.limit)
        except subprocess.TimeoutExpired:
            os.killpg(p.pid, signal.SIGKILL)
            p.communicate()
            raise Failed("over %g s" % self.limit)
        if p.returncode:
            raise Failed((said.strip().splitlines() or ["status %d" % p.returncode])[0][:300])

    def run(self, *more):
        self.shell([os.path.join(self.tools, "run"), self.program, *self.feeds, "-j", str(self.threads), *self.options, *more], True)

    def time(self, seconds, least):
        with tempfile.NamedTemporaryFile() as f:
            self.run("--bench=" + f.name, "--seconds", "%g" % seconds)
            got = json.load(open(f.name))
        self.first_ms, self.rss_mb = got["first_ms"], got["rss_mb"]
        return got["times_ms"]

    def save(self, folder): self.run("-o", folder, "--numbered")
