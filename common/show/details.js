/* The right side: what is known of the whole, of a layer, an entry, a buffer, a node or a line. */

const CLOSURE_MOST = 3000;

function link(text, fn) {
	return el('a', { onclick: fn, role: 'button' }, text);
}

function card(value, what) {
	return el('div', { class: 'card' }, el('b', {}, value), el('span', {}, what));
}

function section(title, ...inner) {
	return el('section', {}, el('h3', {}, title), ...inner);
}

/* lines: [[depth, text] …] or a text */
function code(lines, plain) {
	const texts = typeof lines === 'string' ? lines.replace(/\n$/, '').split('\n') :
		lines.map(([depth, text]) => '    '.repeat(depth) + text);
	return el('pre', { class: plain ? 'plain' : '' }, ...texts.map((text, i) =>
		el('div', { 'data-n': plain ? '' : i + 1 }, ...marked(text))));
}

/* Words of the language stand out, and comments do not. */
function marked(line) {
	const parts = [], word = new RegExp('(\\/\\/.*|\\/\\*.*?\\*\\/|#.*$)|\\b(for|if|else|while|' +
		'return|const|static|void|float|double|int|long|inline|restrict|typedef|unsigned|char|' +
		'kernel|local|__global|__kernel|__global__)\\b', 'g');
	let at = 0;
	for (const m of line.matchAll(word)) {
		parts.push(line.slice(at, m.index), el(m[1] ? 'i' : 'b', {}, m[0]));
		at = m.index + m[0].length;
	}
	parts.push(line.slice(at));
	return parts;
}

function barTable(rows) {
	const most = Math.max(1e-12, ...rows.map((r) => r.value));
	return el('table', { class: 'bars' }, ...rows.map((r) => el('tr', {},
		el('td', { title: `${r.name} ${r.more || ''}` }, link(r.name, r.go),
			r.more ? el('span', { class: 'soft' }, ' ', r.more) : null),
		el('td', {}, el('div', { class: 'barred' }, el('i', {
			style: `width:${100 * r.value / most}%` }))),
		el('td', { class: 'n' }, r.text))));
}

class Details {
	constructor(place, page) {
		Object.assign(this, { place, page });
	}

	put(...inner) {
		this.place.replaceChildren(...inner.filter((x) => x));
		this.place.scrollTop = 0;
	}

	figures(sums, others) {
		const { page } = this;
		const cards = ['ms', 'work', 'bytes', 'memory'].filter((k) => sums[k]).map((k) =>
			card(SHOWN[k](sums[k]), WORDS[k] + (others && others[k] ? `, B: ${SHOWN[k](others[k])}` : '')));
		if (sums.ms && sums.work)
			cards.splice(2, 0, card(SHOWN.rate(measure(sums, 'rate')), page.a.peak[0] > 0 ?
				`rate, ${(1e11 * measure(sums, 'rate') / page.a.peak[0]).toFixed(0)} % of the peak` :
				'rate'));
		if (sums.ms && page.a.total.ms && sums.ms < page.a.total.ms)
			cards.splice(1, 0, card((100 * sums.ms / page.a.total.ms).toFixed(1) + ' %', 'of a call'));
		return el('div', { class: 'cards' }, ...cards);
	}

	/* ---- the whole */

	overview() {
		const { page } = this, { a, b } = page, key = page.width;
		const top = (list, n) => list.filter((e) => !e.once).sort((x, y) =>
			measure(y, key) - measure(x, key)).slice(0, n);
		const layers = [...page.tree.inner.values()].filter((l) => l.name !== BEFORE);
		const wide = layers.length < 3 ? layers.flatMap((l) => l.inner.size ? [...l.inner.values()] :
			[l]) : layers;
		const part = (e) => (100 * measure(e, key) / (a.total[key] || 1)).toFixed(1) + ' %  ' +
			SHOWN[key](measure(e, key));
		const of = a.graph ? 'nodes' : a.timed ? 'kernels, slowest first' : 'kernels, largest first';
		this.put(el('h2', {}, a.title()),
			this.figures({ ...a.total, memory: a.extent || a.alive, bytes: a.graph ? 0 : a.total.bytes },
				b ? { ...b.total, memory: b.extent } : null),
			b ? this.differences() : null,
			section(`The most ${WORDS[key]}: ${of}`, el('div', { id: 'slowest' }, barTable(
				top(a.entries, 10).map((e) => ({ name: e.label, more: e.layer, value: measure(e, key),
					text: part(e), go: () => page.pick(e, a) }))))),
			section('By layer', barTable(wide.map((l) => ({ name: l.full(), value: l.sums[0][key] || 0,
				text: part(l.sums[0]), go: () => page.pickBranch(l) }))
				.sort((x, y) => y.value - x.value).slice(0, 12))),
			a.extent ? section('Largest temporaries', this.bufferTable(a, [...a.bufferOf.values()]
				.filter((x) => x.role === 'temp').sort((x, y) => y.bytes - x.bytes).slice(0, 6))) : null,
			section('Document', this.facts([['file', a.file], ['level', a.level],
				['sizes', Object.entries(a.sizes).map(([k, v]) => `${k}=${v}`).join(' ')],
				...a.meta].filter(([, v]) => v !== ''))));
	}

