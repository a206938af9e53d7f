// How many positions either side held possible, ply by ply, on a logarithmic scale; a click goes there.
import { T } from '/strings.js';

const SVG = 'http://www.w3.org/2000/svg';
const WIDTH = 600;
const HEIGHT = 130;
const LEFT = 34;
const BOTTOM = 8;

function shape(tag, attributes, text) {
  const element = document.createElementNS(SVG, tag);
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, String(value));
  if (text !== undefined) element.textContent = text;
  return element;
}

/**
 * @param {(number | undefined)[][]} series White's sizes and Black's; undefined where nothing is known
 * @param {number} ply where the reader is
 * @param {number} last
 * @param {(ply: number) => void} go
 */
export function chart(series, ply, last, go) {
  const largest = Math.max(10, ...series.flat().filter(Boolean));
  const decades = Math.ceil(Math.log10(largest));
  const x = (at) => LEFT + ((WIDTH - LEFT - 4) * at) / Math.max(1, last);
  const y = (n) => HEIGHT - BOTTOM - ((HEIGHT - 2 * BOTTOM) * Math.log10(n)) / decades;
  const all = shape('svg', { viewBox: `0 0 ${WIDTH} ${HEIGHT}`, role: 'img', 'aria-label': T.chart });
  for (let i = 0; i <= decades; i += 1) {
    all.append(shape('line', { x1: LEFT, x2: WIDTH, y1: y(10 ** i), y2: y(10 ** i), class: 'grid' }));
    if (decades < 5 || i % 2 === 0) {
      all.append(shape('text', { x: LEFT - 5, y: y(10 ** i) + 5, 'text-anchor': 'end' }, i < 3 ? String(10 ** i) : `10${'⁰¹²³⁴⁵⁶⁷⁸⁹'[i]}`));
    }
  }
  series.forEach((sizes, i) => {
    const points = [];
    sizes.forEach((n, at) => n && points.push(`${x(at).toFixed(1)},${y(n).toFixed(1)}`));
    all.append(shape('polyline', { points: points.join(' '), class: i ? 'of-black' : 'of-white' }));
  });
  all.append(shape('line', { x1: x(ply), x2: x(ply), y1: 0, y2: HEIGHT, class: 'here' }));
  all.addEventListener('click', (event) => {
    const box = all.getBoundingClientRect();
    const at = ((event.clientX - box.left) / box.width) * WIDTH;
    go(Math.round(((at - LEFT) / (WIDTH - LEFT - 4)) * last));
  });
  return all;
}
