// Small helpers for the page's elements. Text is always set as text, never as markup.

/** @param {string} id @returns {any} */
export const $ = (id) => document.getElementById(id);

/**
 * An element. @param {string} tag @param {Record<string, any>} [attributes] `text` and `on…` handlers among them @param
 * {...(Node | string)} children @returns {any}
 */
export function make(tag, attributes = {}, ...children) {
  const element = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) {
    if (name === 'text') element.textContent = value;
    else if (name.startsWith('on')) element.addEventListener(name.slice(2), value);
    else if (value === true) element.setAttribute(name, '');
    else if (value !== false && value !== null && value !== undefined) element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

/**
 * Fill a fieldset with a choice of one among a few: a row of radio buttons. @param {HTMLFieldSetElement} place @param
 * {string} name @param {string} legend @param {string[][]} entries value, text, and what the pointer shows of each
 * @param {string} chosen a value
 */
export function choose(place, name, legend, entries, chosen) {
  const labels = entries.map(([value, text, title]) =>
    make('label', { title }, make('input', { type: 'radio', name, value, checked: value === chosen }), make('span', { text })),
  );
  place.replaceChildren(make('legend', { text: legend }), ...labels);
}

/**
 * Moves as the rows of a list, each with its number. @param {any[]} cells @param {number} number of the first row @param
 * {boolean} black whether Black begins @param {number} width
 */
export function rows(cells, number, black, width = 2) {
  const all = black ? [make('span', { text: '…' }), ...cells] : cells;
  const row = (i) => make('li', {}, make('span', { class: 'number', text: `${number + i}.` }), ...all.slice(width * i, width * (i + 1)));
  return Array.from({ length: Math.ceil(all.length / width) }, (_, i) => row(i));
}

/** A table. @param {string} caption @param {string[]} columns @param {any[]} lines its rows */
export function table(caption, columns, lines) {
  const head = make('tr', {}, ...columns.map((text) => make('th', { scope: 'col', text })));
  return make('table', {}, make('caption', { text: caption }), make('thead', {}, head), make('tbody', {}, ...lines));
}

/** What the browser keeps for this page under a name; `otherwise` if that is nothing. @returns {any} */
export function kept(name, otherwise) {
  try {
    return JSON.parse(localStorage.getItem(`klss-${name}`)) ?? otherwise;
  } catch {
    return otherwise;
  }
}

/** @param {string} name @param {any} value */
export function keep(name, value) {
  try {
    localStorage.setItem(`klss-${name}`, JSON.stringify(value));
  } catch {
    // Some private windows keep nothing.
  }
}

/** Open a dialog: the value of the button that closes it; '' if it is left. @param {string} id @returns {Promise<string>} */
export function ask(id) {
  const dialog = $(id);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((chosen) => {
    dialog.addEventListener('close', () => chosen(dialog.returnValue), { once: true });
  });
}

/** The entries of the link's fragment: seat, game, ply. */
export function fragment() {
  return new URLSearchParams(location.hash.slice(1));
}

/** @param {Record<string, string | number | null>} changes null takes an entry out */
export function setFragment(changes) {
  const all = fragment();
  for (const [name, value] of Object.entries(changes)) {
    if (value === null) all.delete(name);
    else all.set(name, String(value));
  }
  history.replaceState(null, '', `#${all}`);
}
