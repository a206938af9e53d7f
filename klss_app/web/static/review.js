// A finished game: the true position, both sides' views, and the engine's analysis.
import { arrow, choices, note } from '/board.js';
import { chart, hasValues } from '/chart.js';
import { $, choose, fragment, kept, make, rows, setFragment, table } from '/dom.js';
import { ghosts, haunting } from '/ghosts.js';
import { ageMarks, around } from '/look.js';
import { showPlayer } from '/play.js';
import { T } from '/strings.js';

const COLORS = ['white', 'black'];
/** The marks' classes. */
const NAMES = { '?!': 'dubious', '?': 'mistake', '??': 'blunder' };
/** The least probability that is shown. */
const LEAST = 0.01;
const SHADES = 5;

/** A part of a side's bar: a mean value a move, to the left or the right of the middle; a fifth reaches the end. */
const part = (value, name) => make('i', { class: name, style: `left: ${50 + 250 * Math.min(0, value)}%; width: ${250 * Math.abs(value)}%` });

export class Review {
  /** @param {import('/board.js').FogBoard} board @param {(message: object) => void} send */
  constructor(board, send) {
    this.board = board;
    this.send = send;
    this.game = null;
    this.turns = [];
    this.summary = null;
    this.running = false;
    /** A move that was tried on the board at this ply. @type {string | null} */
    this.tried = null;
    /** The costly move before which its side tries again, from what it saw; null: the review shows all. @type {any} */
    this.lesson = null;
    /** A line that is stepped through: its moves, and how many of them are played on the board. @type {any} */
    this.line = null;
    this.part = (selector) => document.querySelector(`#review ${selector}`);
    this.views = this.part('[name=views]');
    choose(this.views, 'view', T.show, Object.entries(T.views), 'truth');
    for (const [value, text] of Object.entries(T.heat)) $('heat').append(make('option', { value, text }));
    for (const place of [this.views, $('heat'), $('arrows')]) place.addEventListener('change', () => this.draw());
    for (const button of document.querySelectorAll('#review [data-key]')) {
      button.addEventListener('click', () => this.key(button.dataset.key));
    }
    $('slider').addEventListener('input', () => this.go(Number($('slider').value)));
    $('next-mistake').addEventListener('click', () => this.nextMistake());
    $('learn').addEventListener('click', () => this.learn());
    $('download-review').addEventListener('click', () => this.send({ type: 'pgn', game: this.game.game, comments: true }));
  }

  get view() {
    return this.views.querySelector(':checked').value;
  }

  /** @param {any} game the review's document */
  open(game) {
    this.game = game;
    this.turns = [];
    this.summary = null;
    this.bottom = game.color;
    document.body.toggleAttribute('data-text', !game.plies[0].truth); // a game without a chessboard
    this.last = game.plies.length - 1;
    const wanted = Number(fragment().get('ply') ?? this.last);
    this.ply = fragment().get('game') === String(game.game) && wanted >= 0 && wanted <= this.last ? wanted : this.last;
    this.build();
    this.go(this.ply);
    document.title = T.pageTitle($('review-title').textContent);
    this.running = this.last > 0;
    if (this.running) this.send({ type: 'analyse', game: this.game.game });
    this.progress();
    $('review-title').focus({ preventScroll: true });
  }

  /** @param {any} message the new turns */
  analysis(message) {
    if (!this.game || message.game !== this.game.game) return;
    for (const turn of message.turns) this.turns[turn.ply] = turn;
    if (message.done) this.running = false;
    this.summary = message.summary;
    this.progress(message.failed ? T.failed(message.failed) : undefined);
    this.marks();
    this.chart();
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
    this.lesson = null;
    this.line = null;
    this.draw();
  }

  /** Show the possible position after a move of a line; before the first move the review goes on. */
  step(steps, at) {
    this.line = at < 0 ? null : { steps, at: Math.min(at, steps.length - 1) };
    this.draw();
  }

  /** @param {string} name of a key @returns {boolean} whether the key has a meaning here */
  key(name) {
    const views = Object.keys(T.views);
    const plies = { ArrowLeft: this.ply - 1, ArrowRight: this.ply + 1, Home: 0, End: this.last };
    const along = { ArrowLeft: -1, ArrowRight: 1 }[name];
    if (this.line && along) this.step(this.line.steps, this.line.at + along);
    else if (name in plies) this.go(plies[name]);
    else if (name === 'e') this.nextMistake();
    else if (views[name - 1]) this.choose(views[name - 1]);
    else return false;
    return true;
  }

