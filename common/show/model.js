'use strict';
/* A document from its JSON: entries in their order, each with what is measured of it; and the text
 * of expressions and loops.  Entries are calls, copies and steps of a list, or at levels before
 * schedule the nodes themselves. */

const OP = 0, DTYPE = 1, SRC = 2, ARG = 3, NAME = 4, LINE = 5, SHAPE = 6, BYTES = 7;
const VIEWS = new Set(['RESHAPE', 'EXPAND', 'PERMUTE', 'PAD', 'SHRINK', 'FLIP', 'DETACH']);
const LEAVES = new Set(['CONST', 'BUFFER', 'SINK', 'ARANGE', 'SIZE', 'VAR']);
const INFIX = { ADD: '+', SUB: '-', MUL: '*', FDIV: '/', IDIV: '/', FLOORDIV: '//', MOD: '%',
	FLOORMOD: '%', CMPLT: '<', CMPEQ: '==', CMPNE: '!=', AND: '&', OR: '|', XOR: '^' };
const TEXT_MOST = 400, TEXT_NODES = 300, WALK_MOST = 3e6, PATH_MOST = 12;
const NOWHERE = '(made by the tools)', BEFORE = '(once, before the calls)';

/* "/layer1/conv1/Conv" has three parts, of which the first is "/layer1"; "dir/a.t:3" is a line, and
 * one part. */
function pathOf(layer) {
	if (!layer)
		return [NOWHERE];
	const slash = layer.startsWith('/') ? 1 : 0;
	if (layer.indexOf('/', slash) < 0 || /:\d+$/.test(layer))
		return [layer];
	const parts = layer.slice(slash).split('/').filter((part) => part);
	parts.splice(PATH_MOST, parts.length, ...parts.length > PATH_MOST ?
		[parts.slice(PATH_MOST).join('/')] : []);
	return parts.length ? [(slash ? '/' : '') + parts[0], ...parts.slice(1)] : [layer];
}

class Model {
	constructor(json) {
		Object.assign(this, json);
		this.graph = json.level === 'tensor' || json.level === 'graph';
		this.kernelOf = new Map(json.kernels.map((k) => [k.node, k]));
		this.bufferOf = new Map(json.buffers.map(([node, name, role, first, last, at]) =>
			[node, { node, name, role, first, last, at, bytes: this.bytesOf(node) }]));
		this.walked = this.spent = 0;
		this.worked = new Map();
		this.sized = new Map();
		this.entries = this.graph ? this.nodeEntries() : this.listEntries();
		this.entryOf = new Map(this.entries.map((e) => [e.node, e]));
		this.addMemory();
		this.timed = this.entries.some((e) => e.ms !== undefined);
		this.total = {};
		for (const key of ['ms', 'work', 'bytes', 'equal'])
			this.total[key] = this.entries.reduce((n, e) => n + (e.once ? 0 : e[key] || 0), 0);
	}

