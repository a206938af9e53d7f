// The opening book: what the engine and people play at their first turns, by what the side to move has seen.
import { arrow, choices } from '/board.js';
import { $, make, setFragment, table } from '/dom.js';
import { T } from '/strings.js';

export class Openings {
  /** @param {import('/board.js').FogBoard} board @param {(path: string) => Promise<any>} fetched asks the server */
  constructor(board, fetched) {
    this.board = board;
    this.fetched = fetched;
    /** The moves so far in UCI, without spaces. */
    this.line = '';
    $('opening-back').addEventListener('click', () => this.go(this.line.slice(0, -4)));
  }

  /** Show the page after these moves. @param {string} line */
  async go(line) {
    const found = await this.fetched(`/openings/${line}`);
    if (!found || document.body.dataset.mode !== 'opening') return;
    this.line = line;
    setFragment({ opening: line });
    const { board, color, moves } = found;
    $('opening-says').textContent = T.opening(found);
    $('opening-back').disabled = !line;
    const people = moves.reduce((sum, [, , , , count]) => sum + count, 0);
    const rows = moves.map(([move, san, p, value, count]) => {
      const button = make('button', { type: 'button', text: san, onclick: () => this.go(line + move) });
      const bar = make('span', { class: 'share' }, make('i', { style: `width: ${100 * p}%` }));
      const cells = [[button], [bar, T.percent(p)], [people ? T.percent(count / people) : ''], [T.value(value)]];
      return make('tr', {}, ...cells.map((cell) => make('td', {}, ...cell)));
    });
    $('opening-moves').replaceChildren(...(rows.length ? [table(T.openingPeople(people), T.openingColumns, rows)] : []));
    const played = choices(color, moves.map(([move]) => move), (from, to) => this.go(line + from + to));
    const arrows = moves.filter(([, , p]) => p > 0).map(([move, , p]) => arrow(move, 'played', 4 + 9 * p));
    this.board.plain(board, { orientation: 'white', lastMove: [], ...played }, arrows);
  }
}
