// A board with fog: chessground, showing one player's view.
import { Chessground } from '/vendor/chessground/chessground.min.js';

/** @typedef {'white' | 'black'} Color */
/** @typedef {{role: string, color: Color}} Man */

export const ROLES = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen', k: 'king' };
const FILES = 'abcdefgh';
export const SQUARES = [...'12345678'].flatMap((rank) => [...FILES].map((file) => file + rank));

/**
 * Read FEN's first field: the piece on each square, and the unseen squares, which are written `?`.
 * @param {string} text
 * @returns {{men: Map<string, Man>, fog: Set<string>}}
 */
export function readBoard(text) {
  const men = new Map();
  const fog = new Set();
  text.split('/').forEach((row, i) => {
    let file = 0;
    for (const sign of row) {
      const square = FILES[file] + (8 - i);
      if (sign >= '1' && sign <= '8') {
        file += Number(sign);
        continue;
      }
      if (sign === '?') fog.add(square);
      else men.set(square, { role: ROLES[sign.toLowerCase()], color: sign < 'a' ? 'white' : 'black' });
      file += 1;
    }
  });
  return { men, fog };
}

/**
 * @param {string[]} moves in UCI
 * @returns {Map<string, string[]>} from -> to
 */
export function destinations(moves) {
  const found = new Map();
  for (const move of moves) {
    const from = move.slice(0, 2);
    if (!found.has(from)) found.set(from, []);
    found.get(from).push(move.slice(2, 4));
  }
  return found;
}

export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class FogBoard {
  /** @param {HTMLElement} element */
  constructor(element, config = {}) {
    this.ground = Chessground(element, {
      fen: '8/8/8/8/8/8/8/8', // empty until the first view comes
      coordinates: true,
      disableContextMenu: true,
      animation: { enabled: !calm(), duration: 180 },
      highlight: { lastMove: true, check: false },
      drawable: { enabled: true, brushes: BRUSHES },
      premovable: { enabled: false },
      ...config,
    });
    /** Whether moves are never made on this board. */
    this.still = Boolean(config.viewOnly);
    this.men = new Map();
    this.fog = new Set();
    this.marks = new Map();
    this.lit = new Set();
    this.cursor = null;
    // Chessground caches the board's place. If the elements above it grow, a click would count for another square.
    new ResizeObserver(() => this.ground.state.dom.bounds.clear()).observe(document.body);
  }

  /**
   * Show a view.
   * @param {string} text FEN's first field, `?` for fog
   * @param {object} config more for chessground
   */
  show(text, config = {}) {
    const { men, fog } = readBoard(text);
    this.men = men;
    this.fog = fog;
    const pieces = new Map(SQUARES.map((square) => [square, men.get(square)]));
    // Chessground turns a board before it applies the other settings of the same call, and draws it anew for that; a
    // board that is view-only at that moment never listens to the mouse again.
    this.ground.set({ viewOnly: this.still });
    this.ground.set(config);
    this.ground.setPieces(pieces);
    this.paint();
  }

  /** @param {Map<string, string>} marks square -> classes, beside the fog's */
  mark(marks) {
    this.marks = marks;
    this.paint();
  }

  /** @param {string | null} square */
  point(square) {
    this.cursor = square;
    this.paint();
  }

  paint() {
    const classes = new Map();
    for (const square of SQUARES) {
      const all = [];
      if (this.fog.has(square)) all.push('fog');
      if (this.marks.has(square)) all.push(this.marks.get(square));
      if (this.lit.has(square)) all.push('lit');
      if (this.cursor === square) all.push('cursor');
      if (all.length) classes.set(square, all.join(' '));
    }
    this.ground.set({ highlight: { custom: classes } });
  }
}

const brush = (key, color, opacity = 1, lineWidth = 10) => ({ key, color, opacity, lineWidth });
const BRUSHES = {
  green: brush('g', '#15781B'),
  red: brush('r', '#882020'),
  blue: brush('b', '#003088'),
  yellow: brush('y', '#e68f00'),
  played: brush('played', '#e68f00', 0.9, 8),
};