	/* Layers and kernels of two documents, by how much they differ. */
	differences() {
		const { page } = this, key = page.width, found = [];
		const visit = (branch) => {
			for (const pair of branch.leaves)
				found.push({ pair, branch, by: measure(pair[1] || {}, key) - measure(pair[0] || {}, key) });
			branch.inner.forEach((x) => { if (x.name !== BEFORE) visit(x); });
		};
		visit(page.tree);
		found.sort((x, y) => Math.abs(y.by) - Math.abs(x.by));
		return section(`B against A, by ${WORDS[key]}`, el('table', { id: 'differences' },
			...found.slice(0, 10).map(({ pair, by }) => {
				const e = inUnit(pair);
				return el('tr', {}, el('td', {}, link(e.label, () => page.pickPair(pair)), ' ',
					el('span', { class: 'soft' }, e.layer || '')),
				el('td', { class: 'n' }, pair[0] ? SHOWN[key](measure(pair[0], key)) : 'not there'),
				el('td', { class: 'n' }, pair[1] ? SHOWN[key](measure(pair[1], key)) : 'not there'),
				el('td', { class: 'n ' + (by > 0 ? 'more1' : 'less1') },
					(by > 0 ? '+' : '−') + SHOWN[key](Math.abs(by))));
			})));
	}

	facts(rows) {
		return el('table', {}, ...rows.map(([key, value]) => el('tr', {}, el('th', {}, key),
			el('td', { class: 'mono' }, value))));
	}

	/* ---- a part */

	layer(branch) {
		const { page } = this, rows = [...branch.inner.values()].map((l) => ({ name: l.name,
			value: l.sums[0][page.width] || 0, go: () => page.pickBranch(l) }));
		for (const pair of branch.leaves)
			rows.push({ name: inUnit(pair).label, value: measure(inUnit(pair), page.width),
				go: () => page.pickPair(pair) });
		rows.forEach((r) => { r.text = SHOWN[page.width](r.value); });
		this.put(el('h2', {}, branch.full()),
			this.figures(branch.sums[0], branch.sums[1]),
			section('Consists of', barTable(rows.slice(0, 200))));
	}

	entry(e, model) {
		const { page } = this, kernel = e.kernel, loops = e.kind === 'call' ? model.loops(e) : [];
		const actions = kernel && (kernel.actions || (kernel.facts.find(([k]) => k === 'actions') ||
			[])[1]);
		this.put(el('h2', {}, e.label),
			e.layer ? el('div', {}, link(e.layer, () => page.pickLine(e.layer, model))) : null,
			this.figures(e),
			kernel && kernel.src ? section('Source', el('div', { id: 'source' }, code(kernel.src))) : null,
			loops.length ? section('Loops', el('div', { id: 'loops' }, code(loops.slice(0, CLOSURE_MOST),
				true))) : null,
			e.from.length ? section('Comes from', this.origins(e, model)) : null,
			actions ? section('Actions', this.reasons(e, model), code(actions.replace(/\], \[/g, '],\n['), true)) : null,
			this.ends('Writes', e.writes, model), this.ends('Reads', e.reads, model),
			kernel ? section('Kernel', this.facts(kernel.facts.filter(([k]) => k !== 'actions'))) : null,
			section('Nodes', e.kind === 'node' ? code(model.nodeText(e.node), true) :
				this.closure(e, model)));
		this.showKernel(e);
	}

