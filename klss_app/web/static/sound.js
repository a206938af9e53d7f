// Short tones for what happens on the board; none until the page was used, as browsers ask for that.
import { kept } from '/dom.js';

/** Pitches in Hz, one after the other. */
const TONES = { move: [330], right: [523, 659], end: [392, 330, 262] };
const EACH_S = 0.09;
let audio = null;

/** @param {'move' | 'right' | 'end'} what */
export function sound(what) {
  if (!kept('sound', true) || !navigator.userActivation?.hasBeenActive) return;
  audio ??= new AudioContext();
  TONES[what].forEach((pitch, i) => {
    const tone = new OscillatorNode(audio, { type: 'triangle', frequency: pitch });
    tone.connect(new GainNode(audio, { gain: 0.12 })).connect(audio.destination);
    tone.start(audio.currentTime + i * EACH_S);
    tone.stop(audio.currentTime + (i + 1) * EACH_S);
  });
}
