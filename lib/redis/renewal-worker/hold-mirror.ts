import { type MessagePort, receiveMessageOnPort } from 'node:worker_threads';
import type { Clock, Timer } from '../../core/clock.js';
import { LeaseScope } from '../../core/internal/lease-scope.js';
import type { Renewable } from '../connection/renewal-schedule.js';
import type { Confirmations, HoldCopy, MirrorMessage } from './messages.js';
import { SignOfLife } from '../../core/worker/sign-of-life.js';

/**
 * Keeps the worker thread informed of the holds that are registered in this one, with a sign of life while there are any, and
 * takes over what the worker has renewed.
 *
 * Invariants:
 * - The worker knows every registered hold as soon as this turn of the event loop has registered it, however long the turn takes.
 * - A renewal of the worker counts only for a hold that is registered, with the lease that it has now, and only if it was sent
 *   before the deadline that was known until then: so what is confirmed has no gaps, and a lost hold is never revived.
 */
export class HoldMirror {
  readonly sign = new SignOfLife();
  readonly #holds = new Map<number, Renewable>();
  readonly #ids = new Map<Renewable, number>();
  #lastId = 0;
  #port?: MessagePort | undefined;
  #beating?: Timer | undefined;

  /** @param beat interval of the signs of life, in ms */
  constructor(
    private readonly clock: Clock,
    private readonly beat: number,
  ) {}

  /** From now on the worker at the other end of the port gets to know all holds. */
  open(port: MessagePort): void {
    this.#port = port;
    for (const [id, hold] of this.#holds) this.#post(copyOf(id, hold));
    this.#beatLater();
  }

  /** The worker is gone, or has to go; what it has confirmed still counts. */
  close(): void {
    this.catchUp();
    this.#port?.close();
    this.#port = undefined;
    this.#beating?.cancel();
    this.#beating = undefined;
  }

  /** Adds a hold, or its new lease. */
  add(hold: Renewable): void {
    let id = this.#ids.get(hold);
    if (id === undefined) {
      this.#ids.set(hold, (id = ++this.#lastId));
      this.#holds.set(id, hold);
    }
    this.#post(copyOf(id, hold));
    this.#beatLater();
  }

  remove(hold: Renewable): void {
    const id = this.#ids.get(hold);
    if (id === undefined) return;
    this.#ids.delete(hold);
    this.#holds.delete(id);
    this.#post(id);
  }

  /** Takes over what the worker has renewed so far. To be called before a hold whose deadline has passed counts as lost. */
  catchUp(): void {
    if (this.#port === undefined) return;
    for (let next = receiveMessageOnPort(this.#port); next; next = receiveMessageOnPort(this.#port))
      this.#takeOver((next as { readonly message: Confirmations }).message);
  }

  #takeOver(confirmations: Confirmations): void {
    for (let i = 0; i < confirmations.length; i += 4) {
      const [id, sentAt, lease, extension] = confirmations.slice(i, i + 4) as [...HoldNumbers];
      const hold = this.#holds.get(id);
      if (hold === undefined || (hold.extension ?? 0) !== extension) continue;
      if (sentAt < hold.deadline) hold.renewed(sentAt, lease);
    }
  }

  /** Shows a sign of life from now on, for as long as a hold is registered. */
  #beatLater(): void {
    if (this.#port === undefined || this.#beating !== undefined || this.#holds.size === 0) return;
    const beat = () => {
      this.#beating = undefined;
      this.sign.give(this.clock);
      this.catchUp();
      this.#beatLater();
    };
    LeaseScope.runOutside(() => (this.#beating = this.clock.setTimer(beat, this.beat, true)));
  }

  /** Each message is a sign of life, too. */
  #post(message: MirrorMessage): void {
    if (this.#port === undefined) return;
    this.sign.give(this.clock);
    this.#port.postMessage(message);
  }
}

type HoldNumbers = [id: number, sentAt: number, lease: number, extension: number];

function copyOf(id: number, hold: Renewable): HoldCopy {
  const { keys, field, kind, lease, extension = 0, endsAt = Infinity } = hold;
  // Of a buffer, all the memory would be copied that it is a part of.
  const own = typeof field === 'string' ? field : Uint8Array.from(field);
  return { id, keys, field: own, kind, lease, extension, endsAt };
}
