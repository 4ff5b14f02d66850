/* The picture: a band for each document.  From top to bottom the layers, the entries below them,
 * each as wide as what is measured of it, and the temporaries of the workspace: from first to last
 * use, at their places.  It zooms and moves along the one axis. */

const LAYER = 19, ENTRY = 30, GAP = 6, LEFT = 16, LAYERS_MOST = 5, MEMORY = 84;
const RAMP = [[226, 236, 246], [168, 205, 232], [253, 214, 130], [244, 143, 70], [190, 45, 45]];

function rampColour(t) {
	const at = Math.max(0, Math.min(1, t)) * (RAMP.length - 1), k = Math.min(Math.floor(at),
		RAMP.length - 2);
	const mix = RAMP[k].map((c, i) => Math.round(c + (RAMP[k + 1][i] - c) * (at - k)));
	return `rgb(${mix.join(',')})`;
}

/* Entries and layers of a document along an axis of what `key` measures. */
class Band {
	constructor(model, key) {
		this.model = model;
		this.shown = model.entries.filter((e) => !e.once && e.kind !== 'step');
		this.start = new Float64Array(model.entries.length + 1);
		let x = 0;
		for (const e of model.entries) {
			this.start[e.id] = x;
			x += e.once || e.kind === 'step' ? 0 : e[key] || 0;
		}
		this.start[model.entries.length] = this.width = x;
		this.depth = Math.min(LAYERS_MOST, this.shown.reduce((d, e) =>
			Math.max(d, e.path.length), 0));
		this.spans = [];
		for (let d = 0; d < this.depth; d++)
			this.addSpans(d);
	}

	addSpans(d) {
		let last = null;
		for (const e of this.shown) {
			const name = e.path.slice(0, d + 1).join('/');
			if (e.path.length <= d) {
				last = null;
			} else if (last && last.full === name) {
				last.to = this.start[e.id + 1];
			} else {
				last = { d, full: name, name: e.path[d], first: e, from: this.start[e.id],
					to: this.start[e.id + 1] };
				this.spans.push(last);
			}
		}
	}

	memoryHeight() {
		return this.model.extent > 0 ? MEMORY : 0;
	}

	height() {
		return this.depth * LAYER + ENTRY + GAP + this.memoryHeight();
	}
}

class Chart {
	/* on: {pick(entry, band), layer(span, band), colour(entry)} */
	constructor(canvas, tip, on) {
		Object.assign(this, { canvas, tip, on, bands: [], from: 0, to: 1, key: 'ms', found: null });
		canvas.addEventListener('wheel', (e) => this.wheel(e), { passive: false });
		canvas.addEventListener('pointerdown', (e) => this.press(e));
		canvas.addEventListener('pointermove', (e) => this.move(e));
		canvas.addEventListener('pointerup', (e) => this.release(e));
		canvas.addEventListener('pointerleave', () => { tip.hidden = true; });
		canvas.addEventListener('dblclick', () => this.fit());
		new ResizeObserver(() => this.draw()).observe(canvas);
	}

	set(models, key, colour) {
		Object.assign(this, { key, colourKey: colour });
		this.bands = models.map((m) => new Band(m, key));
		this.whole = Math.max(1e-12, ...this.bands.map((b) => b.width));
		this.most = models.reduce((most, m) => m.entries.reduce((k, e) =>
			e.once ? k : Math.max(k, measure(e, colour)), most), 0);
		this.canvas.style.height = this.bands.reduce((h, b) => h + b.height() + GAP, GAP) + 'px';
		this.fit();
	}

	fit() {
		this.view(0, 1);
	}

	/* Parts of the whole axis. */
	view(from, to) {
		const width = Math.max(1e-5, Math.min(1, to - from));
		this.from = Math.max(0, Math.min(1 - width, from));
		this.to = this.from + width;
		this.draw();
	}

	zoom(factor, at = 0.5) {
		const middle = this.from + (this.to - this.from) * at, width = (this.to - this.from) * factor;
		this.view(middle - width * at, middle + width * (1 - at));
	}

	/* ---- drawing */

	x(value) {
		const width = this.canvas.clientWidth - 2 * LEFT;
		return LEFT + (value / this.whole - this.from) / (this.to - this.from) * width;
	}

