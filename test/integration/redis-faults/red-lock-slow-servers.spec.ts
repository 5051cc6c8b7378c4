import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import { onRedLock } from '../../redis/red-lock-stage.js';
import { eventually } from '../../support/eventually.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import { Relay } from '../../support/relay.js';

/** In ms; less than half of what the slow server takes for an answer. */
const NODE_TIMEOUT = 200;
const SLOW = 500;

describe('Of five servers', () => {
  const stage = onRedLock();

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
    const relay = await Relay.start(servers.all[2]!, SLOW / 2);
    try {
      const nodes = servers.nodes.map((node, i) =>
        i === 2 ? { ...node, port: relay.port } : node,
      );
      const client = await stage().client({ nodes, nodeTimeout: NODE_TIMEOUT });
      await eventually('the slow one is used', async () => {
        await (await client.mutex(key).acquire()).release();
        return servers.all[2]!.command('EXISTS', key);
      });
      const cycle = async () => (await client.mutex(key).acquire()).release();
      expect(await median(11, cycle)).toBeLessThan(NODE_TIMEOUT / 2);
      await client.close();
      await stage().isEmpty();
    } finally {
      await relay.stop();
    }
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
  const stage = onRedLock();
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
    for (const proxy of proxies) proxy.resume();
    await stage().clear();
    await Promise.all(proxies.map((proxy) => proxy.stop()));
  });

  const isGranted = () =>
    eventually(
      'all have granted it',
      async () => (await stage().servers.having(stage().key)) === 5,
    );

  it('the grants of a minority join the lock, and are released with it', async () => {
    const { key, servers } = stage();
    for (const proxy of proxies.slice(3)) proxy.holdReplies();
    const lease = await client.mutex(key).acquire();
    await isGranted();
    for (const proxy of proxies) proxy.resume();
    await lease.release();
    await stage().isEmpty();
    expect(servers.running).toHaveLength(5);
  });

  it('the grants of a minority that come after the release are released', async () => {
    for (const proxy of proxies.slice(3)) proxy.holdReplies();
    const lease = await client.mutex(stage().key).acquire();
    await isGranted();
    await lease.release();
    for (const proxy of proxies) proxy.resume();
    await stage().isEmpty();
  });

  it('an end of the wait leaves nothing', async () => {
    for (const proxy of proxies) proxy.holdReplies();
    const acquired = client.mutex(stage().key).acquire({ wait: 100 });
    await expect(acquired).rejects.toBeInstanceOf(LockTimeoutError);
    for (const proxy of proxies) proxy.resume();
    await stage().isEmpty();
  });

  it('an abort leaves nothing', async () => {
    for (const proxy of proxies) proxy.holdReplies();
    const controller = new AbortController();
    const acquired = client.mutex(stage().key).acquire({ signal: controller.signal });
    const aborted = expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
    await isGranted();
    controller.abort();
    await aborted;
    for (const proxy of proxies) proxy.resume();
    await stage().isEmpty();
  });

  it('the closing of the client leaves nothing', async () => {
    for (const proxy of proxies) proxy.holdReplies();
    const acquired = client.mutex(stage().key).acquire();
    const closed = expect(acquired).rejects.toBeInstanceOf(LockClientClosedError);
    await isGranted();
    const closing = client.close();
    await closed;
    for (const proxy of proxies) proxy.resume();
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
