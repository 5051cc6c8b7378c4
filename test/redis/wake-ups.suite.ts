import { afterEach, beforeEach, expect } from '@jest/globals';
import type { Lock } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import { LockName } from '../../lib/redis/connection/lock-name.js';
import type { LockCommand, LockCommands } from '../../lib/redis/locks/lock-commands.js';
import { reentrantCommands } from '../../lib/redis/locks/mutex-commands.js';
import { writeCommands } from '../../lib/redis/locks/read-write-commands.js';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RecipeContext } from '../../lib/redis/recipe-context.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { permitCommands } from '../../lib/redis/semaphores/permit-commands.js';
import { eventually } from '../support/time.js';
import {
  commandCalls,
  isGranted,
  type OnRedis,
  type RedisStage,
  semaphoreNames,
} from './support/redis-stage.js';
import { LONG_LEASE, RegisteredWaiters, WOKEN_WITHIN } from './support/registered-waiters.js';

/** A lock that one process at a time can have, and what Redisson does with it. */
export interface WokenLock {
  of(client: RedisLockClient, stage: RedisStage): Lock;
  /** The channel that Redisson's clients listen to. */
  channel(stage: RedisStage): string;
  /** Redisson acquires it. */
  take(stage: RedisStage): Promise<unknown>;
  /** Redisson releases it, and says so. */
  free(stage: RedisStage): Promise<unknown>;
  /** An operator takes it from its holder. */
  force?(stage: RedisStage, held: Lease): Promise<unknown>;
  commands?(context: RecipeContext, name: LockName): LockCommands;
}

/** Holders of permits as well, each of one permit. */
const [HOLDER, FIRST, SECOND] = [1, 2, 3].map((n) => `${String(n).padStart(24, '0')}00000001`) as [
  string,
  string,
  string,
];

const MUTEX: WokenLock = {
  of: (client, { key }) => client.mutex(key),
  channel: ({ names }) => names.channel,
  take: (stage) => hold(stage, 'redisson:1', '1'),
  free: async (stage) => {
    await stage.command('DEL', stage.key);
    await stage.command(stage.publish, stage.names.channel, '0');
  },
  force: ({ mine, key }) => mine.mutex(key).forceUnlock(),
  commands: (context, name) => reentrantCommands(context, name, false),
};

/** The locks whose releases wake few of those that wait. */
export const WOKEN = {
  mutex: MUTEX,
  /** Its first lock is the one that is taken. */
  multiLock: {
    of: (client, { key }) => client.multiLock([client.mutex(key), client.mutex(`{${key}}:b`)]),
    channel: MUTEX.channel,
    take: MUTEX.take,
    free: MUTEX.free,
  },
  writeLock: {
    of: (client, { key }) => client.readWriteLock(key).writeLock(),
    channel: ({ names }) => names.readWriteChannel,
    take: (stage) => hold(stage, 'mode', 'write', 'redisson:1:write', '1'),
    free: async (stage) => {
      await stage.command('DEL', stage.key);
      await stage.command(stage.publish, stage.names.readWriteChannel, '1');
    },
    force: ({ mine, key }) => mine.readWriteLock(key).forceUnlock('write'),
    commands: (context, name) => writeCommands(context, name, false),
  },
  permit: {
    of: (client, { key }) => client.semaphore(key, { permits: 1 }),
    channel: ({ key }) => semaphoreNames(key).channel,
    take: async (stage) => {
      const { free, timeouts } = semaphoreNames(stage.key);
      await stage.command('SET', free, 0);
      await stage.command('ZADD', timeouts, Date.now() + LONG_LEASE, 'redisson');
    },
    free: async (stage) => {
      const { free, timeouts, channel } = semaphoreNames(stage.key);
      await stage.command('ZREM', timeouts, 'redisson');
      await stage.command('INCR', free);
      await stage.command(stage.publish, channel, 1);
    },
    force: ({ theirs, key }, held) =>
      theirs.semaphore(key, { permits: 1 }).release((held as RedisLease).permitIds),
    commands: (context, name) => permitCommands(context, name, 1, false),
  },
} satisfies Record<string, WokenLock>;

