import { expect } from '@jest/globals';
import type { Lease } from '../../../lib/core/lease.js';
import type { CountingSemaphore, PermitOptions } from '../../../lib/core/lock.js';
import { LockName } from '../../../lib/redis/connection/lock-name.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import type {
  RedisPermitExpirableSemaphore,
  RedisPermitOptions,
} from '../../../lib/redis/semaphores/redis-permit-expirable-semaphore.js';
import type { ZooKeeperLease } from '../../../lib/zookeeper/locks/zookeeper-lease.js';
import type { InterProcessSemaphoreV2 } from '../../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import type { SharedCountReader } from '../../../lib/zookeeper/shared/shared-count.js';
import { eventually } from '../../support/time.js';
import type { RedisStage, RedisStageClient } from './redis.js';
import type { StageClient } from './stage.js';
import type { Client, Stage } from './zookeeper.js';

/** What the servers know of a semaphore. */
export interface SemaphoreState {
  /** Permits that are held. */
  readonly held: number;
  /** How many wait, each as `queue` has it. */
  readonly waiting: number;
  /** Permits that the first waiter asks for. Default 1. */
  readonly next?: number;
}

/** The semaphore of each test, whatever the backend. */
export interface SemaphoreStage {
  /** Is the first waiter served first? Else the first of each client is, and waiters that want less may be served first. */
  readonly isFair: boolean;
  /** Another way to say the key of the test, where there is one. */
  readonly alias: string;
  /** The semaphore of the test, as that client sees it. */
  of(client: StageClient, permits: number): CountingSemaphore;
  /** Has the client wait for it; resolves when it does, with the lease to come. */
  queue(
    client: StageClient,
    permits: number,
    options?: PermitOptions,
  ): Promise<{ lease: Promise<Lease> }>;
  /** Waits until it is in that state. */
  becomes(expected: SemaphoreState): Promise<void>;
  /** Another client releases one permit of that lease, on the servers. */
  evict(lease: Lease, permit?: number): Promise<void>;
}

/** The semaphore of each test on ZooKeeper, and its znodes. */
export class ZooKeeperSemaphoreStage implements SemaphoreStage {
  readonly isFair = true;

  constructor(private readonly stage: () => Stage) {}

  get alias(): string {
    return this.stage().path;
  }

  /** The semaphore of the test, as that client sees it. */
  of(client: Client, permits: number | SharedCountReader): InterProcessSemaphoreV2 {
    return client.locks.semaphore(this.stage().key, { permits });
  }

  /** Has the client wait for it; resolves when it does, with the lease to come. */
  queue(
    client: Client,
    permits: number | SharedCountReader,
    options?: PermitOptions,
  ): Promise<{ lease: Promise<Lease> }> {
    return this.stage().queueFor(this.of(client, permits), client, options);
  }

  /** One for each permit that is held, or that the first waiter asks for, in their order. */
  async leases(): Promise<string[]> {
    return byNumber(await this.stage().nodes(`${this.stage().path}/leases`));
  }

  /** The waiters, in their order. */
  async gate(): Promise<string[]> {
    return byNumber(await this.stage().nodes(`${this.stage().path}/locks`));
  }

  becomes(expected: SemaphoreState): Promise<void> {
    return this.nodesBecome(nodesOf(expected));
  }

  /** Waits until there are so many nodes of either kind. */
  async nodesBecome(expected: { leases: number; gate: number }): Promise<void> {
    await eventually(`${JSON.stringify(expected)} nodes`, async () => {
      const [leases, gate] = await Promise.all([this.leases(), this.gate()]);
      return leases.length === expected.leases && gate.length === expected.gate;
    });
  }

  /** Another client deletes its node. */
  async evict(lease: Lease, permit = 0): Promise<void> {
    const { paths } = lease as ZooKeeperLease;
    await this.stage().stranger.delete(paths[permit]!);
  }
}

/** The first waiter has its nodes already. */
const nodesOf = ({ held, waiting, next = 1 }: SemaphoreState) => ({
  leases: held + (waiting > 0 ? next : 0),
  gate: waiting,
});

const byNumber = (names: string[]) => names.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));

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
    const { permitTimeouts, permitQueue } = new LockName(key);
    const [held, queued, listening] = await Promise.all([
      observer.zcount(permitTimeouts, Date.now(), '+inf'),
      observer.llen(permitQueue),
      this.#standing(),
    ]);
    return { held, queued, listening, waiting: this.#waiters().length };
  }

  /** How many clients would be woken: one listens to the channel of Redisson, each other one to a channel of its own. */
  async #standing(): Promise<number> {
    const { observer, key } = this.stage();
    const { waiters, semaphoreChannel } = new LockName(key);
    const ids = await observer.zrange(waiters, '0', '-1');
    const channels = ids.map((id) => `${semaphoreChannel}:${id}`);
    return (await this.stage().listening([semaphoreChannel, ...channels])).length;
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
