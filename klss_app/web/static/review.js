// A finished game: the true position, both sides' views, and the engine's analysis.
import { destinations, FogBoard } from '/board.js';
import { chart, hasValues } from '/chart.js';
import { $, fragment, make, setFragment } from '/dom.js';
import { ageMarks, around } from '/look.js';
import { showTaken } from '/play.js';
import { T } from '/strings.js';

const FIGURES = { p: '♟', n: '♞', b: '♝', r: '♜', q: '♛', k: '♚' };
const COLORS = ['white', 'black'];
const VIEWS = ['truth', 'white', 'black', 'all'];
const WORST = 5;
const LEAST_LOSS = 0.005;
const LEAST_HEAT = 0.005;
const LEAST_LABEL = 0.02;

export class Review {
  /**
   * @param {FogBoard} board
   * @param {(message: object) => void} send
   */
  constructor(board, send) {
    this.board = board;
    this.send = send;
    this.game = null;
    this.turns = [];
    this.summary = null;
    this.running = false;
    this.view = 'truth';
    this.heat = 'none';
    this.arrows = true;
    this.small = null;
    /** A move that was tried on the board at this ply. @type {string | null} */
    this.tried = null;
  }

  /** @param {any} game the review's document */
  open(game) {
    this.game = game;
    this.turns = [];
    this.summary = null;
    this.running = false;
    this.bottom = game.color;
    document.body.toggleAttribute('data-text', !game.plies[0].truth); // a game without a chessboard
    this.last = game.plies.length - 1;
    const wanted = Number(fragment().get('ply') ?? this.last);
    this.ply = fragment().get('game') === String(game.game) && wanted >= 0 && wanted <= this.last ? wanted : this.last;
    this.build();
    this.draw();
    document.title = T.pageTitle(this.parts.title.textContent);
    this.startAnalysis();
    this.parts.title.focus();
  }

  leave() {
    delete document.body.dataset.view;
    $('small-boards').hidden = true;
    $('chart').hidden = true;
  }

  startAnalysis() {
    if (this.last === 0) return;
    this.turns = [];
    this.running = true;
    this.send({ type: 'analyse', game: this.game.game });
    this.progress();
  }

  /** @param {any} message the new turns */
  analysis(message) {
    if (!this.game || message.game !== this.game.game) return;
    for (const turn of message.turns) this.turns[turn.ply] = turn;
    if (message.done) this.running = false;
    this.summary = message.summary;
    this.progress(message.failed ? T.failed(message.failed) : undefined);
    this.errors();
    this.positions();
    if (message.done || message.turns.some((turn) => turn.ply === this.ply)) this.draw();
  }

  flip() {
    this.bottom = this.bottom === 'white' ? 'black' : 'white';
    this.draw();
  }

  /** @param {number} ply */
  go(ply) {
    this.ply = Math.max(0, Math.min(this.last, ply));
    this.tried = null;
    this.draw();
  }

  /** @param {string} name of a key @returns {boolean} whether the key has a meaning here */
  key(name) {
    const number = Number(name);
    if (name === 'ArrowLeft') this.go(this.ply - 1);
    else if (name === 'ArrowRight') this.go(this.ply + 1);
    else if (name === 'Home') this.go(0);
    else if (name === 'End') this.go(this.last);
    else if (number >= 1 && number <= VIEWS.length) this.choose(VIEWS[number - 1]);
    else return false;
    return true;
  }

  choose(view) {
    this.view = view;
    this.parts.views.querySelector(`[value=${view}]`).checked = true;
    this.draw();
  }

