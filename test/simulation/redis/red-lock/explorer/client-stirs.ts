import type { VirtualClock } from '../../../../support/time.js';
import type { RedLockProcess } from '../red-lock-process.js';

/** A timer that is set for later is the renewal of a lease; with it, nothing that was asked depends on the order of the answers. In ms. */
const SOON = 5_000;

/**
 * What clients do, other than to read: whether what one has read made it do something.
 *
 * As long as it does not, it has only counted an answer, and it does not matter which of two such answers it reads first: the vote of a
 * server before the ballot is decided, or after that; a token, or a release, before there are enough.
 */
export class ClientStirs {
  #sent = 0;
  #timers = 0;
  #notes = 0;

  constructor(clock: VirtualClock) {
    const set = clock.setTimer.bind(clock);
    clock.setTimer = (fn, ms) => {
      if (ms < SOON) this.#timers += 1;
      return set(fn, ms);
    };
  }

  /** Listens to what it sends. */
  add({ networks }: RedLockProcess): void {
    for (const network of networks) network.onSent = () => void (this.#sent += 1);
  }

  /** It is seen to do something. */
  noted(): void {
    this.#notes += 1;
  }

  /** The same as long as none of them does anything. @param acts what users may do */
  mark({ networks }: RedLockProcess, acts: readonly string[]): string {
    const links = networks.map(({ links: all }) => all.map(({ isOpen }) => isOpen).join());
    return [this.#sent, this.#timers, this.#notes, ...links, ...acts].join(';');
  }
}