  choose(view) {
    this.views.querySelector(`[value=${view}]`).checked = true;
    this.draw();
  }

  /** The next costly move after a ply, of a side or of both; from the start again after the last one. */
  mistake(after, color = null) {
    const costly = this.turns.filter((turn) => turn?.played.mark && (!color || turn.color === color));
    return costly.find((turn) => turn.ply >= after) ?? costly[0];
  }

  nextMistake() {
    const found = this.mistake(this.ply);
    if (found) this.go(found.ply + 1);
    else this.says(T.noErrors(!this.running));
  }

  says(text, steps = []) {
    this.part('.verdict').replaceChildren(text, ...(steps.length ? [make('span', { class: 'line' }, ...this.moves(steps))] : []));
  }

  /** The moves of a line, each of which shows its position. */
  moves(steps) {
    const current = (at) => this.line?.steps === steps && this.line.at === at && 'true';
    return steps.map(({ san }, at) => make('button', { type: 'button', text: san, 'aria-current': current(at), onclick: () => this.step(steps, at) }));
  }

  /** The position before the next costly move of the side whose board is below, as that side saw it. */
  learn() {
    const found = this.mistake(this.lesson ? this.lesson.ply + 1 : 0, this.bottom);
    if (found) {
      this.go(found.ply);
      this.lesson = found;
      this.choose(found.color);
    } else this.says(T.noErrors(!this.running));
  }

  // ------------------------------------------------------------------ the panel
  /** Fill the panel for this game. */
  build() {
    const { tags, over, plies } = this.game;
    $('review-title').textContent = T.reviewOf(tags.White ?? '?', tags.Black ?? '?', over ? over.result : '*');
    $('ended').textContent = over?.text ?? '';
    $('slider').max = this.last;
    this.buttons = plies.map(({ san }, ply) => make('button', { type: 'button', text: san ?? '', onclick: () => this.go(ply) }));
    this.part('.game-moves').replaceChildren(...rows(this.buttons.slice(1), plies[0].number, plies[0].turn === 'black'));
    const { kind } = document.body.dataset;
    $('download-review').textContent = T.download[kind] ?? T.download.rbc;
    $('open-pgn').textContent = T.open[kind] ?? T.open.rbc;
    this.marks();
    this.chart();
  }

  progress(said) {
    const known = this.turns.filter(Boolean).length;
    $('analysed').textContent = said ?? (known >= this.last ? T.analysed(known) : T.analysing(known, this.last));
  }

  /** What is known of both sides' moves so far: the marks in the list, and a row of figures for each side. */
  marks() {
    for (const turn of this.turns) {
      const button = turn && this.buttons[turn.ply + 1];
      const { mark } = turn?.played ?? {};
      if (button && mark) button.replaceChildren(`${this.game.plies[turn.ply + 1].san} `, make('span', { class: NAMES[mark], text: mark }));
    }
    const figures = (this.summary ? COLORS : []).map((color) => {
      const { accuracy, mean_cost: cost, mean_luck: luck, marks } = this.summary[color];
      const counts = Object.entries(NAMES).map(([mark, name]) => make('td', { class: name, text: `${marks[mark]} ${mark}` }));
      const figure = make('td', { class: 'strong', title: T.accuracyAbout, text: accuracy === null ? '–' : accuracy.toFixed(0) });
      const title = T.skillAndLuck(cost, luck);
      const bar = make('span', { class: 'bar', role: 'img', 'aria-label': title, title }, part(-cost, 'cost'), part(luck ?? 0, 'luck'));
      return make('tr', {}, make('td', { text: T.side[color] }), figure, ...counts, make('td', {}, bar));
    });
    this.part('.sides').replaceChildren(make('caption', { text: T.sides }), make('tbody', {}, ...figures));
  }