	/* The source, from where the kernel itself begins: helpers stand before it. */
	showKernel(e) {
		const lines = [...this.place.querySelectorAll('#source div')];
		const first = lines.find((line) => line.textContent.includes(`${e.label}(`));
		if (first)
			first.parentElement.scrollTop = first.offsetTop - first.parentElement.offsetTop - 6;
	}

	reasons(e, model) {
		const texts = new Set(model.reasons.filter(([kernel]) => kernel === e.label).map(([, t]) => t));
		return el('div', { id: 'reasons' }, ...[...texts].map((text) => el('div', {}, text)));
	}

	origins(e, model) {
		const { page } = this;
		return el('table', { id: 'origins' }, ...e.from.slice(0, 100).map(
			([buffer, op, name, line, into, together, apart]) => el('tr', {},
				el('td', {}, buffer || ''), el('td', {}, op || ''),
				el('td', {}, name || line ? link(name || line, () => page.pickLine(line || name,
					model)) : NOWHERE, line && name && line !== name ? ` (${line})` : ''),
				el('td', {}, into ? `merged into ${into}` : ''),
				el('td', { class: 'n' }, into && (together || apart) ?
					`${three(together)} against ${three(apart)} apart` : ''))));
	}

	ends(title, nodes, model) {
		const buffers = nodes.filter((n) => model.bufferOf.has(n)).map((n) => model.bufferOf.get(n));
		if (buffers.length)
			return section(title, this.bufferTable(model, buffers.slice(0, 200)));
		return nodes.length ? section(title, ...nodes.slice(0, 60).map((n) =>
			el('div', { class: 'mono' }, link(model.nodeText(n), () => this.page.pickNode(n, model))))) :
			null;
	}

	bufferTable(model, buffers) {
		return el('table', {}, ...buffers.map((b) => el('tr', {},
			el('td', {}, link(b.name, () => this.page.pick(b, model))), el('td', {}, b.role),
			el('td', {}, `${model.nodes[b.node][DTYPE]} ${model.nodes[b.node][SHAPE] || ''}`),
			el('td', { class: 'n' }, SHOWN.bytes(b.bytes)))));
	}

	closure(e, model) {
		const nodes = model.closure(model.nodes[e.node][OP] === 'CALL' ?
			model.nodes[e.node][SRC][0] : e.node).slice(0, CLOSURE_MOST);
		return el('details', {}, el('summary', {}, `${nodes.length} nodes`),
			code(nodes.map((n) => [0, model.nodeText(n)]), true));
	}

	buffer(b, model) {
		const users = model.entries.filter((e) => e.writes.includes(b.node) ||
			e.reads.includes(b.node));
		this.put(el('h2', {}, b.name),
			el('div', { class: 'cards' }, card(SHOWN.bytes(b.bytes), 'bytes'), card(b.role, 'role'),
				b.at >= 0 ? card(String(b.at), 'offset in the workspace') : null,
				b.first >= 0 ? card(`${b.first} … ${b.last}`, 'calls') : null),
			section('Written and read by', ...users.slice(0, 200).map((e) => el('div', {},
				e.writes.includes(b.node) ? '← ' : '→ ', link(e.label, () => this.page.pick(e, model)),
				'  ', el('span', { class: 'soft' }, e.layer || '')))),
			section('Node', code(model.nodeText(b.node), true)));
	}

	node(n, model) {
		const users = [];
		model.nodes.forEach((u, i) => { if (u[SRC].includes(n) && users.length < 60) users.push(i); });
		this.put(el('h2', {}, `%${n} ${model.nodes[n][OP]}`),
			section('Node', code(model.nodeText(n), true)),
			this.ends('Reads', model.nodes[n][SRC], model), this.ends('Is read by', users, model));
	}

	/* A line of the program, or a node of a model, and all that computes something of it. */
	line(name, model) {
		const entries = [...(model.lines().get(name) || [])];
		const sums = { ms: 0, work: 0, bytes: 0 };
		for (const e of entries)
			for (const key of Object.keys(sums))
				sums[key] += e.once ? 0 : e[key] || 0;
		const rows = entries.map((e) => ({ name: e.label, more: `%${e.node}`, go: () =>
			this.page.pick(e, model), value: measure(e, this.page.width),
		text: SHOWN[this.page.width](measure(e, this.page.width)) }));
		this.put(el('h2', {}, name), this.figures(sums),
			section(model.graph ? 'Nodes of it' : 'Kernels with a part of it', el('div',
				{ id: 'kernels' }, barTable(rows.slice(0, 500)))));
	}
}
