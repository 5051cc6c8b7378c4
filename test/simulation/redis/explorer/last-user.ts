import { Acts } from '../../explorer/acts.js';
import type { ObservedLock } from '../world/observed-locks.js';
import type { RedisWorld } from '../world/redis-world.js';
import { RedisGuest } from './redis-guest.js';

/**
 * The next user of each lock removes what clients have left in its queue, by their death or by a leave that was never heard.
 *
 * @param longest the longest that it may take to get it, in ms
 */
export async function comeLast(
  world: RedisWorld,
  locks: readonly ObservedLock[],
  longest: number,
): Promise<void> {
  const { clock, judge, time } = world;
  const acts = new Acts<RedisGuest>();
  const guest = new RedisGuest('the last user', 'last', world.open[0]!, world, acts);
  for (const lock of locks) {
    let isOver = false;
    void guest.visit(lock).then(() => (isOver = true));
    for (const latest = clock.now() + longest; !isOver; await time.pass(1)) {
      if (clock.now() > latest) judge.accuse(`${lock.title} is granted to no one any more`);
      for (const name of acts.names) acts.do(name);
    }
  }
}
