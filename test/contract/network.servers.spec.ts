import { randomUUID } from 'node:crypto';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { DistributedAtomicLong } from '../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { InterProcessSemaphoreV2 } from '../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import { TestClient } from '../faults/support/test-client.js';
import { attachSession } from '../support/zookeeper-session.js';
import { eventually } from '../support/time.js';
import { FaultProxy, OpCode } from '../support/zookeeper-proxy.js';
import { ZooKeeperServer } from '../support/zookeeper-server.js';

describe('An atomic number behind a bad network', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  /** The client behind the bad network. */
  let client: TestClient;
  /** The client with a good network. */
  let other: TestClient;
  let path: string;
  let counter: DistributedAtomicLong;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    path = `/locks/${randomUUID()}`;
    client = await TestClient.connect(proxy.connectString);
    counter = client.locks.atomicLong(path);
    await other.locks.atomicLong(path).forceSet(5n);
  });
  afterEach(async () => {
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await client.locks.close();
  });

  /** Cuts the connection of `client` at its next such request about the number. */
  function cut(when: 'before' | 'after', operation: keyof typeof OpCode): Promise<unknown> {
    const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
    return trap.call(
      proxy,
      (request) => request.opcode === OpCode[operation] && request.path === path,
    );
  }
  const value = () => other.locks.atomicLong(path).get();

  it.each([
    ['before', 'getData'],
    ['after', 'getData'],
    ['before', 'setData'],
  ] as const)('that breaks %s its %s is counted once', async (when, operation) => {
    const isCut = cut(when, operation);
    const changed = await counter.increment();
    await isCut;
    expect(changed).toMatchObject({ succeeded: true, preValue: 5n, postValue: 6n });
    expect(await value()).toBe(6n);
  });

  it('that breaks after its setData is counted once, and in doubt', async () => {
    const isCut = cut('after', 'setData');
    const error: unknown = await counter.increment().catch((thrown: unknown) => thrown);
    await isCut;
    expect(error).toBeInstanceOf(ZooKeeperError);
    expect(error).toMatchObject({ maybeDone: true, path });
    expect(await value()).toBe(6n);
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 7n });
  });

  it('that breaks before its create is made once', async () => {
    await other.connection.delete(path);
    const isCut = cut('before', 'create');
    const changed = await counter.increment();
    await isCut;
    expect(changed).toMatchObject({ succeeded: true, preValue: 0n, postValue: 1n });
    expect(await value()).toBe(1n);
  });

  it('that breaks after its create is made once, and in doubt', async () => {
    await other.connection.delete(path);
    const isCut = cut('after', 'create');
    const error: unknown = await counter.increment().catch((thrown: unknown) => thrown);
    await isCut;
    expect(error).toMatchObject({ maybeDone: true, path });
    expect(await value()).toBe(1n);
  });

  it.each(['before', 'after'] as const)('that breaks %s a set by force is set', async (when) => {
    const isCut = cut(when, 'setData');
    await counter.forceSet(9n);
    await isCut;
    expect(await value()).toBe(9n);
  });

  it.each(['before', 'after'] as const)(
    'that breaks %s the set of a shared value is followed all the same',
    async (when) => {
      const shared = client.locks.sharedValue(`${path}-value`, Buffer.from('a'));
      await shared.start();
      const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
      const isCut = trap.call(proxy, ({ opcode }) => opcode === OpCode.setData);
      await shared.setValue(Buffer.from('b'));
      await isCut;
      expect(shared.value.toString()).toBe('b');
      const { data } = await other.connection.getData(`${path}-value`);
      expect(data.toString()).toBe('b');
    },
  );
});

/** Permits of the semaphore. */
const PERMITS = 3;

