import { expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** The keys on the servers and the messages; Redisson has to understand them. */
export function countDownLatchLayoutSuite(stage: () => RedisStage): void {
  it('is a number that does not expire, and no key when it is open', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2);
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('GET', key)).toBe('2');
    expect(await stage().command('PTTL', key)).toBe(-1);
    await latch.countDown();
    expect(await stage().command('GET', key)).toBe('1');
    await latch.countDown();
    expect(await stage().command('EXISTS', key)).toBe(0);
  });

  it('publishes `1` when it is closed and `0` when it opens, and nothing in between', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    const log = await stage().log();
    await latch.trySetCount(2);
    expect(await log.published(key)).toEqual([`${publish()} ${channel(key)} 1`]);
    await latch.trySetCount(5);
    await latch.countDown();
    expect(await log.published(key)).toHaveLength(1);
    await latch.countDown();
    await latch.countDown();
    expect((await log.published(key)).slice(1)).toEqual([`${publish()} ${channel(key)} 0`]);
  });

  // Redisson publishes `1`, which does not wake its own waiters.
  it('publishes `0` when it is deleted', async () => {
    const { mine, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2);
    const log = await stage().log();
    await latch.delete();
    await latch.delete();
    expect(await log.published(key)).toEqual([`${publish()} ${channel(key)} 0`]);
  });

  it('is counted down by Redisson', async () => {
    const { mine, key } = stage();
    await stage().command('SET', key, 2);
    const latch = mine.countDownLatch(key);
    expect(await latch.countDown()).toBe(1);
    const opened = latch.await({ wait: 4_000 }); // it would not look by itself before that
    await stage().listening(channel(key));
    await stage().command('DEL', key);
    await stage().command(publish(), channel(key), '0');
    await opened;
  });

  it('has the prefix of its client in its names', async () => {
    const { key } = stage();
    const client = await stage().client({ prefix: 'app:' });
    const latch = client.countDownLatch(key);
    await latch.trySetCount(1);
    expect(await stage().keys()).toEqual([`app:${key}`]);
    const opened = latch.await({ wait: 4_000 });
    const server = await stage().deployment.masterOf(`app:${key}`);
    const channels = stage().isCluster ? 'SHARDCHANNELS' : 'CHANNELS';
    await eventually('it listens', async () => {
      const listened = (await server.command('PUBSUB', channels)) as string[];
      return listened.includes(channel(`app:${key}`));
    });
    await latch.countDown();
    await opened;
  });

  it('puts braces around a key that contains braces, which a cluster rejects', async () => {
    const { mine, theirs } = stage();
    const key = `{${stage().key}}:orders`;
    if (stage().isCluster) {
      expect(() => mine.countDownLatch(key)).toThrow(LockKeyError);
      return;
    }
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    const opened = latch.await({ wait: 4_000 });
    await stage().listening(`redisson_countdownlatch__channel__{${key}}`);
    await theirs.countDownLatch(key).countDown();
    await opened;
  });

  it('shares its key with no other kind in a client', () => {
    const { mine, key } = stage();
    mine.countDownLatch(key);
    expect(() => mine.mutex(key)).toThrow(LockKeyError);
    expect(() => mine.countDownLatch(key)).not.toThrow();
  });

  function channel(name: string): string {
    return `redisson_countdownlatch__channel__{${name}}`;
  }

  function publish(): string {
    return stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
  }
}