  /** Values and numbers of positions along the game, with dots for costly moves. */
  chart() {
    const values = COLORS.map((color, i) =>
      this.turns.map((turn) => (turn.color !== color || turn.value === null ? null : i ? -turn.value : turn.value)),
    );
    values.push(this.turns.map((turn) => turn.truth));
    const sizes = COLORS.map((color) => this.turns.map((turn) => turn.positions[color]?.[0]));
    const dots = this.turns
      .filter((turn) => turn?.played.mark && turn.value !== null)
      .map((turn) => ({
        ply: turn.ply,
        at: turn.color === 'white' ? turn.value : -turn.value,
        name: NAMES[turn.played.mark],
        text: `${this.label(turn.ply + 1)} ${turn.played.mark}`,
      }));
    $('chart').hidden = this.turns.length > 0 && ![...values, ...sizes].some(hasValues);
    $('chart').replaceChildren(
      chart(values, sizes, this.ply, this.last, (ply) => this.go(ply), dots),
      make('p', { class: 'soft legend' }, ...T.lines.filter((_, i) => hasValues(values[i])).map(([line, text]) => make('span', { class: line, text }))),
    );
  }

  /** A move with its number: 7. Nf3 or 7… Nf6. */
  label(ply) {
    const before = this.game.plies[ply - 1];
    return `${before.number}${before.turn === 'white' ? '.' : '…'} ${this.game.plies[ply].san}`;
  }

  // ------------------------------------------------------------------ the boards
  draw() {
    const at = this.game.plies[this.ply];
    const told = !this.lesson || this.tried !== null; // who tries again sees nothing of the engine's before the answer
    const turn = this.turns[this.ply];
    if (!at.truth) {
      const knew = (color) => make('p', {}, make('b', { text: T.views[color] }), make('span', { text: at[color] }));
      this.part('.saw').replaceChildren(...COLORS.map(knew));
      this.panel(at, turn, at.turn, told);
      return setFragment({ game: this.game.game, ply: this.ply });
    }
    const seen = this.view === 'veil' ? 'truth' : this.view;
    const who = seen === 'truth' ? at.turn : seen;
    const config = { viewOnly: true, orientation: this.bottom, turnColor: at.turn, premovable: { enabled: false } };
    const shown = this.line?.steps[this.line.at];
    if (shown) {
      this.board.plain(shown.board, { ...config, lastMove: [shown.move.slice(0, 2), shown.move.slice(2, 4)] });
      return this.panel(at, turn, who, told);
    }
    this.board.marks = $('heat').value === 'none' ? ageMarks(at.ages?.[seen]) : this.heatMarks(turn, who);
    this.board.lit = new Set(told && turn?.looks && $('arrows').checked && this.shows(turn, seen) ? around(turn.look.best) : []);
    const veil = this.view === 'veil' ? at[this.bottom] : at[seen];
    this.board.show(at[seen], { ...config, ...this.trying(turn, seen), lastMove: this.lastMove(seen) }, veil);
    this.board.ground.setAutoShapes([
      ...this.ghosts(at, seen), ...this.heatLabels(turn, who), ...(told ? this.mixtureArrows(turn, seen) : []), ...this.punishment(),
    ]);
    this.panel(at, turn, who, told);
    setFragment({ game: this.game.game, ply: this.ply });
  }

  /** The enemy's pieces as the side whose board is shown last saw them. */
  ghosts(at, seen) {
    if (seen === 'truth' || at.ages || $('heat').value !== 'none' || !kept('ghosts', true)) return [];
    return haunting(ghosts(this.game.plies.slice(0, this.ply + 1).map((ply) => ply[seen]), seen, this.taken(seen)));
  }

  /** Whether the engine's analysis of a turn is drawn on that board: not on that of the side that was not to move. */
  shows(turn, seen) {
    return seen === 'truth' || seen === turn.color;
  }

  /** Moves of the side to move may be tried on its own board and on the true one, once they are analysed. */
  trying(turn, seen) {
    if (!turn?.tries || !this.shows(turn, seen)) return {};
    const moves = Object.keys(turn.tries);
    return choices(turn.color, moves, (from, to) => {
      this.tried = moves.find((move) => move.startsWith(from + to));
      this.draw();
    });
  }

  /** The squares of the move that led here, as far as that side saw it. */
  lastMove(seen) {
    if (this.ply === 0) return [];
    const move = this.game.plies[this.ply].move;
    if (!move) return []; // a turn without a move
    return seen === 'truth' || this.game.plies[this.ply - 1].turn === seen ? [move.slice(0, 2), move.slice(2, 4)] : [];
  }

