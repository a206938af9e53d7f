// The page: takes a seat in the room, and shows the running game or the review of a finished one.
import { FogBoard } from '/board.js';
import { followCursor } from '/cursor.js';
import { $, ask, fragment, keep, kept, make, setFragment } from '/dom.js';
import { showInvitation } from '/invitation.js';
import { Line } from '/line.js';
import { Openings } from '/openings.js';
import { Play } from '/play.js';
import { Puzzles } from '/puzzles.js';
import { Review } from '/review.js';
import { sound } from '/sound.js';
import { picture, Start } from '/start.js';
import { T } from '/strings.js';

// The server takes 256 KiB in one message; quotes, line ends and what is no text are sent as two to six bytes.
const MOST_PGN = 255 * 1024;

for (const element of document.querySelectorAll('[data-text]')) element.textContent = T[element.dataset.text];
for (const element of document.querySelectorAll('[data-label]')) {
  element.setAttribute('aria-label', T[element.dataset.label]);
  if (element.localName === 'button') element.title = T[element.dataset.label];
}

$('help').querySelector('dl').append(...T.help.flatMap(([key, what]) => [make('dt', { text: key }), make('dd', { text: what })]));

let room = null;
let mode = 'loading';
/** The game whose review was asked for, or 'file'; null: none. */
let asked = null;
let submitted = false;
let travelling = false;
/** Whether a new game was asked for and is not there yet. */
let waiting = false;
const board = new FogBoard($('board'));
const send = (message) => line.send(message);
const play = new Play(board, send);
const review = new Review(board, send);
const start = new Start(newGame);
const puzzles = new Puzzles(board, fetched);
const openings = new Openings(board, fetched);
followCursor(board, () => mode === 'play' || mode === 'opening' || (mode === 'puzzle' && puzzles.asks), play.look);

let fading = 0;

/** Show a message above the board, for `forMs` milliseconds; 0: until the next one. */
function banner(text, forMs = 0) {
  clearTimeout(fading);
  $('banner').textContent = text;
  $('banner').hidden = !text;
  if (forMs) fading = setTimeout(() => banner(''), forMs);
}

/** What the server has under a path; null, with a message, if it has nothing. @param {string} path */
async function fetched(path) {
  try {
    const response = await fetch(path);
    if (!response.ok) throw new Error((await response.text()).trim());
    banner('');
    return await response.json();
  } catch (error) {
    banner(T.notLoaded(String(error.message ?? error)));
    return null;
  }
}

function show(next) {
  if (mode === 'review' && next !== mode) banner('');
  // "Back" shall lead to what was shown before. What "back" itself led to is in the history already.
  if (mode !== 'loading' && next !== mode && !travelling) history.pushState(null, '', location.hash);
  travelling = false;
  mode = next;
  document.body.dataset.mode = next;
  $('play').hidden = next !== 'play' && next !== 'puzzle';
  for (const id of ['review', 'start', 'opening']) $(id).hidden = next !== id;
  play.shown = next === 'play';
  const tabs = { play: 'to-game', start: 'to-game', review: 'to-review', puzzle: 'to-puzzles', opening: 'to-openings' };
  for (const id of Object.values(tabs)) $(id).toggleAttribute('aria-current', id === tabs[next]);
  $('legend').hidden = next !== 'play' || !(room?.kind in T.legends);
  if (next !== 'play') play.look.set(false);
  if (next !== 'play') board.ground.cancelPremove();
  const named = { review: ['game', 'ply'], puzzle: ['puzzle'], opening: ['opening'] };
  for (const name of Object.values(named).flat()) if (!named[next]?.includes(name)) setFragment({ [name]: null });
  if (next === 'play') play.draw();
  if (next === 'puzzle') puzzles.pose(Number(fragment().get('puzzle')) || puzzles.puzzle?.number || kept('puzzle', 1));
  if (next === 'opening') openings.go(fragment().get('opening') ?? openings.line);
  if (next === 'start') {
    picture(board, room.kind);
    start.fill(room);
  }
}

/** To the game, or to the start page where there is none. */
const toGame = () => show(play.game || !offersGames() ? 'play' : 'start');

/** Whether this page may ask for a game: it is alone, or it invited the other, whose game is over or not begun. */
const offersGames = () => Object.keys(room?.engines ?? {}).length > 0 && (room.humans === 1 || !room.playing);