  // ------------------------------------------------------------------ the panel
  build() {
    const { tags, over } = this.game;
    const title = T.reviewOf(tags.White ?? '?', tags.Black ?? '?', over ? over.result : '*');
    const step = (sign, label, to) => make('button', { type: 'button', text: sign, 'aria-label': label, title: label, onclick: to });
    const parts = (this.parts = {});
    parts.slider = make('input', {
      type: 'range', min: 0, max: this.last, value: this.ply, 'aria-label': T.slider,
      oninput: () => this.go(Number(parts.slider.value)),
    });
    parts.where = make('p', { class: 'where', 'aria-live': 'polite' });
    parts.saw = make('div', { class: 'saw' });
    parts.views = make(
      'fieldset',
      { class: 'choices' },
      make('legend', { text: T.show }),
      ...VIEWS.map((view) =>
        make(
          'label',
          {},
          make('input', { type: 'radio', name: 'view', value: view, checked: view === this.view, onchange: () => this.choose(view) }),
          make('span', { text: T.views[view] }),
        ),
      ),
    );
    parts.heat = make(
      'select',
      { onchange: () => { this.heat = parts.heat.value; this.draw(); } },
      ...Object.entries(T.heat).map(([value, text]) => make('option', { value, text, selected: value === this.heat })),
    );
    parts.arrows = make('input', {
      type: 'checkbox', checked: this.arrows, onchange: () => { this.arrows = parts.arrows.checked; this.draw(); },
    });
    parts.heatOf = make('p', { class: 'soft' });
    parts.progress = make('span', { role: 'status' });
    parts.bar = make('progress', { max: this.last || 1, value: 0, 'aria-label': T.analysis });
    parts.mixture = make('div', { class: 'mixture' });
    parts.errors = make('div', { class: 'errors' });
    parts.verdict = make('p', { class: 'verdict', 'aria-live': 'polite' });
    parts.sizes = make('p', { class: 'soft' });
    parts.moves = make('ol', { class: 'game-moves' });
    this.buttons = [];
    for (let ply = 1; ply <= this.last; ply += 1) {
      const before = this.game.plies[ply - 1];
      const button = make('button', { type: 'button', class: before.turn, text: this.game.plies[ply].san, onclick: () => this.go(ply) });
      this.buttons[ply] = button;
      if (before.turn === 'white' || ply === 1) {
        parts.moves.append(make('li', {}, make('span', { class: 'number', text: `${before.number}.` })));
        if (before.turn === 'black') parts.moves.lastChild.append(make('span', { text: '…' }));
      }
      parts.moves.lastChild.append(button);
    }
    const left = make(
      'div',
      { class: 'review-game' },
      (parts.title = make('h2', { text: title, tabindex: '-1' })),
      make('p', { text: over ? T.over(over, this.last) : '' }),
      make(
        'div',
        { class: 'row steps' },
        step('|◀', T.first, () => this.go(0)),
        step('◀', T.back, () => this.go(this.ply - 1)),
        step('▶', T.on, () => this.go(this.ply + 1)),
        step('▶|', T.last, () => this.go(this.last)),
        parts.slider,
      ),
      parts.where,
      parts.saw,
      parts.verdict,
      parts.moves,
      make(
        'div',
        { class: 'row' },
        make('button', { type: 'button', text: T.download[document.body.dataset.kind] ?? T.download.rbc, onclick: () => this.send({ type: 'pgn', game: this.game.game, comments: true }) }),
      ),
      ...($('kept') ? [] : [make('p', { class: 'soft', text: T.dropHere })]),
    );
    const right = make(
      'div',
      { class: 'review-engine' },
      parts.views,
      make('label', { class: 'choice' }, make('span', { text: T.whereMight }), parts.heat),
      parts.heatOf,
      make('label', { class: 'choice' }, parts.arrows, make('span', { text: T.arrows })),
      make('h3', { text: T.analysis }),
      parts.progress,
      parts.bar,
      parts.mixture,
      make('h3', { text: T.errors }),
      parts.errors,
      parts.sizes,
    );
    $('review').replaceChildren(left, right);
    $('chart').hidden = false;
    this.errors();
    this.positions();
  }

