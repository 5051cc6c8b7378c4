import type { Lease } from '../../lib/core/lease.js';
import type { PermitOptions } from '../../lib/core/permit-options.js';
import type { InterProcessSemaphoreV2 } from '../../lib/zookeeper/recipes/inter-process-semaphore-v2.js';
import type { SharedCountReader } from '../../lib/zookeeper/recipes/shared-count-reader.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

/** The semaphore of each test, and its znodes. */
export class SemaphoreStage {
  constructor(private readonly stage: () => Stage) {}

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

  /** One for each permit that is held, or that the first of those who wait asks for, in their order. */
  async leases(): Promise<string[]> {
    return byNumber(await this.stage().nodes(`${this.stage().path}/leases`));
  }

  /** Who waits, in their order. */
  async gate(): Promise<string[]> {
    return byNumber(await this.stage().nodes(`${this.stage().path}/locks`));
  }

  /** Waits until there are so many nodes of either kind. */
  async becomes(expected: { leases: number; gate: number }): Promise<void> {
    await eventually(`${JSON.stringify(expected)} nodes`, async () => {
      const [leases, gate] = await Promise.all([this.leases(), this.gate()]);
      return leases.length === expected.leases && gate.length === expected.gate;
    });
  }
}

const byNumber = (names: string[]) => names.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