describe('A semaphore behind a bad network', () => {
  let server: ZooKeeperServer;
  let proxy: FaultProxy;
  /** The client behind the bad network. */
  let client: TestClient;
  /** The client with a good network. */
  let other: TestClient;
  let path: string;

  const of = ({ locks }: TestClient): InterProcessSemaphoreV2 =>
    locks.semaphore(path, { permits: PERMITS });
  const leases = (length: number) => other.queue(`${path}/leases`, length);
  const gate = (length: number) => other.queue(`${path}/locks`, length);

  beforeAll(async () => {
    server = await ZooKeeperServer.start({ containerCheckIntervalMs: 600_000 }); // keeps empty directories
    proxy = await FaultProxy.start(server);
    other = await TestClient.connect(server.connectString);
  });
  afterAll(async () => {
    await other.locks.close();
    proxy.stop();
    await server.stop();
  });

  beforeEach(async () => {
    path = `/locks/${randomUUID()}`;
    client = await TestClient.connect(proxy.connectString, { sessionTimeout: 3_000 });
    await of(other).using(() => {}); // its directories are there
  });
  afterEach(async () => {
    proxy.cut(); // first: the driver blocks in close() until it is answered, and the proxy lives on this event loop
    await client.locks.close();
  });

  /** Cuts the connection of `client` at that request of those about `directory`. */
  function cut(
    when: 'before' | 'after',
    operation: keyof typeof OpCode,
    directory: string,
    countdown = 1,
  ): Promise<unknown> {
    const trap = when === 'before' ? proxy.cutBefore : proxy.cutAfter;
    return trap.call(
      proxy,
      (request) =>
        request.opcode === OpCode[operation] &&
        request.path.startsWith(`${path}/${directory}`) &&
        --countdown === 0,
    );
  }

  const cuts = (['before', 'after'] as const).flatMap((when) => [
    [when, 'create', 'locks', 1] as const,
    [when, 'getChildren', 'locks', 1] as const,
    [when, 'create', 'leases', 1] as const,
    [when, 'create', 'leases', 2] as const,
    [when, 'exists', 'leases', 1] as const,
  ]);

  it.each(cuts)(
    'that breaks %s its %s in %s (no. %i) gives two permits with two nodes, and leaves none (Curator: testAcquireAfterLostServer)',
    async (when, operation, directory, n) => {
      const isCut = cut(when, operation, directory, n);
      const lease = await of(client).acquire({ permits: 2 });
      await isCut;
      const { id } = client.connection.session!;
      const nodes = await leases(2);
      for (const node of nodes)
        expect(await other.connection.exists(`${path}/leases/${node}`)).toMatchObject({
          ephemeralOwner: id,
        });
      expect([...lease.paths].sort()).toEqual(nodes.map((node) => `${path}/leases/${node}`).sort());
      await gate(0);
      expect(await of(other).tryAcquire({ permits: 2 })).toBeUndefined();
      await lease.release();
      await leases(0);
      expect(client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
    },
  );

  it.each(cuts)(
    'that breaks %s its %s in %s (no. %i) lets it wait with as many nodes as it should',
    async (when, operation, directory, n) => {
      const held = await of(other).acquire({ permits: 2 });
      const isCut = cut(when, operation, directory, n);
      const waiting = of(client).acquire({ permits: 2 });
      await isCut;
      await client.reached('RECONNECTED');
      await leases(4);
      await gate(1);
      await held.release();
      const lease = await waiting;
      await leases(2);
      await lease.release();
      await leases(0);
      await gate(0);
    },
  );

  it.each(cuts.filter(([, , directory]) => directory === 'leases'))(
    'that breaks %s its %s in %s (no. %i) leaves nothing of a tryAcquire',
    async (when, operation, directory, n) => {
      const held = await of(other).acquire({ permits: 2 });
      const isCut = cut(when, operation, directory, n);
      expect(await of(client).tryAcquire({ permits: 2 })).toBeUndefined();
      await isCut;
      await leases(2);
      await held.release();
    },
  );

  it.each([
    ['before', 'leases', 1],
    ['after', 'leases', 1],
    ['before', 'leases', 2],
    ['after', 'leases', 2],
    ['before', 'locks', 1],
    ['after', 'locks', 1],
  ] as const)(
    'that breaks %s a delete in %s (no. %i) keeps nothing',
    async (when, directory, n) => {
      const isCut = cut(when, 'delete', directory, n);
      const lease = await of(client).acquire({ permits: 2 });
      await lease.release();
      await isCut;
      await leases(0);
      await gate(0);
      await of(other).using(() => {}, { permits: PERMITS });
    },
  );

  it('that stays down until the time is up keeps nothing when it is back', async () => {
    const isCut = cut('after', 'create', 'leases', 2).then(() => proxy.refuse());
    const late = of(client).acquire({ permits: 3, wait: 300 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await isCut;
    await proxy.accept();
    await leases(0);
    await gate(0);
  });

  it('that takes its session grants nothing by the leases of that session (CURATOR-604)', async () => {
    const held = await of(other).acquire({ permits: PERMITS });
    let isGranted = false;
    const waiting = of(client).acquire();
    void waiting.then(() => (isGranted = true));
    const [, , , stale] = await leases(PERMITS + 1);
    await gate(1);

    // The waiter is cut off and gives its session up, but the server goes on hearing of that session.
    proxy.refuse();
    const session = await attachSession(server, client.connection.session!);
    await client.reached('LOST');
    await proxy.accept();
    await gate(2); // its old place is still ahead of its new one
    await held.release();
    expect(await leases(1)).toEqual([stale]);
    await client.connection.sync('/');
    await client.connection.exists('/'); // it has dealt with every event that it was sent
    expect(isGranted).toBe(false);
    expect(await of(client).tryAcquire({ permits: PERMITS })).toBeUndefined();

    session.close();
    const lease = await waiting;
    expect(lease.isHeld).toBe(true);
    const nodes = await leases(1);
    expect(nodes).not.toContain(stale);
    expect(await other.connection.exists(`${path}/leases/${nodes[0]}`)).toMatchObject({
      ephemeralOwner: client.connection.session!.id,
    });
    await lease.release();
    await eventually('nothing is left', async () => (await gate(0)).length === 0);
  });
});
