import type { LeaderLatch } from '../../lib/core/election/leader-latch.js';
import type { LeaderOptions } from '../../lib/core/election/election-backend.js';
import { eventually } from '../support/eventually.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

/** For what comes after servers have started again, on a busy machine. */
const PATIENCE = { within: 25_000 };

/** The latches of each test on ZooKeeper, all of its key. Their clients close them. */
export class LeaderLatchStage {
  constructor(private readonly stage: () => Stage) {}

  of({ locks }: Client, options?: LeaderOptions): LeaderLatch {
    return locks.leaderLatch(this.stage().key, options);
  }

  started(client: Client, options?: LeaderOptions): LeaderLatch {
    const latch = this.of(client, options);
    latch.start();
    return latch;
  }

  /** Resolves when it leads. */
  async leading(client: Client, options?: LeaderOptions): Promise<LeaderLatch> {
    const latch = this.started(client, options);
    await latch.awaitLeadership();
    return latch;
  }

  /** Resolves when it stands in the queue, at its end. */
  async queued(client: Client, options?: LeaderOptions): Promise<LeaderLatch> {
    const { length } = await this.stage().nodes();
    const latch = this.started(client, options);
    await this.areQueued(length + 1);
    await this.stage().caughtUp(client);
    return latch;
  }

  /** Resolves to the paths of their nodes in the order of the queue, when there are so many. */
  areQueued(count: number): Promise<string[]> {
    const { path } = this.stage();
    return eventually(
      `${count} stand for election`,
      async () => {
        const queue = await this.stage().queueIn(path);
        if (queue.length !== count) throw new Error(queue.join(', '));
        return queue;
      },
      PATIENCE,
    );
  }

  /** Resolves to the one that leads, when one does. */
  async leaderOf(latches: readonly LeaderLatch[]): Promise<LeaderLatch> {
    const leaders = await eventually(
      'one of the latches leads',
      () => {
        const found = latches.filter(({ hasLeadership }) => hasLeadership);
        return found.length > 0 && found;
      },
      PATIENCE,
    );
    if (leaders.length > 1) throw new Error(`${leaders.length} lead at the same time`);
    return leaders[0]!;
  }

  /** What the latch reports to its listeners from now on. */
  toldBy(latch: LeaderLatch): string[] {
    const told: string[] = [];
    latch.onLeadership(() => told.push('leads'));
    latch.onLeadershipLost(() => told.push('lost'));
    return told;
  }
}
