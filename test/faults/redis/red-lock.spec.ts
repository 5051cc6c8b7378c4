import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import { onRedLock } from '../../redis/support/red-lock-stage.js';
import { eventually } from '../../support/time.js';
import { useCleanup } from '../../support/fixtures.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { Relay } from '../../support/proxies.js';
import { byTier } from '../../support/tier.js';
import { lossOf } from '../support/leases.js';

type Pair = readonly [number, number];
const ALL_PAIRS = [0, 1, 2, 3].flatMap((i) =>
  Array.from({ length: 4 - i }, (_, j): Pair => [i, i + 1 + j]),
);
/** With the first server, where waiters queue, and without it. */
const FEW_PAIRS: Pair[] = [
  [0, 3],
  [2, 4],
];
const PAIRS = byTier({ quick: FEW_PAIRS, standard: FEW_PAIRS, long: ALL_PAIRS });

/** A hundredth of it is between the loss and the end on the servers: more than a busy machine takes for one turn. */
const LEASE = 3_000;

/** In ms; less than half of what the slow server takes for an answer. */
const NODE_TIMEOUT = 200;
const SLOW = 500;

// Before the clients are closed, which say good-bye to each.
afterEach(() => stage().servers.restore());
const stage = onRedLock();
const cleanup = useCleanup();

describe('Of five servers', () => {
  it.each(PAIRS)('with %i and %i killed, a lock is kept, renewed and released', async (...pair) => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    const ends = (await servers.commands('PEXPIRETIME', key)) as number[];
    await servers.kill(...pair);
    await eventually('the first lease would be over', () => Date.now() > Math.max(...ends));
    expect([lease.isHeld, lease.signal.aborted, await servers.having(key)]).toEqual([
      true,
      false,
      3,
    ]);
    await lease.release();
    expect(await servers.having(key)).toBe(0);

    const next = await client.mutex(key).acquire({ wait: 5_000 });
    expect(await servers.having(key)).toBe(3);
    await next.release();
    expect(await servers.having(key)).toBe(0);
  });

  it('with three killed, a lock is refused within the wait, with what to do about it', async () => {
    const client = await stage().client();
    await stage().servers.kill(0, 2, 4);
    const mutex = client.mutex(stage().key);
    const startedAt = performance.now();
    const refusal = await mutex.acquire({ wait: 1_000 }).catch((error: unknown) => error);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(refusal).toBeInstanceOf(LockConnectionError);
    expect(refusal).toMatchObject({ key: stage().key, client: 'test' });
    expect(String(refusal)).toMatch(/Fewer than 3 of the 5 servers .* Check the servers/);

    await expect(mutex.tryAcquire()).rejects.toBeInstanceOf(LockConnectionError);
    await expect(mutex.tryAcquire({ wait: 1_000 })).rejects.toBeInstanceOf(LockConnectionError);
    await expect(mutex.acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError); // too short to be sure
    await stage().isEmpty();
  });

  it('with three killed, a holder loses its lock before the others forget it', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: LEASE, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    const lost = lossOf(lease);
    for (const i of [0, 1, 2]) servers.all[i]!.freeze(); // their clocks go on: the leases of the dead end as well
    const ends = await eventually('the others renew it', async () => {
      const all = await Promise.all([3, 4].map((i) => servers.all[i]!.command('PTTL', key)));
      return Math.min(...(all as number[])) > 0 && Date.now() + LEASE;
    });
    expect(await lost).toBeLessThan(ends);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect([lease.isHeld, lease.remaining()]).toEqual([false, 0]);
    await eventually('the rest is released', async () => {
      const rest = await Promise.all([3, 4].map((i) => servers.all[i]!.command('EXISTS', key)));
      return rest.every((exists) => exists === 0);
    });
    await lease.release();
  });

  it('a waiter that comes while three are down is served when one of them is back', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    await servers.kill(0, 1, 2);
    const waiting = client.mutex(key).acquire({ wait: 20_000 });
    await servers.all[1]!.restart();
    const lease = await waiting;
    expect(await servers.having(key)).toBe(3);
    await lease.release();
    await stage().isEmpty();
  });

  it('those that were down are used again', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    await servers.kill(0, 1);
    await (await client.mutex(key).acquire()).release();
    await servers.restore();
    await eventually('a lock is on all of them', async () => {
      const lease = await client.mutex(key).acquire();
      const having = await servers.having(key);
      await lease.release();
      return having === 5;
    });
  });

  it('two forget a lock, which is held by the other three, and lost with the next', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    for (const i of [1, 3]) await servers.all[i]!.command('DEL', key);
    const [end] = (await servers.commands('PEXPIRETIME', key)) as number[];
    await eventually('the first lease would be over', () => Date.now() > end!);
    expect([lease.isHeld, await servers.having(key)]).toEqual([true, 3]);

    const lost = stage().next(client, 'lost');
    await servers.all[0]!.command('DEL', key);
    expect(await lost).toMatchObject({ key, error: { code: 'LOCK_LOST' } });
    expect(lease.isHeld).toBe(false);
    await lease.release();
    await stage().isEmpty();
  });

  it('waiters go on when the one where they queue is killed', async () => {
    const { key, servers } = stage();
    const [holder, waiter] = await stage().clients(2);
    const lease = await holder!.mutex(key).acquire();
    const contended = stage().next(waiter!, 'contended');
    const waiting = waiter!.mutex(key).acquire({ wait: 20_000 });
    await contended;
    await servers.kill(0);
    await lease.release();
    expect(await waiting).toMatchObject({ isHeld: true });
  });
});

