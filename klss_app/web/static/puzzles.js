// Puzzles: one turn of a game as its mover saw it; after an answer, what the fog hid.
import { destinations } from '/board.js';
import { $, keep, kept, make, setFragment } from '/dom.js';
import { askPromotion } from '/play.js';
import { sound } from '/sound.js';
import { T } from '/strings.js';

const say = (lines) => $('status').replaceChildren(...lines.map((text) => make('span', { text })));

export class Puzzles {
  /** @param {import('/board.js').FogBoard} board @param {(text: string) => void} banner shows a message */
  constructor(board, banner) {
    this.board = board;
    this.banner = banner;
    /** The puzzle that is shown. @type {any} */
    this.puzzle = null;
    /** The server's reply to the first answer. @type {any} */
    this.told = null;
    $('give-up').addEventListener('click', () => this.answer('-'));
    $('previous').addEventListener('click', () => this.pose(this.puzzle.number - 1));
    $('next').addEventListener('click', () => this.pose(this.puzzle.number + 1));
  }

  /** Whether an answer is awaited. */
  get asks() {
    return Boolean(this.puzzle) && !this.told;
  }

  /** @param {string} path */
  async fetched(path) {
    try {
      const response = await fetch(path);
      if (!response.ok) throw new Error((await response.text()).trim());
      this.banner('');
      return await response.json();
    } catch (error) {
      this.banner(T.noPuzzle(String(error.message ?? error)));
      return null;
    }
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
    keep('puzzle', number);
    setFragment({ puzzle: number, game: null, ply: null });
    $('number').textContent = T.puzzle(found, kept('solved', []));
    $('rating').textContent = T.puzzleRating(found.rating);
    say([...found.happened, found.asked]);
    $('previous').disabled = found.number === 1;
    $('next').disabled = found.number === found.of;
    for (const id of ['give-up', 'entry']) $(id).hidden = false;
    $('boards').hidden = true;
    $('entry-says').textContent = '';
    $('typed').value = '';
    $('typed').placeholder = T.typeMove;
    this.board.marks = new Map();
    this.board.lit = new Set();
    this.board.ground.setAutoShapes([]);
    this.board.show(found.board, {
      viewOnly: false,
      orientation: found.color,
      turnColor: found.color,
      lastMove: [],
      premovable: { enabled: false },
      movable: {
        free: false,
        color: found.color,
        dests: destinations(Object.keys(found.moves)),
        events: { after: (from, to) => this.moved(from, to) },
      },
    });
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
    if (!found || puzzle !== this.puzzle) return;
    this.told = found;
    if (found.right) keep('solved', [...new Set([...kept('solved', []), puzzle.number])]);
    $('number').textContent = T.puzzle(puzzle, kept('solved', []));
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
    this.board.show(fen, { viewOnly: true, orientation: this.puzzle.color, lastMove: [] });
    const brush = (i) => (arrows.length === 2 ? ['red', 'blue'][i] : 'green');
    this.board.ground.setAutoShapes(arrows.map((move, i) => ({ orig: move.slice(0, 2), dest: move.slice(2, 4), brush: brush(i) })));
  }
}
