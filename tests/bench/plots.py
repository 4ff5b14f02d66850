"""The results of bench.py as one HTML page that needs nothing else: ratio bars, rooflines, tables.

    plots.py results.json page.html"""
import html, json, math, sys
import report

STYLE = """
:root { --ink: #1d2330; --soft: #667085; --line: #d9dee7; --paper: #ffffff; --good: #0f766e; --bad: #c2410c; --goal: #1d2330; }
@media (prefers-color-scheme: dark) { :root { --ink: #e6e9ef; --soft: #98a2b3; --line: #344054; --paper: #12161f; --good: #2dd4bf;
  --bad: #fb923c; --goal: #e6e9ef; } }
body { font: 14px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper); max-width: 1080px; margin: 2.5rem auto;
  padding: 0 1.5rem; }
h1 { font-size: 1.5rem; margin: 0 0 .3rem; } h2 { font-size: 1.1rem; margin: 2.4rem 0 .3rem; }
p { color: var(--soft); margin: .2rem 0 .8rem; max-width: 80ch; } svg { display: block; width: 100%; height: auto; }
svg text { font: 12px system-ui, sans-serif; fill: var(--ink); } svg text.soft { fill: var(--soft); }
svg .axis { stroke: var(--line); stroke-width: 1; } svg .one { stroke: var(--soft); stroke-width: 1.2; }
svg .roof { fill: none; stroke: var(--soft); stroke-width: 1.4; } svg .goal { stroke: var(--goal); stroke-width: 2.5; }
.good { fill: var(--good); } .bad { fill: var(--bad); }
.wide { overflow-x: auto; } table { border-collapse: collapse; font-size: 12px; font-variant-numeric: tabular-nums; }
th, td { padding: .25rem .6rem; text-align: right; border-bottom: 1px solid var(--line); white-space: nowrap; }
th:first-child, td:first-child { text-align: left; } th { color: var(--soft); font-weight: 600; }
"""
COLOURS = ["#0072b2", "#d55e00", "#cc79a7", "#e69f00", "#56b4e9", "#8a6fd1", "#7f7f7f", "#b59f00"]

def tag(name, text=None, **at):
    said = "".join(' %s="%s"' % (k.rstrip("_").replace("_", "-"), html.escape("%.1f" % v if isinstance(v, float) else str(v)))
                   for k, v in at.items())
    return "<%s%s/>" % (name, said) if text is None else "<%s%s>%s</%s>" % (name, said, text, name)

def label(x, y, text, **at): return tag("text", html.escape(text), x=x, y=y, **at)
def titled(text): return tag("title", html.escape(text))

class Log:
    """Values on a logarithmic axis between two places, within its ends."""
    def __init__(self, low, high, at, to): self.low, self.high, self.at, self.to = low, high, at, to
    def __call__(self, v):
        part = math.log(min(max(v, self.low), self.high) / self.low) / math.log(self.high / self.low)
        return self.at + part * (self.to - self.at)

# ---- ratios
def ratio_bars(results, threads):
    rows = [(n, row, best) for n, row, best in report.cells(results, threads) if report.ratio(row, best)]
    if not rows:
        return ""
    peers = list(dict.fromkeys(r["name"] for _, row, _ in rows for r in row.values() if not r["ours"]))
    most = max(max(report.ratio(row, best), 4) for _, row, best in rows)
    x, step, top = Log(0.25, min(64, 2 ** math.ceil(math.log2(most))), 150.0, 940.0), 24, 46
    bottom = top + step * (len(rows) + 1)
    out = [tag("circle", "", cx=160.0 + 120 * k, cy=10, r=4, fill=COLOURS[k % 8]) + label(170.0 + 120 * k, 14, p, class_="soft")
           for k, p in enumerate(peers)]
    tick = x.low
    while tick <= x.high:
        out.append(tag("line", x1=x(tick), x2=x(tick), y1=top - 8, y2=bottom, class_="one" if tick == 1 else "axis"))
        out.append(label(x(tick), top - 14, "%g" % tick, text_anchor="middle", class_="soft"))
        tick *= 2
    for k, (name, row, best) in enumerate(rows):
        out.append(bar(results, x, top + step * k, name, row, best, peers))
    mean = report.geometric([report.ratio(row, best) for n, row, best in rows if results["workloads"][n]["goal"]])
    if mean:
        out.append(one_bar(x, top + step * len(rows), "geometric mean", mean, report.MEAN_GOAL, "geometric mean: %.2f" % mean))
    return tag("svg", "".join(out), viewBox="0 0 1000 %d" % (bottom + 6), role="img")

