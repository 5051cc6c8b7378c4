import { expect, it } from '@jest/globals';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import type { Script } from '../../lib/redis/connection/script.js';
import { fairLockAcquire, fairLockRelease } from '../../lib/redis/scripts/index.js';
import { fairQueue } from './fair-queue.js';
import type { RedisStage } from './redis-stage.js';

const OWNER = 'b983c153-7421-469a-addb-44fb92259a1b:1';
const OTHER = 'b983c153-7421-469a-addb-44fb92259a1b:2';
/** In ms. */
const WAIT = 300_000;
const LIFE = 30_000;

/** A copy of a command may arrive long after the command, and after later ones. */
export function fairLockLateCopiesSuite(stage: () => RedisStage): void {
  it('an acquire never shortens the lease of its holder', async () => {
    expect(await acquire(OWNER, { lease: 5_000 })).toEqual([1, 0]);
    expect(await acquire(OWNER, { lease: 60_000 })).toEqual([1, 0]);
    expect(await acquire(OWNER, { lease: 5_000 })).toEqual([1, 0]);
    expect(await stage().command('PTTL', stage().key)).toBeGreaterThan(50_000);
    await stage().command('PERSIST', stage().key);
    expect(await acquire(OWNER, { lease: 5_000 })).toEqual([1, 0]);
    expect(await stage().command('PTTL', stage().key)).toBe(-1);
    await release(OWNER);
  });

  it('an acquire takes nothing, and queues nowhere, for a holder that has given up', async () => {
    await acquire(OWNER);
    await release(OWNER, gone(OWNER));
    expect(await stage().command('PTTL', gone(OWNER))).toBeGreaterThan(LIFE);
    await expect(acquire(OWNER)).rejects.toThrow('GONE');
    expect(await left()).toBe(0);

    expect(await acquire(OTHER)).toEqual([1, 0]);
    await expect(acquire(OWNER, { mayWait: true })).rejects.toThrow('GONE');
    expect((await fairQueue(stage())).waiters).toEqual([]);
    expect(await acquire(OWNER)).toEqual([0, expect.any(Number)]); // an acquire that takes nothing anyway
    await release(OTHER);
    await stage().command('DEL', gone(OWNER));
  });

  it('an acquire takes nothing for a waiter that has left the queue', async () => {
    await acquire(OTHER);
    await acquire(OWNER, { mayWait: true });
    await release(OWNER, gone(OWNER));
    expect((await fairQueue(stage())).waiters).toEqual([]);
    await release(OTHER);
    await expect(acquire(OWNER, { mayWait: true })).rejects.toThrow('GONE');
    expect(await left()).toBe(0);
    await stage().command('DEL', gone(OWNER));
  });

  it('a release that is certain of what it sent leaves nothing behind', async () => {
    await acquire(OWNER);
    expect(await release(OWNER)).toBe(0);
    expect([await left(), await stage().command('EXISTS', gone(OWNER))]).toEqual([0, 0]);
    expect(await release(OWNER)).toBe(-1);
  });

  /** How many keys of the lock and its queue there are. */
  function left(): Promise<unknown> {
    const { redisKey: raw, queue, timeouts, alive } = new LockName(stage().key);
    return stage().command('EXISTS', raw, queue, timeouts, alive);
  }

  function gone(holder: string): string {
    return new LockName(stage().key).gone(holder);
  }

  function acquire(holder: string, { lease = 30_000, mayWait = false } = {}): Promise<unknown> {
    const args = [lease, holder, '', WAIT, LIFE, mayWait ? 1 : 0, publish(), channel()];
    return run(fairLockAcquire, ...args, gone(holder));
  }

  function release(holder: string, tombstone = ''): Promise<unknown> {
    return run(fairLockRelease, holder, publish(), channel(), WAIT, tombstone);
  }

  function run({ source }: Script, ...args: (string | number)[]): Promise<unknown> {
    const { redisKey: raw, queue, timeouts, alive } = new LockName(stage().key);
    return stage().command('EVAL', source, 4, raw, queue, timeouts, alive, ...args);
  }

  const publish = () => (stage().isCluster ? 'SPUBLISH' : 'PUBLISH');
  const channel = () => stage().names.channel;
}