  progress(said) {
    const known = this.turns.filter(Boolean).length;
    const { progress, bar } = this.parts;
    progress.textContent = said ?? (known >= this.last ? T.analysed(known) : T.analysing(known, this.last));
    bar.value = known;
    bar.hidden = !this.running;
  }

  /** The costliest moves of both sides, so far; and the marks in the list. */
  errors() {
    const known = this.turns.filter(Boolean).length;
    this.turns.forEach((turn) => {
      const button = this.buttons[turn.ply + 1];
      if (button) button.textContent = `${this.game.plies[turn.ply + 1].san} ${turn.played.mark}`.trim();
    });
    const lists = COLORS.map((color) => {
      const worst = this.turns
        .filter((turn) => turn && turn.color === color && turn.played.loss !== null && turn.played.loss >= LEAST_LOSS)
        .sort((a, b) => b.played.loss - a.played.loss)
        .slice(0, WORST);
      const items = worst.map((turn) => {
        const text = `${this.label(turn.ply + 1)} ${turn.played.mark}`;
        return make(
          'li',
          {},
          make('button', { type: 'button', class: 'link', text, onclick: () => this.go(turn.ply + 1) }),
          make('span', { text: ` ${T.verdict(turn)}` }),
        );
      });
      return make(
        'div',
        {},
        make('h4', { text: T.side[color] }),
        ...(this.summary ? [make('p', { class: 'soft', text: T.summary(this.summary[color]) })] : []),
        items.length ? make('ol', {}, ...items) : make('p', { class: 'soft', text: known && this.summary?.[color].mean_cost !== null ? T.noErrors(known === this.last) : '' }),
      );
    });
    this.parts.errors.replaceChildren(...lists);
  }

  /** Values and numbers of positions along the game: a chart, and the numbers at this ply. */
  positions() {
    const values = COLORS.map((color, i) =>
      this.turns.map((turn) => (turn.color !== color || turn.value === null ? null : i ? -turn.value : turn.value)),
    );
    values.push(this.turns.map((turn) => turn.truth));
    const sizes = COLORS.map((color) => this.turns.map((turn) => turn.positions[color]?.[0]));
    $('chart').hidden = this.turns.length > 0 && ![...values, ...sizes].some(hasValues);
    $('chart').replaceChildren(
      chart(values, sizes, this.ply, this.last, (ply) => this.go(ply)),
      make('p', { class: 'soft legend' }, ...T.legend.filter((_, i) => hasValues(values[i])).map(([line, text]) => make('span', { class: line, text }))),
    );
    const turn = this.turns[this.ply];
    this.parts.sizes.textContent = turn ? COLORS.map((color) => turn.positions[color] && T.positions(color, ...turn.positions[color])).filter(Boolean).join(' ') : '';
  }

  /** A move with its number: 7. Nf3 or 7… Nf6. */
  label(ply) {
    const before = this.game.plies[ply - 1];
    return `${before.number}${before.turn === 'white' ? '.' : '…'} ${this.game.plies[ply].san}`;
  }

  // ------------------------------------------------------------------ the boards
  draw() {
    const at = this.game.plies[this.ply];
    const turn = this.turns[this.ply];
    if (!at.truth) {
      const told = (color) => make('p', {}, make('b', { text: T.views[color] }), make('span', { text: at[color] }));
      this.parts.saw.replaceChildren(...COLORS.map(told));
      this.panel(at, turn, at.turn);
      return setFragment({ game: this.game.game, ply: this.ply });
    }
    const seen = this.view === 'all' ? 'truth' : this.view;
    const who = seen === 'truth' ? at.turn : seen;
    const config = { viewOnly: true, orientation: this.bottom, turnColor: at.turn, premovable: { enabled: false } };
    this.board.ground.cancelPremove();
    this.board.marks = this.heat === 'none' ? ageMarks(at.ages?.[seen]) : this.heatMarks(turn, who);
    this.board.lit = new Set(turn?.looks && this.arrows && this.shows(turn, seen) ? around(turn.look.best) : []);
    this.board.show(at[seen], { ...config, ...this.trying(turn, seen), lastMove: this.lastMove(seen) });
    this.board.ground.setAutoShapes([...this.heatLabels(turn, who), ...this.mixtureArrows(turn, seen)]);
    this.drawSmall(at, config);
    this.panel(at, turn, who);
    setFragment({ game: this.game.game, ply: this.ply });
  }