function askReview(game) {
  asked = game;
  send({ type: 'review', game });
}

/** Ask for what a game that is over hid. */
function uncover() {
  const known = play.truth || !play.game?.over || room.playing || room.last === null || document.body.hasAttribute('data-text');
  if (!known) send({ type: 'review', game: room.last });
}

function take(message) {
  switch (message.type) {
    case 'room': {
      const first = room === null;
      room = message;
      $('new-game').hidden = !offersGames();
      document.body.dataset.kind = room.kind;
      play.away = room.away;
      play.two = room.humans === 2;
      play.loads(room.loading || waiting);
      showInvitation(room.invitation);
      if (waiting && room.waiting) location.reload(); // with an invitation, and without the last game
      if (mode === 'play' && play.game) play.players();
      $('to-review').disabled = room.playing;
      $('legend').replaceChildren(make('h2', { text: T.legend }), ...(T.legends[room.kind] ?? []).map((text) => make('p', { text })));
      // A game without a chessboard is shown as text.
      document.body.toggleAttribute('data-text', !(room.kind in T.open));
      $('rematch').disabled = waiting;
      $('review-game').disabled = room.last === null;
      if (!(first && showLinked()) && (first || mode === 'loading')) {
        const game = room.playing ? 0 : Number(fragment().get('game')) || (room.last === null ? room.opened : null);
        if (room.games.includes(game)) askReview(game);
        else if (room.asks) show('start');
        else if (!play.game) {
          show('play');
          $('status').textContent = room.waiting ? T.waiting : T.starting;
        }
      }
      uncover();
      break;
    }
    case 'seat':
      line.token = message.token;
      line.invite = undefined;
      setFragment({ seat: message.token, invite: null });
      break;
    case 'game': {
      const before = play.game;
      const fresh = before?.number !== message.number;
      if (fresh) busy(false);
      play.take(message);
      if (fresh && asked === null && mode !== 'play' && !(['puzzle', 'opening'].includes(mode) && !before) && (!message.over || mode === 'loading')) show('play');
      if (before && message.over && !before.over) sound('end');
      else if (!fresh && message.ply !== before.ply) sound('move');
      uncover();
      $('entry-says').textContent = '';
      if (submitted && message.turn !== message.color) {
        submitted = false;
        $('typed').value = '';
      }
      break;
    }
    case 'review':
      if (asked === null) return play.reveal(message);
      if (asked === 'file') banner('');
      asked = null;
      show('review');
      review.open(message);
      break;
    case 'analysis':
      if (mode === 'review') review.analysis(message);
      break;
    case 'pgn':
      save(message.pgn, T.fileName(message.names, document.body.dataset.kind === 'fog' ? 'pgn' : 'json'));
      break;
    case 'rematch':
      $('status').textContent = message.mine ? T.rematchAsked : T.rematchOffered;
      break;
    case 'refused':
      if (message.of === 'move') {
        submitted = false;
        play.refused();
        $('entry-says').textContent = message.why;
      } else {
        if (message.of === 'review' && asked === null) break; // it was for the end of a game that is gone
        asked = null;
        busy(false);
        banner(message.why, 8000);
        if (mode === 'loading') show('play');
      }
      break;
    case 'error':
      line.given = message.why in T.shut;
      if (line.given) document.body.dataset.mode = 'no-seat';
      else if (room) busy(false); // it may be about a wish for a game
      banner(T.shut[message.why] ?? message.why);
      break;
  }
}

/** A new game was asked for, or came. */
function busy(on) {
  waiting = on;
  $('begin').disabled = on;
  $('rematch').disabled = on;
  play.loads(on || room.loading);
}

function save(text, name) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type: 'application/x-chess-pgn' })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function openFile(chosen) {
  if (!chosen) return;
  const pgn = chosen.size < MOST_PGN ? await chosen.text().catch(() => '') : null; // a folder has no text
  if (pgn === null || new Blob([JSON.stringify(pgn)]).size > MOST_PGN) return banner(T.tooLarge);
  asked = 'file';
  banner(T.reading);
  send({ type: 'open', pgn });
}

