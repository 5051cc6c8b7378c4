import type { Keyspace } from '../../../../lib/testing/redis/server/keyspace.js';
import { writtenKey } from './lock-visits.js';
import type { ObservedLock } from './observed-locks.js';

/**
 * The keys that should not be there when all clients have closed.
 *
 * @param when `later`: everything that ends by itself has ended
 */
export function leftovers(
  keyspace: Keyspace,
  locks: readonly ObservedLock[],
  when: 'now' | 'later',
): string[] {
  const lasting = locks.flatMap(({ name, title }) => [
    name.token,
    writtenKey(name.redisKey),
    ...(/permit|latch/.test(title) ? [name.redisKey, name.wantedPermits] : []),
  ]);
  const ends = [
    'nestjs-interlock:deadlocks:', // the last question, and a late answer
    ...locks.flatMap(({ name }) => [
      name.prefixed('interlock_gone'),
      name.prefixed('interlock_requests'),
      name.prefixed('interlock_extended'),
    ]),
  ];
  const isAllowed = (key: string) =>
    lasting.includes(key) || (when === 'now' && ends.some((start) => key.startsWith(start)));
  return keyspace.keys.filter((key) => !isAllowed(key));
}
