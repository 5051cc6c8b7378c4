import { LockLostError } from '../../lib/core/errors/index.js';
import type { Dice } from './dice.js';
import type { LockQueue } from './lock-queue.js';
import type { Visit } from './visit.js';
import type { Visitor, Wish } from './visitor.js';

/** Uses locks as clients do, at random: waits and gives up, holds briefly and for long, nests, and releases in every way. */
export class Guest {
  /** What it has started and not awaited. */
  readonly #loose = new Set<Promise<void>>();

  /** @param visitors one for each lock, all of one client */
  constructor(
    private readonly visitors: readonly Visitor[],
    private readonly dice: Dice,
  ) {}

  /** Comes again and again until that time, or until its client is closed. */
  async live(until: number): Promise<void> {
    const { client } = this.visitors[0]!;
    while (client.closedAt === undefined && client.process.now() < until) {
      await client.sleep(this.dice.time(this.dice.pick([0, 0, 30, 300])));
      await this.#come(this.dice.pick(this.visitors));
    }
    while (this.#loose.size > 0) await Promise.all(this.#loose);
  }

  async #come(visitor: Visitor): Promise<void> {
    switch (
      this.dice.pick(['acquire', 'acquire', 'acquire', 'try', 'using', 'siblings'] as const)
    ) {
      case 'acquire':
        return this.#hold(visitor, await visitor.acquire(this.#wish(visitor)));
      case 'try':
        return this.#hold(visitor, await visitor.tryAcquire(this.#wish(visitor)));
      case 'using':
        return this.#use(visitor);
      case 'siblings':
        await Promise.all([this.#use(visitor), this.#use(visitor)]);
    }
  }

  async #use(visitor: Visitor, outer?: Visit): Promise<void> {
    await visitor.using((visit) => this.#stay(visitor, visit), this.#wish(visitor, outer), outer);
  }

  async #hold(visitor: Visitor, visit: Visit | undefined): Promise<void> {
    if (!visit) return;
    const inside = visit.lease.run(() => this.#stay(visitor, visit));
    await inside.catch((error) => {
      if (!(error instanceof LockLostError)) throw error; // if it is lost already, the work does not even start
    });
    await this.#leave(visitor, visit);
  }

  /** In the scope of the lease. */
  async #stay(visitor: Visitor, visit: Visit): Promise<void> {
    const { dice } = this;
    if (dice.chance(0.3)) await visitor.fence(visit);
    await visitor.client.sleep(this.#duration());
    switch (dice.pick(['nothing', 'nothing', 'nothing', 'nest', 'nest two', 'detach'] as const)) {
      case 'nothing':
        return;
      case 'nest':
        return this.#use(this.#related(visitor), visit);
      case 'nest two':
        await Promise.all([
          this.#use(this.#related(visitor), visit),
          this.#use(this.#related(visitor), visit),
        ]);
        return;
      case 'detach':
        this.#detach(visitor, visit);
    }
  }

  /** Starts work that continues when this lease is over: it is then one among many. */
  #detach(visitor: Visitor, outer: Visit): void {
    const loose = visitor.client
      .sleep(this.#duration())
      .then(() => this.#use(this.#related(visitor), outer))
      .finally(() => this.#loose.delete(loose));
    this.#loose.add(loose);
  }

  async #leave(visitor: Visitor, visit: Visit): Promise<void> {
    const { client } = visitor;
    const { lease } = visit;
    switch (this.dice.pick(['once', 'twice', 'at once', 'elsewhere', 'from two'] as const)) {
      case 'once':
        return visitor.release(visit);
      case 'twice':
        await visitor.release(visit);
        return lease.release();
      case 'at once':
        return void visitor.release(visit);
      case 'elsewhere':
        await client.sleep(0);
        return visitor.release(visit);
      case 'from two':
        await Promise.all([visitor.release(visit), lease.release(), lease.release()]);
    }
  }

  /** A visitor of the same lock, or of the other side, the whole or a part of it. */
  #related({ lock }: Visitor): Visitor {
    const isRelated = ({ lock: other }: Visitor) =>
      other === lock ||
      (other.queue !== undefined && other.queue === lock.queue) ||
      lock.parts?.includes(other) ||
      other.parts?.includes(lock);
    return this.dice.pick(this.visitors.filter(isRelated));
  }

  /** A visitor that waits for one thing while it holds another must not wait forever: others may do the reverse. */
  #wish({ lock }: Visitor, outer?: Visit): Wish {
    const { dice } = this;
    const permits = dice.integer(1, lock.permits ?? 1);
    const limit = dice.time(dice.pick([20, 200, 2_000]));
    const isPatient = outer === undefined || (lock.isReentrant && isAllOf(lock.queue, outer));
    const kinds = [
      ...(isPatient ? (['forever', 'forever', 'signal'] as const) : []),
      'wait',
      'both',
    ] as const;
    switch (dice.pick(kinds)) {
      case 'forever':
        return { permits };
      case 'wait':
        return { permits, wait: 10 + limit };
      case 'signal':
        return { permits, abortAfter: limit };
      case 'both':
        return { permits, wait: 10 + limit, abortAfter: dice.time(2 * limit) };
    }
  }

  #duration(): number {
    const { dice, visitors } = this;
    const { sessionTimeout } = visitors[0]!.client;
    return dice.time(dice.pick([0, 0, 20, 50, 300, 0.5 * sessionTimeout, 3 * sessionTimeout]));
  }
}

/** Whether all that is held around a call in the scope of that visit belongs to one queue. */
function isAllOf(queue: LockQueue | undefined, visit: Visit | undefined): boolean {
  if (visit === undefined) return true;
  return visit.hold.queue === queue && isAllOf(queue, visit.outer);
}
