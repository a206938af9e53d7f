// The clocks. The server keeps them; between its messages the page counts down by itself.

/**
 * Milliseconds as a clock shows them.
 * @param {number} ms
 */
export function clockText(ms) {
  const left = Math.max(0, ms);
  const whole = Math.floor(left / 1000);
  const minutes = Math.floor(whole / 60);
  const seconds = String(whole % 60).padStart(2, '0');
  if (left < 10000) return `${minutes}:${seconds}.${Math.floor(left / 100) % 10}`;
  return `${minutes}:${seconds}`;
}

export class Clocks {
  constructor() {
    this.told = null;
    this.at = 0;
  }

  /** @param {{white: number, black: number, running: string | null} | null} told */
  take(told) {
    this.told = told;
    this.at = performance.now();
  }

  /** @param {'white' | 'black'} color @returns {number | null} milliseconds left */
  left(color) {
    if (!this.told) return null;
    const gone = this.told.running === color ? performance.now() - this.at : 0;
    return this.told[color] - gone;
  }

  running(color) {
    return this.told?.running === color;
  }
}