  /** Whether the engine's analysis of a turn is drawn on that board: not on that of the side that was not to move. */
  shows(turn, seen) {
    return seen === 'truth' || seen === turn.color;
  }

  /** Moves of the side to move may be tried on its own board and on the true one, once they are analysed. */
  trying(turn, seen) {
    if (!turn?.tries || !this.shows(turn, seen)) return {};
    return {
      viewOnly: false,
      movable: {
        free: false,
        color: turn.color,
        dests: destinations(Object.keys(turn.tries)),
        showDests: true,
        events: { after: (from, to) => this.tryMove(turn, from + to) },
      },
    };
  }

  tryMove(turn, squares) {
    this.tried = Object.keys(turn.tries).find((move) => move.startsWith(squares));
    this.draw();
  }

  drawSmall(at, config) {
    const boxes = $('small-boards');
    boxes.hidden = this.view !== 'all';
    document.body.dataset.view = this.view;
    if (boxes.hidden) return;
    this.small ??= COLORS.map((color) => new FogBoard($(`board-${color}`), { viewOnly: true, coordinates: false, drawable: { enabled: false } }));
    COLORS.forEach((color, i) => {
      this.small[i].marks = ageMarks(at.ages?.[color]);
      this.small[i].show(at[color], { ...config, lastMove: this.lastMove(color) });
    });
  }

  /** The squares of the move that led here, as far as that side saw it. */
  lastMove(seen) {
    if (this.ply === 0) return [];
    const move = this.game.plies[this.ply].move;
    if (!move) return []; // a turn without a move
    return seen === 'truth' || this.game.plies[this.ply - 1].turn === seen ? [move.slice(0, 2), move.slice(2, 4)] : [];
  }

  /** square -> the probability of the chosen enemy pieces there, and the likeliest of them */
  asked(turn, who) {
    const found = new Map();
    if (!turn || this.heat === 'none') return found;
    for (const [square, men] of Object.entries(turn.beliefs[who])) {
      let sum = 0;
      let best = null;
      for (const [man, p] of Object.entries(men)) {
        if (this.heat !== 'any' && man.toLowerCase() !== this.heat) continue;
        sum += p;
        if (!best || p > men[best]) best = man;
      }
      if (sum >= LEAST_HEAT) found.set(square, { p: sum, man: best });
    }
    return found;
  }

  heatMarks(turn, who) {
    const marks = new Map();
    for (const [square, { p }] of this.asked(turn, who)) marks.set(square, `heat heat-${Math.max(1, Math.ceil(10 * p))}`);
    return marks;
  }

  heatLabels(turn, who) {
    return [...this.asked(turn, who)]
      .filter(([, { p }]) => p >= LEAST_LABEL)
      .map(([square, { p, man }]) => {
        const figure = this.heat === 'any' ? `${FIGURES[man.toLowerCase()]} ` : '';
        const text = `${figure}${T.percent(p)}`;
        return {
          orig: square,
          customSvg: {
            html: `<text x="50" y="90" font-size="${text.length > 4 ? 21 : 24}" font-weight="700" text-anchor="middle" fill="#fff" stroke="#111" stroke-width="5" paint-order="stroke">${text}</text>`,
            center: 'orig',
          },
        };
      });
  }

