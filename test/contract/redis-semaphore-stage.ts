import { expect } from '@jest/globals';
import type { Lease } from '../../lib/core/lease.js';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type {
  RedisPermitExpirableSemaphore,
  RedisPermitOptions,
} from '../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import type { RedisStageClient } from './redis-stage-client.js';
import type { SemaphoreStage } from './semaphore-stage.js';
import type { SemaphoreState } from './semaphore-state.js';

/** The semaphore of each test on Redis. */
export class RedisSemaphoreStage implements SemaphoreStage {
  /** The waiters, by test: only the first of each client is known to the servers where they are not fair. */
  readonly #waiting = new Set<{ readonly key: string; readonly client: RedisStageClient }>();

  constructor(
    private readonly stage: () => RedisStage,
    readonly isFair: boolean,
  ) {}

  get alias(): string {
    return this.stage().key;
  }

  of(client: RedisStageClient, permits: number): RedisPermitExpirableSemaphore {
    return client.locks.semaphore(this.stage().key, { permits, fair: this.isFair });
  }

  async queue(
    client: RedisStageClient,
    permits: number,
    options?: RedisPermitOptions,
  ): Promise<{ lease: Promise<Lease> }> {
    const queued = await this.stage().queueFor(this.of(client, permits), client, options);
    const waiter = { key: this.stage().key, client };
    this.#waiting.add(waiter);
    const end = () => this.#waiting.delete(waiter);
    queued.lease.then(end, end);
    return queued;
  }

  async becomes(expected: SemaphoreState): Promise<void> {
    await eventually(`a semaphore with ${JSON.stringify(expected)}`, async () => {
      expect(await this.#state()).toEqual(this.#seen(expected));
      return true;
    });
  }

  /** By the id of the permit. */
  async evict(lease: Lease, permit = 0): Promise<void> {
    const { permitIds } = lease as RedisLease;
    const { theirs, key } = this.stage();
    await theirs.locks.semaphore(key, { fair: this.isFair }).release(permitIds[permit]!);
  }

  /** What the servers report, and how many of the test wait. */
  async #state(): Promise<Readonly<Record<string, number>>> {
    const { observer, key } = this.stage();
    const { permitTimeouts, permitQueue, semaphoreChannel } = new LockName(key);
    const [held, queued, listening] = await Promise.all([
      observer.zcount(permitTimeouts, Date.now(), '+inf'),
      observer.llen(permitQueue),
      this.stage().listening([semaphoreChannel]),
    ]);
    return { held, queued, listening: listening.length, waiting: this.#waiters().length };
  }

  /** What the state looks like: there is one queue for all, or each client with waiters listens. */
  #seen({ held, waiting }: SemaphoreState): Readonly<Record<string, number>> {
    const clients = new Set(this.#waiters().map(({ client }) => client)).size;
    const [queued, listening] = this.isFair ? [waiting, 0] : [0, clients];
    return { held, queued, listening, waiting };
  }

  #waiters(): { readonly client: RedisStageClient }[] {
    return [...this.#waiting].filter(({ key }) => key === this.stage().key);
  }
}