// ---------------------------------------------------------------------------------------------------- controls
$('entry').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = $('typed');
  $('entry-says').textContent = '';
  (mode === 'puzzle' ? puzzles : play).type(field.value.trim());
  submitted = mode === 'play';
  field.select();
});
$('typed').addEventListener('keydown', (event) => event.key === 'Escape' && $('typed').blur());
$('resign').addEventListener('click', async () => (await ask('resigning')) && send({ type: 'resign' }));
$('draw').addEventListener('click', () => send({ type: 'draw', accepts: ![null, play.game.color].includes(play.game.offer) }));
$('skip').addEventListener('click', (event) => event.detail > 1 || play.skip()); // the second click of two would pass
$('rematch').addEventListener('click', () => {
  if (room.humans === 1) busy(true);
  send({ type: 'rematch' });
});
$('review-game').addEventListener('click', () => askReview(room.last));
function newGame(wish) {
  busy(true);
  send({ type: 'new', ...wish });
}
$('new-game').addEventListener('click', () => show('start'));
$('to-game').addEventListener('click', toGame);
$('to-review').addEventListener('click', () => (room?.last ? askReview(room.last) : $('pgn-file').click()));
$('to-puzzles').addEventListener('click', () => show('puzzle'));
$('to-openings').addEventListener('click', () => show('opening'));
$('flip').addEventListener('click', () => (mode === 'review' ? review : play).flip());
$('keys').addEventListener('click', () => $('help').showModal());
for (const name of ['sound', 'ghosts']) {
  const press = () => $(name).setAttribute('aria-pressed', String(kept(name, true)));
  $(name).addEventListener('click', () => {
    keep(name, !kept(name, true));
    press();
    if (mode === 'review') review.draw();
    else if (mode === 'play') play.draw();
  });
  press();
}
$('open-pgn').addEventListener('click', () => $('pgn-file').click());
$('pgn-file').addEventListener('change', () => {
  openFile($('pgn-file').files[0]);
  $('pgn-file').value = '';
});
document.addEventListener('dragover', (event) => event.preventDefault());
document.addEventListener('drop', (event) => {
  event.preventDefault();
  openFile(event.dataTransfer.files[0]);
});
document.addEventListener('keydown', (event) => {
  // The page handles keys on controls that take no text: so the arrows also step after a click on "White sees".
  const writing = event.target.closest('input:not([type=radio], [type=checkbox], [type=range]), select, textarea, dialog[open]');
  if (writing || event.ctrlKey || event.metaKey || event.altKey || document.querySelector('dialog[open]')) return;
  const onBoard = mode === 'play' && event.target.closest('#board-frame');
  if (!onBoard && { review, play }[mode]?.key(event.key)) event.preventDefault();
  else if ((event.key === 'm' || event.key === '/') && mode === 'play') {
    event.preventDefault();
    $('typed').focus();
  } else if (event.key === 'Escape' && mode === 'play') board.ground.cancelPremove();
  else if (event.key === 'f') $('flip').click();
  else if (event.key === 'n' && offersGames()) show('start');
});
addEventListener('popstate', () => {
  const game = Number(fragment().get('game'));
  travelling = true;
  if (showLinked()) return;
  if (!game && room) toGame();
  else if (game && mode === 'review' && review.game.game === game) review.go(Number(fragment().get('ply')));
  else if (game) askReview(game);
});

/** Show the puzzle or the opening that the link names; return whether it names one. */
function showLinked() {
  const found = ['puzzle', 'opening'].find((name) => fragment().has(name));
  if (found) show(found);
  return Boolean(found);
}

// Reviews in one file hold the answers that a server would give (klss_app/web/one_file.py). Neither a puzzle nor an opening needs a seat.
const files = $('kept') && JSON.parse($('kept').textContent);
const keptGame = (number) => files?.find((each) => each.review.game === Number(number));
const alone = !fragment().get('seat') && (fragment().has('puzzle') || fragment().has('opening'));
const line = files || alone
  ? { send: (message) => [keptGame(message.game)?.[message.type]].filter(Boolean).forEach(take) }
  : new Line(fragment(), take, (up) => {
      banner(up ? '' : T.lostLine);
      if (!up) asked = null; // what was asked for may never have arrived
      if (!up && room) busy(false);
    });
if (files || alone) document.body.toggleAttribute('data-alone', true);
if (files) askReview((keptGame(fragment().get('game')) ?? files[0]).review.game);
else if (alone) showLinked();
