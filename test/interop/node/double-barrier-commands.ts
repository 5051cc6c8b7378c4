import type { DistributedDoubleBarrier } from '../../../lib/zookeeper/barriers/distributed-double-barrier.js';
import { isGranted } from '../redis-node/is-granted.js';
import type { CommandedActor } from './listen.js';

/** The commands of a member of a double barrier. */
export class DoubleBarrierCommands implements CommandedActor {
  constructor(private readonly barrier: DistributedDoubleBarrier) {}

  async run([command, , first = '']: readonly string[]): Promise<string> {
    switch (command) {
      case 'enter':
        return String(await isGranted(this.barrier.enter({ wait: Number(first) })));
      case 'leave':
        return String(await isGranted(this.barrier.leave({ wait: Number(first) })));
      default:
        throw new Error(`No such command: ${command}`);
    }
  }
}