/**
 * Servers that keep nothing over a restart. A lock is granted by three of five while the other two are away; then one of the
 * three forgets it.
 */
describe('When a server forgets a lock that a bare majority holds,', () => {
  const LEASE = 5_000;

  /** Holds it on the first three, with a lease that is not renewed; the others are down. */
  async function holdOnThree(third: object) {
    const { key, servers } = stage();
    const { nodes } = servers;
    const holder = await stage().client({
      nodes: [...nodes.slice(0, 2), third, ...nodes.slice(3)],
    });
    const rival = await stage().client();
    const lost = new Set<string>();
    holder.on('connection', ({ reason }) => void lost.add(reason.split(':')[0]!));
    await servers.kill(3, 4);
    await eventually('it knows that two are down', () => lost.size === 2); // else it asks them, too, once they are back
    const lease = await holder.mutex(key).acquire({ lease: LEASE });
    expect(await servers.having(key)).toBe(3);
    return { lease, mutex: rival.mutex(key) };
  }

  it('there are two holders if it comes back before the first one hears of it: what RedLock cannot exclude', async () => {
    const { servers } = stage();
    const proxy = cleanup(await RedisProxy.start(servers.all[2]!), (it) => it.stop());
    const { lease, mutex } = await holdOnThree({ ...servers.nodes[2], port: proxy.port });
    proxy.hold(); // between the holder and the server
    await servers.all[2]!.restart();
    await servers.restore();
    const theirs = await eventually('they are all asked', () => mutex.tryAcquire());
    expect([theirs.isHeld, lease.isHeld]).toEqual([true, true]);

    const lost = lossOf(lease);
    proxy.resume();
    await lost;
    expect([theirs.isHeld, lease.isHeld]).toEqual([true, false]);
  });

  it('there is one if it comes back when the longest lease is over', async () => {
    const { servers } = stage();
    const { lease, mutex } = await holdOnThree(servers.nodes[2]!);
    const endsBy = Date.now() + LEASE; // every lease that was granted before
    await servers.kill(2);
    await servers.all[3]!.restart();
    await servers.all[4]!.restart();
    await eventually('four answer, and only two of them grant it', async () => {
      const granted = await mutex.tryAcquire();
      return granted === undefined;
    });
    expect(lease.isHeld).toBe(true);
    await eventually('all leases of then are over', () => Date.now() > endsBy, {
      within: 2 * LEASE,
    });
    await servers.all[2]!.restart();
    const theirs = await mutex.acquire({ wait: 10_000 });
    expect([theirs.isHeld, lease.isHeld]).toEqual([true, false]);
  });
});

