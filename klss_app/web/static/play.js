// A running game: one player's view, its moves, the clocks.
import { calm, choices, FogBoard, ROLES } from '/board.js';
import { $, ask, kept, make, rows } from '/dom.js';
import { ghosts, haunting } from '/ghosts.js';
import { ageMarks, Look } from '/look.js';
import { T } from '/strings.js';

const drawn = (man) => make('piece', { class: `${ROLES[man.toLowerCase()]} ${man < 'a' ? 'white' : 'black'}` });

const other = (color) => (color === 'white' ? 'black' : 'white');

/**
 * Fill the bar of a side's player.
 * @param {'top' | 'bottom'} place @param {string} name @param {string} taken letters of captured pieces @param {boolean} moves
 */
export function showPlayer(place, name, taken, moves) {
  const bar = $(`player-${place}`);
  const men = bar.querySelector('.men');
  bar.querySelector('.name').textContent = name;
  bar.classList.toggle('to-move', moves);
  men.hidden = !taken;
  men.setAttribute('aria-label', T.menTaken([...taken].map((man) => T.men[ROLES[man.toLowerCase()]])));
  men.replaceChildren(...[...taken].map(drawn));
}
const LIFT_MS = 70;

export class Play {
  /** @param {FogBoard} board @param {(message: object) => void} send */
  constructor(board, send) {
    this.board = board;
    this.send = send;
    this.game = null;
    this.flipped = false;
    /** The ply that is looked back at; null: the present. @type {number | null} */
    this.back = null;
    this.away = false;
    /** Whether both players are human. */
    this.two = false;
    /** Whether compiled code is being loaded, or a new game is on its way, and since when. */
    this.loading = false;
    this.loadingSince = 0;
    /** The true board at the end, once the game is over. @type {string | null} */
    this.truth = null;
    this.since = performance.now();
    this.shown = false;
    /** The promotion of a premove, which is asked for when the premove is made. @type {Promise<string> | null} */
    this.premoveAs = null;
    this.premoveLetter = '';
    this.look = new Look(board, $('board'), (square) => this.type(square));
    setInterval(() => this.tick(), 100);
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
    this.heard = performance.now();
    if (!fresh && before.offer !== game.offer && before.ply === game.ply && before.step === game.step && !game.over) {
      // Only the offer of a draw changed: a piece that is being dragged and an earlier ply on show stay as they are.
      if (this.shown) this.offer();
      if (this.shown && this.back === null) this.status();
      return;
    }
    this.back = null;
    if (fresh) {
      this.truth = null;
      this.flipped = false;
      this.board.ground.cancelPremove();
      this.board.ground.cancelMove();
    }
    if (fresh || before.ply !== game.ply || before.step !== game.step) this.since = performance.now();
    if (this.shown) this.draw();
  }

  /** The game is over: the fog is lifted, square by square. @param {any} review the game's */
  reveal(review) {
    if (!this.game?.over || this.truth) return;
    const last = review.plies.at(-1);
    this.truth = last.truth;
    this.fell = this.game.over.reason === 'king_captured' ? last.move.slice(2, 4) : null;
    if (!this.shown || this.back !== null) return;
    const { truth } = this;
    const from = this.fell ?? 'e4';
    for (let far = 0; far < 7 && !calm(); far += 1) {
      setTimeout(() => this.truth === truth && this.shown && this.board.lift(truth, from, far), far * LIFT_MS);
    }
    setTimeout(() => this.truth === truth && this.shown && this.back === null && this.draw(), calm() ? 0 : 7 * LIFT_MS);
  }

  /** Show everything anew. */
  draw() {
    const game = this.game;
    if (!game) return;
    if (this.back !== null) return this.drawBack();
    const mine = game.turn === game.color && !game.over;
    const looking = game.question === 'sense';
    this.drawBoard(mine, looking);
    this.look.set(looking && !game.over);
    $('skip').hidden = !(game.question in T.asks);
    $('skip').textContent = looking ? T.lookNowhere : T.pass;
    const texts = game.answers ?? [];
    $('type-label').textContent = $('typed').placeholder = looking ? T.typeLook : game.answers ? T.typeAnswer : T.typeMove;
    $('answers').replaceChildren(...texts.map((text) => make('button', { text, onclick: () => this.answer(text) })));
    this.offer();
    this.status();
    this.players();
    this.moves();
    this.words();
    for (const id of ['end', 'score']) $(id).hidden = !game.over;
    for (const id of ['game-actions', 'entry']) $(id).hidden = Boolean(game.over);
    if (game.over) $('score').textContent = T.score(game.over.winner, this.two ? null : game.color);
    $('words').hidden = Boolean(game.answers);
    if (game.over) {
      this.board.ground.cancelPremove();
      for (const id of ['promotion', 'resigning']) $(id).close();
    } else if (mine && this.board.ground.state.premovable.current) {
      this.board.ground.playPremove();
    }
  }

