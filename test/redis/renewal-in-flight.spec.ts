import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { lockRelease, lockRenew } from '../../lib/redis/scripts/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/eventually.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { onRedis } from './on-redis.js';

describe('A release on Redis while a renewal is under way', () => {
  const stage = onRedis('standalone');
  let proxy: RedisProxy;
  let client: RedisLockClient;

  beforeEach(async () => {
    proxy = await RedisProxy.start(await stage().deployment.masterOf(''));
    const connect = { host: proxy.host, port: proxy.port, disconnectTimeout: 0 };
    client = await stage().client({ connect, watchdogTimeout: 3_000 });
  });
  afterEach(() => proxy.stop());

  it.each([
    ['has not arrived yet', () => proxy.hold()],
    ['was not answered yet', () => proxy.holdReplies()],
  ])('arrives after it, and the lock is free, where it %s', async (_, hold) => {
    const { theirs, key } = stage();
    const lost: unknown[] = [];
    client.on('lost', (event) => lost.push(event));
    const lease = await client.mutex(key).acquire();
    hold();
    await eventually('it is under way', () => sent(lockRenew.sha1, key) > 0);
    const renewals = sent(lockRenew.sha1, key);
    const released = lease.release();
    await eventually('the release is too', () => sent(lockRelease.sha1, key) > 0);
    proxy.resume();
    await released;

    const next = await theirs.mutex(key).acquire({ lease: 5_000 });
    await using _other = await client.mutex(`${key}-2`).acquire();
    await eventually('others are renewed', () => sent(lockRenew.sha1, `${key}-2`) > 0);
    expect(sent(lockRenew.sha1, key)).toBe(renewals);
    expect(await stage().command('HEXISTS', key, next.holder)).toBe(1);
    expect(lost).toEqual([]);
    await next.release();
  });

  it('arrives after it where both are sent again on another connection', async () => {
    const { theirs, key } = stage();
    const lost: unknown[] = [];
    client.on('lost', (event) => lost.push(event));
    const lease = await client.mutex(key).acquire();
    const loss = proxy.loseReply((command) => command.includes(lockRenew.sha1) && loss.lost < 1);
    proxy.hold();
    await eventually('it is under way', () => sent(lockRenew.sha1, key) > 0);
    const released = lease.release();
    proxy.resume();
    await released;
    expect(loss.lost).toBe(1);
    await using next = await theirs.mutex(key).acquire({ wait: 5_000 });
    expect([next.isHeld, lost]).toEqual([true, []]);
  });

  /** How often such a command has been sent. */
  function sent(digest: string, key: string): number {
    return proxy.commands.filter((command) => command.includes(digest) && command.includes(key))
      .length;
  }
});
