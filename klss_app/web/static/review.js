// A game that is over: the truth, and what either side saw.
import { FogBoard } from '/board.js';
import { $, fragment, make, setFragment } from '/dom.js';
import { T } from '/strings.js';

export class Review {
  /** @param {FogBoard} board @param {(message: object) => void} send */
  constructor(board, send) {
    this.board = board;
    this.send = send;
  }
  leave() {}
  open(game) {}
  analysis(message) {}
  flip() {}
  key(name) {
    return false;
  }
}
