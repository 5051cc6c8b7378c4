import type { LookupAddress } from 'node:dns';
import type { lookup } from 'node:dns/promises';
import type { Clock, Timer } from '../../core/clock.js';

/** Longest time for which a client that knows addresses of a name waits for new ones, in ms. */
const PATIENCE = 1_000;

/** The addresses of a name, those first which the name service put first. */
export interface NamedAddresses {
  readonly name: string;
  readonly addresses: readonly LookupAddress[];
}

/** The name service has said that there is no such name, as opposed to having said nothing. */
const isUnknownName = (error: unknown) => (error as NodeJS.ErrnoException).code === 'ENOTFOUND';

/**
 * Resolves names to addresses, without blocking. Servers that are well stay in reach of a client whose name service is late or down:
 * it takes the addresses that it knows, and answers that come too late for the attempt which asked for them.
 *
 * Invariants:
 * - Of each name there is one look-up under way at most: one that hangs, repeated, would use up all threads.
 * - What is known of a name is its last answer, whenever that came; nothing, if that was that there is no such name.
 */
export class NameLookups {
  readonly #known = new Map<string, NamedAddresses>();
  readonly #pending = new Map<string, Promise<NamedAddresses>>();

  constructor(
    private readonly clock: Clock,
    private readonly resolve: typeof lookup,
  ) {}

  /** The addresses of `name` that are known, without a look-up. */
  known(name: string): readonly LookupAddress[] {
    return this.#known.get(name)?.addresses ?? [];
  }

  /**
   * Asks for the addresses of `name`. If some are known, and the answer takes longer than a second, or half of `within`, or there is
   * none, it resolves to those. If none are known, it resolves to the first answer to any look-up under way, that of another name, too.
   *
   * Rejects when the name service says that there is no such name, and for any failure if no addresses are known.
   *
   * @param within how long its caller waits, in ms
   */
  find(name: string, within: number): Promise<NamedAddresses> {
    const own = this.#ask(name);
    const known = this.#known.get(name);
    if (known) return this.#unlessLate(own, known, Math.min(PATIENCE, within / 2));
    return new Promise((resolve, reject) => {
      own.then(resolve, reject);
      for (const other of this.#pending.values()) if (other !== own) other.then(resolve, () => {});
    });
  }

  async #unlessLate(
    answer: Promise<NamedAddresses>,
    known: NamedAddresses,
    patience: number,
  ): Promise<NamedAddresses> {
    let timer: Timer | undefined;
    const late = new Promise<NamedAddresses>((resolve) => {
      timer = this.clock.setTimer(() => resolve(known), patience, true);
    });
    try {
      return await Promise.race([answer, late]);
    } catch (error) {
      if (isUnknownName(error)) throw error;
      return known;
    } finally {
      timer?.cancel();
    }
  }

  #ask(name: string): Promise<NamedAddresses> {
    const pending = this.#pending.get(name);
    if (pending) return pending;
    const answer = this.#lookUp(name).finally(() => this.#pending.delete(name));
    this.#pending.set(name, answer);
    return answer;
  }

  async #lookUp(name: string): Promise<NamedAddresses> {
    try {
      const answer = { name, addresses: await this.resolve(name, { all: true }) };
      this.#known.set(name, answer);
      return answer;
    } catch (error) {
      if (isUnknownName(error)) this.#known.delete(name);
      throw error;
    }
  }
}