describe('Of five servers that are slow,', () => {
  async function median(count: number, work: () => Promise<unknown>): Promise<number> {
    const took: number[] = [];
    for (let i = 0; i < count; i++) {
      const startedAt = performance.now();
      await work();
      took.push(performance.now() - startedAt);
    }
    return took.sort((a, b) => a - b)[count >> 1]!;
  }

  it('one that answers late slows neither acquire nor release', async () => {
    const { key, servers } = stage();
    const relay = cleanup(await Relay.start(servers.all[2]!, SLOW / 2), (it) => it.stop());
    const { port } = relay;
    const nodes = servers.nodes.map((node, i) => (i === 2 ? { ...node, port } : node));
    const client = await stage().client({ nodes, nodeTimeout: NODE_TIMEOUT });
    const cycle = async () => (await client.mutex(key).acquire()).release();
    await eventually('the slow one is used', async () => {
      await cycle();
      return servers.all[2]!.command('EXISTS', key);
    });
    expect(await median(11, cycle)).toBeLessThan(NODE_TIMEOUT / 2);
    await client.close();
    await stage().isEmpty();
  });

  it('one that hangs slows neither acquire nor release', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ nodeTimeout: NODE_TIMEOUT });
    servers.all[1]!.freeze();
    const cycle = async () => (await client.mutex(key).acquire()).release();
    expect(await median(11, cycle)).toBeLessThan(NODE_TIMEOUT / 2);
    servers.all[1]!.thaw();
    await stage().isEmpty();
  });

  it('two that hang slow neither acquire nor release, nor the grant to a waiter', async () => {
    const { key, servers } = stage();
    const [holder, waiter] = await stage().clients(2, { nodeTimeout: NODE_TIMEOUT });
    const lease = await holder!.mutex(key).acquire();
    const contended = stage().next(waiter!, 'contended');
    const waiting = waiter!.mutex(key).acquire({ wait: 20_000 });
    await contended;
    for (const i of [0, 4]) servers.all[i]!.freeze();
    await lease.release();
    expect(await waiting).toMatchObject({ isHeld: true });
    for (const i of [0, 4]) servers.all[i]!.thaw();
  });
});

describe('When servers are slow to grant a lock,', () => {
  let proxies: RedisProxy[];
  let client: RedLockClient;

  beforeEach(async () => {
    const { servers } = stage();
    proxies = await Promise.all(servers.all.map((server) => RedisProxy.start(server)));
    const nodes = proxies.map(({ host, port }) => ({ host, port, disconnectTimeout: 0 }));
    client = await stage().client({ nodes });
    await (await client.mutex(`${stage().key} before`).acquire()).release(); // they know the scripts
    await stage().isEmpty();
  });
  afterEach(async () => {
    resume();
    await stage().clear();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  const resume = () => proxies.forEach((proxy) => proxy.resume());
  const holdReplies = (from = 0) => proxies.slice(from).forEach((proxy) => proxy.holdReplies());

  const isGranted = () =>
    eventually(
      'all have granted it',
      async () => (await stage().servers.having(stage().key)) === 5,
    );

  it('the grants of a minority join the lock, and are released with it', async () => {
    const { key, servers } = stage();
    holdReplies(3);
    const lease = await client.mutex(key).acquire();
    await isGranted();
    resume();
    await lease.release();
    await stage().isEmpty();
    expect(servers.running).toHaveLength(5);
  });

  it('the grants of a minority that come after the release are released', async () => {
    holdReplies(3);
    const lease = await client.mutex(stage().key).acquire();
    await isGranted();
    await lease.release();
    resume();
    await stage().isEmpty();
  });

  it.each([
    ['an end of the wait', LockTimeoutError, 'wait'],
    ['an abort', LockAbortedError, 'abort'],
    ['the closing of the client', LockClientClosedError, 'close'],
  ])('%s leaves nothing', async (_, error, end) => {
    holdReplies();
    const controller = new AbortController();
    const wait = end === 'wait' ? { wait: 100 } : {};
    const acquired = client.mutex(stage().key).acquire({ ...wait, signal: controller.signal });
    const refused = expect(acquired).rejects.toBeInstanceOf(error);
    if (end !== 'wait') await isGranted();
    if (end === 'abort') controller.abort();
    const closing = end === 'close' && client.close();
    await refused;
    resume();
    await closing;
    await stage().isEmpty();
  });

  it('an abort while another client holds it leaves the grants of that client alone', async () => {
    const { key, servers } = stage();
    const holder = await stage().client();
    const lease = await stage().onAll(holder);
    const controller = new AbortController();
    const contended = stage().next(client, 'contended');
    const waiting = client.mutex(key).acquire({ signal: controller.signal });
    const aborted = expect(waiting).rejects.toBeInstanceOf(LockAbortedError);
    await contended;
    controller.abort();
    await aborted;
    expect([lease.isHeld, await servers.having(key)]).toEqual([true, 5]);
    await lease.release();
    await stage().isEmpty();
  });
});
