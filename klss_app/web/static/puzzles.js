// Puzzles: one turn of a game as its mover saw it; after an answer, what the fog hid.
import { destinations, FogBoard } from '/board.js';
import { followCursor } from '/cursor.js';
import { $, fragment, make, setFragment } from '/dom.js';
import { T } from '/strings.js';

for (const element of document.querySelectorAll('[data-text]')) element.textContent = T[element.dataset.text];
for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', T[element.dataset.label]);

const board = new FogBoard($('board'));
/** The puzzle that is shown. @type {any} */
let puzzle = null;
/** The server's reply to the first answer. @type {any} */
let told = null;

/** @param {string} path */
async function fetched(path) {
  try {
    const response = await fetch(path);
    if (!response.ok) throw new Error((await response.text()).trim());
    $('banner').hidden = true;
    return await response.json();
  } catch (error) {
    $('banner').textContent = T.noPuzzle(String(error.message ?? error));
    $('banner').hidden = false;
    return null;
  }
}

async function pose(number) {
  $('board-frame').setAttribute('aria-busy', 'true');
  say([T.loadingPuzzle]);
  const found = await fetched(`/puzzles/${number}`);
  $('board-frame').setAttribute('aria-busy', 'false');
  if (!found) {
    say([]);
    return;
  }
  puzzle = found;
  told = null;
  setFragment({ puzzle: number });
  $('number').textContent = T.puzzle(found.number, found.of, found.rating);
  say([...found.happened, found.asked]);
  $('previous').disabled = found.number === 1;
  $('next').disabled = found.number === found.of;
  $('give-up').hidden = false;
  $('entry').hidden = false;
  $('boards').hidden = true;
  $('entry-says').textContent = '';
  $('typed').value = '';
  board.ground.setAutoShapes([]);
  board.show(found.board, {
    viewOnly: false,
    orientation: found.color,
    turnColor: found.color,
    lastMove: undefined,
    movable: { free: false, color: found.color, dests: destinations(Object.keys(found.moves)), events: { after: moved } },
  });
}

const say = (lines) => $('status').replaceChildren(...lines.map((text) => make('span', { text })));

/** A promotion on the board is to a queen; the other pieces are typed. */
const moved = (from, to) => answer(puzzle.moves[from + to] ? from + to : `${from}${to}q`);

/** @param {string} move in UCI; `-` gives up */
async function answer(move) {
  if (told) return;
  const found = await fetched(`/puzzles/${puzzle.number}/${move}`);
  if (!found) return;
  told = found;
  say(found.says);
  $('give-up').hidden = true;
  $('entry').hidden = true;
  const choices = [[T.youSaw, puzzle.board, [found.solution]], [T.thereWas, found.truth, [found.solution]]];
  if (found.against) choices.push([T.couldHaveBeen, found.against, [move, found.reply].filter(Boolean)]);
  const buttons = choices.map(([text, fen, arrows]) => make('button', { text, onclick: () => look(text, fen, arrows) }));
  $('boards').replaceChildren(...buttons);
  $('boards').hidden = false;
  const last = choices.at(-1);
  look(last[0], last[1], last[2]);
}

/** Show one of the boards that are known after the answer. */
function look(text, fen, arrows) {
  for (const button of $('boards').children) button.setAttribute('aria-pressed', String(button.textContent === text));
  board.show(fen, { viewOnly: true, orientation: puzzle.color, lastMove: undefined });
  const brush = (i) => (arrows.length === 2 ? ['red', 'blue'][i] : 'green');
  board.ground.setAutoShapes(arrows.map((move, i) => ({ orig: move.slice(0, 2), dest: move.slice(2, 4), brush: brush(i) })));
}

$('entry').addEventListener('submit', (event) => {
  event.preventDefault();
  const typed = $('typed').value.trim().replace(/[+#]$/, '');
  const move = Object.keys(puzzle.moves).find((each) => each === typed.toLowerCase() || puzzle.moves[each] === typed);
  if (move) answer(move);
  else $('entry-says').textContent = T.noSuchMove(typed);
});
$('give-up').addEventListener('click', () => answer('-'));
$('previous').addEventListener('click', () => pose(puzzle.number - 1));
$('next').addEventListener('click', () => pose(puzzle.number + 1));
followCursor(board, () => Boolean(puzzle) && !told, { active: false });

pose(Number(fragment().get('puzzle')) || 1);
