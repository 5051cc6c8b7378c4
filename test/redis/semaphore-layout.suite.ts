import { expect, it } from '@jest/globals';
import { LockKeyError } from '../../lib/core/errors/index.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { semaphoreAcquire, semaphoreChange, semaphoreUndo } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** The keys on the servers and the messages; Redisson has to understand them. */
export function semaphoreLayoutSuite(stage: () => RedisStage): void {
  it('is a number, and nothing else except the record of its requests', async () => {
    const { mine, key } = stage();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(5);
    await semaphore.acquire({ permits: 2 });
    await semaphore.addPermits(3);
    await semaphore.release();
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('GET', key)).toBe('7');
    expect(await stage().command('PTTL', key)).toBe(-1);
  });

  it('publishes the number of permits, and never less than one', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    const semaphore = mine.plainSemaphore(key);
    await semaphore.trySetPermits(2);
    await semaphore.acquire({ permits: 2 });
    await semaphore.release(2);
    await semaphore.addPermits(-5);
    await semaphore.release();
    await semaphore.addPermits(4);
    await semaphore.drainPermits();
    await semaphore.releaseIfExists(3);
    const publish = stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
    const { channel } = semaphoreNames(key);
    expect(await log.published(key)).toEqual(
      ['2', '2', '2', '3'].map((text) => `${publish} ${channel} ${text}`),
    );
  });

  it('waits for a release of Redisson until its message', async () => {
    const { mine, key } = stage();
    const { channel } = semaphoreNames(key);
    await stage().command('SET', key, -1);
    const waiting = mine.plainSemaphore(key).acquire();
    await stage().listening(channel);
    await stage().command('INCRBY', key, 2);
    await stage().command(stage().isCluster ? 'SPUBLISH' : 'PUBLISH', channel, '1');
    await waiting;
    expect(await mine.plainSemaphore(key).availablePermits()).toBe(0);
  });

  it('has the prefix in its names', async () => {
    const { mine, key } = stage();
    const prefixed = await stage().client({ prefix: 'shop:' });
    const waiting = prefixed.plainSemaphore(key).acquire();
    await eventually('it listens', async () => {
      const ask = stage().isCluster ? 'SHARDCHANNELS' : 'CHANNELS';
      const channels = await stage().commands('PUBSUB', ask, 'redisson_sc:*');
      return channels.flat().includes(`redisson_sc:{shop:${key}}`);
    });
    await mine.plainSemaphore(`shop:${key}`).release();
    await waiting;
    await stage().connection().del(`shop:${key}`);
  });

  it('takes permits once for a request that is sent twice', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    for (let time = 0; time < 2; time++)
      expect(await run(semaphoreAcquire, [1, 1], 2)).toEqual([1, 0]);
    expect(await stage().command('GET', key)).toBe('1');
    expect(await stage().command('PTTL', requests())).toBeGreaterThan(0);
  });

  it('changes the number once for a request that is sent twice, and publishes it once', async () => {
    const { key } = stage();
    const log = await stage().log();
    const outcomes: unknown[] = [];
    for (const [i, mode] of ['release', 'drain', 'release-if-exists', 'add', 'try'].entries())
      for (let time = 0; time < 2; time++)
        outcomes.push(await run(semaphoreChange, [i + 1, 1], ...messages(), mode, 4));
    expect(outcomes).toEqual([1, 1, 4, 4, 1, 1, 1, 1, 0, 0]);
    expect(await stage().command('GET', key)).toBe('8');
    const published = await log.published(key);
    expect(published.map((message) => message.split(' ').at(-1))).toEqual(['4', '4', '8']);
  });

  it('forgets settled requests, and rejects them when they come late', async () => {
    const { key } = stage();
    for (const number of [1, 2, 3])
      await run(semaphoreChange, [number, 1], ...messages(), 'release', 1);
    expect(await run(semaphoreChange, [5, 4], ...messages(), 'release', 1)).toBe(1);
    expect(await stage().command('HLEN', requests())).toBe(2); // the fifth, and the settled ones
    const late = run(semaphoreChange, [3, 1], ...messages(), 'release', 1);
    await expect(late).rejects.toThrow('GONE');
    await expect(run(semaphoreAcquire, [2, 1], 1)).rejects.toThrow('GONE');
    expect(await run(semaphoreChange, [4, 4], ...messages(), 'release', 1)).toBe(1);
    expect(await stage().command('GET', key)).toBe('5');
  });

  it('releases once what a request took, and nothing for a request that took nothing', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    await run(semaphoreAcquire, [1, 1], 2);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(0);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(-1);
    expect(await run(semaphoreAcquire, [2, 1], 4)).toEqual([0, -1]);
    expect(await run(semaphoreUndo, [2, 1], ...messages())).toBe(-1);
    expect(await stage().command('GET', key)).toBe('3');
  });

  it('takes nothing for a request that was undone before it arrived', async () => {
    const { key } = stage();
    await stage().command('SET', key, 3);
    expect(await run(semaphoreUndo, [1, 1], ...messages())).toBe(-1);
    expect(await run(semaphoreAcquire, [1, 1], 2)).toEqual([0, -1]);
    expect(await stage().command('GET', key)).toBe('3');
  });

  it.each<[string, ...(string | number)[]]>([
    ['HSET', 'field', 'theirs'],
    ['RPUSH', 'theirs'],
    ['SADD', 'theirs'],
    ['ZADD', 1, 'theirs'],
    ['SET', 'theirs'],
  ])('rejects a foreign key, and leaves it alone (%s)', async (command, ...operands) => {
    const { mine, key } = stage();
    await stage().command(command, key, ...operands);
    const before = await stage().command('DUMP', key);
    const semaphore = mine.plainSemaphore(key);
    for (const ask of [
      () => semaphore.acquire(),
      () => semaphore.tryAcquire(),
      () => semaphore.release(),
      () => semaphore.releaseIfExists(),
      () => semaphore.addPermits(1),
      () => semaphore.drainPermits(),
      () => semaphore.availablePermits(),
    ])
      await expect(ask()).rejects.toBeInstanceOf(LockKeyError);
    expect(await semaphore.trySetPermits(1).catch(() => false)).toBe(false);
    await mine.close(); // its background work is done then
    expect(await stage().keys()).toEqual([key]);
    expect(await stage().command('DUMP', key)).toEqual(before);
  });

  function requests(): string {
    return `${semaphoreNames(stage().key).requests}1`;
  }

  function messages(): string[] {
    return [stage().isCluster ? 'SPUBLISH' : 'PUBLISH', semaphoreNames(stage().key).channel];
  }

  /** Runs a script for the request with that number, when those below the second number are settled. */
  function run(
    { source }: Script,
    [number, first]: [number, number],
    ...args: (string | number)[]
  ): Promise<unknown> {
    const terms = [number, first, 60_000];
    return stage().command('EVAL', source, 2, stage().key, requests(), ...terms, ...args);
  }
}