	draw() {
		const { canvas } = this, ratio = window.devicePixelRatio || 1;
		const wide = canvas.clientWidth, high = canvas.clientHeight, style = getComputedStyle(canvas);
		canvas.width = wide * ratio;
		canvas.height = high * ratio;
		const c = this.context = canvas.getContext('2d');
		c.scale(ratio, ratio);
		c.font = '11.5px system-ui, "DejaVu Sans", sans-serif';
		c.textBaseline = 'middle';
		this.ink = style.getPropertyValue('--ink');
		this.soft = style.getPropertyValue('--soft');
		this.line = style.getPropertyValue('--line');
		this.accent = style.getPropertyValue('--accent');
		this.paper = style.getPropertyValue('--paper');
		let top = GAP;
		for (const band of this.bands) {
			band.top = top;
			this.drawLayers(band);
			this.drawEntries(band, top + band.depth * LAYER);
			this.drawMemory(band, top + band.depth * LAYER + ENTRY + GAP);
			top += band.height() + GAP;
		}
	}

	box(from, to, top, high, fill, text, ink) {
		const c = this.context, x = Math.max(from, -4), w = Math.min(to, this.canvas.clientWidth + 4) - x;
		c.fillStyle = fill;
		c.fillRect(x, top, Math.max(0.6, w - (w > 3 ? 1 : 0)), high - 1);
		if (w < 26 || !text)
			return;
		c.save();
		c.beginPath();
		c.rect(x, top, w - 3, high);
		c.clip();
		c.fillStyle = ink;
		c.fillText(text, Math.max(x, LEFT - 12) + 4, top + high / 2);
		c.restore();
	}

	seen(from, to) {
		return to >= 0 && from <= this.canvas.clientWidth;
	}

	drawLayers(band) {
		let before = -1, depth = -1;
		for (const s of band.spans) {
			const from = this.x(s.from), to = this.x(s.to);
			/* of those that share a pixel, the first */
			if (!this.seen(from, to) || (s.d === depth && to - before < 0.7))
				continue;
			before = to;
			depth = s.d;
			this.box(from, to, band.top + s.d * LAYER, LAYER, this.line, s.name, this.ink);
		}
	}

	drawEntries(band, top) {
		const c = this.context;
		let before = -1;
		for (const e of band.shown) {
			const from = this.x(band.start[e.id]), to = this.x(band.start[e.id + 1]);
			if (!this.seen(from, to) || to - before < 0.7)
				continue;
			before = to;
			c.globalAlpha = this.found && !this.found.has(e) ? 0.18 : 1;
			this.box(from, to, top, ENTRY, this.colour(e), e.label, '#17202c');
			c.globalAlpha = 1;
			if (e === this.picked) {
				c.strokeStyle = this.ink;
				c.lineWidth = 2;
				c.strokeRect(from, top, Math.max(2, to - from - 1), ENTRY - 1);
			}
		}
	}

	colour(e) {
		return rampColour(this.most ? Math.sqrt(measure(e, this.colourKey) / this.most) : 0);
	}

	drawMemory(band, top) {
		const { model } = band, c = this.context, high = band.memoryHeight();
		if (!high)
			return;
		const scale = (high - 4) / model.extent;
		for (const b of model.bufferOf.values()) {
			const from = this.x(band.start[b.first]), to = this.x(band.start[b.last + 1]);
			if (b.at < 0 || b.first < 0 || !this.seen(from, to))
				continue;
			const size = Math.max(0.7, b.bytes * scale);
			c.fillStyle = b === this.picked ? this.accent : rampColour(Math.sqrt(b.bytes / model.extent));
			c.globalAlpha = 0.85;
			c.fillRect(from, top + high - 2 - b.at * scale - size, Math.max(0.7, to - from - 0.5),
				size > 2 ? size - 0.7 : size);
			c.globalAlpha = 1;
		}
		c.fillStyle = this.paper;
		c.globalAlpha = 0.75;
		const text = `workspace over time: ${SHOWN.bytes(model.extent)}`;
		c.fillRect(LEFT - 4, top + 1, c.measureText(text).width + 10, 15);
		c.globalAlpha = 1;
		c.fillStyle = this.soft;
		c.fillText(text, LEFT + 1, top + 9);
	}

	/* ---- what is under the pointer: {band, entry} {band, span} {band, buffer}, or null */

