import type { DistributedBarrier } from '../../../lib/zookeeper/barriers/distributed-barrier.js';
import { isGranted } from '../redis-node/is-granted.js';
import type { CommandedActor } from './listen.js';

/** The commands of a barrier. */
export class BarrierCommands implements CommandedActor {
  constructor(private readonly barrier: DistributedBarrier) {}

  async run([command, , first = '']: readonly string[]): Promise<string> {
    switch (command) {
      case 'set':
        await this.barrier.setBarrier();
        return 'set';
      case 'remove':
        await this.barrier.removeBarrier();
        return 'removed';
      case 'wait':
        return String(await isGranted(this.barrier.waitOnBarrier({ wait: Number(first) })));
      default:
        throw new Error(`No such command: ${command}`);
    }
  }
}
