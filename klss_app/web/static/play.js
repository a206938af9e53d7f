// A running game: one player's view, its moves, the clocks.
import { destinations, FogBoard, ROLES } from '/board.js';
import { Clocks, clockText } from '/clock.js';
import { $, make } from '/dom.js';
import { ageMarks, Look } from '/look.js';
import { T } from '/strings.js';

const drawn = (man) => make('piece', { class: `${ROLES[man.toLowerCase()]} ${man < 'a' ? 'white' : 'black'}` });

/** Pieces, as letters, beside a player's name. @param {any} bar @param {string} letters */
export function showTaken(bar, letters) {
  const men = bar.querySelector('.men');
  men.replaceChildren(...[...letters].map(drawn));
  if (letters) men.setAttribute('aria-label', T.menTaken([...letters].map((man) => T.men[ROLES[man.toLowerCase()]])));
  else men.removeAttribute('aria-label');
  if (letters) men.setAttribute('role', 'img');
  else men.removeAttribute('role');
}
const other = (color) => (color === 'white' ? 'black' : 'white');

export class Play {
  /**
   * @param {FogBoard} board
   * @param {(message: object) => void} send
   */
  constructor(board, send) {
    this.board = board;
    this.send = send;
    this.game = null;
    this.clocks = new Clocks();
    this.flipped = false;
    /** The ply that is looked back at; null: the present. @type {number | null} */
    this.back = null;
    this.away = false;
    /** Whether both players are human. */
    this.two = false;
    /** Whether compiled code is being loaded, or a new game is on its way, and since when. */
    this.loading = false;
    this.loadingSince = 0;
    this.since = performance.now();
    this.shown = false;
    /** The promotion of a premove, which is asked for when the premove is made. @type {Promise<string> | null} */
    this.premoveAs = null;
    this.premoveLetter = '';
    this.look = new Look(board, $('board'), (square) => this.type(square));
    setInterval(() => this.tick(), 100);
  }

  get over() {
    return this.game?.over ?? null;
  }

  get bottom() {
    const own = this.game?.color ?? 'white';
    return this.flipped ? other(own) : own;
  }

  /** @param {any} game a message of the server: all that this player knows */
  take(game) {
    const before = this.game;
    const fresh = !before || before.number !== game.number;
    this.game = game;
    if (!fresh && before.offer !== game.offer && before.ply === game.ply && before.step === game.step && !game.over) {
      // Only the offer of a draw changed: a piece that is being dragged and an earlier ply on show stay as they are.
      this.clocks.take(game.clock);
      if (this.shown) this.offer();
      if (this.shown && this.back === null) this.status();
      return;
    }
    this.back = null;
    this.clocks.take(game.clock);
    if (fresh) {
      this.flipped = false;
      this.board.ground.cancelPremove();
      this.board.ground.cancelMove();
    }
    if (fresh || before.ply !== game.ply || before.step !== game.step) this.since = performance.now();
    if (this.shown) this.draw();
  }

  /** Show everything anew. */
  draw() {
    const game = this.game;
    if (!game) return;
    if (this.back !== null) {
      this.drawBack();
      return;
    }
    const mine = game.turn === game.color && !game.over;
    const looking = game.question === 'sense';
    this.drawBoard(mine, looking);
    this.look.set(looking && !game.over);
    $('skip').hidden = !(game.question in T.asks);
    $('skip').textContent = looking ? T.lookNowhere : T.pass;
    const texts = game.answers ?? [];
    $('type-label').textContent = looking ? T.typeLook : game.answers ? T.typeAnswer : T.typeMove;
    $('answers').replaceChildren(...texts.map((text) => make('button', { text, onclick: () => this.answer(text) })));
    this.offer();
    this.status();
    this.players();
    this.moves();
    this.words();
    $('end').hidden = !game.over;
    $('game-actions').hidden = Boolean(game.over);
    $('entry').hidden = Boolean(game.over);
    $('words').hidden = Boolean(game.answers);
    if (game.over) {
      this.board.ground.cancelPremove();
      $('promotion').close();
    } else if (mine && this.board.ground.state.premovable.current) {
      this.board.ground.playPremove();
    }
  }