	title() {
		return this.name || this.file.replace(/^.*\//, '');
	}

	bytesOf(node) {
		const bytes = this.nodes[node][BYTES];
		return bytes > 0 ? bytes : 0;
	}

	/* ---- entries */

	nodeEntries() {
		const entries = [];
		this.nodes.forEach((n, node) => {
			if (n[OP] === 'SINK' || n[OP] === 'CONST')
				return;
			const size = n[DTYPE] ? { bool: 1, i8: 1, u8: 1, f16: 2, bf16: 2, i16: 2, u16: 2,
				f64: 8, i64: 8, u64: 8 }[n[DTYPE]] || 4 : 1;
			const from = n[OP] === 'REDUCE' || n[OP] === 'SCAN' ? this.bytesOf(n[SRC][0]) :
				this.bytesOf(node);
			/* of a program the line; of a model the name of its node */
			const layer = (n[NAME] && n[NAME].includes('/') ? n[NAME] : n[LINE] || n[NAME]) || null;
			entries.push({ id: entries.length, node, kind: 'node', label: n[OP], layer,
				path: pathOf(layer), bytes: VIEWS.has(n[OP]) ? 0 : this.bytesOf(node), equal: 1,
				work: VIEWS.has(n[OP]) || LEAVES.has(n[OP]) ? 0 : from / size, reads: n[SRC],
				writes: [], from: [[null, n[OP], n[NAME] || null, n[LINE] || null, null]] });
		});
		return entries;
	}

	listEntries() {
		return this.list.map((row, id) => {
			const n = this.nodes[row.node], kernel = this.kernelOf.get(row.kernel);
			const used = new Set([...row.writes, ...row.reads]);
			const once = row.writes.length > 0 && row.writes.every((b) =>
				this.bufferOf.get(b).role === 'prepared');
			const path = pathOf(row.layer);
			let bytes = 0;
			used.forEach((b) => { bytes += this.bytesOf(b); });
			return { ...row, id, once, kernel, kind: n[OP] === 'CALL' ? 'call' : n[OP] === 'MEMCPY' ?
				'copy' : 'step', label: kernel ? this.kernelName(kernel) : n[OP], bytes, equal: 1,
				path: once ? [BEFORE, ...path] : path, work: kernel ? this.workOf(kernel) : 0,
				from: row.from || [] };
		});
	}

	kernelName(kernel) {
		const fact = kernel.facts.find(([key]) => key === 'name');
		return fact ? fact[1].replace(/^"|"$/g, '') : this.nodes[kernel.node][OP];
	}

	/* of each entry the bytes of all temporaries that hold something then */
	addMemory() {
		const change = new Float64Array(this.entries.length + 1);
		for (const b of this.bufferOf.values())
			if (b.role === 'temp' && b.first >= 0) {
				change[b.first] += b.bytes;
				change[b.last + 1] -= b.bytes;
			}
		let now = 0;
		this.alive = 0;
		this.entries.forEach((e, i) => {
			e.memory = now += change[i];
			this.alive = Math.max(this.alive, now);
		});
		this.extent = 0;
		for (const b of this.bufferOf.values())
			if (b.at >= 0)
				this.extent = Math.max(this.extent, b.at + b.bytes);
	}

	/* ---- sizes and work */

	sizeOf(node, depth = 0) {
		if (!this.sized.has(node))
			this.sized.set(node, depth > 100 ? NaN : this.sizeNow(node, depth));
		return this.sized.get(node);
	}

	sizeNow(node, depth) {
		const n = this.nodes[node], [a, b] = n[SRC];
		const both = (fn) => fn(this.sizeOf(a, depth + 1), this.sizeOf(b, depth + 1));
		switch (n[OP]) {
		case 'CONST': return Number(n[ARG]);
		case 'VAR': return this.sizes[(/"([^"]*)"/.exec(n[ARG]) || [])[1]] ?? NaN;
		case 'ADD': return both((x, y) => x + y);
		case 'MUL': return both((x, y) => x * y);
		case 'FLOORDIV': return both((x, y) => Math.floor(x / y));
		case 'FLOORMOD': return both((x, y) => x - y * Math.floor(x / y));
		case 'MAX': return both(Math.max);
		case 'MIN': return both(Math.min);
		default: return NaN;
		}
	}

	/* Operations of one call; of a kernel without statements each op as often as its ranges say. */
	workOf(kernel) {
		if (kernel.work !== undefined)
			return kernel.work || 0;
		if (!this.worked.has(kernel.node))
			this.worked.set(kernel.node, this.workOfRanges(kernel.node));
		return this.worked.get(kernel.node);
	}

	workOfRanges(root) {
		const free = new Map();
		let work = 0;
		for (const node of this.closure(root)) {
			const n = this.nodes[node];
			const ranges = new Set(n[OP] === 'RANGE' ? [node] : []);
			n[SRC].forEach((s) => (free.get(s) || []).forEach((r) => ranges.add(r)));
			const times = [...ranges].reduce((k, r) => k * this.sizeOf(this.nodes[r][SRC][0]), 1);
			const counts = /^(f|bf)/.test(n[DTYPE]) && !['LOAD', 'INDEX', 'PARAM', 'CONST', 'CAST',
				'BITCAST', 'WHERE', 'RANGE'].includes(n[OP]);
			work += counts && times > 0 ? times * (n[OP] === 'MULACC' ? 2 : 1) : 0;
			if (n[OP] === 'RREDUCE')
				n[SRC].slice(1).forEach((r) => ranges.delete(r));
			free.set(node, ranges);
		}
		return work;
	}

	/* What a node reaches, sources before users.  Sources have smaller numbers. */
	closure(root) {
		const seen = new Set([root]), todo = [root];
		while (todo.length && this.walked < WALK_MOST)
			for (const s of this.nodes[todo.pop()][SRC]) {
				this.walked++;
				if (!seen.has(s)) {
					seen.add(s);
					todo.push(s);
				}
			}
		return [...seen].sort((a, b) => a - b);
	}

	/* ---- text */

	bufferAt(entry, param) {
		const slot = /slot: (\d+)/.exec(this.nodes[param][ARG]);
		const buffer = slot && this.nodes[entry.node][SRC][1 + Number(slot[1])];
		return buffer === undefined || !this.bufferOf.has(buffer) ? 'p' + (slot ? slot[1] : '') :
			this.bufferOf.get(buffer).name;
	}

	/* An expression of a kernel, in the words of the call. */
	text(entry, node, depth = 0) {
		const n = this.nodes[node], arg = n[ARG] || '';
		const sub = (k) => this.text(entry, n[SRC][k], depth + 1);
		const list = (from) => n[SRC].slice(from).map((s) => this.text(entry, s, depth + 1)).join(', ');
		if (depth > 9 || ++this.spent > TEXT_NODES)
			return '…';
		switch (n[OP]) {
		case 'CONST': return arg;
		case 'VAR': case 'SPECIAL': return (/"([^"]*)"/.exec(arg) || [0, arg])[1];
		case 'RANGE': return 'r' + (/\d+/.exec(arg) || ['?'])[0];
		case 'LET': return 'v' + arg;
		case 'PARAM': return this.bufferAt(entry, node);
		case 'DEFINE_REG': return 'reg' + (/\d+/.exec(arg) || [''])[0];
		case 'DEFINE_LOCAL': return 'local' + (/\d+/.exec(arg) || [''])[0];
		case 'INDEX': return `${sub(0)}[${list(1)}]`;
		case 'LOAD': return n[SRC].length > 1 ? `(${sub(1)} ? ${sub(0)} : 0)` : sub(0);
		case 'CAST': return `${n[DTYPE]}(${sub(0)})`;
		case 'MULACC': return `(${sub(0)} * ${sub(1)} + ${sub(2)})`;
		case 'WHERE': return `(${sub(0)} ? ${sub(1)} : ${sub(2)})`;
		case 'RREDUCE': return `${arg.replace(/"/g, '')} over ${n[SRC].slice(1).map((r) =>
			this.rangeText(entry, r)).join(', ')} of ${sub(0)}`;
		default: return INFIX[n[OP]] && n[SRC].length === 2 ?
			`(${sub(0)} ${INFIX[n[OP]]} ${sub(1)})` : `${n[OP]}(${list(0)})`;
		}
	}

