// Where enemy pieces were last seen, from one side's views alone.
import { note, readBoard, ROLES } from '/board.js';

const AT_FIRST = { pawn: 8, knight: 2, bishop: 2, rook: 2, queen: 1, king: 1 };

/**
 * The latest sight of each square that is in the fog now, if an enemy piece stood there; of each kind no more pieces
 * than the enemy can still have hidden, had none been promoted. @param {string[]} views FEN's first fields of all of a
 * side's views, the present one last @param {'white' | 'black'} own the side @param {string} taken letters of what it
 * has captured @returns {{orig: string, piece: any, age: number}[]} the age is in plies
 */
export function ghosts(views, own, taken = '') {
  const present = readBoard(views.at(-1));
  const hidden = { ...AT_FIRST };
  for (const man of taken) hidden[ROLES[man.toLowerCase()]] -= 1;
  for (const man of present.men.values()) if (man.color !== own) hidden[man.role] -= 1;
  const unknown = new Set(present.fog);
  const found = [];
  for (let age = 1; age < views.length && unknown.size; age += 1) {
    const { men, fog } = readBoard(views.at(-1 - age));
    for (const square of [...unknown].filter((each) => !fog.has(each))) {
      unknown.delete(square);
      const man = men.get(square);
      if (!man || man.color === own || hidden[man.role] <= 0) continue;
      hidden[man.role] -= 1;
      found.push({ orig: square, piece: { ...man, scale: 0.85 }, age });
    }
  }
  return found;
}

/** Ghosts as shapes for the board: the piece, and in its corner for how many moves it was not seen. */
export const haunting = (found) => found.flatMap(({ orig, piece, age }) => [{ orig, piece }, note(orig, Math.ceil(age / 2), 86, 28)]);
