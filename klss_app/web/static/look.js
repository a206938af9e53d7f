// Where to look in Reconnaissance Blind Chess: the nine squares light up under the pointer and around the cursor; a click,
// a tap or Enter looks there.
import { distance, SQUARES } from '/board.js';

/** The squares that a look at this one shows. @param {string} square */
export const around = (square) => SQUARES.filter((each) => distance(each, square) <= 1);

/** The age of the knowledge of each square, as shades. @param {Record<string, number> | undefined} ages */
export function ageMarks(ages) {
  return new Map(Object.entries(ages ?? {}).filter(([, age]) => age > 0).map(([square, age]) => [square, `age age-${Math.min(age, 4)}`]));
}

export class Look {
  /** @param {import('/board.js').FogBoard} board @param {HTMLElement} element the board's @param {(square: string) => void} chosen */
  constructor(board, element, chosen) {
    this.board = board;
    this.chosen = chosen;
    this.active = false;
    const at = (event) => board.ground.getKeyAtDomPos([event.clientX, event.clientY]);
    element.addEventListener('pointermove', (event) => this.active && this.light(at(event)));
    element.addEventListener('pointerleave', () => this.active && this.light(null));
    element.addEventListener('click', (event) => {
      const square = this.active && at(event);
      if (square) chosen(square);
    });
  }

  /** @param {boolean} active whether a look is asked for */
  set(active) {
    this.active = active;
    this.light(active ? this.board.cursor : null);
  }

  /** @param {string | null | undefined} square */
  light(square) {
    this.board.lit = new Set(square ? around(square) : []);
    this.board.paint();
  }
}
