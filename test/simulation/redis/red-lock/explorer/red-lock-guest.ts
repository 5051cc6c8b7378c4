import type { RedLockLease } from '../../../../../lib/redis/red-lock/red-lock.js';
import type { Acts } from '../../../explorer/acts.js';
import type { RedLockRequest } from '../red-lock-judge.js';
import type { RedLockProcess } from '../red-lock-process.js';
import type { RedLockWorld } from '../red-lock-world.js';

/** What a guest does last. */
export const RELEASES = 'releases it';

/** How a guest comes to the lock, and what it does there. */
interface Stay {
  /** Default: it waits as long as it takes. */
  readonly how?: 'tries' | 'may give up';
  /** Whether it asks for its fencing token. */
  readonly isFenced?: boolean;
  /** Whether it keeps the lock until it is told to leave, and does nothing more. */
  readonly isLasting?: boolean;
}

/** A user of the lock of one client, one step after the other. */
export class RedLockGuest {
  #leave = (): void => {};

  constructor(
    readonly name: string,
    readonly client: RedLockProcess,
    private readonly world: RedLockWorld,
    private readonly acts: Acts<RedLockGuest>,
  ) {}

  /** Asks for the lock; if it is granted, holds it for a while, and releases it. */
  async visit(key: string, stay: Stay = {}): Promise<void> {
    const { how } = stay;
    const { client, world } = this;
    const { judge } = world;
    const isTry = how === 'tries';
    await this.#turn(isTry ? 'tries' : 'asks');
    const request = judge.began(client, isTry);
    const abort = new AbortController();
    const giveUp = () => {
      request.abortedAt = world.clock.now();
      abort.abort();
    };
    const stop = how === 'may give up' ? this.acts.offer(this, 'gives up', giveUp) : () => {};
    try {
      const { signal } = abort;
      const lock = client.locks.mutex(key);
      const lease = await (isTry ? lock.tryAcquire({ signal }) : lock.acquire({ signal }));
      stop();
      if (lease === undefined) judge.refused(request);
      else await this.#hold(request, lease, stay);
    } catch (error) {
      stop();
      judge.failed(request, error);
    }
  }

  /** Never rejects: what fails while it is held is the fault of the network. */
  async #hold(
    request: RedLockRequest,
    lease: RedLockLease,
    { isFenced, isLasting }: Stay,
  ): Promise<void> {
    const { judge } = this.world;
    const grant = judge.granted(request, lease);
    if (isFenced)
      await lease.fencingToken().then(
        (token) => judge.fenced(grant, token),
        () => {},
      );
    const release = () => {
      judge.releasing(grant);
      return lease.release();
    };
    if (isLasting) return void (this.#leave = () => void release());
    await this.#turn(RELEASES);
    await release();
  }

  /** Releases what it has kept. */
  leave(): void {
    this.#leave();
  }

  #turn(what: string): Promise<void> {
    return new Promise((resolve) => void this.acts.offer(this, what, resolve));
  }
}
