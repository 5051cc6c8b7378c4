import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import type { RedLockClient } from '../../lib/redis/red-lock/red-lock-client.js';
import { eventually } from '../support/eventually.js';
import type { LateCopy } from '../support/late-copy.js';
import { RedisProxy } from '../support/redis-proxy.js';
import { onRedLock } from './red-lock-stage.js';

const WATCHDOG = 12_000;
const LONG = 120_000;

describe('A late copy, with servers that know nothing of each other,', () => {
  const stage = onRedLock(3);
  let proxies: RedisProxy[];
  let client: RedLockClient;

  beforeEach(async () => {
    const { servers } = stage();
    proxies = await Promise.all(servers.all.map((server) => RedisProxy.start(server)));
    const nodes = proxies.map(({ host, port }) => ({
      host,
      port,
      disconnectTimeout: 0,
      retryStrategy: () => 20,
    }));
    client = await stage().client({ nodes, watchdogTimeout: WATCHDOG, nodeTimeout: 4_000 });
    await eventually('each server knows the scripts', async () => {
      await (await client.mutex(randomUUID()).acquire()).release();
      const known = await servers.commands('INFO', 'memory');
      return known.every(
        (info) => Number(/number_of_cached_scripts:(\d+)/.exec(String(info))![1]) >= 2,
      );
    });
  });
  afterEach(async () => {
    await stage().clear();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  it('of an acquire shortens no lease', async () => {
    const [lease, copies] = await late(() => client.mutex(stage().key).acquire());
    await stage().isOnAll();
    lease.hold.atLeast = LONG;
    await lease.release();
    await isKept();
    await arrive(copies);
    await isKept();
    const other = await stage().client();
    expect(await other.mutex(stage().key).tryAcquire()).toBeUndefined();
  });

  it('of a renewal shortens no lease', async () => {
    const lease = await stage().onAll(client);
    const [, copies] = await late(async () => proxies.forEach((proxy) => proxy.cut()));
    lease.hold.atLeast = LONG;
    await lease.release();
    await isKept();
    await arrive(copies);
    await isKept();
  });

  it('of an acquire takes nothing once the lease was released', async () => {
    const [lease, copies] = await late(() => client.mutex(stage().key).acquire());
    await stage().isOnAll();
    await lease.release();
    await isFree();
    await arrive(copies);
    await isFree();
  });

  it('of an acquire takes nothing once the acquire was aborted', async () => {
    const abort = new AbortController();
    const copies = proxies.map((proxy) => proxy.strand(isScript));
    const acquired = client.mutex(stage().key).acquire({ signal: abort.signal });
    const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
    await eventually('all are under way', () => copies.every(({ count }) => count > 0));
    abort.abort();
    await aborted;
    for (const copy of copies) copy.giveUp();
    await client.close();
    await isFree();
    await arrive(copies);
    await isFree();
  });

  const isScript = ([name, ...args]: readonly string[]) =>
    /^eval/i.test(name!) && args.some((arg) => arg.includes(stage().key));

  /** Runs an action of which the first script on each server is held up until the connection is given up. */
  async function late<T>(work: () => Promise<T>): Promise<[T, LateCopy[]]> {
    const copies = proxies.map((proxy) => proxy.strand(isScript));
    const working = work();
    working.catch(() => {}); // awaited below
    await eventually('all are under way', () => copies.every(({ count }) => count > 0));
    for (const copy of copies) copy.giveUp();
    return [await working, copies];
  }

  async function arrive(copies: readonly LateCopy[]): Promise<void> {
    const replies = (await Promise.all(copies.map((copy) => copy.deliver()))).flat();
    expect(replies.map(String)).not.toContainEqual(expect.stringMatching(/^NOSCRIPT/));
  }

  async function isKept(): Promise<void> {
    await eventually('each server keeps it', async () => {
      const left = (await stage().servers.commands('PTTL', stage().key)) as number[];
      return left.every((ms) => ms > LONG / 2);
    });
  }

  async function isFree(): Promise<void> {
    await eventually(
      'no server has it',
      async () => (await stage().servers.having(stage().key)) === 0,
    );
  }
});
