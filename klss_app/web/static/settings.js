// The dialog for a new game.
import { $, make } from '/dom.js';
import { T } from '/strings.js';

const CLOCKS = [[60, 1], [180, 2], [300, 5], [600, 10], [1800, 20]];

/**
 * @param {any} room the server's last description of the room
 * @param {(wish: object) => void} start
 */
export function askForGame(room, start) {
  const dialog = $('settings');
  const labelled = (text, control) => make('label', {}, make('span', { text }), control);
  const option = (value, text, selected = false) => make('option', { value, text, selected });

  const engine = make('select', { name: 'engine' }, ...Object.entries(room.engines).map(([name, about]) =>
    option(name, about ? `${T.level(name)}: ${about}` : name, name === room.engine)));
  const time = make('input', { name: 'time', type: 'number', min: '0.01', step: 'any', max: '3600', value: room.time ?? 5 });
  const now = room.clock ? room.clock.join('+') : '';
  const known = CLOCKS.some((clock) => clock.join('+') === now);
  const clock = make(
    'select',
    { name: 'clock' },
    option('', T.settingsNoClock, !room.clock),
    ...CLOCKS.map(([s, i]) => option(`${s}+${i}`, `${s / 60}+${i}`, now === `${s}+${i}`)),
    option('own', T.settingsOwnClock, Boolean(room.clock) && !known),
  );
  const minutes = make('input', { type: 'number', min: '0.1', step: 'any', max: '600', value: (room.clock?.[0] ?? 180) / 60 });
  const increment = make('input', { type: 'number', min: '0', step: 'any', max: '600', value: room.clock?.[1] ?? 2 });
  const color = make(
    'select',
    { name: 'color' },
    ...[['white', T.side.white], ['black', T.side.black], ['random', T.settingsRandom]].map(([value, text]) =>
      option(value, text, value === room.color),
    ),
  );
  const fen = make('input', { name: 'fen', maxlength: '120', spellcheck: 'false' });
  const own = [labelled(T.settingsMinutes, minutes), labelled(T.settingsIncrement, increment)];
  const timed = labelled(T.settingsTime, time);
  const shape = () => {
    own.forEach((each) => (each.hidden = clock.value !== 'own'));
    timed.hidden = clock.value !== '';
    time.disabled = clock.value !== '';
    [minutes, increment].forEach((each) => (each.disabled = clock.value !== 'own'));
  };
  clock.addEventListener('change', shape);
  shape();

  const form = make(
    'form',
    { method: 'dialog' },
    make('h2', { id: 'settings-title', text: T.settingsTitle }),
    labelled(T.settingsEngine, engine),
    labelled(T.settingsColor, color),
    labelled(T.settingsClock, clock),
    ...own,
    timed,
    ...(room.starts ? [labelled(T.settingsFen, fen)] : []),
    make('p', { text: room.playing ? T.settingsLeaves : '' }),
    make(
      'div',
      { class: 'row' },
      make('button', { class: 'chief', value: 'start', text: T.settingsStart }),
      make('button', { value: '', formnovalidate: true, text: T.close }),
    ),
  );
  form.addEventListener('submit', (event) => {
    if (event.submitter?.value !== 'start') return;
    const clocks = clock.value === 'own' ? [60 * Number(minutes.value), Number(increment.value)] : clock.value.split('+').map(Number);
    start({
      engine: engine.value,
      time: clock.value === '' ? Number(time.value) : null,
      clock: clock.value === '' ? null : clocks,
      color: color.value,
      fen: fen.value.trim() || null,
    });
  });
  dialog.replaceChildren(form);
  dialog.showModal();
}

/** The dialog that lists the keys. @param {'fog' | 'rbc'} kind */
export function showKeys(kind) {
  const dialog = $('help');
  dialog.replaceChildren(
    make(
      'form',
      { method: 'dialog' },
      make('h2', { id: 'help-title', text: T.helpTitle }),
      make('dl', {}, ...T.help.flatMap(([key, what]) => [make('dt', { text: key }), make('dd', { text: what })])),
      make('p', { text: T.helpRules[kind] ?? '' }),
      make('div', { class: 'row' }, make('button', { text: T.close })),
    ),
  );
  dialog.showModal();
}
