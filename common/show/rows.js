/* A table of any length, of which only the rows in sight are in the page. */

const ROW = 24, AROUND = 12;

function el(tag, attributes = {}, ...inner) {
	const e = document.createElement(tag);
	for (const [key, value] of Object.entries(attributes))
		if (key.startsWith('on'))
			e.addEventListener(key.slice(2), value);
		else if (value !== undefined && value !== false)
			e.setAttribute(key, value === true ? '' : value);
	e.append(...inner.filter((x) => x !== null && x !== undefined));
	return e;
}

class Rows {
	/* head: elements; draw(row) gives the elements of a row; pick(row) is called for a click */
	constructor(place, head, rows, draw, pick) {
		Object.assign(this, { rows, draw, pick, drawn: new Map() });
		this.space = el('div');
		this.scroll = el('div', { class: 'scroll', tabindex: '0', onscroll: () => this.fill() },
			this.space);
		place.replaceChildren(el('div', { class: 'head' }, ...head), this.scroll);
		this.set(rows);
	}

	set(rows) {
		this.rows = rows;
		this.space.style.height = rows.length * ROW + 'px';
		this.drawn.forEach((e) => e.remove());
		this.drawn.clear();
		this.fill();
	}

	fill() {
		const top = this.scroll.scrollTop, high = this.scroll.clientHeight || 400;
		const from = Math.max(0, Math.floor(top / ROW) - AROUND);
		const to = Math.min(this.rows.length, Math.ceil((top + high) / ROW) + AROUND);
		for (const [i, e] of this.drawn)
			if (i < from || i >= to) {
				e.remove();
				this.drawn.delete(i);
			}
		for (let i = from; i < to; i++)
			if (!this.drawn.has(i)) {
				const row = this.rows[i];
				const e = el('div', { class: 'row' + (row.on ? ' on' : '') + (row.found ? ' found' : ''),
					style: `top:${i * ROW}px`, onclick: (event) => this.pick(row, event) },
					...this.draw(row));
				this.drawn.set(i, e);
				this.space.append(e);
			}
	}

	/* Brings row i into sight. */
	show(i) {
		const top = this.scroll.scrollTop, high = this.scroll.clientHeight;
		if (i >= 0 && (i * ROW < top || (i + 1) * ROW > top + high))
			this.scroll.scrollTop = Math.max(0, i * ROW - high / 3);
		this.fill();
	}
}
