import type { RedisCountDownLatch } from '../../../lib/redis/semaphores/redis-count-down-latch.js';
import type { CommandedActor } from '../node/listen.js';
import { isGranted } from './is-granted.js';
import { waitOf } from './wait-of.js';
import { Waiters } from './waiters.js';

/** The commands of a count-down latch. */
export class LatchCommands implements CommandedActor {
  constructor(private readonly latch: RedisCountDownLatch) {}

  async run([command, , first = '']: readonly string[]): Promise<string> {
    const { latch } = this;
    switch (command) {
      case 'trySetCount':
        return String(await latch.trySetCount(Number(first)));
      case 'countDown':
        await latch.countDown();
        return 'counted';
      case 'count':
        return String(await latch.getCount());
      case 'await':
        return (await Waiters.during(() => isGranted(latch.await({ wait: waitOf(first) }))))
          ? 'open'
          : 'timeout';
      case 'delete':
        return String(await latch.delete());
      default:
        throw new Error(`No such command: ${command}`);
    }
  }
}
