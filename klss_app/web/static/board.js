// A board with fog: chessground, showing one player's view.
import { Chessground } from '/vendor/chessground/chessground.min.js';

/** @typedef {'white' | 'black'} Color */
/** @typedef {{role: string, color: Color}} Man */

export const ROLES = { p: 'pawn', n: 'knight', b: 'bishop', r: 'rook', q: 'queen', k: 'king' };
const FILES = 'abcdefgh';
export const SQUARES = [...'12345678'].flatMap((rank) => [...FILES].map((file) => file + rank));

/**
 * Read FEN's first field: the piece on each square, and the unseen squares, which are written `?`. @param {string} text
 * @returns {{men: Map<string, Man>, fog: Set<string>}}
 */
export function readBoard(text) {
  const men = new Map();
  const fog = new Set();
  text.split('/').forEach((row, i) => {
    let file = 0;
    for (const sign of row) {
      const square = FILES[file] + (8 - i);
      if (sign >= '1' && sign <= '8') file += Number(sign) - 1;
      else if (sign === '?') fog.add(square);
      else men.set(square, { role: ROLES[sign.toLowerCase()], color: sign < 'a' ? 'white' : 'black' });
      file += 1;
    }
  });
  return { men, fog };
}

/** For chessground: these moves of a side can be made on the board. @param {string[]} moves in UCI */
export function choices(color, moves, after) {
  const dests = new Map([...Map.groupBy(moves, (move) => move.slice(0, 2))].map(([from, each]) => [from, each.map((move) => move.slice(2, 4))]));
  const movable = { free: false, color, dests, showDests: true, events: { after } };
  return { viewOnly: false, turnColor: color, premovable: { enabled: false }, movable };
}

/** An arrow along a move. @param {string} move in UCI @returns {object} */
export const arrow = (move, brush, lineWidth = 10) => ({ orig: move.slice(0, 2), dest: move.slice(2, 4), brush, modifiers: { lineWidth } });

/** How far a king walks from one square to another. @param {string} a @param {string} b */
export const distance = (a, b) => Math.max(Math.abs(a.charCodeAt(0) - b.charCodeAt(0)), Math.abs(Number(a[1]) - Number(b[1])));

export const calm = () => matchMedia('(prefers-reduced-motion: reduce)').matches;

export class FogBoard {
  /** @param {HTMLElement} element */
  constructor(element) {
    this.ground = Chessground(element, {
      fen: '8/8/8/8/8/8/8/8', // empty until the first view comes
      coordinates: true,
      disableContextMenu: true,
      animation: { enabled: !calm(), duration: 180 },
      highlight: { lastMove: true, check: false },
      drawable: { enabled: true, brushes: BRUSHES },
      premovable: { enabled: false },
    });
    this.men = new Map();
    this.fog = new Set();
    this.marks = new Map();
    this.lit = new Set();
    this.cursor = null;
    // Chessground caches the board's place. If the elements above it grow, a click would count for another square.
    new ResizeObserver(() => this.ground.state.dom.bounds.clear()).observe(document.body);
  }

  /**
   * Show a view. @param {string} text FEN's first field, `?` for fog @param {object} config more for chessground @param
   * {string} veil a view whose fog is drawn over the pieces of `text`
   */
  show(text, config = {}, veil = text) {
    const { men } = readBoard(text);
    this.men = men;
    this.fog = readBoard(veil).fog;
    const pieces = new Map(SQUARES.map((square) => [square, men.get(square)]));
    // Chessground turns a board before it applies the other settings of the same call, and draws it anew for that; a
    // board that is view-only at that moment never listens to the mouse again.
    this.ground.set({ viewOnly: false });
    this.ground.set(config);
    this.ground.setPieces(pieces);
    this.paint();
  }

  /** Show a view with nothing else on it than these shapes. */
  plain(text, config, shapes = []) {
    this.marks = new Map();
    this.lit = new Set();
    this.show(text, config);
    this.ground.setAutoShapes(shapes);
  }

  /**
   * Lift the fog around a square, and show there what it hid. @param {string} text the true board @param {string} from
   * @param {number} far in squares, as a king walks
   */
  lift(text, from, far) {
    const { men } = readBoard(text);
    const near = SQUARES.filter((square) => distance(square, from) <= far);
    for (const square of near) this.fog.delete(square);
    this.ground.setAutoShapes([]);
    this.ground.setPieces(new Map(near.map((square) => [square, men.get(square)])));
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

const OUTLINED = 'font-weight="650" text-anchor="middle" fill="#fff" stroke="#111" stroke-width="5" paint-order="stroke"';

/** A shape for the board: a text on a square, at x and y of a hundred. @returns {object} */
export const note = (orig, text, x = 50, y = 60) => ({ orig, customSvg: { center: 'orig', html: `<text x="${x}" y="${y}" font-size="26" ${OUTLINED}>${text}</text>` } });

const brush = (key, color, opacity = 1, lineWidth = 10) => ({ key, color, opacity, lineWidth });
const BRUSHES = {
  green: brush('g', '#15781B'),
  red: brush('r', '#882020'),
  blue: brush('b', '#003088'),
  yellow: brush('y', '#e68f00'),
  played: brush('played', '#e68f00', 0.9, 8),
};
