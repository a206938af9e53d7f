// The dialog in which one of a file's games is chosen.
import { $, make } from '/dom.js';
import { T } from '/strings.js';

/**
 * @param {{number: number, white: string, black: string, result: string, plies: number, why: string | null}[]} games
 * @param {number} of the number of games in the file; more than are listed if there are too many
 * @param {(number: number) => void} open
 */
export function chooseGame(games, of, open) {
  const dialog = $('games');
  const row = (game) => {
    const names = T.gameNames(game.white, game.black);
    const choice = game.why
      ? [make('span', { text: names }), make('span', { class: 'why', text: game.why })]
      : [make('button', { value: game.number, class: 'link', text: names })];
    return make(
      'tr',
      {},
      make('td', { text: game.number }),
      make('td', {}, ...choice),
      make('td', { text: game.why ? '' : game.result }),
      make('td', { text: game.plies }),
    );
  };
  const form = make(
    'form',
    { method: 'dialog' },
    make('div', { class: 'row head' }, make('h2', { id: 'games-title', text: T.gamesTitle(of) }), make('button', { value: '', text: T.close })),
    ...(games.length < of ? [make('p', { class: 'soft', text: T.gamesShown(games.length) })] : []),
    make(
      'table',
      {},
      make('thead', {}, make('tr', {}, ...T.gameColumns.map((text) => make('th', { scope: 'col', text })))),
      make('tbody', {}, ...games.map(row)),
    ),
  );
  form.addEventListener('submit', (event) => {
    if (event.submitter?.value) open(Number(event.submitter.value));
  });
  dialog.replaceChildren(form);
  if (!dialog.open) dialog.showModal();
}
