import type { TakeLeadership } from '../../lib/core/election/leader-selector.js';
import type { Leadership } from '../../lib/core/election/leader-term.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';

/** What the leaders of a test do: each leads until its signal aborts or `end()` is called, and all is written down. */
export class LeaderSelectorReign {
  /** All that there were, the last one last. */
  readonly leaderships: Leadership[] = [];
  readonly #section = new CriticalSection();
  #end = new Deferred();

  /** The names of the leaders, in their order. */
  get leaders(): readonly string[] {
    return this.#section.visitors;
  }

  /** The most that led at once. */
  get most(): number {
    return this.#section.most;
  }

  leads(who = 'somebody'): TakeLeadership {
    return async (leadership) => {
      const end = (this.#end = new Deferred());
      const { signal } = leadership;
      signal.addEventListener('abort', () => end.resolve(), { once: true });
      this.#section.enter(who);
      this.leaderships.push(leadership);
      if (!signal.aborted) await end.promise;
      this.#section.leave();
    };
  }

  /** Ends the last one. */
  end(): void {
    this.#end.resolve();
  }

  /** Resolves when so many have led, to what the last of them leads by. */
  async begun(count: number): Promise<Leadership> {
    await eventually(`${count} have led`, () => this.leaderships.length >= count, {
      within: 20_000,
    });
    return this.leaderships[count - 1]!;
  }
}