async function hold(stage: RedisStage, ...fields: string[]): Promise<void> {
  await stage.command('HSET', stage.key, ...fields);
  await stage.command('PEXPIRE', stage.key, LONG_LEASE);
}

/** Which of many waiting processes a release wakes, and what happens when these do not come. */
export function wakeUpsSuite({ it, test, stage }: OnRedis, lock: WokenLock): void {
  let waiters: RegisteredWaiters;
  beforeEach(() => {
    waiters = new RegisteredWaiters(stage(), lock.channel(stage()));
  });
  afterEach(() => waiters.clear());

  it('costs at most 8 requests a hand-off, while 60 processes wait', async () => {
    const clients = await Promise.all(Array.from({ length: 60 }, () => stage().client()));
    const held = await taken();
    const visits = clients.flatMap((client) => [1, 2, 3].map(() => visit(client)));
    await eventually('all stand there', async () => (await waiters.all()).length >= 60);
    await stage().command('CONFIG', 'RESETSTAT');
    await held.release();
    await Promise.all(visits);
    const requests = await commandCalls(stage(), 'evalsha|s?subscribe|s?unsubscribe');
    expect(requests / visits.length).toBeLessThanOrEqual(8);

    async function visit(client: RedisLockClient): Promise<void> {
      await isGranted(lock.of(client, stage()).acquire());
    }
  }, 60_000);

  test('goes past registered waiters that have died, to the first that listens', async () => {
    const held = await taken();
    await waiters.dead('dead:listener', 'dead:1', 'dead:2');
    const { lease } = await waiting();
    await waiters.registered();
    await held.release();
    await isGranted(lease);
  });

  test('reaches the listener, if the woken one is frozen', async () => {
    const held = await taken();
    const { lease } = await waiting();
    await waiters.listens();
    const heard = await waiters.frozen('frozen:00000001');
    await held.release();
    await isGranted(lease);
    await eventually('the frozen one was woken', () => heard.length === 1);
  });

  test('reaches the first registered one, if the listener is frozen', async () => {
    const held = await taken();
    await waiters.frozenListener();
    const { lease } = await waiting();
    await waiters.registered();
    await held.release();
    await isGranted(lease);
  });

  test('that wakes none but frozen processes is noticed after a third of the watchdogTimeout', async () => {
    const held = await taken();
    await waiters.frozenListener();
    await waiters.frozen('frozen:00000001');
    const client = await stage().client({ watchdogTimeout: 1_500 });
    const { lease } = await waiting(client, { lease: LONG_LEASE, wait: 20_000 });
    await waiters.registered();
    await held.release();
    const releasedAt = performance.now();
    const next = await lease;
    expect(performance.now() - releasedAt).toBeLessThan(5_000); // 500 ms; the machine may stall
    await next.release();
  });

  test('of Redisson wakes one of ours, and each after it wakes the next', async () => {
    await lock.take(stage());
    const all: Promise<Lease>[] = [];
    for (let n = 0; n < 4; n++) all.push((await waiting()).lease);
    await waiters.listens();
    await eventually('all stand there', async () => (await waiters.all()).length === 4);
    const redisson = await waiters.freeze(lock.channel(stage()));
    await lock.free(stage());
    for (const lease of all) void lease.then((it) => it.release());
    await Promise.all(all);
    await eventually('Redisson hears of each release', () => redisson.length >= 5);
  });

  test('is heard of Redisson after the listener has given up: the next one listens', async () => {
    await lock.take(stage());
    const abort = new AbortController();
    const { lease: listener } = await waiting(await stage().client(), { signal: abort.signal });
    await waiters.listens();
    const { lease: next } = await waiting();
    await waiters.registered();
    abort.abort();
    await expect(listener).rejects.toThrow();
    await eventually('one stands there', async () => (await waiters.all()).length === 1);
    await eventually('it listens', async () =>
      (await waiters.scores()).every((score) => score < 0),
    );
    await waiters.listens();
    await lock.free(stage());
    await isGranted(next);
  });

  if (lock.force)
    it('by force wakes the first registered one too', async () => {
      const held = await taken();
      await waiters.frozenListener();
      const { lease } = await waiting();
      await waiters.registered();
      await lock.force!(stage(), held);
      await isGranted(lease);
      await held.release().catch(() => {});
    });

  const taken = () => lock.of(stage().mine, stage()).acquire({ wait: 5_000 });

  /** Has a client wait to be woken, by default a new one; resolves once it stands among the waiters. */
  async function waiting(client?: RedisLockClient, options?: object) {
    const its = client ?? (await stage().client());
    const terms = { wait: WOKEN_WITHIN, ...options };
    return waiters.joinedBy(() => lock.of(its, stage()).acquire(terms));
  }
}

