import { expect } from '@jest/globals';
import type { DistributedDoubleBarrier } from '../../lib/zookeeper/barriers/distributed-double-barrier.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import type { Client } from './client.js';
import type { Stage } from './stage.js';

type WaitOptions = Parameters<DistributedDoubleBarrier['enter']>[0];

/** The double barrier of each test, and its znodes. */
export class DoubleBarrierStage {
  constructor(private readonly stage: () => Stage) {}

  /** One more member, of that client. */
  of({ locks }: Client, memberQty: number): DistributedDoubleBarrier {
    return locks.doubleBarrier(this.stage().key, memberQty);
  }

  /** Names of the members on the servers, sorted. */
  async members(): Promise<string[]> {
    return (await this.stage().nodes()).filter((name) => name !== 'ready').sort();
  }

  async isOpen(): Promise<boolean> {
    return (await this.stage().nodes()).includes('ready');
  }

  /** Waits until there are so many members. */
  async becomes(members: number): Promise<void> {
    await eventually(
      `there are ${members} members`,
      async () => (await this.members()).length === members,
    );
  }

  /** Has a member enter; resolves when the node is there, with its name and with the entry under way. */
  async come(barrier: DistributedDoubleBarrier, options?: WaitOptions) {
    const before = await this.members();
    const entered = barrier.enter(options);
    entered.catch(() => {}); // looked at by the test, later
    const name = await eventually('it has a node', async () =>
      (await this.members()).find((member) => !before.includes(member)),
    );
    return { name, entered };
  }

  /** That client has dealt with all that has happened, and still waits. */
  async expectWaiting(client: Client, over: Promise<unknown>): Promise<void> {
    await this.stage().caughtUp(client);
    expect(await isSettled(over)).toBe(false);
  }

  /** Nothing is left but perhaps the directory. */
  async expectEmpty(): Promise<void> {
    await eventually('nothing is left', async () => {
      const nodes = await this.stage().nodes();
      if (nodes.length > 0) throw new Error(nodes.join(', '));
      return true;
    });
  }
}
