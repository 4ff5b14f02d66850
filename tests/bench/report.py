"""The results of bench.py as tables: text for a terminal, or Markdown."""
import math

MEAN_GOAL = 0.8                                                   # over the rows that have a goal

def short(v): return "%.0f" % v if v >= 100 else "%.3g" % v

def progress(work, threads, rows, seconds):
    cells = ["%s %s" % (r["name"], short(r["min_ms"]) + ("" if r["right"] else " WRONG %.1e" % r["error"]) if "min_ms" in r
                        else "failed (%s)" % r["failed"]) for r in rows]
    print("%4.0f s  %s, %d thread%s: %s" % (seconds, work.name, threads, "s"[threads == 1:], "; ".join(cells)), flush=True)

def compiled(r):
    print("first result, %s: %s" % (r["task"], r["name"]), r.get("failed") or "%.2f s" % r["cold_s"], flush=True)

def cells(results, threads):
    """For each workload its rows by name, and the best peer's (None without one), in the order measured."""
    table = {}
    for r in results["rows"]:
        if r["threads"] == threads:
            table.setdefault(r["workload"], {})[r["name"]] = r
    def best(row):
        right = [r for r in row.values() if not r["ours"] and r.get("right")]
        return min(right, key=lambda r: r["min_ms"]) if right else None
    return [(name, row, best(row)) for name, row in table.items()]

def ratio(row, best, ours="sluice"):
    r = row.get(ours)
    return r["min_ms"] / best["min_ms"] if best and r and r.get("right") else None

def geometric(values):
    values = [v for v in values if v]
    return math.exp(sum(map(math.log, values)) / len(values)) if values else None

def cell(r, best, bold):
    if r is None:
        return ""
    if "failed" in r:
        return "failed"
    if not r["right"]:
        return "WRONG"
    text = "%s/%s" % (short(r["min_ms"]), short(r["median_ms"]))
    return "**%s**" % text if bold and r is best else text

def rate(work, r):
    """What the workload's work comes to in that time."""
    moved = work["read"] + work["written"]
    if work["flops"] > 8 * moved:
        return "%.0f GFLOP/s" % (work["flops"] / r["min_ms"] / 1e6)
    return "%.1f GB/s" % (moved / r["min_ms"] / 1e6)

def speed_table(results, threads, markdown):
    rows = cells(results, threads)
    names = list(dict.fromkeys(r["name"] for r in results["rows"] if r["threads"] == threads))
    head, body, ratios = ["workload", *names, "best peer", "ratio", "goal", "rate"], [], {n: [] for n in names}
    for name, row, best in rows:
        r, goal, work = ratio(row, best), results["workloads"][name]["goal"], results["workloads"][name]
        for n in names if goal else []:
            ratios[n].append(ratio(row, best, n))
        mark = " met" if goal and r and threads > 1 and r <= goal else ""
        body.append([name, *(cell(row.get(n), best, markdown) for n in names), best["name"] if best else "",
                     "%.2f" % r if r else "", ("%g" % goal if goal else "") + mark,
                     rate(work, row["sluice"]) if row.get("sluice", {}).get("right") else ""])
    means = ["%.2f" % geometric(ratios[n]) if geometric(ratios[n]) else "" for n in names]
    mean = means[names.index("sluice")] if "sluice" in names else ""
    done = [sum(1 for v in ratios.get("sluice", []) if v), sum(1 for n, _, _ in rows if results["workloads"][n]["goal"])]
    body.append(["geometric mean" + ("" if done[0] == done[1] else ", %d of %d" % tuple(done)), *means, "", mean, "%g" % MEAN_GOAL, ""])
    title = "%d thread%s: least/median ms; ratio: ours over the best peer's least" % (threads, "s"[threads == 1:])
    return title, head, body

def compile_table(rows):
    """First results and memory; the goals are those of sluice."""
    goal = dict(resnet50=(2, 0.15), chain_10000=(5, None))
    head, body = ["task", "", "cold s", "cached s", "peak MB", "without imports"], []
    for r in rows:
        if "failed" in r:
            body.append([r["task"], r["name"], r["failed"][:40], "", "", ""])
            continue
        aims = [" (goal %g)" % g if r["ours"] and g else "" for g in goal[r["task"]]]
        body.append([r["task"], r["name"], "%.2f" % r["cold_s"] + aims[0], "%.2f" % r["cached_s"] + aims[1] if "cached_s" in r else "",
                     "%.0f" % r["rss_mb"], "%.0f" % r["over_imports_mb"]])
    return "From the model's file to its first result, and peak memory", head, body

def lay_out(title, head, body, markdown):
    if markdown:
        rows = ["### " + title, "", "| %s |" % " | ".join(head), "|" + "---|" * len(head)]
        return "\n".join(rows + ["| %s |" % " | ".join(r) for r in body]) + "\n"
    wide = [max(len(r[k]) for r in [head, *body]) for k in range(len(head))]
    line = lambda r: "  ".join(v.ljust(w) if k == 0 else v.rjust(w) for k, (v, w) in enumerate(zip(r, wide))).rstrip()
    return "\n".join([title, line(head)] + [line(r) for r in body]) + "\n"

def about(results):
    m = results["machine"]
    lines = ["%s, %d cores, %d GiB, %s; %s" % (m["cpu"], m["cores"], m["memory_gb"], m["system"], m["when"])]
    lines.append(", ".join("%s %s" % p for p in results["versions"].items()))
    for t, r in results["roof"].items():
        read = ", ".join("%d MiB %.0f/%.0f" % (b["mib"], b["read"], b["copy"]) for b in r["memory"])
        lines.append("limits with %s thread%s: %.0f GFLOP/s; GB/s read/copied: %s" % (t, "s"[t == "1":], r["gflops"], read))
    noise = [r["noise"] for r in results["rows"] if "noise" in r]
    if noise:
        lines.append("others used %.2f cores on average while it was measured, %.2f at most" % (sum(noise) / len(noise), max(noise)))
    return "\n".join(lines) + "\n"

def differing(results):
    """Workloads where a program of ours gave other bits with another number of threads."""
    bits = {}
    for r in results["rows"]:
        if r["ours"] and "bits" in r:
            bits.setdefault(r["workload"], {}).setdefault(r["name"], set()).add(r["bits"])
    return [(w, [n for n, b in by.items() if len(b) > 1]) for w, by in bits.items() if any(len(b) > 1 for b in by.values())]

def show(results, markdown):
    print()
    print(about(results))
    for t in sorted({r["threads"] for r in results["rows"]}, reverse=True):
        print(lay_out(*speed_table(results, t, markdown), markdown))
    if results["compile"]:
        print(lay_out(*compile_table(results["compile"]), markdown))
    for name, names in differing(results):
        print("%s: %s: not the same bits with every number of threads" % (name, ", ".join(sorted(names))))
    failures = [r for r in results["rows"] if "failed" in r or not r["right"]]
    for r in failures:
        why = r.get("failed") or "off by %.2g" % r["error"]
        print("%s, %d thread%s: %s: %s" % (r["workload"], r["threads"], "s"[r["threads"] == 1:], r["name"], why))
    for r in results["compile"]:
        if "failed" in r:
            print("first result, %s: %s: %s" % (r["task"], r["name"], r["failed"]))