/** The same, in single commands of processes that react as late as they like. */
export function wakeUpCommandsSuite({ test, stage }: OnRedis, lock: WokenLock): void {
  let waiters: RegisteredWaiters;
  let commands: LockCommands;
  beforeEach(() => {
    waiters = new RegisteredWaiters(stage(), lock.channel(stage()));
    const publishCommand = stage().isCluster ? 'spublish' : 'publish';
    const connection = { isCluster: stage().isCluster, publishCommand };
    const context = { connection, watchdogTimeout: 30_000, semaphoreTimeToLive: '' };
    commands = lock.commands!(context as unknown as RecipeContext, new LockName(stage().key));
  });
  afterEach(() => waiters.clear());

  test('that woke a waiter which then gives up wakes the next', async () => {
    await ask(HOLDER);
    await waiters.frozenListener();
    const [first, second] = [await ours(FIRST), await ours(SECOND)];
    expect(await ask(FIRST, 20)).toMatchObject({ 0: 0, 3: 1 });
    expect(await ask(SECOND, 10)).toMatchObject({ 0: 0, 3: 1 });
    await release(HOLDER);
    await eventually('the first is woken', () => first.length === 1);
    expect(second).toEqual([]);
    expect(await release(FIRST)).toBe(-1);
    await eventually('the second is woken', () => second.length === 1);
  });

  test('that arrives twice takes nothing away', async () => {
    await ask(HOLDER);
    await waiters.frozenListener();
    const heard = await ours(FIRST);
    await ask(FIRST, 20);
    await release(HOLDER);
    expect(await ask(FIRST, 30)).toEqual([1, 0]);
    expect(await release(HOLDER)).toBe(-1);
    expect(await ask(SECOND)).toMatchObject({ 0: 0 });
    expect(heard).toEqual(['0']);
    await release(FIRST);
  });

  test('leaves no place for a holder that has given up, when a copy of its acquire arrives late', async () => {
    await ask(HOLDER);
    await ask(FIRST, 0);
    expect(await waiters.all()).toHaveLength(1);
    const gone = new LockName(stage().key).gone(FIRST);
    await release(FIRST, gone);
    expect(await waiters.all()).toEqual([]);
    await expect(ask(FIRST, 0)).rejects.toThrow('GONE');
    expect(await waiters.all()).toEqual([]);
    await release(HOLDER);
    await stage().command('DEL', gone);
  });

  /** What the waiter hears on the channel of its own. */
  const ours = (holder: string) => waiters.freeze(commands.channelOf(holder, 0, true));

  /** The answer to an acquire; `waited`: of one that waits, for so many ms so far. */
  function ask(holder: string, waited?: number): Promise<unknown> {
    const request = { holder, lease: LONG_LEASE, about: '', mayWait: waited !== undefined };
    return run(commands.acquire(request, waited ?? 0, -1));
  }

  const release = (holder: string, tombstone = '') => run(commands.release(holder, tombstone));

  async function run({ script, keys, args }: LockCommand): Promise<unknown> {
    return stage()
      .connection()
      .call('EVAL', [script.source, keys.length, ...keys, ...args]);
  }
}
