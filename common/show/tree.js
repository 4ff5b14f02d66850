/* Layers that unfold into smaller ones, into entries, into loops: one tree of one or two documents.
 * What two documents have in a layer is paired in its order. */

const SUMS = ['ms', 'work', 'bytes', 'equal'];

class Branch {
	constructor(name, above) {
		this.name = name;
		this.above = above;
		this.inner = new Map();
		this.leaves = [];               /* [[entry of A or null, entry of B or null] …] */
		this.sums = [{}, {}];
		this.count = [0, 0];
	}

	full() {
		return this.above && this.above.above ? `${this.above.full()}/${this.name}` : this.name;
	}

	once() {
		return this.name === BEFORE || Boolean(this.above && this.above.once());
	}

	add(entry, which) {
		for (let b = this; b; b = b.above) {
			for (const key of SUMS)
				/* what runs once counts in its own layers, and in no sum over all */
				if (!entry.once || b.above)
					b.sums[which][key] = (b.sums[which][key] || 0) + (entry[key] || 0);
			b.sums[which].memory = Math.max(b.sums[which].memory || 0, entry.memory || 0);
			b.count[which]++;
		}
		const place = which ? this.leaves.find((pair) => !pair[1]) : null;
		if (place)
			place[1] = entry;
		else
			this.leaves.push(which ? [null, entry] : [entry, null]);
	}
}

function buildTree(models) {
	const root = new Branch('', null);
	models.forEach((model, which) => model.entries.forEach((e) => {
		let at = root;
		for (const part of e.path) {
			if (!at.inner.has(part))
				at.inner.set(part, new Branch(part, at));
			at = at.inner.get(part);
		}
		e.branch = at;
		at.add(e, which);
	}));
	return root;
}

function inUnit(pair) {
	return pair[0] || pair[1];
}

/* The rows of what is open, from the outermost layer: {depth, branch} {depth, pair} {depth, text} */
function treeRows(models, root, open) {
	const rows = [];
	const putPair = (pair, depth, name) => {
		const which = pair[0] ? 0 : 1, e = inUnit(pair);
		rows.push({ depth, pair, name, key: e, open: open.has(e), leaf: e.kind !== 'call' });
		if (open.has(e) && e.kind === 'call')
			for (const [inner, text] of models[which].loops(e).slice(0, 5000))
				rows.push({ depth: depth + 1 + inner, text, pair, key: null });
	};
	const put = (branch, depth) => {
		if (!branch.inner.size && branch.leaves.length === 1 && branch.above) {
			putPair(branch.leaves[0], depth, branch.name);
			return;
		}
		if (branch.above)
			rows.push({ depth, branch, key: branch, open: open.has(branch) });
		if (branch.above && !open.has(branch))
			return;
		const inner = branch.above ? depth + 1 : depth;
		branch.inner.forEach((b) => { if (b.name !== BEFORE) put(b, inner); });
		branch.leaves.forEach((pair) => putPair(pair, inner, null));
	};
	put(root, 0);
	if (root.inner.has(BEFORE))
		put(root.inner.get(BEFORE), 0);
	return rows;
}

/* Opens layers from the outermost on, as long as the rows stay few. */
function openSome(root, open, most) {
	let todo = [root], rows = 0;
	if (root.inner.size === 1)
		root.inner.forEach((b) => open.add(b));
	while (todo.length) {
		const next = todo.flatMap((b) => [...b.inner.values()]).filter((b) => b.name !== BEFORE);
		rows += next.length;
		if (rows > most)
			return;
		todo.forEach((b) => open.add(b));
		todo = next.filter((b) => b.inner.size);
	}
}
