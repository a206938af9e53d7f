// The page: takes a seat in the room, and shows the running game or the review of a finished one.
import { FogBoard } from '/board.js';
import { followCursor } from '/cursor.js';
import { $, fragment, make, setFragment } from '/dom.js';
import { showInvitation } from '/invitation.js';
import { Line } from '/line.js';
import { Play } from '/play.js';
import { Review } from '/review.js';
import { askForGame, showKeys } from '/settings.js';
import { T } from '/strings.js';

// The server takes 256 KiB in one message; quotes and line ends in a file are sent as two characters.
const MOST_PGN = 200000;
/** Within these times, in ms, of the first click on "Resign" another one does not count yet, and still counts. */
const REREAD_MS = 600;
const SURE_MS = 4000;

for (const element of document.querySelectorAll('[data-text]')) element.textContent = T[element.dataset.text];
for (const element of document.querySelectorAll('[data-label]')) element.setAttribute('aria-label', T[element.dataset.label]);

let room = null;
let mode = 'loading';
let asked = null;
let submitted = false;
let travelling = false;
/** Whether the server's answer about a file that is being opened is still to come. */
let opening = false;
/** Whether a new game was asked for and is not there yet; the last message of the one that is left for it. */
let waiting = false;
let left = null;
const board = new FogBoard($('board'));
const send = (message) => line.send(message);
const play = new Play(board, send);
const review = new Review(board, send);
followCursor(board, () => mode === 'play', play.look);

let fading = 0;

/** Show a message above the board, for `forMs` milliseconds; 0: until the next one. */
function banner(text, forMs = 0) {
  clearTimeout(fading);
  $('banner').textContent = text;
  $('banner').hidden = !text;
  if (forMs) fading = setTimeout(() => banner(''), forMs);
}

function show(next) {
  if (mode === 'review' && next !== mode) banner('');
  // "Back" shall lead to what was shown before. What "back" itself led to is in the history already.
  if (mode !== 'loading' && next !== mode && !travelling) history.pushState(null, '', location.hash);
  travelling = false;
  mode = next;
  document.body.dataset.mode = next;
  $('play').hidden = next !== 'play';
  $('review').hidden = next !== 'review';
  play.shown = next === 'play';
  $('to-game').hidden = !(next === 'review' && play.game);
  if (next !== 'play') play.look.set(false);
  if (next === 'play') {
    review.leave();
    setFragment({ game: null, ply: null });
    play.draw();
  }
}

function askReview(game) {
  asked = game;
  send({ type: 'review', game });
}

function take(message) {
  switch (message.type) {
    case 'room': {
      const first = room === null;
      room = message;
      $('new-game').hidden = room.humans !== 1;
      document.body.dataset.kind = room.kind;
      play.away = room.away;
      play.two = room.humans === 2;
      play.loads(room.loading || waiting);
      showInvitation(room.invitation);
      if (mode === 'play' && play.game) play.players();
      // A game without a chessboard is shown as text.
      document.body.toggleAttribute('data-text', !(room.kind in T.open));
      $('open-pgn').textContent = T.open[room.kind] ?? T.open.rbc;
      $('download').textContent = T.download[room.kind] ?? T.download.rbc;
      $('rematch').disabled = false;
      $('review-game').disabled = room.last === null;
      $('download').disabled = room.last === null;
      if (first && !room.playing) {
        const game = Number(fragment().get('game')) || (room.last === null ? room.opened : null);
        if (game && room.games.includes(game)) askReview(game);
        else if (!play.game) {
          show('play');
          $('status').textContent = room.waiting ? T.waiting : T.starting;
        }
      } else if (mode === 'loading') {
        show('play');
        $('status').textContent = room.waiting ? T.waiting : T.starting;
      }
      break;
    }
    case 'seat':
      line.token = message.token;
      line.invite = undefined;
      setFragment({ seat: message.token, invite: null });
      break;
    case 'game': {
      const fresh = play.game?.number !== message.number;
      if (waiting && !fresh) {
        left = message; // the end of the game that is left for the next one
        break;
      }
      busy(false);
      play.take(message);
      if (asked === null && (mode !== 'play') && (fresh ? !message.over || mode === 'loading' : false)) show('play');
      else if (mode === 'review') $('to-game').hidden = false;
      $('entry-says').textContent = '';
      if (submitted && message.turn !== message.color) {
        submitted = false;
        $('typed').value = '';
      }
      break;
    }
    case 'review':
      asked = null;
      show('review');
      review.open(message);
      if (opening) banner('');
      opening = false;
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
        asked = null;
        opening = false;
        busy(false);
        if (left) take(left);
        banner(message.why, 8000);
        if (mode === 'loading') show('play');
      }
      break;
    case 'error':
      if (T.shut[message.why]) {
        line.giveUp();
        document.body.dataset.mode = 'no-seat';
        banner(T.shut[message.why]);
      } else {
        if (waiting) busy(false);
        banner(T.fault(message.why));
      }
      break;
  }
}

