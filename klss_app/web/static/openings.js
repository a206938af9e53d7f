// The opening book: the moves of kluss and of people after a line, given what the player to move has seen.
import { FogBoard } from '/board.js';
import { $, fragment, make, setFragment } from '/dom.js';
import { T } from '/strings.js';

for (const element of document.querySelectorAll('[data-text]')) element.textContent = T[element.dataset.text];
for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', T[element.dataset.label]);

const board = new FogBoard($('board'), { viewOnly: true });

/** @param {string[]} line moves in UCI */
async function show(line) {
  let found;
  try {
    const response = await fetch(`/openings/${line.join('-') || 'start'}`);
    if (!response.ok) throw new Error((await response.text()).trim());
    found = await response.json();
  } catch (error) {
    $('banner').textContent = T.noLine(String(error.message ?? error));
    $('banner').hidden = false;
    return;
  }
  $('banner').hidden = true;
  setFragment({ line: line.join('-') || null });
  $('line').textContent = T.line(found.names);
  $('back').disabled = line.length === 0;
  $('back').onclick = () => show(line.slice(0, -1));
  board.show(found.board, { orientation: found.color });
  const rows = found.moves.map((each) =>
    make('tr', {},
      make('td', {}, make('button', { text: each.san, onclick: () => show([...line, each.move]) })),
      ...[each.probability, each.people].map((share) => make('td', { text: share === null ? '' : T.percent(share) })),
      make('td', { text: each.value === null ? '' : each.value.toFixed(3) }),
    ),
  );
  $('book').tBodies[0].replaceChildren(...rows);
  $('book').hidden = rows.length === 0;
  $('no-page').hidden = rows.length > 0;
  const often = found.moves.filter((each) => each.probability >= 0.1);
  const arrow = (each) => ({ orig: each.move.slice(0, 2), dest: each.move.slice(2, 4), brush: 'green' });
  board.ground.setAutoShapes(often.map(arrow));
}

show((fragment().get('line') ?? '').split('-').filter(Boolean));