def one_bar(x, y, name, r, goal, said):
    kind = "good" if goal and r <= goal else "bad" if r > 1 else "good"
    left, right = sorted((x(r), x(1)))
    out = label(140, y + 13, name, text_anchor="end")
    out += tag("rect", titled(said), x=left, y=y + 3, width=max(right - left, 1.0), height=13, rx=2, class_=kind, opacity="0.55")
    if goal:
        out += tag("line", x1=x(goal), x2=x(goal), y1=y, y2=y + 19, class_="goal")
    return out + label(990, y + 13, "%.2f" % r, text_anchor="end")

def bar(results, x, y, name, row, best, peers):
    r, goal = report.ratio(row, best), results["workloads"][name]["goal"]
    out = one_bar(x, y, name, r, goal, "%s: %.3f ms, %s %.3f ms" % (name, row["sluice"]["min_ms"], best["name"], best["min_ms"]))
    for k, p in enumerate(peers):
        if row.get(p, {}).get("right"):
            v = row[p]["min_ms"] / best["min_ms"]
            if v <= x.high:
                out += tag("circle", titled("%s: %.3f ms" % (p, row[p]["min_ms"])), cx=x(v), cy=y + 9.5, r=3.4, fill=COLOURS[k % 8],
                           stroke="var(--paper)", stroke_width="0.8")
    return out

# ---- rooflines
def points(results, threads):
    """Bytes per flop, our GFLOP/s, the best peer's, and the name."""
    for name, row, best in report.cells(results, threads):
        w, r = results["workloads"][name], row.get("sluice", {})
        if w["flops"] and r.get("right"):
            yield ((w["read"] + w["written"]) / w["flops"], w["flops"] / r["min_ms"] / 1e6,
                   w["flops"] / best["min_ms"] / 1e6 if best else None, name)

def place_labels(spots):
    """Each label beside its point, or as far below as keeps it off those that stand already."""
    taken, out = [], []
    for x, y, text in sorted(spots):
        for dy in (4, -8, 16, -20, 28, -32, 40, 52, 64):
            box = (x + 7, y + dy - 10, x + 7 + 6.6 * len(text), y + dy + 2)
            if all(box[2] < t[0] or t[2] < box[0] or box[3] < t[1] or t[3] < box[1] for t in taken):
                break
        taken.append(box)
        if abs(dy) > 20:
            out.append(tag("line", x1=float(x), y1=float(y), x2=x + 7.0, y2=y + dy - 4.0, class_="axis"))
        out.append(label(x + 7.0, float(y + dy), text))
    return out

