import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { CommandedActor } from '../node/listen.js';
import type { WorkerHold } from '../node/worker-hold.js';
import { Worker } from '../node/worker.js';
import { isGranted } from './is-granted.js';

/** How long it waits before it checks whether it is time to rest, in ms. */
const PATIENCE = 2_000;

/**
 * A member of the fleet that meets all others at a latch, round after round. There are two latches: a member that is late to
 * leave one still finds it open when others have closed the next.
 */
export class RoundCommands implements CommandedActor {
  private readonly latches;
  private round = 0;
  private hasArrived = false;

  /** @param size of the fleet */
  constructor(
    client: RedisLockClient,
    name: string,
    private readonly size: number,
  ) {
    this.latches = ['even', 'odd'].map((which) => client.countDownLatch(`${name}:${which}`));
  }

  async run([command, , port, name = '']: readonly string[]): Promise<string> {
    if (command !== 'work') throw new Error(`No such command: ${command}`);
    return Worker.work({ acquire: () => this.meet() }, Number(port), name, () => -1);
  }

  private async meet(): Promise<WorkerHold | undefined> {
    const latch = this.latches[this.round % 2]!;
    if (!this.hasArrived) {
      await latch.trySetCount(this.size);
      await latch.countDown();
      this.hasArrived = true;
    }
    if (!(await isGranted(latch.await({ wait: PATIENCE })))) return undefined;
    this.hasArrived = false;
    this.round += 1;
    return { isHeld: true, release: async () => {} }; // it is open for all
  }
}
