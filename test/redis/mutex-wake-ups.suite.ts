import { afterEach, expect } from '@jest/globals';
import { Redis } from 'ioredis';
import type { RedisLease } from '../../lib/redis/locks/redis-lease.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { lockAcquire, lockRelease } from '../../lib/redis/scripts/index.js';
import { eventually } from '../support/time.js';
import { commandCalls, isGranted, type OnRedis } from './support/redis-stage.js';

/** Longer than any test: a client that is granted a lock before that was woken by a message, or looked by itself. */
const LONG_LEASE = 600_000;
/** A clock of the server far ahead, in ms. */
const FAR = 10 ** 14;

/** Which of many waiting processes a release of a plain mutex wakes, and what happens when these do not come. */
export function mutexWakeUpsSuite({ it, test, stage }: OnRedis): void {
  const subscribers = new Set<Redis>();

  afterEach(() => {
    for (const subscriber of subscribers) subscriber.disconnect();
    subscribers.clear();
  });

  it('costs at most 8 requests a hand-off, while 60 processes wait', async () => {
    const clients = await Promise.all(Array.from({ length: 60 }, () => stage().client()));
    const held = await stage().mine.mutex(stage().key).acquire({ lease: LONG_LEASE });
    const visits = clients.flatMap((client) => [1, 2, 3].map(() => visit(client)));
    await eventually('all stand there', async () => (await waiters()).length === 60);
    await stage().command('CONFIG', 'RESETSTAT');
    await held.release();
    await Promise.all(visits);
    const requests = await commandCalls(stage(), 'evalsha|s?subscribe|s?unsubscribe');
    expect(requests / visits.length).toBeLessThanOrEqual(8);

    async function visit(client: RedisLockClient): Promise<void> {
      await isGranted(client.mutex(stage().key).acquire());
    }
  }, 60_000);

  test('goes past registered waiters that have died, to the first that listens', async () => {
    const held = await stage().mine.mutex(stage().key).acquire({ lease: LONG_LEASE });
    await stage().command('ZADD', key(), -FAR, 'dead:listener', 1, 'dead:1', 2, 'dead:2');
    const { lease } = await waiting();
    await registered();
    await held.release();
    await isGranted(lease);
  });

  test('reaches the listener, if the woken one is frozen', async () => {
    const held = await stage().mine.mutex(stage().key).acquire({ lease: LONG_LEASE });
    const { lease } = await waiting();
    await stage().listening(stage().names.channel);
    const heard = await freeze(stage().names.waiterChannel('frozen:1'));
    await stage().command('ZADD', key(), 1, 'frozen:1');
    await held.release();
    await isGranted(lease);
    await eventually('the frozen one was woken', () => heard.length === 1);
  });

  test('reaches the first registered one, if the listener is frozen', async () => {
    const held = await stage().mine.mutex(stage().key).acquire({ lease: LONG_LEASE });
    await freeze(stage().names.channel);
    await stage().command('ZADD', key(), -FAR, 'frozen:listener');
    const { lease } = await waiting();
    await registered();
    await held.release();
    await isGranted(lease);
    await stage().command('DEL', key());
  });

  test('that wakes none but frozen processes is noticed after a third of the watchdogTimeout', async () => {
    const held = await stage().mine.mutex(stage().key).acquire({ lease: LONG_LEASE });
    await freeze(stage().names.channel);
    await freeze(stage().names.waiterChannel('frozen:1'));
    await stage().command('ZADD', key(), -FAR, 'frozen:listener', 1, 'frozen:1');
    const client = await stage().client({ watchdogTimeout: 1_500 });
    const { lease } = await waiting(client, { lease: LONG_LEASE });
    await registered();
    await held.release();
    const releasedAt = performance.now();
    const next = await lease;
    expect(performance.now() - releasedAt).toBeLessThan(5_000); // 500 ms; the machine may stall
    await next.release();
    await stage().command('DEL', key());
  });

  test('of Redisson wakes one of ours, and each after it wakes the next', async () => {
    const { key: lock, names } = stage();
    await stage().command('HSET', lock, 'redisson:1', 1);
    await stage().command('PEXPIRE', lock, LONG_LEASE);
    const all: Promise<RedisLease>[] = [];
    for (let n = 0; n < 4; n++) all.push((await waiting()).lease);
    await stage().listening(names.channel);
    await eventually('all stand there', async () => (await waiters()).length === 4);
    const redisson = await freeze(names.channel);

    await stage().command('DEL', lock);
    await stage().command(stage().publish, names.channel, '0');
    for (const lease of all) void lease.then((it) => it.release());
    await Promise.all(all);
    await eventually('Redisson hears of each release', () => redisson.length === 5);
    expect(new Set(redisson)).toEqual(new Set(['0']));
  });

  test('is heard of Redisson after the listener has given up: the next one listens', async () => {
    const { key: lock, names } = stage();
    await stage().command('HSET', lock, 'redisson:1', 1);
    await stage().command('PEXPIRE', lock, LONG_LEASE);
    const abort = new AbortController();
    const { lease: listener } = await waiting(await stage().client(), { signal: abort.signal });
    await stage().listening(names.channel);
    const { lease: next } = await waiting();
    await registered();
    abort.abort();
    await expect(listener).rejects.toThrow();
    await eventually('one stands there', async () => (await waiters()).length === 1);
    await eventually('it listens', async () => (await scores()).every((score) => score < 0));
    await stage().listening(names.channel);

    await stage().command('DEL', lock);
    await stage().command(stage().publish, names.channel, '0');
    await isGranted(next);
  });

  test('that woke a waiter which then gives up wakes the next', async () => {
    const { names } = stage();
    await ask('holder:1');
    await stage().command('ZADD', key(), -FAR, 'frozen:listener');
    const [first, second] = [
      await freeze(names.waiterChannel('a:1')),
      await freeze(names.waiterChannel('a:2')),
    ];
    expect(await ask('a:1', 20)).toEqual([0, expect.any(Number), 0, 1, 'holder:1', '']);
    expect(await ask('a:2', 10)).toEqual([0, expect.any(Number), 0, 1, 'holder:1', '']);
    expect(await release('holder:1')).toBe(1);
    await eventually('the first is woken', () => first.length === 1);
    expect(second).toEqual([]);
    expect(await release('a:1')).toBe(-1);
    await eventually('the second is woken', () => second.length === 1);
    await stage().command('DEL', key());
  });

  test('that arrives twice wakes one more, and takes nothing away', async () => {
    const { names } = stage();
    await ask('holder:1');
    await stage().command('ZADD', key(), -FAR, 'frozen:listener');
    const heard = await freeze(names.waiterChannel('a:1'));
    await ask('a:1', 20);
    await release('holder:1');
    expect(await ask('a:1', 30)).toEqual([1, 0]);
    await release('holder:1');
    expect(await stage().command('HEXISTS', stage().key, 'a:1')).toBe(1);
    expect(heard).toEqual(['0']);
    await release('a:1');
    await stage().command('DEL', key());
  });

  test('leaves no place for a holder that has given up, when a copy of its acquire arrives late', async () => {
    await ask('holder:1');
    await ask('a:1', 0);
    expect(await waiters()).toEqual(['a:1']);
    const gone = `interlock_gone:{${stage().key}}:a:1`;
    await release('a:1', gone);
    expect(await waiters()).toEqual([]);
    await expect(ask('a:1', 0)).rejects.toThrow('GONE');
    expect(await waiters()).toEqual([]);
    await release('holder:1');
    await stage().command('DEL', gone);
  });

  it('by force wakes the first registered one too', async () => {
    const { mine, key: lock, names } = stage();
    const held = await mine.mutex(lock).acquire({ lease: LONG_LEASE });
    await freeze(names.channel);
    await stage().command('ZADD', key(), -FAR, 'frozen:listener');
    const { lease } = await waiting();
    await registered();
    expect(await mine.mutex(lock).forceUnlock()).toBe(true);
    await isGranted(lease);
    await held.release();
    await stage().command('DEL', key());
  });

  /** Key of our waiters. */
  function key(): string {
    return `interlock_waiters:{${stage().key}}`;
  }

  async function waiters(): Promise<string[]> {
    return (await stage().command('ZRANGE', key(), 0, -1)) as string[];
  }

  async function scores(): Promise<number[]> {
    const flat = (await stage().command('ZRANGE', key(), 0, -1, 'WITHSCORES')) as string[];
    return flat.filter((_, i) => i % 2 === 1).map(Number);
  }

  /** Has a client wait, by default a new one. */
  async function waiting(client?: RedisLockClient, options?: object) {
    const its = client ?? (await stage().client());
    return stage().queue(its, its.mutex(stage().key), options);
  }

  /** Resolves when the last waiter of ours is registered, and listens to its own channel. */
  async function registered(): Promise<void> {
    await eventually('it is registered', async () => {
      const all = (await waiters()).filter((id) => !/^(dead|frozen):/.test(id));
      const [id] = all.slice(-1);
      if (id === undefined) return false;
      await stage().listening(stage().names.waiterChannel(id));
      return true;
    });
  }

  /** Subscribes to the channel, as a process that never reacts; resolves to what it receives. */
  async function freeze(channel: string): Promise<string[]> {
    const { host, port } = await stage().deployment.masterOf(stage().key);
    const subscriber = new Redis({ host, port, disconnectTimeout: 0 });
    subscribers.add(subscriber);
    const heard: string[] = [];
    const isSharded = stage().publish === 'SPUBLISH';
    subscriber.on(isSharded ? 'smessage' : 'message', (_, message) => heard.push(message));
    await subscriber.call(isSharded ? 'ssubscribe' : 'subscribe', channel);
    return heard;
  }

  /** Sends the script of an acquire; `waited`: of one that waits. */
  function ask(holder: string, waited?: number): Promise<unknown> {
    const gone = `interlock_gone:{${stage().key}}:${holder}`;
    const waits = waited === undefined ? [] : [key(), waited, 30_000];
    const args = [LONG_LEASE, holder, '', 1, gone, ...waits];
    return stage().command('EVAL', lockAcquire.source, 1, stage().key, ...args);
  }

  function release(holder: string, tombstone = ''): Promise<unknown> {
    const { publish, names } = stage();
    const args = [holder, publish, names.channel, tombstone, key()];
    return stage().command('EVAL', lockRelease.source, 1, stage().key, ...args);
  }
}