def roofline(results, threads):
    roof, spots = results["roof"].get(str(threads)), list(points(results, threads))
    if not roof or not spots:
        return ""
    peak, memory = roof["gflops"], roof["memory"]
    low, high = min(p[0] for p in spots) / 2, max(max(p[0] for p in spots), 1) * 4
    least = min(min(p[1], p[2] or p[1]) for p in spots) / 2
    x, y = Log(low, high, 70.0, 940.0), Log(least, peak * 2, 430.0, 20.0)
    out, decade = [], 10.0 ** math.floor(math.log10(min(low, least)))
    while decade < max(high, peak * 2):
        if low <= decade <= high:
            out.append(tag("line", x1=x(decade), x2=x(decade), y1=20, y2=430, class_="axis"))
            out.append(label(x(decade), 448, "%g" % decade, text_anchor="middle", class_="soft"))
        if least <= decade <= peak * 2:
            out.append(tag("line", x1=70, x2=940, y1=y(decade), y2=y(decade), class_="axis"))
            out.append(label(62, y(decade) + 4, "%g" % decade, text_anchor="end", class_="soft"))
        decade *= 10
    for b in (memory[0], memory[-1]):
        corner = b["read"] / peak
        path = "M %.1f %.1f L %.1f %.1f L %.1f %.1f" % (x(low), y(peak), x(corner), y(peak), x(high), y(b["read"] / high))
        out.append(tag("path", titled("%d MiB read at %.0f GB/s" % (b["mib"], b["read"])), d=path, class_="roof"))
        at = math.sqrt(corner * max(corner, min(p[0] for p in spots)))
        out.append(label(x(at) + 6, y(b["read"] / at) - 4, "%d MiB: %.0f GB/s" % (b["mib"], b["read"]), class_="soft"))
    out.append(label(76, y(peak) - 6, "%.0f GFLOP/s" % peak, class_="soft"))
    out.append(label(505, 468, "bytes per flop", text_anchor="middle", class_="soft"))
    out.append(label(20, 225, "GFLOP/s", text_anchor="middle", class_="soft", transform="rotate(-90 20 225)"))
    for bpf, ours, best, name in spots:
        if best:
            out.append(tag("line", x1=x(bpf), x2=x(bpf), y1=y(ours), y2=y(best), class_="axis"))
            out.append(tag("circle", titled("%s, best peer: %.1f GFLOP/s" % (name, best)), cx=x(bpf), cy=y(best), r=4, fill="none",
                           stroke="var(--soft)", stroke_width="1.5"))
        kind = "good" if not best or ours >= best else "bad"
        out.append(tag("circle", titled("%s: %.1f GFLOP/s" % (name, ours)), cx=x(bpf), cy=y(ours), r=4.5, class_=kind))
    out += place_labels([(x(p[0]), y(p[1]), p[3]) for p in spots])
    return tag("svg", "".join(out), viewBox="0 0 1000 476", role="img")

# ---- the page
def html_table(title, head, body):
    cell = lambda kind, v: tag(kind, html.escape(v))
    rows = tag("tr", "".join(cell("th", v) for v in head)) + "".join(tag("tr", "".join(cell("td", v) for v in r)) for r in body)
    return tag("h2", html.escape(title)) + tag("div", tag("table", rows), class_="wide")

def page(results):
    parts = [tag("h1", "Sluice and its peers")] + [tag("p", html.escape(line)) for line in report.about(results).splitlines()]
    for t in sorted({r["threads"] for r in results["rows"]}, reverse=True):
        many = "%d thread%s" % (t, "s"[t == 1:])
        parts += [tag("h2", "Time over the best peer's, " + many),
                  tag("p", "Left of 1 is faster than every peer, right of it slower; the stroke is the goal, dots are the peers."),
                  ratio_bars(results, t), tag("h2", "What the machine allows, " + many),
                  tag("p", "Filled: Sluice, hollow: the best peer. Lines: what can be computed from data that lies in memory or in cache."),
                  roofline(results, t)]
        parts.append(html_table(*report.speed_table(results, t, False)))
    if results["compile"]:
        parts.append(html_table(*report.compile_table(results["compile"])))
    return "<!doctype html>\n<html lang=\"en\"><meta charset=\"utf-8\"><title>Sluice: benchmark</title>\n<style>%s</style>\n%s\n</html>\n" % (
        STYLE, "\n".join(parts))

def write(results, to):
    with open(to, "w") as f:
        f.write(page(results))

if __name__ == "__main__":
    write(json.load(open(sys.argv[1])), sys.argv[2])
