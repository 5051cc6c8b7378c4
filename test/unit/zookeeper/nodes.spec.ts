import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { LOCK_INSPECTION } from '../../../lib/core/lock-inspection.js';
import { LockClientClosedError, LockConnectionError } from '../../../lib/core/errors/index.js';
import {
  type AclEntry,
  CreateMode,
  type WatchEvent,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { ReturnCode } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { AtomicValue } from '../../../lib/zookeeper/atomic/atomic-options.js';
import type { DistributedAtomicLong } from '../../../lib/zookeeper/atomic/distributed-atomic-number.js';
import type { Request, Transport } from '../../../lib/zookeeper/connection/transport.js';
import { ContainerParents } from '../../../lib/zookeeper/nodes/container-parents.js';
import type { SharedCount } from '../../../lib/zookeeper/shared/shared-count.js';
import { RefusingTransport } from '../../support/transports.js';
import { type Visitor, useTwoClients, VirtualWorld } from './world.js';

describe('The directories of locks', () => {
  const EMPTY = Buffer.alloc(0);
  const ACL: AclEntry[] = [{ perms: 31, scheme: 'auth', id: '' }];
  const OURS = [{ perms: 31, scheme: 'digest', id: expect.stringMatching(/^app:/) }];
  const EVES: AclEntry[] = [
    { perms: 31, scheme: 'digest', id: 'eve:hash' },
    { perms: 15, scheme: 'world', id: 'anyone' },
  ];
  let world: VirtualWorld;
  let client: Visitor;

  beforeEach(async () => {
    world = new VirtualWorld();
    client = await world.join({ auth: [{ scheme: 'digest', auth: 'app:secret' }] });
    client.network.createsWithAcl = false; // as the native driver
  });
  afterEach(() => client.connection.close());

  const run = <T>(work: Promise<T>) => world.clock.runUntil(work);
  const asked = () => client.log.requests.map(({ op, path }) => `${op} ${path}`);
  const nodeAt = (path: string) => world.server.tree.get(path);
  const aclOf = (path: string) => nodeAt(path)?.acl;
  const parentsWith = (acl?: AclEntry[]) => new ContainerParents(client.connection, 'unit', acl);
  const isBack = () => world.clock.runUntil(() => client.connection.isConnected);
  const createPlain = (path: string) =>
    client.connection.create(path, EMPTY, CreateMode.PERSISTENT);

  it('are made from the lowest missing one down, as containers without data', async () => {
    await run(createPlain('/a'));
    await run(parentsWith().make('/a/b/c'));
    const looks = ['exists /a/b/c', 'exists /a/b', 'exists /a'];
    expect(asked().slice(1)).toEqual([...looks, 'create /a/b', 'create /a/b/c']);
    for (const path of ['/a/b', '/a/b/c']) {
      expect(nodeAt(path)).toMatchObject({ isContainer: true });
      expect((await run(client.connection.getData(path))).data).toHaveLength(0);
    }
  });

  it('are made once for many callers that need them at once, and again for those that come later', async () => {
    const parents = parentsWith();
    await run(Promise.all([1, 2, 3].map(() => parents.make('/a/b'))));
    const created = asked().filter((each) => each.startsWith('create'));
    expect(created).toEqual(['create /a', 'create /a/b']);
    world.server.remove('/a/b');
    await run(parents.make('/a/b'));
    expect(nodeAt('/a/b')).toBeDefined();
  });

  it('may be made by another client in the middle', async () => {
    const making = parentsWith().make('/a/b');
    await world.clock.runUntil(() => asked().includes('exists /a'));
    void createPlain('/a');
    await run(making);
    expect(nodeAt('/a/b')).toBeDefined();
    expect(nodeAt('/a')).toMatchObject({ isContainer: false });
  });

  it('may be collected in the middle: that fails, and the next attempt makes them', async () => {
    const parents = parentsWith();
    const making = parents.make('/a/b');
    await world.clock.runUntil(() => asked().includes('create /a/b'));
    world.server.remove('/a');
    await expect(run(making)).rejects.toMatchObject({ code: 'NONODE' });
    await run(parents.make('/a/b'));
    expect(nodeAt('/a/b')).toBeDefined();
  });

  it('get the access control list; those that were there keep theirs', async () => {
    await run(createPlain('/a'));
    const before = aclOf('/a');
    await run(parentsWith(ACL).make('/a/b/c'));
    expect(['/a', '/a/b', '/a/b/c'].map(aclOf)).toEqual([before, OURS, OURS]);
  });

  it.each([
    ['create', 'lost'],
    ['create', 'unanswered'],
    ['setAcl', 'lost'],
    ['setAcl', 'unanswered'],
  ] as const)('get it although the connection broke at %s (%s)', async (op, fate) => {
    const parents = parentsWith(ACL);
    client.network.once(fate, (request) => request.op === op);
    await expect(run(parents.make('/a'))).rejects.toMatchObject({ code: 'CONNECTIONLOSS' });
    await isBack();
    await run(parents.make('/a'));
    expect(aclOf('/a')).toEqual(OURS);
    expect([...parents.open]).toEqual([]);
  });

  it.each(['served', 'lost'] as const)(
    'that another client has taken over are refused (the first list of ours is %s)',
    async (fate) => {
      const parents = parentsWith(ACL);
      const message = expect.stringContaining('/a');
      const refusal = { code: 'LOCK_CONNECTION', client: 'unit', message };
      client.network.fate = ({ op }) => {
        if (op !== 'setAcl') return 'served';
        nodeAt('/a')!.acl = EVES;
        client.network.fate = () => 'served';
        return fate;
      };
      const first = fate === 'served' ? refusal : { code: 'CONNECTIONLOSS' };
      await expect(run(parents.make('/a/b'))).rejects.toMatchObject(first);
      await isBack();
      for (let left = 2; left > 0; left--)
        await expect(run(parents.make('/a/b'))).rejects.toMatchObject(refusal);
      expect([...parents.open]).toEqual(['/a']);
      await expect(run(parents.settle('/ab'))).resolves.toBeUndefined();
      world.server.remove('/a'); // an operator has found out
      await run(parents.make('/a/b'));
      expect(aclOf('/a/b')).toEqual(OURS);
    },
  );

  describe('that were made in vain', () => {
    it.each<[string, (parents: ContainerParents, made: string[]) => Promise<unknown>]>([
      [
        'were there before',
        async (parents, made) => {
          await createPlain('/a');
          await parents.make('/a', made);
        },
      ],
      [
        'have data now',
        async (parents, made) => {
          await parents.make('/a', made);
          await client.connection.setData('/a', Buffer.from('5'));
        },
      ],
      [
        'were made anew, and may lack the list',
        async (parents, made) => {
          await parents.make('/a', made);
          world.server.remove('/a');
          client.network.once('lost', ({ op }) => op === 'setAcl');
          await parents.make('/a', made).catch(() => {});
        },
      ],
    ])('stay if they %s', async (_, change) => {
      const parents = parentsWith(ACL);
      const made: string[] = [];
      await run(change(parents, made));
      await isBack();
      await run(parents.discard(made, Promise.resolve()));
      expect(nodeAt('/a')).toBeDefined();
    });

    it('stay if another client has made one with data since ours was deleted, of which no answer came', async () => {
      const parents = parentsWith();
      client.network.once('unanswered', ({ op }) => op === 'delete');
      const discarded = parents.discard(['/a'], parents.make('/a'));
      client.network.isRefusing = true;
      await world.clock.runUntil(() => client.connection.state === 'SUSPENDED');
      const other = await world.join();
      await run(other.connection.create('/a', Buffer.from('5'), CreateMode.PERSISTENT));
      client.network.isRefusing = false;
      await run(discarded);
      expect(nodeAt('/a')).toBeDefined();
      await run(other.locks.close());
    });
  });

  it('may be nodes with data, which then get it too', async () => {
    const parents = parentsWith(ACL);
    await run(parents.create('/count', Buffer.from('5')));
    expect(aclOf('/count')).toEqual(OURS);
    const again = run(parents.create('/count', EMPTY));
    await expect(again).rejects.toMatchObject({ code: 'NODEEXISTS' });
    expect([...parents.open]).toEqual([]);
  });

  it('are made although the list could not be set, which is done before they are used again', async () => {
    const parents = parentsWith(ACL);
    client.network.once('lost', ({ op }) => op === 'setAcl');
    await run(parents.create('/count', EMPTY));
    expect([...parents.open]).toEqual(['/count']);
    await isBack();
    await run(parents.settle('/count'));
    expect(aclOf('/count')).toEqual(OURS);
  });
});

describe('A directory that was made for one that gives up', () => {
  type Ask = (client: Visitor, options: { wait: number }) => Promise<unknown>;
  const FIRST: [string, Ask][] = [
    ['a mutex', ({ locks }, options) => locks.mutex('key').acquire(options)],
    ['a read lock', ({ locks }, options) => locks.readWriteLock('key').readLock().acquire(options)],
    ['a mutex, at once', ({ locks }, options) => locks.mutex('key').tryAcquire(options)],
    ['a permit', ({ locks }, options) => locks.semaphore('key', { permits: 1 }).acquire(options)],
    ['a barrier', ({ locks }, options) => locks.doubleBarrier('key', 2).enter(options)],
  ];
  /** More than a grant takes. */
  const LONGEST = 150;
  let world: VirtualWorld;
  const slow = { latency: () => 5 };
  const left = () => {
    for (let run = 0; run < 3; run++) world.server.collectContainers();
    return world.server.tree.size;
  };

  it.each(FIRST)('at whatever moment, is not left behind: %s', async (_, ask) => {
    for (let wait = 1; wait < LONGEST; wait++) {
      world = new VirtualWorld();
      const before = world.server.tree.size;
      const client = await world.join(slow);
      await world.clock.runUntil(ask(client, { wait }).catch(() => {}));
      await world.clock.advance(1_000);
      await world.clock.runUntil(client.locks.close());
      expect([wait, left() - before]).toEqual([wait, 0]);
    }
  });

  it.each(FIRST)('while it is cut off, is not left behind: %s', async (_, ask) => {
    for (let wait = 10; wait < LONGEST; wait += 3) {
      world = new VirtualWorld();
      const [client, others] = [await world.join(slow), await world.join(slow)];
      await world.clock.runUntil(others.locks.mutex('other').acquire()); // so that the directory of all is there
      const given = ask(client, { wait }).catch(() => {});
      await world.clock.advance(wait - 9);
      client.network.isRefusing = true;
      client.network.cut();
      await world.clock.runUntil(given);
      await world.clock.advance(100);
      client.network.isRefusing = false;
      await world.clock.runUntil(() => client.connection.isConnected);
      await world.clock.advance(1_000);
      await world.clock.runUntil(client.locks.close());
      left();
      expect([wait, world.server.tree.get('/locks/key')]).toEqual([wait, undefined]);
      await world.clock.runUntil(others.locks.close());
    }
  });

  it('is not deleted by one whose node has been in it: the servers do that', async () => {
    world = new VirtualWorld({ tickTime: 500 });
    const [ours, theirs] = [
      await world.join({ ...slow, sessionTimeout: 5_000 }),
      await world.join(),
    ];
    const directory = () => world.server.tree.get('/locks/key');
    const waiting = ours.locks.mutex('key').acquire();
    await world.clock.runUntil(() => directory() !== undefined);
    const lease = await world.clock.runUntil(theirs.locks.mutex('key').acquire());
    await world.clock.runUntil(() => directory()!.children.size === 2);
    await world.clock.advance(100);
    world.server.expire(ours.connection.session!.id);
    await world.clock.runUntil(() => directory()!.children.size === 1);
    await world.clock.runUntil(() => directory()!.children.size === 2);
    await world.clock.runUntil(lease.release());
    expect((await world.clock.runUntil(waiting)).isHeld).toBe(true);
    const deleted = ours.log.requests.filter(
      ({ op, path }) => `${op} ${path}` === 'delete /locks/key',
    );
    expect(deleted).toEqual([]);
    await world.clock.runUntil(Promise.all([ours.locks.close(), theirs.locks.close()]));
  });

  it('is no node that it has only asked for', async () => {
    world = new VirtualWorld();
    const [client, operator] = [await world.join(slow), await world.join()];
    const made = operator.connection.create('/locks', Buffer.alloc(0), CreateMode.PERSISTENT);
    await world.clock.runUntil(made);
    client.network.once('unanswered', ({ op, path }) => `${op} ${path}` === 'exists /locks');
    const given = client.locks.mutex('key').acquire({ wait: 60 });
    client.network.isRefusing = true;
    await expect(world.clock.runUntil(given)).rejects.toThrow('60 ms');
    client.network.isRefusing = false;
    await world.clock.runUntil(() => client.connection.isConnected);
    await world.clock.advance(1_000);
    await world.clock.runUntil(Promise.all([client.locks.close(), operator.locks.close()]));
    expect(world.server.tree.get('/locks')).toBeDefined();
  });

  it('is no counter that another client has made while this one was cut off', async () => {
    world = new VirtualWorld();
    const [client, other] = [await world.join({ ...slow, literalPaths: true }), await world.join()];
    client.network.once('lost', ({ op, path }) => `${op} ${path}` === 'create /locks/a');
    const given = client.locks.mutex('/locks/a/b').acquire({ wait: 100 });
    client.network.isRefusing = true;
    await expect(world.clock.runUntil(given)).rejects.toThrow('100 ms');
    const count = other.locks.sharedCount('a', 5);
    await world.clock.runUntil(count.start());
    client.network.isRefusing = false;
    await world.clock.runUntil(() => client.connection.isConnected);
    await world.clock.advance(1_000);
    await world.clock.runUntil(Promise.all([client.locks.close(), other.locks.close()]));
    expect(world.server.tree.get('/locks/a')).toBeDefined();
  });

  it('as the servers refuse its node, is not left behind', async () => {
    world = new VirtualWorld();
    const refusal = ({ op, path }: Request) =>
      op === 'create' && path.includes('lock-') && world.server.tree.get('/locks/key')
        ? ReturnCode.QUOTAEXCEEDED
        : undefined;
    const through = (network: Transport) =>
      Object.assign(new RefusingTransport(network), { refusal });
    const before = world.server.tree.size;
    const { locks } = await world.join({ through });
    const refused = world.clock.runUntil(locks.mutex('key').acquire());
    await expect(refused).rejects.toThrow(/quota/);
    await world.clock.advance(1_000);
    await world.clock.runUntil(locks.close());
    expect(left()).toBe(before);
  });

  it('stays where another client has made it first', async () => {
    world = new VirtualWorld();
    const refusal = ({ op, path }: Request) => {
      const { tree } = world.server;
      const data = Buffer.from('100');
      if (op === 'create' && path === '/locks/key' && !tree.get(path))
        tree.insert(path, { data, mode: CreateMode.PERSISTENT, zxid: 1, sessionId: '1' });
      const isNode = op === 'create' && path.includes('lock-');
      return isNode && world.server.tree.get('/locks/key') ? ReturnCode.NOAUTH : undefined;
    };
    const through = (network: Transport) =>
      Object.assign(new RefusingTransport(network), { refusal });
    const { locks } = await world.join({ through });
    await expect(world.clock.runUntil(locks.mutex('key').acquire())).rejects.toThrow(/NOAUTH/);
    await world.clock.advance(1_000);
    expect(String(world.server.tree.get('/locks/key')?.data)).toBe('100');
    await world.clock.runUntil(locks.close());
  });

  it.each(FIRST.slice(0, 4))(
    'does not fail others that are about to use it: %s',
    async (_, ask) => {
      for (let wait = 1; wait < 60; wait += 3)
        for (let lead = -20; lead <= 20; lead += 10) {
          world = new VirtualWorld();
          const [ours, theirs] = [await world.join(slow), await world.join(slow)];
          await world.clock.advance(1_000);
          const givesUp = async () => void (await ask(ours, { wait }).catch(() => {}));
          const first = lead < 0 ? givesUp() : undefined;
          const granted = ask(theirs, { wait: 60_000 });
          await world.clock.advance(Math.abs(lead));
          await world.clock.runUntil(Promise.all([first ?? givesUp(), ours.locks.close()]));
          expect(await world.clock.runUntil(granted)).toBeDefined();
          await world.clock.runUntil(theirs.locks.close());
        }
    },
  );
});

describe('Directories of a driver that creates nodes with their list', () => {
  const EMPTY = Buffer.alloc(0);
  const ACL: AclEntry[] = [{ perms: 31, scheme: 'auth', id: '' }];
  const OURS = [{ perms: 31, scheme: 'digest', id: expect.stringMatching(/^app:/) }];
  let world: VirtualWorld;
  let client: Visitor;
  let parents: ContainerParents;

  beforeEach(async () => {
    world = new VirtualWorld();
    client = await world.join({ auth: [{ scheme: 'digest', auth: 'app:secret' }] });
    parents = new ContainerParents(client.connection, 'unit', ACL);
  });
  afterEach(() => client.connection.close());

  const run = <T>(work: Promise<T>) => world.clock.runUntil(work);
  const aclOf = (path: string) => world.server.tree.get(path)?.acl;

  it('are open to others at no time', async () => {
    await run(parents.make('/a/b'));
    await run(parents.create('/a/count', Buffer.from('5')));
    expect(['/a', '/a/b', '/a/count'].map(aclOf)).toEqual([OURS, OURS, OURS]);
    const writes = client.log.requests.filter(({ op }) => op === 'create' || op === 'setAcl');
    expect(writes.map(({ op, path }) => `${op} ${path}`)).toEqual([
      'create /a',
      'create /a/b',
      'create /a/count',
    ]);
  });

  it('need nothing to be done when an answer was lost', async () => {
    client.network.once('unanswered', ({ op }) => op === 'create');
    const creating = expect(run(parents.create('/count', EMPTY))).rejects;
    await creating.toMatchObject({ code: 'CONNECTIONLOSS', maybeDone: true });
    expect(aclOf('/count')).toEqual(OURS);
    expect(parents.open.size).toBe(0);
  });

  it('are not created with a list that is none', async () => {
    const wrong = [{ perms: 31, scheme: 'digest', id: 'app' }];
    const refused = new ContainerParents(client.connection, 'unit', wrong);
    await expect(run(refused.make('/a'))).rejects.toMatchObject({ code: 'INVALIDACL' });
    expect(world.server.tree.get('/a')).toBeUndefined();
  });
});

describe('A directory with a counter that comes to its end', () => {
  const two = useTwoClients({ isDirect: true });

  it('serves the last number in order, then refuses, and keeps the holder alone', async () => {
    const mutex = two.mine.mutex('busy');
    await (await mutex.acquire()).release();
    two.server.tree.get('/locks/busy')!.nextSequence = 2 ** 31 - 2;

    const holder = await mutex.acquire();
    for (let i = 0; i < 10; i++) {
      const refusal = mutex.acquire();
      await expect(refusal).rejects.toThrow(LockConnectionError);
      await expect(refusal).rejects.toThrow(
        '/locks/busy has used all of its 2^31 sequence numbers',
      );
      await expect(mutex.tryAcquire()).rejects.toThrow(LockConnectionError);
    }

    expect(holder.isHeld).toBe(true);
    expect(await mutex.participants()).toHaveLength(1);
    await holder.release();
    await expect(mutex.acquire()).rejects.toThrow(LockConnectionError);
    expect(await mutex.participants()).toEqual([]);
  });
});

describe('A shared count on servers that were restored from a backup, so that their transactions start anew,', () => {
  const sessionTimeout = 5_000;

  it('follows its node again in the next session, and can be changed', async () => {
    const world = new VirtualWorld();
    const run = <T>(work: Promise<T>) => world.clock.runUntil(work);
    const restored = new EmbeddedServer({ clock: world.clock });
    let isRestored = false;
    const through = (network: Transport): Transport => {
      const now = new EmbeddedTransport(restored, (flush) => world.clock.setTimer(flush, 0));
      const open: Transport['open'] = (...args) => (isRestored ? now : network).open(...args);
      return { open, close: async () => void (await Promise.all([now.close(), network.close()])) };
    };
    const ours = await world.join({ sessionTimeout, through });
    const count = ours.locks.sharedCount('count', 0);
    await run(count.start());
    for (let n = 1; n <= 20; n++) await run(count.setCount(n));

    isRestored = true;
    const theirs = await world.join({ sessionTimeout, through });
    await run(theirs.locks.sharedCount('count', 10).start());
    ours.network.cut();
    await world.clock.runUntil(() => count.count !== 20);
    expect(count.count).toBe(10);
    expect(await run(count.trySetCount(11))).toBe(true);
    await run(theirs.locks.sharedCount('count', 0).setCount(12));
    await world.clock.advance(0);
    expect(count.count).toBe(12);
    await run(Promise.all([ours.locks.close(), theirs.locks.close()]));
  });
});

/** Servers that are busy, or that an operator is about to change. */
describe('Requests that the servers refuse', () => {
  const { NOAUTH, QUOTAEXCEEDED, THROTTLEDOP } = ReturnCode;
  const tickTime = 500;
  const warn = jest.spyOn(process, 'emitWarning').mockImplementation(() => {});
  let world: VirtualWorld;
  let transport: RefusingTransport;
  let client: Visitor;

  beforeEach(async () => {
    warn.mockClear();
    world = new VirtualWorld({ tickTime });
    client = await world.join({
      sessionTimeout: 5_000,
      tickTime,
      through: (network) => (transport = new RefusingTransport(network)),
    });
  });
  afterEach(() => run(client.locks.close()));

  /** Each such request is refused so often. */
  function refuse(rc: number, times: number, matches: (request: Request) => boolean): void {
    const refused = new Map<string, number>();
    transport.refusal = (request) => {
      const { op, path } = request;
      const before = refused.get(`${op} ${path}`) ?? 0;
      if (!matches(request) || before >= times) return undefined;
      refused.set(`${op} ${path}`, before + 1);
      return rc;
    };
  }

  const run = <T>(work: Promise<T>) => world.clock.runUntil(work);
  const acquire = (key: string) => run(client.locks.mutex(key).acquire());
  const nodesOf = (key: string) => world.server.tree.get(`/locks/${key}`)?.children.size ?? 0;
  const isDelete = ({ op }: Request) => op === 'delete';

  it.each([
    ['a busy server', THROTTLEDOP],
    ['a list that is being changed', NOAUTH],
    ['a quota', QUOTAEXCEEDED],
  ])('are no end of a removal: %s', async (_, rc) => {
    const keys = Array.from({ length: 30 }, (_, i) => `key-${i}`);
    const leases = [];
    for (const key of keys) leases.push(await acquire(key));
    refuse(rc, 5, isDelete);
    await run(Promise.all(leases.map((lease) => lease.release())));
    expect(keys.filter((key) => nodesOf(key) > 0)).toEqual(keys);
    await world.clock.advance(4_000);
    expect(keys.filter((key) => nodesOf(key) > 0)).toEqual([]);
  });

  it.each([
    ['a list', NOAUTH, /NOAUTH\. Check the options `auth`, `acl` and `basePath`/],
    ['a quota', QUOTAEXCEEDED, /QUOTAEXCEEDED\. Raise the quota of that part of the tree/],
    [
      'sessions of one server only',
      ReturnCode.EPHEMERALONLOCALSESSION,
      /EPHEMERALONLOCALSESSION\. Set `localSessionsUpgradingEnabled=true` on the servers/,
    ],
  ])('end an acquire with what to do about it: %s', async (_, rc, advice) => {
    refuse(rc, 1, ({ op }) => op === 'create');
    await expect(acquire('door')).rejects.toThrow(advice);
  });

  it.each([
    ['a root that may not be read', NOAUTH],
    ['a busy server', THROTTLEDOP],
  ])('are an answer to a ping: %s', async (_, rc) => {
    refuse(rc, 1, ({ op, path }) => op === 'exists' && path === '/');
    expect(await run(client.locks.ping())).toBeGreaterThanOrEqual(0);
  });

  it('keep no report of others from a process that asks for them: one whose node it may not read', async () => {
    const others = [await world.join(), await world.join()];
    const all = [client, ...others].map(({ locks }, i) => {
      const reports = locks[LOCK_INSPECTION].exchange({ reportSize: 1_000, processes: 10 });
      reports!.answer(() => `report ${i}`);
      return reports;
    });
    await world.clock.advance(0);
    const ask = () => run(all[0]!.ask(1_000));
    await ask();
    let hidden: string | undefined;
    transport.refusal = ({ op, path }) => {
      if (op !== 'exists' || !path.includes('/processes/')) return undefined;
      hidden ??= path;
      return path === hidden ? NOAUTH : undefined;
    };
    expect((await ask()).reports).toEqual([expect.stringMatching(/^report [12]$/)]);
    expect(hidden).toBeDefined();
    await run(Promise.all(all.map((each) => each!.close())));
    await run(Promise.all(others.map(({ locks }) => locks.close())));
  });

  it('are reported once a node when an operator has to act, and not when the server is busy', async () => {
    const [first, second] = [await acquire('first'), await acquire('second')];
    refuse(NOAUTH, 5, ({ op, path }) => op === 'delete' && path.includes('/first/'));
    await run(first.release());
    refuse(THROTTLEDOP, 5, isDelete);
    await run(second.release());
    await world.clock.advance(10_000);
    const report = expect.stringMatching(/not allowed to remove .*\/first\/.*NOAUTH/);
    expect(warn.mock.calls).toEqual([[report]]);
  });

  it('do not hold up the closing of the client, which ends the session', async () => {
    const lease = await acquire('key');
    refuse(NOAUTH, Infinity, isDelete);
    await run(lease.release());
    const closed = world.clock.now();
    await run(client.locks.close());
    expect(world.clock.now() - closed).toBeLessThan(100);
    await world.clock.advance(0);
    expect(nodesOf('key')).toBe(0);
  });

  describe('take no watch away that another request for the same watcher has set', () => {
    const EMPTY = Buffer.alloc(0);
    const heard: string[] = [];
    const watcher = ({ type }: WatchEvent) => void heard.push(type);
    let theirs: Visitor;

    beforeEach(async () => {
      heard.length = 0;
      theirs = await world.join();
      await run(theirs.connection.create('/a', EMPTY, CreateMode.PERSISTENT));
    });
    afterEach(() => run(theirs.locks.close()));

    /** Reads the node with the watcher; the first time it is refused. */
    const readTwice = async (inTurn: boolean) => {
      const { connection } = client;
      const first = connection.getData('/a', watcher);
      const refused = expect(first).rejects.toMatchObject({ code: 'NOAUTH' });
      if (inTurn) await run(refused);
      await run(Promise.all([refused, connection.getData('/a', watcher)]));
    };

    it.each([
      ['after it', () => readTwice(true)],
      ['in the same turn', () => readTwice(false)],
      [
        'before it',
        async () => {
          await run(client.connection.exists('/a', watcher));
          await expect(run(client.connection.getData('/a', watcher))).rejects.toThrow(/NOAUTH/);
        },
      ],
    ])('%s', async (_, read) => {
      refuse(NOAUTH, 1, ({ op }) => op === 'getData');
      await read();
      await run(theirs.connection.setData('/a', EMPTY));
      await world.clock.advance(0);
      expect(heard).toEqual(['changed']);
    });

    it('when it heard of a change and read again meanwhile', async () => {
      const { connection, network } = client;
      const again = (event: WatchEvent) => {
        watcher(event);
        if (heard.length === 1) void connection.exists('/a', again);
      };
      await run(connection.exists('/a', again));
      network.latency = () => 10;
      await run(theirs.connection.delete('/a'));
      await expect(run(connection.getData('/a', again))).rejects.toThrow(/NONODE/);
      await world.clock.advance(100);
      await run(theirs.connection.create('/a', EMPTY, CreateMode.PERSISTENT));
      await world.clock.advance(100);
      expect(heard).toEqual(['deleted', 'created']);
    });
  });

  it('leave a shared count that was removed, and may not be made again, in touch with its node', async () => {
    const theirs = await world.join();
    const count = client.locks.sharedCount('count', 1);
    await run(count.start());
    world.server.remove('/locks/count');
    await world.clock.advance(0);
    refuse(NOAUTH, Infinity, ({ op }) => op === 'create');
    await expect(run(count.trySetCount(7))).rejects.toThrow(/NOAUTH/);
    for (const n of [3, 4]) {
      await run(theirs.locks.sharedCount('count', 3).setCount(n));
      await world.clock.advance(0);
      expect(count.count).toBe(n);
    }
    await run(theirs.locks.close());
  });

  describe.each(['exists', 'getData'] as const)('keep a shared count from %s', (op) => {
    let theirs: Visitor;
    let count: SharedCount;
    const LOOKS = 5_000;

    beforeEach(async () => {
      theirs = await world.join();
      count = client.locks.sharedCount('count', 1);
      await run(count.start());
      refuse(NOAUTH, Infinity, (request) => request.op === op);
      await set(2);
      expect(count.count).toBe(1);
    });
    afterEach(() => run(theirs.locks.close()));

    const set = async (to: number) => {
      await run(theirs.locks.sharedCount('count', 1).setCount(to));
      await world.clock.advance(0);
    };
    const allow = () => (transport.refusal = () => undefined);
    const asked = () => client.log.requests.filter((request) => request.op === op).length;
    const warnings = () => warn.mock.calls.map(String);

    it('only for as long as they do', async () => {
      allow();
      await world.clock.advance(LOOKS);
      expect(count.count).toBe(2);
      await set(3);
      expect(count.count).toBe(3);
    });

    it('only until the next connection', async () => {
      const { connection } = client;
      const begun = world.clock.now();
      allow();
      world.server.cut(connection.session!.id);
      await world.clock.runUntil(() => !connection.isConnected);
      await world.clock.runUntil(() => count.count === 2);
      expect(world.clock.now() - begun).toBeLessThan(LOOKS);
    });

    it('which looks again now and then, and warns once each time', async () => {
      const before = asked();
      await world.clock.advance(20 * LOOKS);
      expect(asked() - before).toBe(20);
      expect(warnings()).toEqual([expect.stringContaining('NOAUTH')]);
      allow();
      await world.clock.advance(LOOKS);
      refuse(NOAUTH, Infinity, (request) => request.op === op);
      await set(3);
      await world.clock.advance(2 * LOOKS);
      expect(warnings()).toHaveLength(2);
    });

    it('without a warning where it is closed meanwhile', async () => {
      allow();
      await world.clock.advance(LOOKS);
      refuse(NOAUTH, Infinity, (request) => request.op === op);
      warn.mockClear();
      const before = asked();
      const changed = theirs.locks.sharedCount('count', 1).setCount(3);
      await world.clock.runUntil(() => asked() > before);
      count.close();
      await run(changed);
      await world.clock.advance(LOOKS);
      expect(warnings()).toEqual([]);
    });

    it.each(['count', 'client'])('no longer when the %s is closed', async (what) => {
      if (what === 'count') count.close();
      else await run(client.locks.close());
      const before = asked();
      await world.clock.advance(20 * LOOKS);
      expect(asked()).toBe(before);
    });
  });

  describe('because they are busy', () => {
    it.each(['create', 'getChildren', 'exists', 'getData', 'sync'] as const)(
      'are tried again: %s',
      async (op) => {
        refuse(THROTTLEDOP, 3, (request) => request.op === op);
        const lease = await acquire('key');
        const next = client.locks.mutex('key').acquire();
        await world.clock.advance(1_000);
        await run(lease.release());
        expect((await run(next)).isHeld).toBe(true);
      },
    );

    it('are no loss of the own node', async () => {
      const lease = await acquire('key');
      refuse(THROTTLEDOP, 3, ({ op }) => op === 'getData');
      await world.clock.advance(1_000); // by now it is watched
      expect(client.log.requests.filter(({ op }) => op === 'getData')).toHaveLength(4);
      expect(lease.isHeld).toBe(true);
    });

    it('do not keep a client from its connection', async () => {
      const { connection } = client;
      refuse(THROTTLEDOP, 2, ({ op }) => op === 'sync');
      world.server.cut(connection.session!.id);
      await world.clock.runUntil(() => !connection.isConnected);
      await world.clock.runUntil(() => connection.isConnected);
      expect(connection.state).toBe('RECONNECTED');
    });

    it('do not lose a shared count', async () => {
      const count = client.locks.sharedCount('count', 1);
      refuse(THROTTLEDOP, 2, () => true);
      await run(count.start());
      await run(count.setCount(2));
      expect(count.count).toBe(2);
      refuse(THROTTLEDOP, 2, ({ op }) => op === 'setData');
      expect(await run(count.trySetCount(3))).toBe(true);
      expect(count.count).toBe(3);
    });

    describe.each<[string, (counter: DistributedAtomicLong) => Promise<AtomicValue<bigint>>]>([
      ['compareAndSet', (counter) => counter.compareAndSet(1n, 2n)],
      ['increment', (counter) => counter.increment()],
      ['trySet', (counter) => counter.trySet(2n)],
    ])('are no change of an atomic number by another client: %s', (_, change) => {
      let counter: DistributedAtomicLong;
      const isSet = ({ op, path }: Request) => op === 'setData' && path === '/locks/n';
      const sets = () => client.log.requests.filter(isSet).length;

      beforeEach(async () => {
        counter = client.locks.atomicLong('n', { promotedToLock: false });
        await run(counter.initialize(1n));
      });

      it('it is sent again until they carry it out', async () => {
        refuse(THROTTLEDOP, 30, isSet);
        const begun = world.clock.now();
        expect(await run(change(counter))).toMatchObject({
          succeeded: true,
          postValue: 2n,
          stats: { optimisticTries: 1 },
        });
        expect(sets()).toBe(31);
        expect(world.clock.now() - begun).toBeGreaterThanOrEqual(3_000);
      });

      it('it rejects when they stay so for the connectTimeout', async () => {
        refuse(THROTTLEDOP, Infinity, isSet);
        const begun = world.clock.now();
        await expect(run(change(counter))).rejects.toMatchObject({ code: 'THROTTLEDOP' });
        expect(world.clock.now() - begun).toBeGreaterThanOrEqual(5_000);
        expect(world.clock.now() - begun).toBeLessThan(5_500);
        expect(sets()).toBeLessThan(60);
        expect(await run(counter.get())).toBe(1n);
      });

      it('it ends at once when the client closes', async () => {
        refuse(THROTTLEDOP, Infinity, isSet);
        const changing = change(counter);
        await world.clock.advance(50); // it pauses
        const closed = client.locks.close();
        const begun = world.clock.now();
        await expect(run(changing)).rejects.toThrow(LockClientClosedError);
        expect(world.clock.now()).toBe(begun);
        await run(closed);
      });

      it('it is not sent again once it may have been carried out', async () => {
        refuse(THROTTLEDOP, 1, isSet);
        client.network.once('unanswered', isSet);
        await expect(run(change(counter))).rejects.toMatchObject({ maybeDone: true });
        expect(sets()).toBe(2);
        expect(await run(counter.get())).toBe(2n);
      });

      it('it is tried again where it was certainly not carried out, also in the session after', async () => {
        refuse(THROTTLEDOP, 1, isSet);
        const { id } = client.connection.session!;
        const changing = change(counter);
        await world.clock.advance(50); // it pauses
        world.server.expire(id);
        await world.clock.runUntil(() => (client.connection.session?.id ?? id) !== id);
        client.network.once('lost', isSet);
        expect(await run(changing)).toMatchObject({ succeeded: true, postValue: 2n });
      });
    });

    it('are no change of the mark of a job by another client', async () => {
      const mark = client.locks.occurrenceMark('job');
      refuse(THROTTLEDOP, 60, ({ op }) => op === 'create' || op === 'setData');
      const begun = world.clock.now();
      expect(await run(mark.raise(Date.now(), { wait: 60_000 }))).toBe(true);
      expect(world.clock.now() - begun).toBeGreaterThan(5_000);
    });

    it('end when the client closes, and at once', async () => {
      const count = client.locks.sharedCount('count', 1);
      await run(count.start());
      refuse(THROTTLEDOP, Infinity, ({ op }) => op === 'setData');
      const change = count.trySetCount(2);
      await world.clock.advance(50); // it pauses
      const closed = client.locks.close();
      const begun = world.clock.now();
      await expect(run(change)).rejects.toThrow(LockClientClosedError);
      expect(world.clock.now()).toBe(begun);
      await run(closed);
    });

    it('end when they stay so for the connectTimeout', async () => {
      const count = client.locks.sharedCount('count', 1);
      await run(count.start());
      const begun = world.clock.now();
      refuse(THROTTLEDOP, Infinity, ({ op }) => op === 'setData');
      await expect(run(count.trySetCount(2))).rejects.toThrow(/THROTTLEDOP/);
      expect(world.clock.now() - begun).toBeGreaterThan(2_000);
      expect(count.count).toBe(1);
    });
  });
});
