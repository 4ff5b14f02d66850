/* The first screen: documents, pipeline, picture, views, search; and what is picked. */

const VIEW_NAMES = { layers: 'Layers', kernels: 'Kernels', program: 'Program', buffers: 'Buffers',
	nodes: 'Nodes', found: 'Found' };
const FOUND_MOST = 2000, ROWS_FIRST = 30;

/* [stage, whether it was run, what it left] of a document */
function stagesOf(m) {
	const at = ['tensor', 'graph', 'schedule', 'loops', 'program'].indexOf(m.level);
	const calls = m.entries.filter((e) => e.kind === 'call');
	const fact = (k, key) => (k.facts.find(([name]) => name === key) || [])[1];
	const kernels = [...m.kernelOf.values()], target = kernels.map((k) => fact(k, 'target'))
		.find((t) => t);
	const lines = kernels.reduce((n, k) => n + (k.src ? k.src.split('\n').length : 0), 0);
	const once = calls.filter((e) => e.once).length;
	const compiled = kernels.some((k) => fact(k, 'object_key') || fact(k, 'entry'));
	const planned = m.meta.some(([key]) => key === 'workspace');
	return [
		['trace', at >= 1, m.graph ? `${m.nodes.length} nodes` : `${m.lines().size} lines`],
		['schedule', at >= 2, at >= 2 ? `${calls.length} calls` : 'not yet'],
		['fuse', m.merges > 0 || planned, m.merges || planned ? `${m.merges} merges` : 'not yet'],
		['lower', at >= 3, at >= 3 ? (target || '').replace(/"/g, '') +
			(once ? `, ${once} prepared` : '') : 'not yet'],
		['render', at >= 4, at >= 4 ? `${lines} lines` : 'not yet'],
		['compile', compiled || m.timed, compiled ? 'objects' : m.timed ? 'by run' : 'not yet'],
		['run', m.timed, m.timed ? `${SHOWN.ms(m.total.ms)} a call` : 'no profile'],
	];
}

class Page {
	constructor(data) {
		this.models = data.documents.map((d) => new Model(d));
		this.sources = data.sources;
		this.open = new Set();
		this.details = new Details(byId('details'), this);
		this.chart = new Chart(byId('chart'), byId('tip'), {
			pick: (what, model) => this.pick(what, model),
			layer: (span, band) => this.pickSpan(span, band),
		});
		byId('search').addEventListener('input', () => this.search(byId('search').value.trim()));
		document.addEventListener('keydown', (e) => this.key(e));
		this.choose(0, this.models.length > 1 ? 1 : -1);
	}

	/* ---- which documents */

	choose(a, b) {
		this.a = this.models[a];
		this.b = b >= 0 && b !== a ? this.models[b] : null;
		this.shown = this.b ? [this.a, this.b] : [this.a];
		this.tree = buildTree(this.shown);
		const both = (key) => this.shown.every((m) => m.total[key] > 0);
		this.keys = ['ms', 'work', 'bytes', 'equal'].filter(both);
		this.colours = [...this.keys.filter((k) => k !== 'equal'),
			...(both('ms') && both('work') ? ['rate'] : []), 'memory'];
		this.width = this.keys[0] || 'equal';
		this.colour = this.colours[0];
		document.title = `${this.a.title()} · Sluice`;
		byId('name').textContent = this.a.title();
		byId('facts').textContent = this.factsText();
		this.putChoice(a, b);
		this.putStrip();
		this.putTools();
		this.open.clear();
		openSome(this.tree, this.open, ROWS_FIRST);
		this.chart.set(this.shown, this.width, this.colour);
		this.putViews('layers');
		this.details.overview();
	}

	factsText() {
		const m = this.a, sizes = Object.entries(m.sizes).map(([k, v]) => `${k}=${v}`).join(' ');
		const calls = m.entries.filter((e) => e.kind === 'call').length;
		return [`level ${m.level}`, `${m.nodes.length.toLocaleString('en')} nodes`,
			calls ? `${calls} calls of ${m.kernelOf.size} kernels` : '',
			m.timed ? SHOWN.ms(m.total.ms) : '', sizes ? `at ${sizes}` : ''].filter((x) => x).join(' · ');
	}

	putChoice(a, b) {
		if (this.models.length < 2)
			return;
		const pick = (chosen, none) => el('select', {}, ...(none ? [el('option', { value: -1,
			selected: chosen < 0 }, 'alone')] : []), ...this.models.map((m, i) =>
			el('option', { value: i, selected: i === chosen }, `${i + 1}: ${m.title()} (${m.level})`)));
		const first = pick(a, false), second = pick(b, true);
		const change = () => this.choose(Number(first.value), Number(second.value));
		first.addEventListener('change', change);
		second.addEventListener('change', change);
		byId('choose').replaceChildren(first, ' beside ', second);
	}

	putStrip() {
		byId('strip').replaceChildren(...stagesOf(this.a).map(([name, done, what]) =>
			el('button', { class: done ? 'done' : '', title: `${name}: ${what}`,
				onclick: () => this.pickStage(name) }, el('b', {}, name), el('span', {}, what))));
	}

	pickStage(name) {
		const view = { trace: 'program', fuse: 'buffers', render: 'kernels', run: 'kernels' }[name];
		this.putViews(view && (view !== 'buffers' || !this.a.graph) ? view : 'layers');
		this.details.overview();
	}

	putTools() {
		const choice = (keys, now, fn) => el('select', { onchange: (e) => fn(e.target.value) },
			...keys.map((k) => el('option', { value: k, selected: k === now }, WORDS[k])));
		const again = () => {
			this.chart.set(this.shown, this.width, this.colour);
			this.putViews(this.view);
			this.details.overview();
		};
		const scale = el('canvas', { id: 'scale', width: 120, height: 9 }), c = scale.getContext('2d');
		for (let x = 0; x < 120; x++) {
			c.fillStyle = rampColour(Math.sqrt(x / 120));
			c.fillRect(x, 0, 1, 9);
		}
		byId('tools').replaceChildren(
			el('label', {}, 'width ', choice(this.keys, this.width, (k) => { this.width = k; again(); })),
			el('label', {}, 'colour ', choice(this.colours, this.colour, (k) => {
				this.colour = k;
				this.chart.set(this.shown, this.width, k);
			})), scale,
			el('span', { class: 'right' }, el('button', { onclick: () => this.chart.zoom(1.6) }, '−'),
				el('button', { onclick: () => this.chart.zoom(1 / 1.6) }, '+'),
				el('button', { id: 'fit', onclick: () => this.reset() }, 'Fit')));
	}

	reset() {
		this.chart.picked = null;
		this.chart.fit();
		this.details.overview();
	}

	/* ---- views */

	putViews(view) {
		this.view = view;
		const names = Object.keys(VIEW_NAMES).filter((v) => v === 'found' ? this.word :
			v === 'buffers' ? !this.a.graph : true);
		byId('views').replaceChildren(...names.map((v) => el('button', { role: 'tab',
			class: v === view ? 'on' : '', 'data-view': v, onclick: () => this.putViews(v) },
			v === 'kernels' && this.a.graph ? 'Ops' : VIEW_NAMES[v])));
		const table = this[view + 'Table']();
		this.rows = new Rows(byId('rows'), table.head, table.rows, table.draw, table.pick);
	}

	/* columns of numbers: [[title, fn(pair) → text, class] …] */
	columns() {
		const keys = this.keys.filter((k) => k !== 'equal');
		if (!this.b)
			return keys.map((k) => [WORDS[k], (pair) => pair[0] && pair[0][k] ? SHOWN[k](pair[0][k]) : '']);
		const k = this.width, of = (x) => x && x[k] ? SHOWN[k](x[k]) : '';
		return [['A ' + WORDS[k], (p) => of(p[0])], ['B ' + WORDS[k], (p) => of(p[1])],
			['B / A', (p) => p[0] && p[1] && p[0][k] && p[1][k] ? (p[1][k] / p[0][k]).toFixed(2) : '']];
	}

	headOf(first) {
		return [el('div', { class: 'first' }, first), el('div', { class: 'barred' },
			`share of ${WORDS[this.width]}`),
		...this.columns().map(([title]) => el('div', { class: 'num' }, title))];
	}

	numbers(pair, once) {
		const all = Math.max(1e-12, ...this.shown.map((m) => m.total[this.width]));
		const bar = (x) => el('i', { style: `width:${Math.min(100, 100 * (x && x[this.width] || 0) /
			all)}%` });
		return [el('div', { class: 'barred' + (this.b ? ' two' : '') }, ...(once ? [] :
			this.shown.map((_, k) => bar(pair[k])))),
			...this.columns().map(([, fn]) => el('div', { class: 'num' }, fn(pair)))];
	}

	firstCell(depth, twist, name, more) {
		return el('div', { class: 'first', title: more ? `${name}  ${more}` : name,
			style: `padding-left:${depth * 15}px` }, el('span', { class: 'twist' }, twist), name,
		more ? el('span', { class: 'more' }, more) : null);
	}

	layersTable() {
		const draw = (r) => {
			if (r.text !== undefined)
				return [el('div', { class: 'first mono', style: `padding-left:${r.depth * 15 + 15}px` },
					r.text)];
			if (r.branch)
				return [this.firstCell(r.depth, r.open ? '▾' : '▸', r.branch.name,
					String(r.branch.count[0] || r.branch.count[1])),
				...this.numbers(r.branch.sums, r.branch.once())];
			const e = inUnit(r.pair);
			return [this.firstCell(r.depth, r.leaf ? ' ' : r.open ? '▾' : '▸', r.name || e.label,
				r.name ? e.label : ''), ...this.numbers(r.pair, e.once)];
		};
		const pick = (row, event) => {
			const twist = event.target.closest('.twist') || row.branch;
			if (twist && row.key)
				this.open.has(row.key) ? this.open.delete(row.key) : this.open.add(row.key);
			if (row.branch)
				this.details.layer(row.branch);
			else
				this.pickPair(row.pair);
			this.refresh();
		};
		return { head: this.headOf('layer, kernel, loop'), rows: this.layerRows(), draw, pick };
	}

	layerRows() {
		const rows = treeRows(this.shown, this.tree, this.open);
		for (const r of rows)
			r.on = r.pair && r.text === undefined && r.pair.includes(this.chart.picked);
		return rows;
	}

	/* Draws the rows again where they are. */
	refresh() {
		if (this.view === 'layers')
			this.rows.set(this.layerRows());
	}

	entryTable(first, pairs) {
		return { head: this.headOf(first), rows: pairs.map((pair) => ({ pair })),
			draw: ({ pair }) => [this.firstCell(0, '', inUnit(pair).label, inUnit(pair).layer || ''),
				...this.numbers(pair, inUnit(pair).once)],
			pick: ({ pair }) => this.pickPair(pair) };
	}

	pairs() {
		const found = [];
		const visit = (branch) => {
			found.push(...branch.leaves);
			branch.inner.forEach(visit);
		};
		visit(this.tree);
		return found;
	}

	kernelsTable() {
		const value = (pair) => Math.max(...pair.map((e) => e && !e.once ? measure(e, this.width) : 0));
		return this.entryTable(this.a.graph ? 'op' : 'kernel',
			this.pairs().sort((x, y) => value(y) - value(x)));
	}

	/* The program's text with what its lines take, or the lines and layers that there are. */
	programTable() {
		const lines = this.a.lines(), rows = [];
		const sums = (name) => {
			const s = { ms: 0, work: 0, bytes: 0 };
			(lines.get(name) || []).forEach((e) => { for (const k in s) s[k] += e.once ? 0 : e[k] || 0; });
			return [s, null];
		};
		for (const [file, text] of this.sources) {
			const short = file.replace(/^.*\//, '');
			const known = [...lines.keys()].find((l) => l.replace(/^.*\//, '').startsWith(short + ':'));
			const place = known ? known.replace(/:\d+$/, '') : short;
			text.replace(/\n$/, '').split('\n').forEach((line, i) => rows.push({ code: line,
				number: i + 1, name: `${place}:${i + 1}` }));
		}
		if (!rows.length)
			lines.forEach((_, name) => rows.push({ name }));
		rows.forEach((r) => {
			r.sums = sums(r.name);
			r.count = (lines.get(r.name) || new Set()).size;
		});
		const draw = (r) => [el('div', { class: 'first' + (r.code !== undefined ? ' mono' : ''),
			title: r.name }, r.code !== undefined ? el('span', { class: 'twist',
			style: 'width:36px' }, String(r.number)) : null, r.code ?? r.name,
		r.count ? el('span', { class: 'more' }, `${r.count} ${this.a.graph ? 'nodes' : 'kernels'}`) :
			null), ...(r.count ? this.numbers(r.sums) : [])];
		return { head: this.headOf('line of the program'), rows, draw,
			pick: (r) => this.pickLine(r.name, this.a) };
	}

	buffersTable() {
		const rows = [...this.a.bufferOf.values()].sort((x, y) => y.bytes - x.bytes);
		return { head: [el('div', { class: 'first' }, 'buffer'), el('div', { class: 'num' }, 'role'),
			el('div', { class: 'num' }, 'calls'), el('div', { class: 'num' }, 'bytes')], rows,
		draw: (b) => [this.firstCell(0, '', b.name, `${this.a.nodes[b.node][DTYPE]} ` +
			`${this.a.nodes[b.node][SHAPE] || ''}`), el('div', { class: 'num' }, b.role),
		el('div', { class: 'num' }, b.first >= 0 ? `${b.first}…${b.last}` : ''),
		el('div', { class: 'num' }, SHOWN.bytes(b.bytes))],
		pick: (b) => this.pick(b, this.a) };
	}

	nodesTable() {
		return { head: [el('div', { class: 'first' }, 'nodes')], rows: this.a.nodes.map((_, i) => i),
			draw: (i) => [el('div', { class: 'first mono' }, this.a.nodeText(i))],
			pick: (i) => this.pickNode(i, this.a) };
	}

	/* ---- search */

	search(word) {
		this.word = word.toLowerCase();
		this.chart.found = null;
		if (this.word) {
			this.found = this.find(this.word);
			this.chart.found = new Set(this.found.filter((f) => f.entry).map((f) => f.entry));
		}
		this.chart.draw();
		this.putViews(this.word ? 'found' : 'layers');
	}

	find(word) {
		const has = (...texts) => texts.some((t) => t && t.toLowerCase().includes(word)), found = [];
		const m = this.a;
		for (const e of m.entries)
			if (has(e.label, e.layer, `%${e.node}`) || e.from.some((f) => has(f[0], f[2], f[3])) ||
				e.writes.some((b) => m.bufferOf.has(b) && has(m.bufferOf.get(b).name)))
				found.push({ entry: e, text: e.label, more: e.layer || '' });
		for (const b of m.bufferOf.values())
			if (!m.graph && has(b.name))
				found.push({ buffer: b, text: b.name, more: b.role });
		const named = /^%\d+$/.test(word);
		for (let i = 0; i < m.nodes.length && found.length < FOUND_MOST; i++)
			if (named ? word === `%${i}` : !m.entryOf.has(i) && has(m.nodes[i][OP], m.nodes[i][NAME]))
				found.push({ node: i, text: m.nodeText(i), more: '' });
		return found.slice(0, FOUND_MOST);
	}

	foundTable() {
		const kind = (f) => f.entry ? f.entry.kind : f.buffer ? 'buffer' : 'node';
		return { head: [el('div', { class: 'first' }, `${this.found.length} found`)], rows: this.found,
			draw: (f) => [this.firstCell(0, '', f.text, f.more), el('div', { class: 'num' }, kind(f))],
			pick: (f) => f.node !== undefined ? this.pickNode(f.node, this.a) :
				this.pick(f.entry || f.buffer, this.a) };
	}

	key(event) {
		if (event.key === '/' && document.activeElement !== byId('search')) {
			event.preventDefault();
			byId('search').focus();
		} else if (event.key === 'Escape') {
			byId('search').value = '';
			this.search('');
			this.reset();
		}
	}

	/* ---- what is picked */

	pick(what, model) {
		this.chart.pick(what);
		if (what.kind)
			this.details.entry(what, model);
		else
			this.details.buffer(what, model);
		if (what.kind)
			this.unfold(what);
	}

	pickPair(pair) {
		this.pick(inUnit(pair), pair[0] ? this.a : this.b);
		if (pair[0] && pair[1])
			this.details.place.append(section('In B', el('div', {}, link(pair[1].label, () =>
				this.pick(pair[1], this.b)), ' ', this.width in pair[1] ?
				SHOWN[this.width](pair[1][this.width]) : '')));
	}

	/* Opens the layers around an entry, where they are shown, and brings it into sight. */
	unfold(entry) {
		if (this.view !== 'layers')
			return;
		for (let b = entry.branch; b && b.above; b = b.above)
			if (b.inner.size || b.leaves.length > 1)
				this.open.add(b);
		this.refresh();
		this.rows.show(this.rows.rows.findIndex((r) => r.on));
	}

	pickBranch(branch) {
		for (let b = branch; b && b.above; b = b.above)
			this.open.add(b);
		this.putViews('layers');
		this.rows.show(this.rows.rows.findIndex((r) => r.branch === branch));
		this.details.layer(branch);
	}

	pickSpan(span, band) {
		let branch = span.first.branch;
		for (let d = span.first.path.length - 1; d > span.d; d--)
			branch = branch.above;
		const wide = (span.to - span.from) / this.chart.whole;
		this.chart.view(span.from / this.chart.whole - wide * 0.02,
			span.to / this.chart.whole + wide * 0.02);
		this.pickBranch(branch);
	}

	pickNode(node, model) {
		const entry = model.entryOf.get(node), buffer = model.bufferOf.get(node);
		if (entry)
			this.pick(entry, model);
		else if (buffer && !model.graph)
			this.pick(buffer, model);
		else
			this.details.node(node, model);
	}

	pickLine(line, model) {
		this.chart.found = new Set(model.lines().get(line) || []);
		this.chart.draw();
		this.details.line(line, model);
	}
}

function byId(id) {
	return document.getElementById(id);
}

const page = new Page(JSON.parse(byId('data').textContent));
document.documentElement.dataset.ready = Math.round(performance.now());
