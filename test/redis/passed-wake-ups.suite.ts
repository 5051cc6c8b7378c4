import { afterEach, expect } from '@jest/globals';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { eventually } from '../support/time.js';
import { isGranted, type OnRedis, type RedisStage, semaphoreNames } from './support/redis-stage.js';
import { LONG_LEASE, RegisteredWaiters, WOKEN_WITHIN } from './support/registered-waiters.js';

const WOKEN = { wait: WOKEN_WITHIN };

/** A waiter for several locks stands among those of the one that is taken. */
export function multiLockWakeUpsSuite({ test, stage }: OnRedis): void {
  const waitersAt = opening(stage);
  const names = () => ['a', 'b'].map((part) => `{${stage().key}}:${part}`) as [string, string];
  const at = (name: string) =>
    waitersAt(`interlock_waiters:${name}`, `redisson_lock__channel:${name}`);

  test('is passed on by a registered waiter that finds another of its locks taken', async () => {
    const { mine, theirs } = stage();
    const [a, b] = names();
    const [heldA, heldB] = [await mine.mutex(a).acquire(), await mine.mutex(b).acquire()];
    const waiters = at(a);
    await waiters.frozenListener();
    const { lease: both } = await waiters.joinedBy(() => multi(theirs).acquire({ wait: 20_000 }));
    await waiters.registered();
    const other = await stage().client();
    const { lease: single } = await waiters.joinedBy(() => other.mutex(a).acquire(WOKEN));
    await waiters.registered(2);
    await heldA.release();
    await isGranted(single);
    await heldB.release();
    await isGranted(both);
  });

  test('has another one listen when the listener goes on to another of its locks', async () => {
    const { mine, theirs } = stage();
    const [a, b] = names();
    await stage().command('HSET', a, 'redisson:1', 1);
    await stage().command('PEXPIRE', a, LONG_LEASE);
    const heldB = await mine.mutex(b).acquire();
    const waiters = at(a);
    const { lease: both } = await waiters.joinedBy(() => multi(theirs).acquire({ wait: 20_000 }));
    await waiters.listens();
    const other = await stage().client();
    const { lease: single } = await waiters.joinedBy(() => other.mutex(a).acquire(WOKEN));
    await waiters.registered();
    await stage().command('DEL', a);
    await stage().command(stage().publish, `redisson_lock__channel:${a}`, '0');
    await isGranted(single);
    await heldB.release();
    await isGranted(both);
  });

  test('leaves no place when it gives up', async () => {
    const { mine, theirs } = stage();
    const [a] = names();
    const held = await mine.mutex(a).acquire();
    const abort = new AbortController();
    const waiters = at(a);
    const { lease: both } = await waiters.joinedBy(() =>
      multi(theirs).acquire({ signal: abort.signal }),
    );
    abort.abort();
    await expect(both).rejects.toThrow();
    await eventually('it has left', async () => (await waiters.all()).length === 0);
    await held.release();
  });

  const multi = (client: RedisLockClient) =>
    client.multiLock(names().map((name) => client.mutex(name)));
}

