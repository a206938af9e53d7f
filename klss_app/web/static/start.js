// The start page: the opponent, colour and clock of a new game; the rules, with a picture of them on the board.
import { $, choose, make } from '/dom.js';
import { around } from '/look.js';
import { T } from '/strings.js';

/** Seconds, and seconds added a move; empty: no clock. */
const CLOCKS = ['', '60+1', '180+2', '300+5', '600+10', '1800+20'];
/** What White sees early in a game, and where it looks. */
const PICTURES = {
  fog: ['????????/?????p??/1???1??1/?1?2?1?/2BpP3/5N2/PPP2PPP/RNBQK2R', null],
  rbc: ['????????/????????/???2p??/???3??/???1P1??/????????/PPPP?PPP/RNBQKBNR', 'e5'],
};

/** Draw the rules. @param {import('/board.js').FogBoard} board @param {string} kind */
export function picture(board, kind) {
  const [view, look] = PICTURES[kind] ?? ['8/8/8/8/8/8/8/8', null];
  board.plain(view, { viewOnly: true, orientation: 'white', lastMove: [] });
  board.lit = new Set(look ? around(look) : []);
  board.paint();
}

export class Start {
  /** @param {(wish: object) => void} begin */
  constructor(begin) {
    this.form = $('start');
    this.fields = this.form.elements;
    this.form.addEventListener('change', () => this.shape());
    this.form.addEventListener('submit', (event) => {
      event.preventDefault();
      begin(this.wish());
    });
  }

  /** Set everything as the last game had it. @param {any} room the server's last description of the room */
  fill(room) {
    const { fields } = this;
    this.about = room.engines;
    const levels = Object.keys(room.engines).filter((name) => /^level-\d$/.test(name));
    const others = Object.entries(room.engines).filter(([name]) => !levels.includes(name));
    const named = levels.includes(room.engine) || (room.asks && levels.length) ? '' : room.engine;
    const level = levels.includes(room.engine) ? room.engine : 'level-3';
    const clock = room.clock?.join('+') ?? '';
    const minutes = (text) => text.replace(/^\d+/, (s) => String(Number(s) / 60)) || T.settingsNoClock;
    $('rules').textContent = T.rules[room.kind] ?? '';
    choose(fields.opponents, 'opponent', T.settingsOpponent, Object.entries(T.opponents), 'engine');
    choose(fields.levels, 'level', T.settingsLevels, levels.map((name) => [name, name.at(-1), T.levels[name.at(-1) - 1]]), level);
    choose(fields.colors, 'color', T.settingsColor, Object.entries(T.settingsColors), room.color);
    const clocks = [...CLOCKS.map((text) => [text, minutes(text)]), ['own', T.settingsOwnClock]];
    choose(fields.clocks, 'clock', T.settingsClock, clocks, CLOCKS.includes(clock) ? clock : 'own');
    const option = ([value, about]) => make('option', { value, text: about ? `${value}: ${about}` : value, selected: value === named });
    fields.engine.replaceChildren(...(levels.length ? [make('option', { value: '', text: T.settingsLevel })] : []), ...others.map(option));
    fields.minutes.value = (room.clock?.[0] ?? 180) / 60;
    fields.increment.value = room.clock?.[1] ?? 2;
    fields.time.value = room.time ?? 5;
    fields.fen.value = '';
    fields.fen.parentNode.hidden = !room.starts;
    $('begin').textContent = room.playing ? T.settingsLeaves : T.settingsStart;
    this.form.querySelector('details').open = Boolean(named) || !levels.length;
    this.shape();
  }

  /** Show what the choices so far leave to choose. */
  shape() {
    const { fields } = this;
    const friend = fields.opponent.value === 'friend';
    const byLevel = !friend && !fields.engine.value;
    fields.levels.hidden = !byLevel;
    $('level-says').textContent = friend ? T.friendAbout : byLevel ? T.levelAbout(fields.level.value, this.about[fields.level.value]) : '';
    const hidden = { engine: friend, time: friend || fields.clock.value !== '', minutes: fields.clock.value !== 'own' };
    for (const [name, off] of Object.entries({ ...hidden, increment: hidden.minutes })) {
      fields[name].parentNode.hidden = off;
      fields[name].disabled = off;
    }
  }

  /** What the server is asked for. */
  wish() {
    const { opponent, engine, level, color, time, clock, minutes, increment, fen } = Object.fromEntries(new FormData(this.form));
    return {
      engine: opponent === 'friend' ? null : engine || level,
      color,
      time: time === undefined ? null : Number(time),
      clock: clock === '' ? null : clock === 'own' ? [60 * Number(minutes), Number(increment)] : clock.split('+').map(Number),
      fen: fen.trim() || null,
    };
  }
}