  /** What the player knows. @param {boolean} mine whether it is the player's turn @param {boolean} looking to choose a look */
  drawBoard(mine, looking) {
    const { game } = this;
    this.board.marks = ageMarks(game.ages);
    this.board.ground.setAutoShapes([]);
    this.board.show(game.board, {
      viewOnly: Boolean(game.over) || looking,
      orientation: this.bottom,
      turnColor: game.turn,
      lastMove: game.last,
      movable: {
        free: false,
        color: game.over ? undefined : game.color,
        dests: mine ? destinations(game.moves) : new Map(),
        showDests: true,
        events: { after: (from, to, how) => this.moved(from, to, how) },
      },
      premovable: {
        enabled: !game.over && !('question' in game),
        showDests: true,
        events: { set: (from, to) => this.premoved(from, to), unset: () => this.premoveGone() },
      },
    });
  }

  /** Step through the views so far. @param {string} key @returns {boolean} whether the key has a meaning here */
  key(key) {
    const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
    if (!step || !this.game?.past) return false;
    const last = this.game.past.length - 1;
    const ply = Math.max(0, (this.back ?? last) + step);
    this.back = ply >= last ? null : ply;
    this.draw();
    return true;
  }

  /** The board of an earlier ply, as it was seen then. */
  drawBack() {
    this.look.set(false);
    this.board.marks = new Map();
    this.board.show(this.game.past[this.back], { viewOnly: true, orientation: this.bottom, lastMove: [] });
    $('status').textContent = T.lookingBack(this.back, this.game.past.length - 1);
  }

  /** The button that offers a draw, or accepts one. */
  offer() {
    const { offer, color } = this.game;
    const button = $('draw');
    button.hidden = !this.two;
    button.disabled = offer === color;
    button.textContent = offer === other(color) ? T.acceptDraw : T.offerDraw;
    button.classList.toggle('chief', offer === other(color));
  }

  draws() {
    this.send({ type: 'draw', accepts: this.game.offer === other(this.game.color) });
  }

  status() {
    const game = this.game;
    if (!game) return;
    const said = [...game.said];
    const premove = this.board.ground.state.premovable.current;
    if (game.offer) said.push(game.offer === game.color ? T.drawOffered : T.drawToAccept);
    if (game.over) said.push(`${T.over(game.over, game.ply)} ${T.overTruth}`);
    else if (premove) said.push(T.premove(premove.join('') + this.premoveLetter));
    else if (game.question in T.asks) said.push(T.asks[game.question](game.fullmove));
    else if (game.turn === game.color) said.push(game.answers ? T.yourAnswer : T.yourTurn(game.fullmove));
    else said.push((this.loading && !this.two ? T.loads : T.thinks)(game.names[other(game.color)]));
    // Only a changed text is written anew, so that a screen reader says it once.
    if ($('status').textContent !== said.join(' ')) {
      $('status').replaceChildren(...said.flatMap((text, i) => [...(i ? [' '] : []), make('span', { text })]));
    }
    const title = T.pageTitle(['white', 'black'].map((color) => this.called(color)).join(' – '));
    document.title = !game.over && game.turn === game.color ? `● ${title}` : title;
  }

  /** The name of a side's player. @param {'white' | 'black'} color */
  called(color) {
    const name = this.game.names[color];
    return name === 'you' ? T.you : name === 'opponent' ? T.opponent : T.level(name);
  }

  players() {
    const game = this.game;
    for (const [place, color] of [['bottom', this.bottom], ['top', other(this.bottom)]]) {
      const bar = $(`player-${place}`);
      const away = game.names[color] === 'opponent' && this.away ? T.away : '';
      bar.querySelector('.name').textContent = `${T.side[color]}: ${this.called(color)}${away}`;
      showTaken(bar, color === game.color ? game.taken : game.lost);
      bar.classList.toggle('to-move', !game.over && game.turn === color);
    }
    this.tick();
  }

  /** @param {boolean} on whether something is being loaded */
  loads(on) {
    if (on && !this.loading) this.loadingSince = performance.now();
    const changed = on !== this.loading;
    this.loading = on;
    if (changed && this.shown && this.back === null) this.status();
    this.tick();
  }

