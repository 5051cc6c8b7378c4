import type { Lease } from '../../lib/core/lease.js';
import type { PermitOptions } from '../../lib/core/lock.js';
import type { InterProcessSemaphoreV2 } from '../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import type { SharedCountReader } from '../../lib/zookeeper/shared/shared-count.js';
import type { ZooKeeperLease } from '../../lib/zookeeper/locks/zookeeper-lease.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import type { SemaphoreStage } from './semaphore-stage.js';
import type { SemaphoreState } from './semaphore-state.js';
import type { Stage } from './stage.js';

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
