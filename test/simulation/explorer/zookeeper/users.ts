import { LockLostError } from '../../../../lib/core/errors/index.js';
import type { SimulatedClient } from '../../client.js';
import { Visitor } from '../../guests.js';
import type { SimulatedLock } from '../../locks.js';
import type { Visit } from '../../operation.js';
import type { World } from '../../world.js';
import type { WrittenData } from '../../writes.js';
import type { Acts } from '../acts.js';

/** How a user comes to a lock, and what it does there. */
export interface Stay {
  /** Default: it waits as long as it takes. */
  readonly how?: 'tries' | 'may give up';
  readonly permits?: number;
  /** What it does while it holds the lock, in the scope of its lease. */
  readonly inside?: (visit: Visit) => Promise<void>;
  /** In the scope of which it is called. */
  readonly outer?: Visit;
}

/** A user of the locks of one client, one step after the other. */
export class User {
  constructor(
    readonly name: string,
    /** Users of one kind do the same. */
    readonly kind: string,
    readonly world: World,
    readonly client: SimulatedClient,
    private readonly acts: Acts<User>,
  ) {}

  /** Asks for the lock; if it is granted, holds it for a while, and releases it. */
  async visit(lock: SimulatedLock, stay: Stay = {}): Promise<void> {
    const { how, permits, inside, outer } = stay;
    const visitor = new Visitor(this.world.judge, this.client, lock);
    const name = nameOf(lock);
    await this.turn(`${how === 'tries' ? 'tries' : 'asks for'} ${name}`);
    let stop = () => {};
    const onSignal = (abort: () => void) =>
      void (stop = this.acts.offer(this, `gives up ${name}`, abort));
    const wish = { permits, ...(how === 'may give up' ? { onSignal } : {}) };
    const visit = await (how === 'tries'
      ? visitor.tryAcquire(wish, outer)
      : visitor.acquire(wish, outer));
    stop();
    if (visit === undefined) return;
    if (inside) await this.#stay(visit, inside);
    await this.turn(`releases ${name}`);
    await visitor.release(visit);
  }

  /** Writes by that lease, and does not wait for the answer: it may release the lock before. */
  async write(data: WrittenData, visit: Visit): Promise<void> {
    await this.turn('writes');
    void data.append(visit);
  }

  /** Unless it is lost already. */
  async #stay(visit: Visit, inside: (visit: Visit) => Promise<void>): Promise<void> {
    try {
      await visit.lease.run(() => inside(visit));
    } catch (error) {
      if (!(error instanceof LockLostError)) throw error;
    }
  }

  /** Resolves when the user is to do that. */
  turn(what: string): Promise<void> {
    return new Promise((resolve) => void this.acts.offer(this, what, resolve));
  }
}

function nameOf({ key, of }: SimulatedLock): string {
  const half = /\.(read|write)Lock\(/.exec(of.toString())?.[1];
  return half ? `${half} lock ${key}` : key;
}
