// Every text that the page shows. A translation is another file like this one.

const side = { white: 'White', black: 'Black' };
const percent = (p) => (p === null ? '?' : p > 0 && p < 0.005 ? '<1%' : `${Math.round(100 * p)}%`);

const counted = (n, one, more = `${one}s`) => `${n.toLocaleString('en')} ${n === 1 ? one : more}`;
const points = (cost) => `${counted(Math.round(50 * cost), 'point')} of 100`;

const men = { pawn: 'pawn', knight: 'knight', bishop: 'bishop', rook: 'rook', queen: 'queen', king: 'king' };

export const T = {
  // ------------------------------------------------------------------ names of things
  title: 'klss board',
  tools: 'Tools',
  newGame: 'New game',
  open: { fog: 'Open a PGN', rbc: 'Open a game' },
  flip: 'Flip the board (F)',
  sound: 'Sound',
  ghosts: 'Enemy pieces where they were last seen',
  keys: 'Keys and rules',
  puzzles: 'Puzzles',
  puzzleBefore: 'Previous',
  puzzleNext: 'Next',
  showSolution: 'Show the solution',
  youSaw: 'You saw',
  thereWas: 'There was',
  couldHaveBeen: 'Could have been',
  puzzle: ({ number, of }, solved) => `Puzzle ${number} of ${of}${solved.includes(number) ? ' ✓' : ''}, ${solved.length} solved`,
  puzzleThemes: { all: 'Every theme', force: 'Force: the king falls', save: 'Save the king', win: 'Win material', keep: 'Lose nothing' },
  puzzleOrder: { easy: 'Easy ones first', random: 'In random order' },
  puzzleRating: (level) => (level ? `${T.level(`level-${level}`)}, ${T.levels[level - 1]}, is the first to find it.` : 'No level of the engine finds it.'),
  themes: 'Theme',
  order: 'Order',
  loadingPuzzle: 'Loading the puzzle …',
  notLoaded: (why) => `This could not be loaded (${why}); try again, or load the page again.`,
  noSuchMove: (text) => `Got '${text}', expected one of your moves, such as Nf3 or g1f3.`,
  openings: 'Openings',
  openingsAbout: 'What the engine plays at its first turns, what people play, and what a move is worth to who plays it.',
  openingsBack: 'One move back',
  opening: ({ line, color, moves }) =>
    `${line.map((san, i) => (i % 2 ? san : `${i / 2 + 1}. ${san}`)).join(' ')}${line.length ? ': ' : ''}${side[color]} to move, ` +
    `as ${side[color]} sees it. ${moves.length ? '' : 'The book ends here.'}`,
  openingPeople: (n) => `The engine, and ${counted(n, 'game')} of people`,
  openingColumns: ['move', 'engine', 'people', 'value'],
  close: 'Close',
  play: 'Play',
  resign: 'Resign',
  resignSure: 'Really resign?',
  playOn: 'Play on',
  offerDraw: 'Offer a draw',
  acceptDraw: 'Accept the draw',
  review: 'Review',
  rematch: 'Rematch',
  download: { fog: 'Download PGN', rbc: 'Download game' },
  boardRegion: 'Board',
  boardLabel: 'Chess board: arrow keys move a cursor, Enter picks up and puts down',
  playRegion: 'Game',
  reviewRegion: 'Review',
  moveList: 'Moves',
  typeMove: 'Type a move, such as Nf3',
  typeAnswer: 'Type one of the answers',
  typeLook: 'Type a square, such as e5',
  lookNowhere: 'Look nowhere',
  pass: 'Pass',
  inWords: 'The board in words',
  promote: 'Promote to',
  side,
  men,
  ...men,
  percent,

  // ------------------------------------------------------------------ while a game goes on
  /** Milliseconds as a clock shows them; tenths at the end. */
  clock: (ms) => {
    const tenths = ms < 10000 ? `.${Math.floor(ms / 100) % 10}` : '';
    return `${Math.floor(ms / 60000)}:${String(Math.floor(ms / 1000) % 60).padStart(2, '0')}${tenths}`;
  },
  /** The title of a page on which these two play or are reviewed. */
  pageTitle: (what) => `${what} · ${T.title}`,
  you: 'you',
  opponent: 'opponent',
  asks: {
    sense: (number) => `Turn ${number}: choose where to look; you see the nine squares around it.`,
    move: (number) => `Turn ${number}: ask for a move, or pass.`,
  },
  away: ' (not at the board now)',
  lookingBack: (ply, last) => `Ply ${ply} of ${last}, as you saw it then. → leads on, to the present.`,
  yourAnswer: 'It is your turn.',
  yourTurn: (number) => `Move ${number}: your turn.`,
  loads: (name) => `${T.level(name)} is loading …`,
  loading: (s) => `Loading, ${s} s. The first time code is compiled for this machine, which can take a minute.`,
  thinks: (name) => `${name === 'opponent' ? 'Your opponent' : T.level(name)} thinks …`,
  drawOffered: 'You offered a draw; it stands until your opponent has moved.',
  drawToAccept: 'Your opponent offers a draw; your next move declines it.',
  premove: (move) => `Premove ${move}: played if it is possible then. Escape takes it back.`,
  waiting: 'Waiting for the other player.',
  invite: 'Invite the other player',
  inviteAbout:
    'The first browser that opens this link gets the seat. Other devices can open it if you started klss board with ' +
    '--host 0.0.0.0.',
  inviteLink: 'Link of the invitation',
  copy: 'Copy',
  copied: 'Copied',
  starting: 'The game begins as soon as the engine is loaded.',
  rematchAsked: 'You asked for a rematch.',
  rematchOffered: 'Your opponent asks for a rematch.',
  menTaken: (men) => `taken: ${men.join(', ')}`,
  /** The result, for a player of that colour, or for both. */
  score: (winner, color) => {
    const sign = { white: '1–0', black: '0–1' }[winner] ?? '½–½';
    return winner && color ? `${winner === color ? 'You won' : 'You lost'}, ${sign}` : sign;
  },
  ghost: ({ orig, piece, age }) => `Last seen ${counted(Math.ceil(age / 2), 'move')} ago: ${piece.role} ${orig}. `,
  legend: 'What you see',
  legends: {
    fog: [
      'Bright squares are those that your pieces stand on or could move to. The others are in the fog.',
      'A pale piece in the fog is a ghost: an enemy piece where you last saw it, with the number of moves since.',
      'In the list, ? is a move that you did not see, and ?xd5 one that captured a piece of yours.',
    ],
    rbc: [
      'First click the square to look at: you see the nine squares around it. Then move, or pass.',
      'The darker a square, the more of your turns ago you last knew it. In the dark fog you never looked.',
      'In the list, e5: Nf3 is a look at e5 and then a move; ? is a turn of your opponent.',
      'A good first look is on the enemy’s pawns, such as e6 or d6: it shows what has moved.',
    ],
  },
  own: 'Your pieces',
  seenEnemies: 'Enemy pieces in sight',
  lastSeen: 'Enemy pieces as last seen',
  nothing: 'none',
  fogCount: (n) => `${counted(n, 'square is', 'squares are')} in the fog.`,
  cursor: (square, what) => `${square}: ${what}`,
  fog: 'fog',
  empty: 'empty',

  // ------------------------------------------------------------------ connection
  lostLine: 'The connection is lost; trying again …',
  /** By the server's error about a link. */
  shut: {
    'no seat': 'This link opens no seat: use the one that klss board printed when it started.',
    left: 'The other player has begun another game.',
    'no invitation': 'This invitation was used already. If that was not you, tell whoever sent it: somebody else has your seat.',
  },

  // ------------------------------------------------------------------ a new game
  level: (name) => name.replace(/^level-(?=\d\b)/, 'Level '),
  levels: ['beginner', 'casual', 'learner', 'club', 'strong', 'expert', 'master', 'merciless'],
  levelAbout: (level, about) => `${T.level(level)}, ${T.levels[level.at(-1) - 1]}: ${about}.`,
  opponents: { engine: 'Computer', friend: 'A friend, by link' },
  friendAbout: 'You get a link for your friend; the game begins when it is opened.',
  settingsOpponent: 'Opponent',
  settingsLevels: 'Level',
  settingsLevel: 'by level',
  settingsEngine: 'Engine by name',
  settingsTime: 'Its seconds a move',
  settingsClock: 'Minutes + seconds added a move',
  settingsNoClock: 'no clock',
  settingsOwnClock: 'other …',
  settingsMinutes: 'Minutes',
  settingsIncrement: 'Seconds added a move',
  settingsColor: 'You play',
  settingsColors: { white: 'White', random: 'either', black: 'Black' },
  settingsMore: 'More: engine, seconds, start position',
  settingsFen: 'Start position (FEN; empty: the usual one)',
  settingsStart: 'Start',
  settingsLeaves: 'Leave the game, and start',

  // ------------------------------------------------------------------ keys
  help: [
    ['M or /', 'type a move; Enter plays it, Escape leaves the line'],
    ['arrow keys', 'on the board: move a cursor; Enter or Space picks up a piece and puts it down'],
    ['Escape', 'put the piece back; take a premove back'],
    ['F', 'flip the board'],
    ['N', 'new game'],
    ['← →', 'off the board: step through what you saw so far; in a review: one ply back, one on'],
    ['Home, End', 'in a review: the start, the end'],
    ['E', 'in a review: the next costly move'],
    ['1 2 3 4', 'in a review: the truth, White sees, Black sees, the truth under the fog of the side below'],
  ],
  rules: {
    fog: 'You see your pieces and the squares that they could move to; the rest is in the fog. There is no check: capture the king to win.',
    rbc: 'Each turn you look at nine squares, then ask for a move; what stands in the way may change it. There is no check: capture the king to win.',
  },

  // ------------------------------------------------------------------ review
  fileName: (names, suffix) => `${names.join('-').replace(/[^\p{L}\p{N}.,=+-]+/gu, '_')}.${suffix}`,
  reviewOf: (white, black, result) => `${T.level(white)} – ${T.level(black)}, ${result}`,
  ply: (n, of) => `ply ${n} of ${of}`,
  start: 'Start position',
  first: 'To the start',
  back: 'One ply back',
  on: 'One ply on',
  last: 'To the end',
  slider: 'Ply',
  show: 'Board',
  views: { truth: 'The truth', white: 'White sees', black: 'Black sees', veil: 'Truth and fog' },
  whereMight: 'Where might the enemy be?',
  heat: { none: '–', k: 'king', q: 'queen', any: 'any piece' },
  heatOf: (color) => `Shaded: where ${side[color]} has to expect them from its views alone, by how players move (the learned filter).`,
  arrows: 'Arrows for the engine’s moves',
  analysing: (n, of) => `Analysing: ${n} of ${counted(of, 'turn')} …`,
  analysed: (n) => (n === 1 ? 'The only turn is analysed.' : `All ${counted(n, 'turn')} are analysed.`),
  failed: (why) => `The analysis failed: ${why}`,
  chart: 'Above: what the position was worth for White, along the game. Below: how many positions were possible',
  axes: ['value for White', 'possible positions'],
  plyAxis: (last) => `plies, to ${last}`,
  lines: [
    ['of-white', 'White knew'],
    ['of-black', 'Black knew'],
    ['of-truth', 'the truth'],
  ],
  nextMistake: 'Next mistake',
  learn: 'Learn from mistakes',
  lesson: (turn) => `${side[turn.color]} played ${turn.played.san} here. Find a better move: move a piece on the board.`,
  sides: 'Accuracy, marks, cost and luck',
  accuracyAbout: 'Of 100: the mean of 100·e^(−2·cost) over the moves',
  skillAndLuck: (cost, luck) => `A move cost ${(cost ?? 0).toFixed(2)} in the mean; luck was ${luck === null ? 'not judged' : T.value(luck)}.`,
  inLine: 'A position that was possible, along this line: ← and → step through it. ',
  noErrors: (all) => `No move has a mark${all ? '' : ' so far'}.`,
  /** The cost of a move, the best move, and the luck. */
  verdict: (turn) => {
    const { played, best, color } = turn;
    const n = turn.positions[color]?.[0];
    const positions = n === 1 ? 'only one position was' : `${n?.toLocaleString('en')} positions were`;
    const known = n === undefined ? '' : `; ${positions} possible for ${side[color]}`;
    let cost = played.loss < 0.005 ? 'Cost nothing' : `Cost ${played.loss.toFixed(2)} (${points(played.loss)})`;
    if (played.loss === null) cost = 'Cost unknown';
    const often = best.p === null ? '' : ` (${percent(best.p)})`;
    const other = best.san === played.san ? '' : ` Best: ${best.san}${often}.`;
    return `${cost}${known}.${other} ${turn.because?.text ?? ''} ${T.luck(played.turned)}`;
  },
  luck: (v) => {
    if (v === null || Math.abs(v) < 0.05) return '';
    return `${v > 0 ? 'Good' : 'Bad'} luck: ${Math.abs(v).toFixed(2)} ${v > 0 ? 'better' : 'worse'} on the true board than on average, beside the engine’s choice.`;
  },
  tryOne: (color) => `Move a piece of ${side[color]}'s on the board to see what another move would cost.`,
  tried: (turn, move) => {
    const [san, cost] = turn.tries[move];
    const p = turn.moves.find((each) => each.move === move)?.p ?? 0;
    const plays = turn.looks ? '' : `; the engine plays it in ${percent(p)}`;
    const said = cost === null ? 'cost unknown' : cost < 0.005 ? 'costs nothing' : `costs ${cost.toFixed(2)} (${points(cost)})`;
    return `Tried: ${san} ${said}${plays}.`;
  },
  looks: ({ look, played, after_look }) => {
    const cost = played.look_loss === null ? 'its cost is not known' : `it cost ${played.look_loss.toFixed(2)}`;
    const best = look.best === look.played ? 'the best look' : `the best look was ${look.best} (lit)`;
    return `Looked at ${look.played ?? 'nothing'}: ${cost}, ${best}. After it ${after_look === 1 ? 'one position was' : `${after_look.toLocaleString('en')} positions were`} possible.`;
  },
  mixture: (color) => `The engine for ${side[color]}, from its views alone`,
  columns: ['move', 'plays', 'value'],
  value: (v) => (v === null ? '?' : `${v >= 0 ? '+' : '−'}${Math.abs(v).toFixed(2)}`),
  expects: 'It expects',
  notAnalysed: 'This ply is not analysed yet.',
  noTurn: 'The game ends here.',
  reading: 'Reading the file …',
  tooLarge: 'That file is no text, or too large: expected at most 200 kB. In the terminal, klss board FILE --game N opens a game of a larger one.',
};