/** A new game was asked for: the old one is dimmed until the first view of the new one comes. */
function busy(on) {
  waiting = on;
  if (on) left = null;
  $('board-frame').setAttribute('aria-busy', String(on));
  for (const id of ['board-frame', 'entry', 'game-actions', 'end']) $(id).inert = on;
  play.loads(on || room.loading);
  if (on) $('status').textContent = T.next;
}

function save(text, name) {
  const link = make('a', { href: URL.createObjectURL(new Blob([text], { type: 'application/x-chess-pgn' })), download: name });
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 1000);
}

async function openFile(chosen) {
  if (!chosen) return;
  if (chosen.size > MOST_PGN) {
    banner(T.tooLarge);
    return;
  }
  opening = true;
  banner(T.reading);
  send({ type: 'open', pgn: await chosen.text() });
}

// ---------------------------------------------------------------------------------------------------- controls
$('entry').addEventListener('submit', (event) => {
  event.preventDefault();
  const field = $('typed');
  $('entry-says').textContent = '';
  play.type(field.value.trim());
  submitted = true;
  field.select();
});
$('typed').addEventListener('keydown', (event) => {
  if (event.key === 'Escape') $('typed').blur();
});
let resigning = 0;
let asking = 0;
$('resign').addEventListener('click', () => {
  const since = Date.now() - resigning;
  if (since < REREAD_MS) return; // the second click of a double click
  const sure = since < SURE_MS;
  if (sure) send({ type: 'resign' });
  resigning = sure ? 0 : Date.now();
  $('resign').textContent = sure ? T.resign : T.resignSure;
  $('resign').setAttribute('aria-disabled', String(!sure));
  clearTimeout(asking);
  if (sure) return;
  setTimeout(() => $('resign').setAttribute('aria-disabled', 'false'), REREAD_MS);
  asking = setTimeout(() => ($('resign').textContent = T.resign), SURE_MS);
});
$('resign').addEventListener('keydown', (event) => event.repeat && event.preventDefault());
$('draw').addEventListener('click', () => play.draws());
$('skip').addEventListener('click', (event) => event.detail > 1 || play.skip()); // the second click of two would pass
$('rematch').addEventListener('click', () => {
  if (room.humans === 1) busy(true);
  send({ type: 'rematch' });
});
$('review-game').addEventListener('click', () => askReview(room.last));
$('download').addEventListener('click', () => send({ type: 'pgn', game: room.last }));
const newGame = (wish) => {
  show('play');
  busy(true);
  send({ type: 'new', ...wish });
};
$('new-game').addEventListener('click', () => room && askForGame(room, newGame));
$('to-game').addEventListener('click', () => show('play'));
$('flip').addEventListener('click', () => (mode === 'review' ? review.flip() : play.flip()));
$('keys').addEventListener('click', () => showKeys(room?.kind ?? 'fog'));
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
  if (mode === 'review' && review.key(event.key)) event.preventDefault();
  else if (mode === 'play' && !event.target.closest('#board-frame') && play.key(event.key)) event.preventDefault();
  else if ((event.key === 'm' || event.key === '/') && mode === 'play') {
    event.preventDefault();
    $('typed').focus();
  } else if (event.key === 'Escape' && mode === 'play') board.ground.cancelPremove();
  else if (event.key === 'f') $('flip').click();
  else if (event.key === 'n' && room && room.humans === 1) $('new-game').click();
});
addEventListener('popstate', () => {
  const game = Number(fragment().get('game'));
  travelling = true;
  if (!game && play.game) show('play');
  else if (game && mode === 'review' && review.game.game === game) review.go(Number(fragment().get('ply')));
  else if (game) askReview(game);
});

// Reviews in one file hold the answers that a server would give (klss_app/web/one_file.py).
const kept = $('kept') && JSON.parse($('kept').textContent);
const keptGame = (number) => kept.find((each) => each.review.game === Number(number));
const line = kept
  ? { send: (message) => [keptGame(message.game)?.[message.type]].filter(Boolean).forEach(take) }
  : new Line(fragment(), take, (up) => banner(up ? '' : T.lostLine));
if (kept) {
  for (const id of ['new-game', 'open-pgn']) $(id).hidden = true;
  take((keptGame(fragment().get('game')) ?? kept[0]).review);
}