  /** What the player knows. @param {boolean} mine whether it is the player's turn @param {boolean} looking to choose a look */
  drawBoard(mine, looking) {
    const { game } = this;
    this.board.marks = this.truth ? new Map() : ageMarks(game.ages);
    if (this.truth && this.fell) this.board.marks.set(this.fell, 'fell');
    this.haunt(this.truth ? null : game.past);
    this.board.show(this.truth ?? game.board, {
      ...choices(game.over ? undefined : game.color, mine ? game.moves : [], (from, to, how) => this.moved(from, to, how)),
      viewOnly: Boolean(game.over) || looking,
      orientation: this.bottom,
      turnColor: game.turn,
      lastMove: game.last,
      premovable: {
        enabled: !game.over && !('question' in game),
        showDests: true,
        events: { set: (from, to) => this.premoved(from, to), unset: () => this.premoveGone() },
      },
    });
  }

  /** Enemy pieces where they were last seen; in blind chess the board itself has them. @param {string[] | null} views */
  haunt(views) {
    this.seen = !views?.length || this.game.ages ? [] : ghosts(views, this.game.color, this.game.taken);
    this.board.ground.setAutoShapes(kept('ghosts', true) ? haunting(this.seen) : []);
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
    this.board.plain(this.game.past[this.back], { viewOnly: true, orientation: this.bottom, lastMove: [] });
    this.haunt(this.game.past.slice(0, this.back + 1));
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

  status() {
    const game = this.game;
    if (!game) return;
    const said = [...game.said];
    const premove = this.board.ground.state.premovable.current;
    if (game.offer) said.push(game.offer === game.color ? T.drawOffered : T.drawToAccept);
    if (game.over) said.push(game.over.text);
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
      const away = game.names[color] === 'opponent' && this.away ? T.away : '';
      const taken = color === game.color ? game.taken : game.lost;
      showPlayer(place, `${T.side[color]}: ${this.called(color)}${away}`, taken, !game.over && game.turn === color);
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

  /** Milliseconds that a side has left: the server keeps the clocks, the page counts down between its messages. */
  left(color) {
    const { clock } = this.game;
    return clock && clock[color] - (clock.running === color ? performance.now() - this.heard : 0);
  }

  tick() {
    const game = this.game;
    const waited = this.loading ? T.loading(Math.floor((performance.now() - this.loadingSince) / 1000)) : '';
    if ($('loading').textContent !== waited) $('loading').textContent = waited;
    $('loading').hidden = !waited;
    if (!game || !this.shown) return;
    for (const [place, color] of [['bottom', this.bottom], ['top', other(this.bottom)]]) {
      const clock = $(`player-${place}`).querySelector('.clock');
      const left = this.left(color);
      let text = left === null ? '' : T.clock(Math.max(0, left));
      if (left === null && !game.over && game.turn === color && color !== game.color) {
        text = `${Math.floor((performance.now() - this.since) / 1000)} s`;
      }
      if (clock.textContent !== text) clock.textContent = text;
      clock.classList.toggle('running', game.clock?.running === color);
      clock.classList.toggle('low', left !== null && left < 10000);
    }
  }

  moves() {
    const { history, firstNumber, first, answers } = this.game;
    const cells = history.map((text) => make('span', { text, class: text.startsWith('?') ? 'unseen' : 'own' }));
    $('moves').replaceChildren(...rows(cells, firstNumber, first === 'black', answers ? 1 : 2));
    $('moves').scrollTop = $('moves').scrollHeight;
  }

  words() {
    const game = this.game;
    const named = { own: [], seen: [] };
    for (const [square, man] of this.board.men) {
      (man.color === game.color ? named.own : named.seen).push(`${T.men[man.role]} ${square}`);
    }
    $('words').querySelector('p').textContent =
      `${T.own}: ${named.own.join(', ')}. ${game.ages ? T.lastSeen : T.seenEnemies}: ${named.seen.join(', ') || T.nothing}. ` +
      this.seen.map(T.ghost).join('') +
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
      if (!chosen) return this.draw();
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

/** Ask for the piece that a pawn becomes: its letter, or '' if none was chosen. @param {string} color @returns {Promise<string>} */
export function askPromotion(color) {
  for (const piece of $('promotion').querySelectorAll('piece')) piece.classList.replace(other(color), color);
  return ask('promotion');
}