  /** Squares with the probability that one of the chosen enemy pieces stands there. @returns {[string, number][]} */
  asked(turn, who) {
    if (!turn || $('heat').value === 'none') return [];
    const chosen = ([man]) => $('heat').value === 'any' || man.toLowerCase() === $('heat').value;
    const sum = (men) => Object.entries(men).filter(chosen).reduce((all, [, p]) => all + p, 0);
    return Object.entries(turn.beliefs[who]).map(([square, men]) => [square, sum(men)]).filter(([, p]) => p >= LEAST);
  }

  heatMarks(turn, who) {
    return new Map(this.asked(turn, who).map(([square, p]) => [square, `heat heat-${Math.max(1, Math.ceil(SHADES * p))}`]));
  }

  /** The probabilities, where no piece stands. */
  heatLabels(turn, who) {
    const free = this.asked(turn, who).filter(([square]) => !this.board.men.has(square));
    return free.map(([square, p]) => note(square, T.percent(p)));
  }

  /** The engine's moves, as arrows. */
  mixtureArrows(turn, seen) {
    if (!turn || !$('arrows').checked || !this.shows(turn, seen)) return [];
    // Without a mixture the best move alone gets an arrow.
    const shown = turn.looks ? turn.moves.slice(0, 1) : turn.moves;
    return shown.filter((each) => each.move !== 'pass').map((each) => arrow(each.move, 'played', 4 + 9 * (each.p ?? 1)));
  }

  /** The reply that punishes the move that led here, as an arrow. */
  punishment() {
    const reply = this.turns[this.ply - 1]?.because?.line[1];
    return reply && $('arrows').checked && !this.lesson ? [arrow(reply.move, 'red')] : [];
  }

  panel(at, turn, who, told) {
    const before = this.turns[this.ply - 1];
    $('slider').value = this.ply;
    this.part('.where').textContent = `${this.ply ? this.label(this.ply) : T.start} ${before?.played.mark ?? ''} (${T.ply(this.ply, this.last)})`.replace('  ', ' ');
    if (this.lesson) this.says(this.tried ? T.tried(turn, this.tried) : T.lesson(turn));
    else if (this.line) this.says(T.inLine, this.line.steps);
    else this.says(before ? T.verdict(before) : '', before?.because?.line);
    $('heat-of').textContent = $('heat').value === 'none' ? '' : T.heatOf(who);
    this.buttons.forEach((button, ply) => {
      if (ply === this.ply) button.setAttribute('aria-current', 'true');
      else button.removeAttribute('aria-current');
    });
    const list = this.part('.game-moves');
    list.scrollTop = this.ply ? this.buttons[this.ply].offsetTop - list.clientHeight / 2 : 0; // offsetTop counts from the list
    this.part('.mixture').replaceChildren(...(told ? this.mixture(turn) : []));
    this.chart();
    for (const [place, color] of [['bottom', this.bottom], ['top', this.bottom === 'white' ? 'black' : 'white']]) {
      const name = T.level(this.game.tags[color === 'white' ? 'White' : 'Black'] ?? '?');
      const taken = this.view === 'white' || this.view === 'black' ? '' : this.taken(color);
      showPlayer(place, `${T.side[color]}: ${name}`, taken, at.turn === color && this.ply < this.last);
    }
  }

  /** What a side has captured so far. @param {'white' | 'black'} color */
  taken(color) {
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
        ...[each.san, ...(mixed ? [T.percent(each.p)] : []), T.value(each.value)].map((text) => make('td', { text })),
      ),
    );
    const lines = (turn.steps ?? []).map((steps) => make('li', { class: 'line' }, ...this.moves(steps)));
    return [
      table(T.mixture(turn.color), T.columns.filter((_, i) => mixed || i !== 1), rows),
      ...(turn.looks ? [make('p', { text: T.looks(turn) })] : []),
      ...(this.game.plies[0].truth ? [make('p', { class: 'tried', 'aria-live': 'polite', text: this.tried ? T.tried(turn, this.tried) : T.tryOne(turn.color) })] : []),
      ...(lines.length ? [make('details', {}, make('summary', { text: T.expects }), make('ul', {}, ...lines))] : []),
    ];
  }
}
