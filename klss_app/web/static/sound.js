// Short sounds, made by the browser; off until the user turns them on.
let context = null;

export const sound = {
  on: false,
  toggle() {
    this.on = !this.on;
    if (this.on) {
      context ??= new AudioContext();
      context.resume();
      this.play('move');
    }
    return this.on;
  },
  /** @param {'move' | 'capture' | 'end'} what */
  play(what) {
    if (!this.on || !context) return;
    const [pitch, length] = { move: [440, 0.06], capture: [260, 0.12], end: [330, 0.4] }[what];
    const tone = context.createOscillator();
    const volume = context.createGain();
    tone.frequency.value = pitch;
    volume.gain.setValueAtTime(0.12, context.currentTime);
    volume.gain.exponentialRampToValueAtTime(0.001, context.currentTime + length);
    tone.connect(volume).connect(context.destination);
    tone.start();
    tone.stop(context.currentTime + length);
  },
};
