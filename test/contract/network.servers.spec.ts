import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockTimeoutError } from '../../lib/core/errors/index.js';
import type { DistributedAtomicLong } from '../../lib/zookeeper/atomic/distributed-atomic-number.js';
import { ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import type { InterProcessSemaphoreV2 } from '../../lib/zookeeper/semaphores/inter-process-semaphore-v2.js';
import type { TestClient } from '../faults/support/test-client.js';
import { attachSession } from '../support/zookeeper-session.js';
import { eventually } from '../support/time.js';
import { onBadNetwork } from './backends/bad-network.js';

describe('An atomic number behind a bad network', () => {
  const net = onBadNetwork();
  let counter: DistributedAtomicLong;

  beforeEach(async () => {
    counter = net.client.locks.atomicLong(net.path);
    await net.other.locks.atomicLong(net.path).forceSet(5n);
  });
  const value = () => net.other.locks.atomicLong(net.path).get();

  it.each([
    ['before', 'getData'],
    ['after', 'getData'],
    ['before', 'setData'],
  ] as const)('that breaks %s its %s is counted once', async (when, operation) => {
    const isCut = net.cut(when, operation);
    const changed = await counter.increment();
    await isCut;
    expect(changed).toMatchObject({ succeeded: true, preValue: 5n, postValue: 6n });
    expect(await value()).toBe(6n);
  });

  it('that breaks after its setData is counted once, and in doubt', async () => {
    const isCut = net.cut('after', 'setData');
    const error: unknown = await counter.increment().catch((thrown: unknown) => thrown);
    await isCut;
    expect(error).toBeInstanceOf(ZooKeeperError);
    expect(error).toMatchObject({ maybeDone: true, path: net.path });
    expect(await value()).toBe(6n);
    expect(await counter.increment()).toMatchObject({ succeeded: true, postValue: 7n });
  });

  it('that breaks before its create is made once', async () => {
    await net.other.connection.delete(net.path);
    const isCut = net.cut('before', 'create');
    const changed = await counter.increment();
    await isCut;
    expect(changed).toMatchObject({ succeeded: true, preValue: 0n, postValue: 1n });
    expect(await value()).toBe(1n);
  });

  it('that breaks after its create is made once, and in doubt', async () => {
    await net.other.connection.delete(net.path);
    const isCut = net.cut('after', 'create');
    const error: unknown = await counter.increment().catch((thrown: unknown) => thrown);
    await isCut;
    expect(error).toMatchObject({ maybeDone: true, path: net.path });
    expect(await value()).toBe(1n);
  });

  it.each(['before', 'after'] as const)('that breaks %s a set by force is set', async (when) => {
    const isCut = net.cut(when, 'setData');
    await counter.forceSet(9n);
    await isCut;
    expect(await value()).toBe(9n);
  });

  it.each(['before', 'after'] as const)(
    'that breaks %s the set of a shared value is followed all the same',
    async (when) => {
      const shared = net.client.locks.sharedValue(`${net.path}-value`, Buffer.from('a'));
      await shared.start();
      const isCut = net.cut(when, 'setData', '-value');
      await shared.setValue(Buffer.from('b'));
      await isCut;
      expect(shared.value.toString()).toBe('b');
      const { data } = await net.other.connection.getData(`${net.path}-value`);
      expect(data.toString()).toBe('b');
    },
  );
});

/** Permits of the semaphore. */
const PERMITS = 3;

describe('A semaphore behind a bad network', () => {
  const net = onBadNetwork({ sessionTimeout: 3_000 });

  const of = ({ locks }: TestClient): InterProcessSemaphoreV2 =>
    locks.semaphore(net.path, { permits: PERMITS });
  const leases = (length: number) => net.other.queue(`${net.path}/leases`, length);
  const gate = (length: number) => net.other.queue(`${net.path}/locks`, length);

  beforeEach(() => of(net.other).using(() => {})); // its directories are there

  const cuts = (['before', 'after'] as const).flatMap((when) => [
    [when, 'create', 'locks', 1] as const,
    [when, 'getChildren', 'locks', 1] as const,
    [when, 'create', 'leases', 1] as const,
    [when, 'create', 'leases', 2] as const,
    [when, 'getChildren', 'leases', 1] as const,
  ]);

  it.each(cuts)(
    'that breaks %s its %s in %s (no. %i) gives two permits with two nodes, and leaves none (Curator: testAcquireAfterLostServer)',
    async (when, operation, directory, n) => {
      const isCut = net.cut(when, operation, `/${directory}`, n);
      const lease = await of(net.client).acquire({ permits: 2 });
      await isCut;
      const { id } = net.client.connection.session!;
      const nodes = await leases(2);
      for (const node of nodes)
        expect(await net.other.connection.exists(`${net.path}/leases/${node}`)).toMatchObject({
          ephemeralOwner: id,
        });
      expect([...lease.paths].sort()).toEqual(
        nodes.map((node) => `${net.path}/leases/${node}`).sort(),
      );
      await gate(0);
      expect(await of(net.other).tryAcquire({ permits: 2 })).toBeUndefined();
      await lease.release();
      await leases(0);
      expect(net.client.states).toEqual(['SUSPENDED', 'RECONNECTED']);
    },
  );

  it.each(cuts)(
    'that breaks %s its %s in %s (no. %i) lets it wait with as many nodes as it should',
    async (when, operation, directory, n) => {
      const held = await of(net.other).acquire({ permits: 2 });
      const isCut = net.cut(when, operation, `/${directory}`, n);
      const waiting = of(net.client).acquire({ permits: 2 });
      await isCut;
      await net.client.reached('RECONNECTED');
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
      const held = await of(net.other).acquire({ permits: 2 });
      const isCut = net.cut(when, operation, `/${directory}`, n);
      expect(await of(net.client).tryAcquire({ permits: 2 })).toBeUndefined();
      await isCut;
      await leases(2);
      await held.release();
    },
  );

  it.each(['before', 'after'] as const)(
    'that breaks %s it has counted many leases gives each its node, and leaves none',
    async (when) => {
      const directory = `${net.path}-of-many/leases`;
      const many = ({ locks }: TestClient) =>
        locks.semaphore(`${net.path}-of-many`, { permits: 20 });
      await many(net.other).using(() => {}); // its directories are there
      const isCut = net.cut(when, 'exists', '-of-many/leases');
      const lease = await many(net.client).acquire({ permits: 2 });
      await isCut;
      await net.other.queue(directory, 2);
      expect(await many(net.other).tryAcquire({ permits: 19 })).toBeUndefined();
      await lease.release();
      await net.other.queue(directory, 0);
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
      const isCut = net.cut(when, 'delete', `/${directory}`, n);
      const lease = await of(net.client).acquire({ permits: 2 });
      await lease.release();
      await isCut;
      await leases(0);
      await gate(0);
      await of(net.other).using(() => {}, { permits: PERMITS });
    },
  );

  it('that stays down until the time is up keeps nothing when it is back', async () => {
    const isCut = net.cut('after', 'create', '/leases', 2).then(() => net.proxy.refuse());
    const late = of(net.client).acquire({ permits: 3, wait: 300 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await isCut;
    await net.proxy.accept();
    await leases(0);
    await gate(0);
  });

  it('that takes its session grants nothing by the leases of that session (CURATOR-604)', async () => {
    const held = await of(net.other).acquire({ permits: PERMITS });
    let isGranted = false;
    const waiting = of(net.client).acquire();
    void waiting.then(() => (isGranted = true));
    const [, , , stale] = await leases(PERMITS + 1);
    await gate(1);

    // The waiter is cut off and gives its session up, but the server goes on hearing of that session.
    net.proxy.refuse();
    const session = await attachSession(net.server, net.client.connection.session!);
    await net.client.reached('LOST');
    await net.proxy.accept();
    await gate(2); // its old place is still ahead of its new one
    await held.release();
    expect(await leases(1)).toEqual([stale]);
    await net.client.connection.sync('/');
    await net.client.connection.exists('/'); // it has dealt with every event that it was sent
    expect(isGranted).toBe(false);
    expect(await of(net.client).tryAcquire({ permits: PERMITS })).toBeUndefined();

    session.close();
    const lease = await waiting;
    expect(lease.isHeld).toBe(true);
    const nodes = await leases(1);
    expect(nodes).not.toContain(stale);
    expect(await net.other.connection.exists(`${net.path}/leases/${nodes[0]}`)).toMatchObject({
      ephemeralOwner: net.client.connection.session!.id,
    });
    await lease.release();
    await eventually('nothing is left', async () => (await gate(0)).length === 0);
  });
});
