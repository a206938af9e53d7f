// The reader's choice of the board's colours, kept by the browser. The colours themselves are in style.css.
import { make } from '/dom.js';
import { T } from '/strings.js';

const KEPT_AS = 'klss-board-colours';

/** The last choice, or the first theme. A page that may keep nothing (a file, a private window) has no storage. */
function kept() {
  try {
    const name = localStorage.getItem(KEPT_AS);
    return Object.hasOwn(T.boardColours, name) ? name : 'brown';
  } catch {
    return 'brown';
  }
}

/** @param {string} name */
function choose(name) {
  document.documentElement.dataset.board = name;
  try {
    localStorage.setItem(KEPT_AS, name);
  } catch {
    // Without storage the choice lasts until the page is closed.
  }
}

/** A select of the board's colours. */
export function colourChoice() {
  const now = document.documentElement.dataset.board;
  const select = make(
    'select',
    { name: 'colours', onchange: () => choose(select.value) },
    ...Object.entries(T.boardColours).map(([value, text]) => make('option', { value, text, selected: value === now })),
  );
  return make('label', {}, make('span', { text: T.chooseColours }), select);
}

document.documentElement.dataset.board = kept();
