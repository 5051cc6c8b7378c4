import type { Socket } from 'node:net';
import { LockOptionsError } from '../../core/errors/index.js';
import { NotShown } from '../../core/errors/shown-value.js';
import { JuteWriter } from './jute.js';

/** Longest frame that servers accept, in bytes (`jute.maxbuffer`). At a longer one they hang up without a word. */
const LONGEST_FRAME = 0xfffff;

/** Writes frames to a socket: those of one turn together, at its end. */
export class FrameWriter {
  readonly #frames = new JuteWriter();
  #isHeld = false;

  constructor(private readonly socket: Socket) {}

  /** @throws LockOptionsError if the frame is too long; it is not sent */
  write(record: (writer: JuteWriter) => void): void {
    const size = this.#frames.frame(LONGEST_FRAME, record);
    if (size > LONGEST_FRAME) throw tooLong(size);
    if (this.#isHeld) return;
    this.#isHeld = true;
    process.nextTick(() => this.flush());
  }

  /** Holds all frames back until the next `flush`. */
  hold(): void {
    this.#isHeld = true;
  }

  flush(): void {
    this.#isHeld = false;
    if (this.#frames.length > 0 && !this.socket.destroyed) this.socket.write(this.#frames.take());
  }
}

function tooLong(size: number): LockOptionsError {
  const data = new NotShown(`too long: with its path ${size} bytes`);
  const expected = `data that fits into a request of ${LONGEST_FRAME} bytes, the most that servers accept (jute.maxbuffer)`;
  return new LockOptionsError('data', data, expected);
}