	rangeText(entry, range) {
		const kind = (/"([^"]*)"/.exec(this.nodes[range][ARG] || '') || ['', ''])[1];
		return `${this.text(entry, range)} < ${this.text(entry, this.nodes[range][SRC][0])}` +
			(kind && kind !== 'loop' && kind !== 'reduce' ? ` ${kind}` : '');
	}

	/* [[depth, text] …] of a kernel's loops and statements */
	loops(entry) {
		const callee = this.nodes[this.nodes[entry.node][SRC][0]];
		const kernel = callee[OP] === 'PROGRAM' ? this.nodes[callee[SRC][0]] : callee;
		const lines = [];
		const put = (depth, text) => {
			lines.push([Math.min(depth, 40), text.length > TEXT_MOST ? text.slice(0, TEXT_MOST) + '…' :
				text]);
			this.spent = 0;
		};
		if (!kernel || kernel[OP] !== 'KERNEL')
			return lines;
		if (kernel[SRC].some((s) => this.nodes[s][OP] !== 'STORE') || this.level !== 'schedule')
			this.statements(entry, kernel[SRC], put);
		else
			this.stores(entry, kernel[SRC], put);
		return lines;
	}

	statements(entry, list, put) {
		let depth = 0;
		const grid = entry.kernel.facts.filter(([k]) => k === 'global_size' || k === 'local_size');
		grid.forEach(([key, value]) => put(depth++, `for each of ${key} ${value}`));
		for (const s of list) {
			const n = this.nodes[s];
			switch (n[OP]) {
			case 'RANGE': put(depth++, `for ${this.rangeText(entry, s)}`); break;
			case 'ENDRANGE': case 'ENDIF': depth = Math.max(0, depth - 1); break;
			case 'IF': put(depth++, `if ${this.text(entry, n[SRC][0])}`); break;
			case 'LET': put(depth, `v${n[ARG]} = ${this.text(entry, n[SRC][0])}`); break;
			case 'STORE': this.putStore(entry, n, depth, put); break;
			case 'DEFINE_REG': case 'DEFINE_LOCAL':
				put(depth, `${n[DTYPE]} ${this.text(entry, s)} ${n[ARG]}`);
				break;
			default: put(depth, this.text(entry, s));
			}
		}
	}

	putStore(entry, n, depth, put) {
		put(depth, `${this.text(entry, n[SRC][0])} = ${this.text(entry, n[SRC][1])}` +
			(n[SRC].length > 2 ? ` if ${this.text(entry, n[SRC][2])}` : ''));
	}

	/* A kernel of level schedule: its free ranges are its loops, from the outermost. */
	stores(entry, list, put) {
		const axis = (r) => Number((/\d+/.exec(this.nodes[r][ARG] || '') || [0])[0]);
		const loops = new Set();
		for (const s of list)
			for (const node of this.closure(this.nodes[s][SRC][0]))
				if (this.nodes[node][OP] === 'RANGE')
					loops.add(node);
		const order = [...loops].sort((a, b) => axis(a) - axis(b));
		order.forEach((r, depth) => put(depth, `for ${this.rangeText(entry, r)}`));
		for (const s of list)
			this.putStore(entry, this.nodes[s], order.length, put);
	}

	/* the line of `show` */
	nodeText(node) {
		const n = this.nodes[node];
		return `%${node} = ${n[OP]}${n[DTYPE] ? ' ' + n[DTYPE] : ''}` +
			n[SRC].map((s) => ' %' + s).join('') + (n[ARG] ? ' ' + n[ARG] : '') +
			(n[SHAPE] ? '  # ' + n[SHAPE] : '');
	}

	/* ---- lines of the program: line → entries that compute something of it */

	lines() {
		if (this.lineOf)
			return this.lineOf;
		this.lineOf = new Map();
		for (const e of this.entries)
			for (const from of e.from) {
				const line = from[3] || from[2];
				if (!line)
					continue;
				if (!this.lineOf.has(line))
					this.lineOf.set(line, new Set());
				this.lineOf.get(line).add(e);
			}
		return this.lineOf;
	}
}

/* ---- numbers for people */

function three(x) {
	return x === 0 ? '0' : x >= 999.5 ? Math.round(x).toLocaleString('en') : x.toPrecision(3);
}

function scaled(x, step, units) {
	let k = 0;
	for (; x >= step && k < units.length - 1; k++)
		x /= step;
	return three(x) + ' ' + units[k];
}

const SHOWN = {
	ms: (x) => three(x) + ' ms',
	bytes: (x) => scaled(x, 1000, ['B', 'kB', 'MB', 'GB', 'TB']),
	memory: (x) => scaled(x, 1000, ['B', 'kB', 'MB', 'GB', 'TB']),
	work: (x) => scaled(x, 1000, ['op', 'kop', 'Mop', 'Gop', 'Top']),
	rate: (x) => three(x) + ' GFLOP/s',
	equal: (x) => String(x),
};
const WORDS = { ms: 'time', bytes: 'bytes', memory: 'memory', work: 'work', rate: 'rate',
	equal: 'number' };

function measure(e, key) {
	return key === 'rate' ? e.ms > 0 ? e.work / e.ms / 1e6 : 0 : e[key] || 0;
}
