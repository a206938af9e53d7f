// The board by keyboard: a cursor that the arrow keys move; Enter or Space picks a piece up and puts it down.
import { $ } from '/dom.js';
import { T } from '/strings.js';

const STEPS = { ArrowUp: [0, 1], ArrowDown: [0, -1], ArrowLeft: [-1, 0], ArrowRight: [1, 0] };

/**
 * @param {import('/board.js').FogBoard} board @param {() => boolean} active @param {import('/look.js').Look} look what
 * Enter chooses where a look is asked for
 */
export function followCursor(board, active, look) {
  const frame = $('board-frame');
  const say = (square) => {
    const man = board.men.get(square);
    const what = man ? `${T.side[man.color]} ${T.men[man.role]}` : board.fog.has(square) ? T.fog : T.empty;
    $('cursor-says').textContent = T.cursor(square, what);
  };
  frame.addEventListener('keydown', (event) => {
    if (!active() || event.ctrlKey || event.metaKey || event.altKey) return;
    const step = STEPS[event.key];
    if (step) {
      const turn = board.ground.state.orientation === 'white' ? 1 : -1;
      const at = board.cursor ?? (turn === 1 ? 'e2' : 'e7');
      const fit = (n) => Math.min(7, Math.max(0, n));
      const file = fit('abcdefgh'.indexOf(at[0]) + (board.cursor ? turn * step[0] : 0));
      const rank = fit(Number(at[1]) - 1 + (board.cursor ? turn * step[1] : 0));
      const square = 'abcdefgh'[file] + (rank + 1);
      board.point(square);
      if (look.active) look.light(square);
      say(square);
    } else if ((event.key === 'Enter' || event.key === ' ') && board.cursor) {
      if (look.active) look.chosen(board.cursor);
      else board.ground.selectSquare(board.cursor);
      board.paint();
    } else if (event.key === 'Escape') {
      board.ground.cancelMove();
      board.ground.cancelPremove();
      board.paint();
    } else return;
    event.preventDefault();
  });
  frame.addEventListener('focusout', () => board.point(null));
}