  tick() {
    const game = this.game;
    const waited = this.loading ? T.loading(Math.floor((performance.now() - this.loadingSince) / 1000)) : '';
    if ($('loading').textContent !== waited) $('loading').textContent = waited;
    $('loading').hidden = !waited;
    if (!game || !this.shown) return;
    for (const [place, color] of [['bottom', this.bottom], ['top', other(this.bottom)]]) {
      const clock = $(`player-${place}`).querySelector('.clock');
      const left = this.clocks.left(color);
      let text = left === null ? '' : clockText(left);
      if (left === null && !game.over && game.turn === color && color !== game.color) {
        text = `${Math.floor((performance.now() - this.since) / 1000)} s`;
      }
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle('running', this.clocks.running(color));
      clock.classList.toggle('low', left !== null && left < 10000);
    }
  }

  moves() {
    const game = this.game;
    const list = $('moves');
    const cells = game.history.map((text) => make('span', { text, class: text.startsWith('?') ? 'unseen' : 'own' }));
    if (game.first === 'black') cells.unshift(make('span', { text: '…' }));
    const rows = [];
    const width = game.answers ? 1 : 2;
    for (let i = 0; i < cells.length; i += width) {
      const number = make('span', { class: 'number', text: `${game.firstNumber + i / width}.` });
      rows.push(make('li', {}, number, ...cells.slice(i, i + width)));
    }
    list.replaceChildren(...rows);
    list.scrollTop = list.scrollHeight;
  }

  words() {
    const game = this.game;
    const named = { own: [], seen: [] };
    for (const [square, man] of this.board.men) {
      (man.color === game.color ? named.own : named.seen).push(`${T.men[man.role]} ${square}`);
    }
    $('words').querySelector('p').textContent =
      `${T.own}: ${named.own.join(', ')}. ${game.ages ? T.lastSeen : T.seenEnemies}: ${named.seen.join(', ') || T.nothing}. ` +
      T.fogCount(this.board.fog.size);
  }

  /** A premove was made. Its promotion is asked for at once, so that it takes no time when the move is played. */
  async premoved(from, to) {
    this.premoveLetter = '';
    this.premoveAs = null;
    const man = this.board.ground.state.pieces.get(from);
    if (man?.role === 'pawn' && to[1] === (man.color === 'white' ? '8' : '1')) {
      const asked = (this.premoveAs = askPromotion(this.game.color));
      const chosen = await asked;
      if (this.premoveAs !== asked) return;
      if (chosen) this.premoveLetter = chosen;
      else this.board.ground.cancelPremove();
    }
    this.status();
  }

  /** A premove was played, taken back or dropped. */
  premoveGone() {
    if (this.premoveAs) {
      this.premoveAs = null;
      $('promotion').close();
    }
    this.premoveLetter = '';
    this.status();
  }

  /** The board's user has moved a man. */
  async moved(from, to, how) {
    const { premoveAs } = this;
    this.premoveAs = null;
    const fits = this.game.moves.filter((move) => move.startsWith(from + to));
    let move = fits[0];
    if (fits.length > 1) {
      const chosen = await (how.premove && premoveAs ? premoveAs : askPromotion(this.game.color));
      if (!chosen) {
        this.draw();
        return;
      }
      move = from + to + chosen;
    }
    if (move) this.answer(move);
    else this.draw();
  }

  /** A move that was typed. */
  type(text) {
    if (text && this.game) this.answer(text);
  }

  /** Look nowhere, or pass. */
  skip() {
    this.answer(this.game.question === 'sense' ? '' : 'pass');
  }

  answer(move) {
    this.send({ type: 'move', move, ply: this.game.step ?? this.game.ply });
  }

  /** The server refused a move. */
  refused() {
    this.board.ground.cancelMove();
    this.draw();
  }

  flip() {
    this.flipped = !this.flipped;
    this.draw();
  }
}

/**
 * Ask for the piece that a pawn becomes.
 * @param {'white' | 'black'} color
 * @returns {Promise<string>} its letter; empty if none was chosen
 */
export function askPromotion(color) {
  const dialog = $('promotion');
  const choices = [['q', 'queen'], ['n', 'knight'], ['r', 'rook'], ['b', 'bishop']].map(([letter, role]) =>
    make(
      'button',
      { value: letter, class: 'cg-wrap promotion-choice', 'aria-label': T.men[role] },
      make('piece', { class: `${role} ${color}` }),
      make('span', { text: T.men[role] }),
    ),
  );
  dialog.querySelector('form').replaceChildren(...choices);
  dialog.returnValue = '';
  dialog.showModal();
  return new Promise((chosen) => {
    dialog.addEventListener('close', () => chosen(dialog.returnValue), { once: true });
  });
}
