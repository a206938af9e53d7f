// Puzzles: one turn of a game as its mover saw it; after an answer, what the fog hid.
import { arrow, choices } from '/board.js';
import { $, keep, kept, make, setFragment } from '/dom.js';
import { askPromotion } from '/play.js';
import { sound } from '/sound.js';
import { T } from '/strings.js';

const say = (lines) => $('status').replaceChildren(...lines.map((text) => make('span', { text })));

export class Puzzles {
  /** @param {import('/board.js').FogBoard} board @param {(path: string) => Promise<any>} fetched asks the server */
  constructor(board, fetched) {
    this.board = board;
    this.fetched = fetched;
    /** The puzzle that is shown. @type {any} */
    this.puzzle = null;
    /** The server's reply to the first answer. @type {any} */
    this.told = null;
    /** The numbers of the puzzles that are posed, in their order. @type {number[]} */
    this.order = [];
    $('give-up').addEventListener('click', () => this.answer('-'));
    $('previous').addEventListener('click', () => this.step(-1));
    $('next').addEventListener('click', () => this.step(1));
    for (const [id, texts] of [['theme', T.puzzleThemes], ['order', T.puzzleOrder]]) {
      $(id).append(...Object.entries(texts).map(([value, text]) => make('option', { value, text, selected: value === kept(id, '') })));
      $(id).addEventListener('change', () => {
        keep(id, $(id).value);
        this.arrange();
        this.pose(this.order.find((number) => !kept('found', []).includes(number)) ?? this.order[0]);
      });
    }
  }

  /** Whether an answer is awaited. */
  get asks() {
    return Boolean(this.puzzle) && !this.told;
  }

  /** Choose by theme, and shuffle. */
  arrange() {
    const fits = (theme) => ['all', theme].includes($('theme').value);
    const chosen = this.puzzle.themes.flatMap((theme, i) => (fits(theme) ? [[Math.random(), i + 1]] : []));
    if ($('order').value === 'random') chosen.sort(([a], [b]) => a - b);
    this.order = chosen.map(([, number]) => number);
  }

  /** To the next puzzle, or the one before; around at the ends. */
  step(by) {
    const { length } = this.order;
    this.pose(this.order[(this.order.indexOf(this.puzzle.number) + by + length) % length]);
  }

  /** Pose a puzzle. @param {number} number */
  async pose(number) {
    $('board-frame').setAttribute('aria-busy', 'true');
    say([T.loadingPuzzle]);
    const found = await this.fetched(`/puzzles/${number}`);
    $('board-frame').setAttribute('aria-busy', 'false');
    if (!found) say([]);
    if (!found || document.body.dataset.mode !== 'puzzle') return;
    this.puzzle = found;
    this.told = null;
    if (!this.order.length) this.arrange();
    keep('puzzle', number);
    setFragment({ puzzle: number, game: null, ply: null });
    $('number').textContent = T.puzzle(found, kept('found', []));
    $('rating').textContent = T.puzzleRating(found.level);
    say([...found.happened, found.asked]);
    for (const id of ['give-up', 'entry']) $(id).hidden = false;
    $('boards').hidden = true;
    $('entry-says').textContent = '';
    $('typed').value = '';
    $('typed').placeholder = T.typeMove;
    const moves = choices(found.color, Object.keys(found.moves), (from, to) => this.moved(from, to));
    this.board.plain(found.board, { orientation: found.color, lastMove: [], ...moves });
  }

  async moved(from, to) {
    const move = this.puzzle.moves[from + to] ? from + to : from + to + (await askPromotion(this.puzzle.color));
    if (this.puzzle.moves[move]) this.answer(move);
    else this.pose(this.puzzle.number);
  }

  /** A move that was typed. @param {string} text */
  type(text) {
    const typed = text.replace(/[+#]$/, '');
    const move = Object.keys(this.puzzle.moves).find((each) => each === typed.toLowerCase() || this.puzzle.moves[each] === typed);
    if (move) this.answer(move);
    else $('entry-says').textContent = T.noSuchMove(typed);
  }

  /** @param {string} move in UCI; `-` gives up */
  async answer(move) {
    if (!this.asks) return;
    const { puzzle } = this;
    const found = await this.fetched(`/puzzles/${puzzle.number}/${move}`);
    if (!found || puzzle !== this.puzzle || document.body.dataset.mode !== 'puzzle') return;
    this.told = found;
    if (found.right) keep('found', [...new Set([...kept('found', []), puzzle.number])]);
    $('number').textContent = T.puzzle(puzzle, kept('found', []));
    sound(found.right ? 'right' : 'end');
    say(found.says);
    for (const id of ['give-up', 'entry']) $(id).hidden = true;
    const choices = [[T.youSaw, puzzle.board, [found.solution]], [T.thereWas, found.truth, [found.solution]]];
    if (found.against) choices.push([T.couldHaveBeen, found.against, [move, found.reply].filter(Boolean)]);
    $('boards').replaceChildren(...choices.map((each) => make('button', { text: each[0], onclick: () => this.look(...each) })));
    $('boards').hidden = false;
    this.look(...choices.at(-1));
  }

  /** Show one of the boards that are known after the answer. */
  look(text, fen, arrows) {
    for (const button of $('boards').children) button.setAttribute('aria-pressed', String(button.textContent === text));
    const shapes = arrows.map((move, i) => arrow(move, arrows.length === 2 ? ['red', 'blue'][i] : 'green'));
    this.board.plain(fen, { viewOnly: true, orientation: this.puzzle.color, lastMove: [] }, shapes);
  }
}
