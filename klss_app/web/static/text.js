// Games that are seen as text: the observations in place of the board, the actions as buttons, the review.
import { $, make, setFragment } from '/dom.js';
import { Play } from '/play.js';
import { Review } from '/review.js';
import { T } from '/strings.js';

/**
 * Show texts in place of the board. Unchanged blocks keep their elements: a screen reader may be inside one.
 * @param {...[string, string]} blocks a name and its text each
 */
function showTexts(...blocks) {
  const texts = $('texts') ?? make('div', { id: 'texts' });
  if (!texts.parentNode) $('board-frame').after(texts);
  while (texts.children.length > blocks.length) texts.lastChild.remove();
  while (texts.children.length < blocks.length) texts.append(make('figure', {}, make('figcaption'), make('pre', { tabindex: '0', role: 'group' })));
  blocks.forEach(([name, text], i) => {
    const [caption, pre] = texts.children[i].children;
    caption.textContent = name;
    pre.setAttribute('aria-label', name);
    pre.classList.toggle('sentence', !text.includes('\n'));
    if (pre.textContent !== text) pre.textContent = text;
  });
  return texts;
}

export class TextPlay extends Play {
  constructor(board, send) {
    super(board, send);
    this.typeMove = T.typeAction;
    this.buttons = make('div', { id: 'actions', class: 'row', role: 'group', 'aria-label': T.actions, tabindex: '-1' });
    $('entry').before(this.buttons);
  }

  drawBoard(mine) {
    const { past, moves } = this.game;
    showTexts([T.observed, past.at(-1) ?? T.notYet]).setAttribute('aria-live', 'polite');
    const focused = this.buttons.contains(document.activeElement);
    this.buttons.replaceChildren(
      ...(mine ? moves : []).map((name, i) => make('button', { type: 'button', text: `${i + 1}: ${name}`, onclick: () => this.type(name) })),
    );
    // After a choice by button the focus stays where the next buttons will be.
    if (focused) (this.buttons.firstChild ?? this.buttons).focus();
  }

  drawBack() {
    showTexts([T.observed, this.game.past[this.back]]);
    this.sayBack();
  }

  moves() {
    const row = (text, i) => make('li', {}, make('span', { class: 'number', text: `${i + 1}.` }), make('span', { text }));
    $('moves').replaceChildren(...this.game.history.map(row));
    $('moves').scrollTop = $('moves').scrollHeight;
  }

  words() {}
}

export class TextReview extends Review {
  constructor(board, send) {
    super(board, send);
    this.view = 'all';
  }

  /** These games have no analysis. */
  startAnalysis() {}
  positions() {}
  errors() {}
  mixture() {
    return [];
  }
  taken() {
    return '';
  }

  build() {
    super.build();
    $('chart').hidden = true;
    $('review').lastChild.remove();
    this.parts.views.firstChild.textContent = T.showTexts;
    this.parts.where.before(this.parts.views);
  }

  draw() {
    const at = this.game.plies[this.ply];
    const shown = this.view === 'all' ? ['truth', 'white', 'black'] : [this.view];
    showTexts(...shown.map((view) => [T.views[view], at[view] || T.notYet])).setAttribute('aria-live', 'off');
    this.panel(at);
    this.parts.deeper.hidden = true;
    setFragment({ game: this.game.game, ply: this.ply });
  }
}