/** Permits are free one by one, and each waiter says how many it wants. */
export function permitWakeUpsSuite({ test, stage }: OnRedis): void {
  const waitersAt = opening(stage);
  const at = () =>
    waitersAt(`interlock_waiters:{${stage().key}}`, semaphoreNames(stage().key).channel);

  test('wakes as many registered waiters as permits are released at once', async () => {
    const held = await acquire(stage().mine, 3);
    const waiters = at();
    await waiters.frozenListener();
    const leases = [];
    for (let n = 1; n <= 3; n++) {
      const client = await stage().client();
      leases.push((await waiters.joinedBy(() => acquire(client, 1))).lease);
      await waiters.registered(n);
    }
    await held.release();
    for (const lease of await Promise.all(leases)) await lease.release();
  });

  test('passes registered waiters that want more than there are', async () => {
    const [one, two] = [await acquire(stage().mine, 1), await acquire(stage().mine, 2)];
    const waiters = at();
    await waiters.frozenListener();
    const { lease: all } = await waiters.joinedBy(() =>
      acquire(stage().theirs, 3, { wait: 20_000 }),
    );
    await waiters.registered();
    const client = await stage().client();
    const { lease: single } = await waiters.joinedBy(() => acquire(client, 1));
    await waiters.registered(2);
    await one.release();
    await isGranted(single);
    await two.release();
    await isGranted(all);
  });

  test('of Redisson is heard although the listener has got a permit meanwhile', async () => {
    const { free, timeouts, channel } = semaphoreNames(stage().key);
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(2);
    await stage().command('SET', free, 0);
    const until = Date.now() + LONG_LEASE;
    await stage().command('ZADD', timeouts, until, 'redisson:1', until, 'redisson:2');
    const waiters = at();
    const wait = (client: RedisLockClient) => () => client.semaphore(key).acquire(WOKEN);
    const { lease: first } = await waiters.joinedBy(wait(mine));
    await waiters.listens();
    const { lease: second } = await waiters.joinedBy(wait(theirs));
    await waiters.registered();
    const release = async (id: string) => {
      await stage().command('ZREM', timeouts, id);
      await stage().command('INCR', free);
      await stage().command(stage().publish, channel, 1);
    };
    await release('redisson:1');
    const lease = await first;
    await eventually('another one listens', async () => (await waiters.scores()).every(isListener));
    await waiters.listens();
    await release('redisson:2');
    await isGranted(second);
    await lease.release();
  });

  test('of several permits by Redisson wakes all that they are enough for', async () => {
    const { free, channel } = semaphoreNames(stage().key);
    const { mine, theirs, key } = stage();
    await mine.semaphore(key).trySetPermits(1);
    await stage().command('SET', free, 0);
    const waiters = at();
    const leases = [];
    for (const client of [mine, theirs, await stage().client()]) {
      const wait = () => client.semaphore(key).acquire(WOKEN);
      leases.push((await waiters.joinedBy(wait)).lease);
    }
    await waiters.listens();
    await waiters.registered(2);
    await stage().command('INCRBY', free, 3);
    await stage().command(stage().publish, channel, 3);
    for (const lease of await Promise.all(leases)) await lease.release();
  });

  const acquire = (client: RedisLockClient, permits: number, options = WOKEN) =>
    client.semaphore(stage().key, { permits: 3 }).acquire({ permits, ...options });
}

/** Readers hold it together. */
export function writerWakeUpsSuite({ test, stage }: OnRedis): void {
  const waitersAt = opening(stage);
  const at = () => waitersAt(`interlock_waiters:{${stage().key}}`, stage().names.readWriteChannel);

  test('of the last reader wakes a registered writer', async () => {
    const { mine, theirs, key } = stage();
    const read = () => mine.readWriteLock(key).readLock().acquire();
    const [first, last] = [await read(), await read()];
    const waiters = at();
    const heard = await waiters.frozenListener();
    const { lease: writer } = await waiters.joinedBy(() => write(theirs));
    await waiters.registered();
    await first.release();
    expect(heard).toEqual([]);
    await last.release();
    await isGranted(writer);
  });

  test('of a writer that goes on as a reader has a registered writer listen to Redisson', async () => {
    const { mine, theirs, key, names } = stage();
    const written = await write(mine);
    const waiters = at();
    await waiters.dead('dead:listener');
    const { lease: writer } = await waiters.joinedBy(() => write(theirs));
    await waiters.registered();
    const read = await written.run(() => mine.readWriteLock(key).readLock().acquire());
    await stage().command('ZREM', waiters.key, 'dead:listener');
    await written.release();
    await eventually('it listens', async () => (await waiters.scores()).every(isListener));
    await waiters.listens();
    await stage().command('HSET', key, 'redisson:1', 1);
    await stage().command('SET', names.readHold('redisson:1', 1), 1, 'PX', LONG_LEASE);
    await stage().command('PEXPIRE', key, LONG_LEASE);
    await read.release();
    await stage().command('DEL', key, names.readHold('redisson:1', 1));
    await stage().command(stage().publish, names.readWriteChannel, '0');
    await isGranted(writer);
  });

  const write = (client: RedisLockClient) =>
    client.readWriteLock(stage().key).writeLock().acquire(WOKEN);
}

const isListener = (score: number) => score < 0;

/** Returns a function that looks at waiters; what it leaves is removed after each test. */
function opening(stage: () => RedisStage): (key: string, channel: string) => RegisteredWaiters {
  const opened: RegisteredWaiters[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0)) await each.clear();
  });
  return (key, channel) => {
    const waiters = new RegisteredWaiters(stage(), channel, key);
    opened.push(waiters);
    return waiters;
  };
}
