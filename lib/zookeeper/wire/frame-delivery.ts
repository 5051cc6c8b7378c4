import type { Socket } from 'node:net';
import type { FrameWriter } from './frame-writer.js';

/** Frames that are delivered in one turn of the event loop: a millisecond or two of work. */
const FRAMES_PER_TURN = 16;

/**
 * Delivers frames one by one, and a few in each turn of the event loop: timers and other sockets are served in between.
 *
 * Invariants:
 * - Frames are delivered in the order in which they arrived. The socket may emit `data` while some are left: it is paused
 *   then, and after that emits what it has kept all at once.
 * - All reactions to promises that one frame has settled have run before the next is delivered.
 * - What the frames of a turn cause is written at its end, together.
 */
export class FrameDelivery {
  readonly #arrived: Buffer[] = [];
  #isUnderWay = false;

  constructor(
    private readonly socket: Socket,
    private readonly out: FrameWriter,
    private readonly deliver: (frame: Buffer) => void,
  ) {}

  add(frames: readonly Buffer[]): void {
    this.#arrived.push(...frames);
    if (this.#isUnderWay) return;
    this.#isUnderWay = true;
    this.#turn();
  }

  #turn(): void {
    this.out.hold();
    this.#next(1);
  }

  #next(nth: number): void {
    const frame = this.#arrived.shift();
    if (frame === undefined) return this.#end();
    // All microtasks run before the next tick. Scheduled before the frame is delivered, which may throw.
    if (nth === FRAMES_PER_TURN) this.#goOnLater();
    else queueMicrotask(() => process.nextTick(() => this.#next(nth + 1)));
    this.deliver(frame);
  }

  #goOnLater(): void {
    this.socket.pause(); // a server that is faster than this process has to wait
    setImmediate(() => {
      this.out.flush();
      this.#turn();
    });
  }

  #end(): void {
    this.#isUnderWay = false;
    this.out.flush();
    this.socket.resume();
  }
}
