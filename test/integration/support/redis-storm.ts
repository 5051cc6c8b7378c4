import { setTimeout as delay } from 'node:timers/promises';
import type { RedisProxy } from '../../support/redis-proxy.js';

const isSubscribe = ([name]: readonly string[]) => name === 'subscribe';
const isScript = ([name]: readonly string[]) => name === 'evalsha' || name === 'eval';

/**
 * Does one thing after the other to the connections through a proxy, until it is over; then all is well again.
 *
 * @param longest how long one thing may last, in ms
 */
export async function redisStorm(
  proxy: RedisProxy,
  random: () => number,
  longest: number,
  isOver: () => boolean,
): Promise<void> {
  const loseOne = () => {
    const loss = proxy.loseReply((command) => isScript(command) && loss.lost === 0);
    return loss;
  };
  const faults: (() => { stop(): void } | void)[] = [
    () => proxy.cut(),
    () => proxy.cut(isSubscribe),
    () => proxy.hold(),
    () => proxy.holdReplies(),
    loseOne,
  ];
  while (!isOver()) {
    await delay(random() * 300);
    const fault = faults[Math.floor(random() * faults.length)]!();
    await delay(random() ** 2 * longest);
    fault?.stop();
    proxy.resume();
  }
}
