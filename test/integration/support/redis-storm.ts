import { setTimeout as delay } from 'node:timers/promises';
import type { RedisProxy } from '../../support/redis-proxy.js';

const isSubscribe = ([name]: readonly string[]) => name === 'subscribe';
const isScript = ([name]: readonly string[]) => name === 'evalsha' || name === 'eval';

/**
 * Does one thing after the other to the connections through a proxy, until it is over; then all is well again.
 *
 * @param longest how long nothing may get through, in ms
 */
export async function redisStorm(
  proxy: RedisProxy,
  random: () => number,
  longest: number,
  isOver: () => boolean,
): Promise<void> {
  const faults = [
    () => proxy.cut(),
    () => proxy.cut(isSubscribe),
    () => proxy.hold(),
    () => proxy.holdReplies(),
    () => {
      const loss = proxy.loseReply((command) => {
        if (isOver() || loss.lost > 0) loss.stop();
        return isScript(command) && loss.lost === 0;
      });
    },
  ];
  while (!isOver()) {
    await delay(random() * 300);
    faults[Math.floor(random() * faults.length)]!();
    await delay(random() ** 2 * longest);
    proxy.resume();
  }
}