	under(event) {
		const box = this.canvas.getBoundingClientRect();
		const x = event.clientX - box.left, y = event.clientY - box.top;
		const value = ((x - LEFT) / (box.width - 2 * LEFT) * (this.to - this.from) + this.from) *
			this.whole;
		const band = this.bands.find((b) => y >= b.top && y < b.top + b.height());
		if (!band || value < 0 || value > band.width)
			return null;
		const row = Math.floor((y - band.top) / LAYER), entries = band.depth * LAYER;
		if (y - band.top < entries) {
			const span = band.spans.find((s) => s.d === row && s.from <= value && value < s.to);
			return span ? { band, span } : null;
		}
		if (y - band.top < entries + ENTRY) {
			const entry = band.shown.find((e) => band.start[e.id] <= value &&
				value < band.start[e.id + 1]);
			return entry ? { band, entry } : null;
		}
		const at = (band.height() - 2 - (y - band.top)) / (MEMORY - 4) * band.model.extent;
		const buffer = [...band.model.bufferOf.values()].find((b) => b.first >= 0 && b.at >= 0 &&
			b.at <= at && at < b.at + b.bytes && band.start[b.first] <= value &&
			value < band.start[b.last + 1]);
		return buffer ? { band, buffer } : null;
	}

	tell(hit) {
		if (hit.span)
			return `${hit.span.full}\n${SHOWN[this.key](hit.span.to - hit.span.from)}, ` +
				`${(100 * (hit.span.to - hit.span.from) / hit.band.width).toFixed(1)} %`;
		if (hit.buffer)
			return `${hit.buffer.name}  ${hit.band.model.nodes[hit.buffer.node][SHAPE] || ''}\n` +
				`${SHOWN.bytes(hit.buffer.bytes)} at ${hit.buffer.at}, from call ` +
				`${hit.buffer.first} to ${hit.buffer.last}`;
		const e = hit.entry, keys = ['ms', 'work', 'rate', 'bytes', 'memory'];
		return `${e.label}\n${e.layer || ''}\n` + keys.filter((k) => measure(e, k))
			.map((k) => `${WORDS[k]} ${SHOWN[k](measure(e, k))}`).join(', ');
	}

	/* ---- wheel, drag, click */

	wheel(event) {
		const box = this.canvas.getBoundingClientRect();
		const at = (event.clientX - box.left - LEFT) / (box.width - 2 * LEFT);
		event.preventDefault();
		if (Math.abs(event.deltaX) > Math.abs(event.deltaY))
			this.pan(event.deltaX / box.width);
		else
			this.zoom(Math.exp(event.deltaY / 500), Math.max(0, Math.min(1, at)));
	}

	pan(part) {
		const by = part * (this.to - this.from);
		this.view(this.from + by, this.to + by);
	}

	press(event) {
		this.held = { x: event.clientX, from: this.from, to: this.to, moved: false };
		this.canvas.setPointerCapture(event.pointerId);
	}

	move(event) {
		if (this.held) {
			const by = (this.held.x - event.clientX) / (this.canvas.clientWidth - 2 * LEFT) *
				(this.held.to - this.held.from);
			this.held.moved ||= Math.abs(this.held.x - event.clientX) > 4;
			if (this.held.moved)
				this.view(this.held.from + by, this.held.to + by);
			return;
		}
		const hit = this.under(event);
		this.tip.hidden = !hit;
		if (!hit)
			return;
		this.tip.textContent = this.tell(hit);
		const box = this.canvas.parentElement.getBoundingClientRect();
		const x = Math.min(event.clientX - box.left + 14, box.width - this.tip.offsetWidth - 8);
		this.tip.style.left = `${x}px`;
		this.tip.style.top = `${event.clientY - box.top + 16}px`;
	}

	release(event) {
		const hit = this.held && !this.held.moved ? this.under(event) : null;
		this.held = null;
		if (hit && hit.span)
			this.on.layer(hit.span, hit.band);
		else if (hit)
			this.on.pick(hit.entry || hit.buffer, hit.band.model);
	}

	/* Shows an entry as picked, and brings it into sight. */
	pick(what) {
		this.picked = what;
		for (const band of this.bands)
			if (band.model.entries[what?.id] === what) {
				const from = band.start[what.id] / this.whole, to = band.start[what.id + 1] / this.whole;
				const width = this.to - this.from;
				if (to < this.from || from > this.to)
					this.view((from + to - width) / 2, (from + to + width) / 2);
			}
		this.draw();
	}
}
