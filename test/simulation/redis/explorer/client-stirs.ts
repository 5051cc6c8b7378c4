import type { VirtualClock } from '../../../support/time.js';
import type { ClientNetwork } from '../../../../lib/testing/redis/network/client-network.js';

/**
 * What clients do, other than to read: whether what one has read made it do something.
 *
 * As long as it does not, it has only taken note of an answer, and it does not matter which of two such answers it reads first: that a
 * lock is released, and that a subscription has ended; of several servers, a vote before the ballot is decided, or after that.
 */
export class ClientStirs {
  #sent = 0;
  #timers = 0;
  #notes = 0;

  /** @param soon a timer that is set for later, in ms, is none of what they do */
  constructor(clock: VirtualClock, soon = Infinity) {
    const set = clock.setTimer.bind(clock);
    clock.setTimer = (fn, ms) => {
      if (ms < soon) this.#timers += 1;
      return set(fn, ms);
    };
  }

  /** Listens to what it sends. */
  add(networks: readonly ClientNetwork[]): void {
    for (const network of networks) network.onSent = () => void (this.#sent += 1);
  }

  /** It is seen to do something. */
  noted(): void {
    this.#notes += 1;
  }

  /** The same as long as none of them does anything. @param acts what users may do */
  mark(networks: readonly ClientNetwork[], acts: readonly string[]): string {
    const links = networks.map(({ links: all }) => all.map(({ isOpen }) => isOpen).join());
    return [this.#sent, this.#timers, this.#notes, ...links, ...acts].join(';');
  }
}
