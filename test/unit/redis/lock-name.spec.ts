import { describe, expect, it } from '@jest/globals';
import { hashTag, slotOf } from '../../../lib/redis/connection/cluster-slots.js';
import { LockName } from '../../../lib/redis/connection/lock-name.js';

const HOLDER = '2b0e4c9e-6c0b-4ad8-9a3e-4f3d7f0a9c11:7';

describe('The names of a lock, as Redisson makes them,', () => {
  it('put a key without braces into braces', () => {
    const name = new LockName('orders');
    expect(name).toMatchObject({
      redisKey: 'orders',
      channel: 'redisson_lock__channel:{orders}',
      readWriteChannel: 'redisson_rwlock:{orders}',
      token: 'redisson_lock_token:{orders}',
      queue: 'redisson_lock_queue:{orders}',
      timeouts: 'redisson_lock_timeout:{orders}',
    });
    expect(name.hold(HOLDER)).toBe(`{orders}:${HOLDER}:rwlock_timeout:1`);
  });

  it.each(['{orders}:1', 'shop:{orders}', 'a{b', 'a{}b', '{'])(
    'leave a key with a brace as it is (%s)',
    (key) => {
      const name = new LockName(key);
      expect(name).toMatchObject({
        redisKey: key,
        channel: `redisson_lock__channel:${key}`,
        readWriteChannel: `redisson_rwlock:${key}`,
        token: `redisson_lock_token:${key}`,
        queue: `redisson_lock_queue:${key}`,
        timeouts: `redisson_lock_timeout:${key}`,
      });
      expect(name.hold(HOLDER)).toBe(`${key}:${HOLDER}:rwlock_timeout:1`);
    },
  );

  it('put a prefix inside of the braces', () => {
    expect(new LockName('test::orders').channel).toBe('redisson_lock__channel:{test::orders}');
  });

  it.each(['orders', '{orders}:1', 'shop:{orders}', 'a b', 'ä', '{ }'])(
    'all lie in the slot of the key (%s)',
    (key) => {
      const name = new LockName(key);
      const { channel, readWriteChannel, token, queue, timeouts, alive, writers } = name;
      const names = [channel, readWriteChannel, token, queue, timeouts, alive, writers];
      for (const other of [...names, name.hold(HOLDER), name.hold(`${HOLDER}:write`)])
        expect(slotOf(other)).toBe(slotOf(key));
    },
  );
});

describe('A hash tag', () => {
  it.each([
    ['orders', 'orders'],
    ['{orders}', 'orders'],
    ['shop:{orders}:{1}', 'orders'],
    ['{a{b}c}', 'a{b'],
    ['a}b{c}', 'c'],
    ['{}', '{}'],
    ['a{}{b}', 'a{}{b}'],
    ['a{b', 'a{b'],
    ['a}b', 'a}b'],
    ['', ''],
  ])('of %p is %p', (name, tag) => {
    expect(hashTag(name)).toBe(tag);
    const bare = tag.replaceAll(/[{}]/g, '');
    if (bare === tag) expect(slotOf(name)).toBe(slotOf(tag));
  });
});