  /** The engine's moves, as arrows. */
  mixtureArrows(turn, seen) {
    if (!turn || !this.arrows || !this.shows(turn, seen)) return [];
    // Without a mixture the best move alone gets an arrow.
    const shown = turn.looks ? turn.moves.slice(0, 1) : turn.moves;
    return shown.filter((each) => each.move !== 'pass').map((each) => ({
      orig: each.move.slice(0, 2),
      dest: each.move.slice(2, 4),
      brush: 'played',
      modifiers: { lineWidth: 4 + 9 * (each.p ?? 1) },
    }));
  }

  panel(at, turn, who) {
    const { slider, where, verdict, heatOf, mixture } = this.parts;
    const before = this.turns[this.ply - 1];
    slider.value = this.ply;
    where.textContent = `${this.ply ? this.label(this.ply) : T.start} ${before?.played.mark ?? ''} (${T.ply(this.ply, this.last)})`.replace('  ', ' ');
    verdict.textContent = before ? T.verdict(before) : '';
    heatOf.textContent = this.heat === 'none' ? '' : T.heatOf(who);
    this.buttons.forEach((button, ply) => {
      if (ply === this.ply) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    });
    const list = this.parts.moves;
    list.scrollTop = this.ply ? this.buttons[this.ply].offsetTop - list.clientHeight / 2 : 0; // offsetTop counts from the list
    mixture.replaceChildren(...this.mixture(turn));
    this.positions();
    for (const [place, color] of [['bottom', this.bottom], ['top', this.bottom === 'white' ? 'black' : 'white']]) {
      const bar = $(`player-${place}`);
      bar.querySelector('.name').textContent = `${T.side[color]}: ${T.level(this.game.tags[color === 'white' ? 'White' : 'Black'] ?? '?')}`;
      showTaken(bar, this.taken(color));
      bar.querySelector('.clock').textContent = '';
      bar.querySelector('.clock').className = 'clock';
      bar.classList.toggle('to-move', at.turn === color && this.ply < this.last);
    }
  }

  /** What a side has captured so far, where the true board is shown. @param {'white' | 'black'} color */
  taken(color) {
    if (this.view === 'white' || this.view === 'black') return '';
    const { plies } = this.game;
    const count = (ply, man) => plies[ply].truth.split(man).length;
    const own = plies.slice(0, this.ply).flatMap(({ turn }, ply) => (turn === color ? [ply] : []));
    const men = color === 'white' ? 'qrbnpk' : 'QRBNPK';
    return [...men].map((man) => man.repeat(own.filter((ply) => count(ply + 1, man) < count(ply, man)).length)).join('');
  }

  mixture(turn) {
    if (!turn) return [make('p', { class: 'soft', text: this.ply === this.last ? T.noTurn : T.notAnalysed })];
    const mixed = !turn.looks;
    const rows = turn.moves.map((each) =>
      make(
        'tr',
        { class: each.san === turn.played.san ? 'was-played' : '' },
        make('td', { text: each.san }),
        ...(mixed ? [make('td', { text: each.p === null ? '?' : T.percent(each.p) })] : []),
        make('td', { text: each.value === null ? '?' : T.value(each.value) }),
        make('td', { text: each.value === null ? '?' : T.score(each.value) }),
      ),
    );
    const lines = turn.lines.map((line) => make('li', { text: line.join(' ') }));
    return [
      make(
        'table',
        {},
        make('caption', { text: T.mixture(turn.color) }),
        make('thead', {}, make('tr', {}, ...T.columns.filter((_, i) => mixed || i !== 1).map((text) => make('th', { scope: 'col', text })))),
        make('tbody', {}, ...rows),
      ),
      make('p', { text: T.played(turn.played.san) }),
      ...(turn.looks ? [make('p', { text: T.looks(turn) })] : []),
      ...(this.game.plies[0].truth ? [make('p', { class: 'tried', 'aria-live': 'polite', text: this.tried ? T.tried(turn, this.tried) : T.tryOne(turn.color) })] : []),
      ...(lines.length ? [make('details', {}, make('summary', { text: T.expects }), make('ul', {}, ...lines))] : []),
    ];
  }
}
