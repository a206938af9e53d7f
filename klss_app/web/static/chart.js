// A chart along the game: the value of the position, by each side's view and in truth; below it the sizes of both
// position sets, on a logarithmic scale. A click goes to that ply.
import { T } from '/strings.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 440;
const HEIGHT = 216;
const LEFT = 30;
const VALUES = { top: 22, height: 84 };
const SIZES = { top: 136, height: 60 };
/** The ends that the value axis may have, and their labels. */
const ENDS = [[0.25, '¼'], [0.5, '½'], [1, '1']];
const LINES = ['of-white', 'of-black', 'of-truth'];

function shape(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/** Whether a line has any known value. @param {(number | null | undefined)[]} line */
export const hasValues = (line) => line.some((value) => value !== null && value !== undefined);

/**
 * @param {(number | null | undefined)[][]} values for White, in [-1, 1]: by White's views, by Black's, in truth @param
 * {(number | undefined)[][]} sizes White's and Black's; undefined where nothing is known @param {number} ply where the
 * reader is @param {number} last @param {(ply: number) => void} go @param {{ply: number, at: number, name: string, text:
 * string}[]} dots on the values' lines: costly moves
 */
export function chart(values, sizes, ply, last, go, dots) {
  const decades = Math.ceil(Math.log10(Math.max(10, ...sizes.flat().filter(Boolean))));
  const x = (at) => LEFT + ((WIDTH - LEFT - 4) * at) / Math.max(1, last);
  const most = Math.max(...values.flat().map((value) => Math.abs(value ?? 0)));
  const [end, text] = ENDS.find(([each]) => most <= each) ?? ENDS.at(-1);
  const worth = (value) => VALUES.top + (VALUES.height * (1 - value / end)) / 2;
  const size = (n) => SIZES.top + SIZES.height * (1 - Math.log10(n) / decades);
  const all = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': T.chart });
  const level = (y, text) => {
    all.append(shape('line', { x1: LEFT, x2: WIDTH, y1: y, y2: y, class: 'grid' }));
    if (text) all.append(shape('text', { x: LEFT - 5, y: y + 5, 'text-anchor': 'end' }, text));
  };
  const draw = (series, y) =>
    series.forEach((numbers, i) => {
      const points = [];
      numbers.forEach((n, at) => hasValues([n]) && points.push(`${x(at).toFixed(1)},${y(n).toFixed(1)}`));
      all.append(shape('polyline', { points: points.join(' '), class: LINES[i] }));
    });
  for (const [value, name] of [[end, `+${text}`], [0, '0'], [-end, `−${text}`]]) level(worth(value), name);
  for (let i = 0; i <= decades; i += 1) level(size(10 ** i), i === 0 || i === decades ? `10${'⁰¹²³⁴⁵⁶⁷⁸⁹'[i]}` : '');
  draw(values, worth);
  draw(sizes, size);
  T.axes.forEach((text, i) => all.append(shape('text', { x: LEFT, y: [13, 128][i] }, text)));
  all.append(shape('text', { x: WIDTH - 4, y: HEIGHT - 4, 'text-anchor': 'end' }, T.plyAxis(last)));
  for (const dot of dots) {
    const spot = shape('circle', { cx: x(dot.ply), cy: worth(dot.at), r: 5, class: dot.name });
    spot.append(shape('title', {}, dot.text));
    all.append(spot);
  }
  all.append(shape('line', { x1: x(ply), x2: x(ply), y1: 0, y2: HEIGHT, class: 'here' }));
  all.addEventListener('click', (event) => {
    const box = all.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    go(Math.round(((at - LEFT) / (WIDTH - LEFT - 4)) * last));
  });
  return all;
}
