"""Opens pages of show --html in headless Chromium and tells what is there: page.py FILE.html STEP…

Steps are done in order by a script at the end of a copy of the page, as a user would:
  click:SELECTOR            the first element that it finds
  click:SELECTOR=TEXT       the first of these whose text begins so
  type:WORDS                into the search box
  wheel:DELTA               over the middle of the picture
  drag:PIXELS               of the picture
  key:NAME
  tell:SELECTOR             prints the text of each, a line each
  count:SELECTOR            prints how many there are
  time                      prints the milliseconds until the first screen was there
The first screen and each step may draw and add MOST things: what is slow with many nodes does more, and a count is the
same on a machine that is busy. Errors of scripts, and what does more, are printed as `error: …`.
--shot=FILE.png takes a picture at the end."""
import html
import json
import os
import re
import subprocess
import sys
import tempfile

MOST = 50000

# before anything of the page
COUNTER = r"""<script>
let done = 0;
const counted = (owner, names) => names.forEach((name) => {
	const real = owner[name];
	owner[name] = function (...given) {
		done++;
		return real.apply(this, given);
	};
});
const canvas = CanvasRenderingContext2D.prototype;
const methods = Object.entries(Object.getOwnPropertyDescriptors(canvas)).filter(([, d]) => typeof d.value === 'function');
counted(canvas, methods.map(([name]) => name).filter((name) => name !== 'constructor'));
counted(Document.prototype, ['createElement', 'createElementNS', 'createTextNode', 'querySelectorAll']);
</script>
"""

DRIVER = r"""
<script>
const said = [];
const bounded = (what, times) => {
	if (times > MOST)
		said.push(`error: ${what} draws and adds ${times} things`);
};
bounded('the first screen', done);
addEventListener('error', (e) => said.push('error: ' + e.message));
const one = (which) => {
	const [, selector, text] = /^(.*?)(?:=([^\]]*))?$/.exec(which);
	const found = [...document.querySelectorAll(text === undefined ? which : selector)];
	const e = found.find((x) => text === undefined || x.textContent.startsWith(text));
	if (!e)
		said.push('error: nothing is ' + which);
	return e || document.body;
};
const at = (canvas, type, extra) => {
	const box = canvas.getBoundingClientRect();
	canvas.dispatchEvent(new (type === 'wheel' ? WheelEvent : PointerEvent)(type, {
		clientX: box.left + box.width / 2, clientY: box.top + 40, bubbles: true, pointerId: 1,
		cancelable: true, ...extra }));
};
const deeds = {
	click: (what) => one(what).click(),
	type: (what) => {
		const box = document.getElementById('search');
		box.value = what;
		box.dispatchEvent(new Event('input'));
	},
	wheel: (what) => at(document.getElementById('chart'), 'wheel', { deltaY: Number(what) }),
	drag: (what) => {
		const chart = document.getElementById('chart'), box = chart.getBoundingClientRect();
		chart.setPointerCapture = () => {};
		at(chart, 'pointerdown', {});
		at(chart, 'pointermove', { clientX: box.left + box.width / 2 + Number(what) });
		at(chart, 'pointerup', { clientX: box.left + box.width / 2 + Number(what) });
	},
	key: (what) => document.dispatchEvent(new KeyboardEvent('keydown', { key: what })),
	tell: (what) => document.querySelectorAll(what).forEach((e) => said.push(e.textContent)),
	count: (what) => said.push(String(document.querySelectorAll(what).length)),
	view: () => said.push(`${page.chart.from.toFixed(3)} ${page.chart.to.toFixed(3)}`),
	time: () => said.push(document.documentElement.dataset.ready),
};
for (const step of STEPS) {
	const [, deed, what] = /^(\w+):?([^]*)$/.exec(step);
	const begin = done;
	deeds[deed](what);
	bounded(step, done - begin);
}
document.body.dataset.said = JSON.stringify(said);
</script>
</body></html>"""


def chromium(page, *options):
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run(
            ["chromium", "--headless", "--no-sandbox", "--disable-gpu", "--hide-scrollbars",
             "--disable-dev-shm-usage", "--window-size=1360,900", "--user-data-dir=" + folder,
             *options, "file://" + page], capture_output=True, timeout=120)
    return run.stdout.decode()


def main():
    shots = [a[7:] for a in sys.argv[2:] if a.startswith("--shot=")]
    steps = [a for a in sys.argv[2:] if not a.startswith("--")]
    with open(sys.argv[1], encoding="utf-8") as f:
        text = f.read()
    driver = DRIVER.replace("MOST", str(MOST)).replace("STEPS", json.dumps(steps).replace("<", "\\u003c"))
    assert text.endswith("</body></html>\n")
    with tempfile.NamedTemporaryFile("w", suffix=".html", encoding="utf-8", delete=False) as f:
        f.write(text[:-len("</body></html>\n")].replace("<head>", "<head>" + COUNTER, 1) + driver)
    try:
        found = re.search(r'data-said="([^"]*)"', chromium(f.name, "--dump-dom"))
        said = json.loads(html.unescape(found.group(1))) if found else ["error: no page"]
        for shot in shots:
            chromium(f.name, "--screenshot=" + os.path.abspath(shot))
    finally:
        os.unlink(f.name)
    print("\n".join(said))
    sys.exit(any(s.startswith("error:") for s in said))


main()
