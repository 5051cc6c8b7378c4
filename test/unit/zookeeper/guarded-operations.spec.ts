import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError, LockLostError } from '../../../lib/core/errors/index.js';
import { MultiLock } from '../../../lib/core/multi-lock.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { Lock } from '../../../lib/core/lock.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import type { Request, Transport } from '../../../lib/zookeeper/connection/transport.js';
import {
  type AclEntry,
  CreateMode,
  Permission,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import { zooKeeperOperations } from '../../../lib/zookeeper/zookeeper-write.js';
import { eventually, isSettled } from '../../support/time.js';
import { RefusingTransport } from '../../support/transports.js';
import { clientOf, useTwoClients, type Visitor, VirtualWorld } from './world.js';

const isMulti = ({ op }: Request) => op === 'multi';

describe('A guarded write over a connection with faults', () => {
  const two = useTwoClients();
  const append = (lease: Lease, data: string) =>
    lease.guard(
      zooKeeperOperations([
        { op: 'create', path: '/data-', data, mode: CreateMode.PERSISTENT_SEQUENTIAL },
      ]),
    );
  /** All that was written, and how often. */
  const written = async () => {
    const names = await two.theirs.connection.getChildren('/');
    return names.filter((name) => name.startsWith('data-')).length;
  };
  let lease: Lease;

  beforeEach(async () => {
    lease = await two.mine.locks.mutex('door').acquire();
  });

  it.each([
    ['goes missing', 'lost', 0],
    ['is carried out, but its answer goes missing', 'unanswered', 1],
  ] as const)('that %s is reported as unknown, and not repeated', async (_, fate, count) => {
    two.network.once(fate, isMulti);
    const write = append(lease, 'a');
    await expect(write).rejects.toBeInstanceOf(LockConnectionError);
    await expect(write).rejects.toMatchObject({ key: 'door', cause: { maybeDone: true } });
    await eventually('it is connected', () => two.mine.connection.isConnected);
    expect(await written()).toBe(count);
    expect(lease.isHeld).toBe(true);
    await append(lease, 'b');
    expect(await written()).toBe(count + 1);
  });

  it('that cannot be sent is sent when there is a connection', async () => {
    two.network.isRefusing = true;
    two.network.cut();
    await two.isAway();
    const writes = ['a', 'b'].map((text) => append(lease, text));
    expect(await isSettled(Promise.race(writes))).toBe(false);
    two.network.isRefusing = false;
    await Promise.all(writes);
    expect(await written()).toBe(2);
  });

  it('that cannot be sent before the lock is lost is refused', async () => {
    two.network.isRefusing = true;
    two.network.cut();
    await two.isAway();
    const write = append(lease, 'a');
    two.server.expire(two.mine.connection.session!.id);
    two.network.isRefusing = false;
    await expect(write).rejects.toBeInstanceOf(LockLostError);
    expect(await written()).toBe(0);
  });

  it('of a holder that was cut off comes after the next grant, and is refused', async () => {
    two.network.partition();
    await two.theirs.connection.delete((lease as Lease & { paths: string[] }).paths[0]!);
    await using next = await two.theirs.locks.mutex('door').acquire();
    const late = append(lease, 'x');
    await append(next, 'a');
    expect([lease.isHeld, next.isHeld]).toEqual([true, true]); // neither client could know better
    const refused = expect(late).rejects.toBeInstanceOf(LockLostError);
    two.network.heal();
    await refused;
    expect(await written()).toBe(1);
    expect([lease.isHeld, next.isHeld]).toEqual([false, true]);
  });
});

describe('A guarded write that has no answer for the connectTimeout', () => {
  let world: VirtualWorld;
  let client: Visitor;
  let lease: Lease;
  let isBusy: boolean;

  beforeEach(async () => {
    world = new VirtualWorld();
    isBusy = false;
    const through = (network: Transport) =>
      Object.assign(new RefusingTransport(network), {
        refusal: (request: Request) =>
          isBusy && isMulti(request) ? ReturnCode.THROTTLEDOP : undefined,
      });
    client = await world.join({ through });
    lease = await world.clock.runUntil(client.locks.mutex('door').acquire());
  });
  afterEach(() => world.clock.runUntil(client.locks.close()));

  /** Resolves to what it rejects with at that time, and then still holds. */
  async function rejection(): Promise<unknown> {
    const write = lease.guard(zooKeeperOperations([{ op: 'create', path: '/data' }]));
    const begun = world.clock.now();
    const error = await world.clock.runUntil(write.catch((reason: unknown) => reason));
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(world.clock.now() - begun).toBeGreaterThanOrEqual(5_000);
    expect(world.clock.now() - begun).toBeLessThan(5_200);
    expect(lease.isHeld).toBe(true);
    return error;
  }

  it.each<[string, string, () => Promise<void>]>([
    ['as the servers cannot be reached', 'CONNECTIONLOSS', () => cutOff()],
    ['as they are busy', 'THROTTLEDOP', async () => void (isBusy = true)],
  ])('%s, rejects, and was not carried out', async (_, code, begin) => {
    await begin();
    expect(await rejection()).toMatchObject({
      key: 'door',
      cause: { code },
      message: expect.stringMatching(/5000 ms.*Nothing was written/),
    });
    client.network.isRefusing = isBusy = false;
    await world.clock.runUntil(() => client.connection.isConnected);
    await world.clock.advance(1_000);
    expect(world.server.tree.get('/data')).toBeUndefined();
  });

  it('as they are silent, rejects, and may still be carried out', async () => {
    client.network.partition();
    expect(await rejection()).toMatchObject({
      key: 'door',
      message: expect.stringMatching(/within 5000 ms: it is unknown whether it was carried out/),
    });
    client.network.heal();
    await world.clock.runUntil(() => world.server.tree.get('/data') !== undefined);
  });

  it.each([0, 100])(
    'is refused as soon as its client closes, %i ms later, as the servers cannot be reached',
    async (ms) => {
      await cutOff();
      const write = lease.guard(zooKeeperOperations([{ op: 'create', path: '/data' }]));
      const refused = expect(write).rejects.toBeInstanceOf(LockLostError);
      if (ms > 0) await world.clock.advance(ms);
      const closedAt = world.clock.now();
      void client.locks.close();
      await world.clock.runUntil(refused);
      expect(world.clock.now()).toBe(closedAt);
    },
  );

  it('as the process stood still, takes the answer that is read right after that', async () => {
    client.network.latency = () => 2_501; // there, and back: as a timer that is due fires before a socket is read
    const write = lease.guard(zooKeeperOperations([{ op: 'create', path: '/data' }]));
    expect(await world.clock.runUntil(write)).toEqual([{ path: '/data' }]);
  });

  async function cutOff(): Promise<void> {
    client.network.isRefusing = true;
    client.network.cut();
    await world.clock.runUntil(() => !client.connection.isConnected);
  }
});

describe('A guarded write', () => {
  it('creates nodes with the access control list of the client, unless it has its own', async () => {
    const of = (perms: number): AclEntry[] => [{ perms, scheme: 'world', id: 'anyone' }];
    const [ours, own] = [of(Permission.ALL - Permission.WRITE), of(Permission.ALL)];
    const world = new VirtualWorld();
    const { locks, connection } = await world.join({ acl: ours });
    const write = zooKeeperOperations([
      { op: 'create', path: '/ours' },
      { op: 'create', path: '/own', acl: own },
    ]);
    await world.clock.runUntil(locks.mutex('door').using((lease) => lease.guard(write)));
    const change = (path: string) =>
      world.clock.runUntil(connection.setData(path, Buffer.from('x')));
    await expect(change('/ours')).rejects.toMatchObject({ code: 'NOAUTH' });
    await change('/own');
    await world.clock.runUntil(locks.close());
  });

  it.each([
    [undefined, '/'],
    ['/app', '/app/'],
  ])(
    'creates a node without a name but its number where it belongs (chroot %s)',
    async (chroot, above) => {
      const world = new VirtualWorld();
      const { locks } = await world.join({ chroot, basePath: '/locks' });
      const write = zooKeeperOperations([
        { op: 'create', path: '/', mode: CreateMode.PERSISTENT_SEQUENTIAL },
        { op: 'setData', path: '/', data: 'x' },
      ]);
      const answers = await world.clock.runUntil(
        locks.mutex('door').using((lease) => lease.guard(write)),
      );
      const { path } = answers[0];
      expect(path).toMatch(/^\/\d{10}$/);
      expect(world.server.tree.get(`${above}${path.slice(1)}`)).toBeDefined();
      await world.clock.runUntil(locks.close());
    },
  );

  it('under a lock of another copy of this package beside one of ours is refused', async () => {
    const client = await clientOf(new EmbeddedServer());
    const signal = new AbortController().signal;
    const foreignLease = { key: 'b', signal, isHeld: true, assertHeld() {}, async release() {} };
    const foreign = {
      key: 'b',
      identity: { scope: {}, recipe: 'mutex', name: 'b' },
      acquire: async () => foreignLease,
    } as unknown as Lock;
    const lease = await new MultiLock([client.locks.mutex('a'), foreign]).acquire();
    const write = zooKeeperOperations([{ op: 'create', path: '/never' }]);
    await expect(lease.guard(write)).rejects.toMatchObject({
      code: 'LOCK_OPTIONS',
      option: 'write',
    });
    expect(await client.connection.exists('/never')).toBeUndefined();
    await lease.release();
    await client.locks.close();
  });
});
