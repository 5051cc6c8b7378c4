import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ConnectionState,
  CreateMode,
  Permission,
  type WatchEvent,
  type ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/time.js';
import { useShared } from '../support/fixtures.js';
import {
  connected,
  type ConnectionEnvironment,
  type NetworkFaults,
} from './backends/connection.js';
import { connectionStatesSuite } from './connection-states.suite.js';
import { multiSuite, noMultiSuite } from './multi.suite.js';

/**
 * Everything that the port `ZooKeeperConnection` promises: whatever passes it can carry the recipes.
 *
 * @param sessionsExpire false: the server keeps sessions for ever, so nothing depends on time
 * @param hasMulti false: the driver has no such call
 */
export function zookeeperConnectionSuite(
  name: string,
  makeEnvironment: () => Promise<ConnectionEnvironment>,
  sessionsExpire = true,
  hasMulti = true,
): void {
  describe(`ZooKeeperConnection to ${name}`, () => {
    const environment = useShared(makeEnvironment);
    describe('requests', () => connectionRequestsSuite(environment, hasMulti));
    describe('watches', () => connectionWatchesSuite(environment));
    describe('states', () => connectionStatesSuite(environment, sessionsExpire));
  });
}

const { PERSISTENT, PERSISTENT_SEQUENTIAL, EPHEMERAL, EPHEMERAL_SEQUENTIAL, CONTAINER } =
  CreateMode;
const EMPTY = Buffer.alloc(0);

/** What the requests of a `ZooKeeperConnection` promise. */
function connectionRequestsSuite(
  environment: () => ConnectionEnvironment,
  hasMulti: boolean,
): void {
  let connection: ZooKeeperConnection;
  let other: ZooKeeperConnection;
  let root: string;

  beforeEach(async () => {
    connection = await environment().connection();
    other = await environment().connection();
    await Promise.all([connected(connection), connected(other)]);
    root = `/${randomUUID()}`;
    await connection.create(root, EMPTY, PERSISTENT);
  });
  afterEach(() => {
    void connection.close();
    void other.close();
  });

  describe('multi', () => {
    const place = () => ({ connection, other, root });
    if (hasMulti) multiSuite(place);
    else noMultiSuite(place);
  });

  describe('nodes', () => {
    it('hold what was written to them, and count the changes', async () => {
      const path = `${root}/a`;
      expect(await connection.create(path, Buffer.from('one'), PERSISTENT)).toMatchObject({ path });
      const first = await connection.getData(path);
      expect(first.data).toEqual(Buffer.from('one'));
      const stat = await connection.setData(path, Buffer.from('two'), 0);
      expect(stat).toMatchObject({ czxid: first.stat.czxid, version: 1, numChildren: 0 });
      expect(stat.mzxid).toBeGreaterThan(stat.czxid);
      await connection.setData(path, EMPTY);
      const last = await connection.getData(path);
      expect(last.data).toEqual(EMPTY);
      expect(last.stat.version).toBe(2);
    });

    it('are deleted, in any version or in the one that is asked for', async () => {
      await connection.create(`${root}/a`, EMPTY, PERSISTENT);
      await connection.create(`${root}/b`, EMPTY, PERSISTENT);
      await connection.setData(`${root}/a`, EMPTY);
      await connection.delete(`${root}/a`);
      await connection.delete(`${root}/b`, 0);
      expect(await connection.getChildren(root)).toEqual([]);
      expect(await connection.exists(`${root}/a`)).toBeUndefined();
    });

    it('show the order in which they were made, whichever client made them', async () => {
      const czxids: number[] = [];
      for (const [n, maker] of [connection, other, connection, other].entries()) {
        const path = `${root}/${n}`;
        await maker.create(path, EMPTY, PERSISTENT);
        czxids.push((await maker.exists(path))!.czxid);
      }
      expect(czxids).toEqual([...czxids].sort((a, b) => a - b));
      expect(new Set(czxids).size).toBe(4);
    });

    it.each(Object.entries(CreateMode))(
      'come with the transaction that made them, unless by the native driver: %s',
      async (_, mode) => {
        const { path, czxid } = await connection.create(`${root}/a`, EMPTY, mode);
        const stat = await other.sync(path).then(() => other.exists(path));
        expect(czxid).toBe(connection.createsWithAcl ? stat!.czxid : undefined);
      },
    );

    it('are listed by name, also when there are many', async () => {
      const names = Array.from({ length: 1_000 }, (_, n) => `${'x'.repeat(100)}-${n}`);
      await Promise.all(
        names.map((name) => connection.create(`${root}/${name}`, EMPTY, EPHEMERAL)),
      );
      expect((await connection.getChildren(root)).sort()).toEqual(names.sort());
      expect(await connection.exists(root)).toMatchObject({ numChildren: 1_000 });
    });
  });

  it('rejects a request that cannot be carried out, and reports that it was not carried out', async () => {
    const [own, none] = [`${root}/own`, `${root}/none`];
    await connection.create(own, EMPTY, EPHEMERAL);
    const refusals: [Promise<unknown>, string][] = [
      [connection.create(own, EMPTY, PERSISTENT), 'NODEEXISTS'],
      [connection.create(`${none}/a`, EMPTY, PERSISTENT), 'NONODE'],
      [connection.create(`${own}/a`, EMPTY, PERSISTENT), 'NOCHILDRENFOREPHEMERALS'],
      [connection.delete(root), 'NOTEMPTY'],
      [connection.delete(own, 7), 'BADVERSION'],
      [connection.delete(none), 'NONODE'],
      [connection.getData(none), 'NONODE'],
      [connection.setData(none, EMPTY), 'NONODE'],
      [connection.setData(own, EMPTY, 7), 'BADVERSION'],
      [connection.getChildren(none), 'NONODE'],
      [connection.create(`${root}/a/`, EMPTY, PERSISTENT), 'BADARGUMENTS'],
      [connection.delete('relative'), 'BADARGUMENTS'],
    ];
    await Promise.all(
      refusals.map(async ([request, code]) => {
        await expect(request).rejects.toMatchObject({ code, maybeDone: false });
      }),
    );
  });

  describe('sequence numbers', () => {
    it('count all children ever made below one parent', async () => {
      const create = async (name: string, mode: CreateMode) =>
        (await connection.create(`${root}/${name}`, EMPTY, mode)).path;
      expect(await create('a-', EPHEMERAL_SEQUENTIAL)).toBe(`${root}/a-0000000000`);
      await create('plain', PERSISTENT);
      await connection.delete(`${root}/a-0000000000`);
      expect(await create('b-', PERSISTENT_SEQUENTIAL)).toBe(`${root}/b-0000000002`);
      await expect(create('plain', EPHEMERAL)).rejects.toMatchObject({ code: 'NODEEXISTS' });
      expect(await create('', EPHEMERAL_SEQUENTIAL)).toBe(`${root}/0000000003`);
    });

    it('start again when the parent is made anew', async () => {
      const parent = `${root}/p`;
      for (let round = 0; round < 2; round++) {
        await connection.create(parent, EMPTY, PERSISTENT);
        const { path } = await connection.create(`${parent}/`, EMPTY, EPHEMERAL_SEQUENTIAL);
        expect(path).toBe(`${parent}/0000000000`);
        await connection.delete(path);
        await connection.delete(parent);
      }
    });
  });

  it('has containers collected after their last child, but not before their first', async () => {
    const [used, fresh, busy] = [`${root}/used`, `${root}/fresh`, `${root}/busy`];
    for (const path of [fresh, busy, used]) await connection.create(path, EMPTY, CONTAINER);
    await connection.create(`${busy}/a`, EMPTY, PERSISTENT);
    const { path } = await connection.create(`${used}/`, EMPTY, EPHEMERAL_SEQUENTIAL);
    expect(await connection.exists(used)).toMatchObject({ ephemeralOwner: '0' });
    await connection.delete(path); // from here on a server may collect it
    environment().collectContainers();
    await eventually('it is gone', async () => !(await connection.exists(used)));
    expect((await connection.getChildren(root)).sort()).toEqual(['busy', 'fresh']);
  });

  it('takes ephemeral nodes along with the session', async () => {
    await other.create(`${root}/own`, EMPTY, EPHEMERAL);
    await other.create(`${root}/own-`, EMPTY, EPHEMERAL_SEQUENTIAL);
    await other.create(`${root}/stays`, EMPTY, PERSISTENT);
    await connection.sync(root);
    const owner = other.session!.id;
    expect(await connection.exists(`${root}/own`)).toMatchObject({ ephemeralOwner: owner });
    void other.close();
    await eventually('they are gone', async () => {
      return (await connection.getChildren(root)).join() === 'stays';
    });
  });

  it('refuses a client that the access control list does not name', async () => {
    const auth = [{ scheme: 'digest', auth: 'ann:secret' }];
    const { connection: ann, network } = await environment().faultyConnection({ auth });
    const states = await connected(ann);
    await ann.sync(root);
    await ann.create(`${root}/ann`, EMPTY, PERSISTENT);
    const acl = [{ perms: Permission.ALL, scheme: 'auth', id: '' }];
    await ann.setAcl(`${root}/ann`, acl);
    await connection.sync(root);
    const path = `${root}/ann/a`;
    await expect(connection.create(path, EMPTY, PERSISTENT)).rejects.toMatchObject({
      code: 'NOAUTH',
      maybeDone: false,
    });
    await expect(connection.getChildren(`${root}/ann`)).rejects.toMatchObject({ code: 'NOAUTH' });
    await expect(connection.setAcl(root, acl)).rejects.toMatchObject({ code: 'INVALIDACL' });

    network.cut(); // credentials are presented on every connection
    await eventually('back', () => states.includes('RECONNECTED'));
    expect(await ann.create(path, EMPTY, PERSISTENT)).toMatchObject({ path });
    network.cut();
    void ann.close();
  });

  describe('order', () => {
    it('answers in the order of the requests', async () => {
      const answered: number[] = [];
      const requests = Array.from({ length: 300 }, (_, n) => {
        const path = `${root}/${n % 7}`;
        const request: Promise<unknown> = [
          () => connection.create(path, EMPTY, EPHEMERAL),
          () => connection.exists(path),
          () => connection.getChildren(root),
          () => connection.delete(path),
          () => connection.getData(path),
          () => connection.sync(root),
        ][n % 6]!();
        return request.catch(() => {}).then(() => answered.push(n));
      });
      await Promise.all(requests);
      expect(answered).toEqual(requests.map((_, n) => n));
    });

    it('carries the requests of one tick out one after the other', async () => {
      const path = `${root}/a`;
      const [made, stat, changed, , gone] = await Promise.all([
        connection.create(path, EMPTY, PERSISTENT),
        connection.exists(path),
        connection.setData(path, Buffer.from('x'), 0),
        connection.delete(path, 1),
        connection.exists(path),
      ]);
      expect([made.path, stat!.version, changed.version, gone]).toEqual([path, 0, 1, undefined]);
    });

    it('lists a node that was made in the same tick, whatever others do', async () => {
      const client = async (one: ZooKeeperConnection) => {
        for (let round = 0; round < 200; round++) {
          const [{ path }, names] = await Promise.all([
            one.create(`${root}/lock-`, EMPTY, EPHEMERAL_SEQUENTIAL),
            one.getChildren(root),
          ]);
          expect(names).toContain(path.slice(root.length + 1));
          await one.delete(path);
        }
      };
      await Promise.all([client(connection), client(connection), client(other), client(other)]);
    });

    it('sees, after a sync, every change that was confirmed to other clients', async () => {
      for (let round = 0; round < 50; round++) {
        const { path } = await other.create(`${root}/`, EMPTY, EPHEMERAL_SEQUENTIAL);
        const [, stat] = await Promise.all([connection.sync(path), connection.exists(path)]);
        expect(stat).toBeDefined();
      }
    });
  });
}

/** What the watches of a `ZooKeeperConnection` promise. */
function connectionWatchesSuite(environment: () => ConnectionEnvironment): void {
  let connection: ZooKeeperConnection;
  let other: ZooKeeperConnection;
  let root: string;
  let heard: string[];

  const watcher = ({ type, path }: WatchEvent) =>
    void heard.push(`${type} ${path.slice(root.length)}`);
  /** Every event that the server had to send before has arrived when this resolves. */
  const allHeard = () => connection.sync(root);

  beforeEach(async () => {
    connection = await environment().connection();
    other = await environment().connection();
    await Promise.all([connected(connection), connected(other)]);
    root = `/${randomUUID()}`;
    heard = [];
    await other.create(root, EMPTY, PERSISTENT);
    await other.create(`${root}/a`, EMPTY, PERSISTENT);
    await connection.sync(root);
  });
  afterEach(() => {
    void connection.close();
    void other.close();
  });

  it('are called once', async () => {
    await connection.getData(`${root}/a`, watcher);
    await other.setData(`${root}/a`, EMPTY);
    await other.setData(`${root}/a`, EMPTY);
    await allHeard();
    expect(heard).toEqual(['changed /a']);
    await other.delete(`${root}/a`);
    await allHeard();
    expect(heard).toEqual(['changed /a']);
  });

  it('of exists() report creation, change and deletion', async () => {
    expect(await connection.exists(`${root}/b`, watcher)).toBeUndefined();
    await other.create(`${root}/b`, EMPTY, PERSISTENT);
    await allHeard();
    expect(await connection.exists(`${root}/b`, watcher)).toBeDefined();
    await other.setData(`${root}/b`, EMPTY);
    await allHeard();
    await connection.exists(`${root}/b`, watcher);
    await other.delete(`${root}/b`);
    await allHeard();
    expect(heard).toEqual(['created /b', 'changed /b', 'deleted /b']);
  });

  it('are not set by getData and getChildren where there is no node', async () => {
    const path = `${root}/b`;
    await expect(connection.getData(path, watcher)).rejects.toMatchObject({ code: 'NONODE' });
    await expect(connection.getChildren(path, watcher)).rejects.toMatchObject({ code: 'NONODE' });
    await other.create(path, EMPTY, PERSISTENT);
    await other.create(`${path}/c`, EMPTY, EPHEMERAL);
    await allHeard();
    expect(heard).toEqual([]);
  });

  it('on children report that one came or went, not that its data changed', async () => {
    await connection.getChildren(root, watcher);
    await other.setData(`${root}/a`, EMPTY);
    await allHeard();
    expect(heard).toEqual([]);
    await other.create(`${root}/b`, EMPTY, PERSISTENT);
    await allHeard();
    await connection.getChildren(root, watcher);
    await other.delete(`${root}/b`);
    await allHeard();
    expect(heard).toEqual(['child ', 'child ']);
  });

  it('on data are silent while children come and go', async () => {
    await connection.getData(root, watcher);
    await other.create(`${root}/b`, EMPTY, PERSISTENT);
    await other.delete(`${root}/b`);
    await allHeard();
    expect(heard).toEqual([]);
  });

  it('are all called, each once, however often the path is watched', async () => {
    const path = `${root}/a`;
    const [first, second] = [
      (event: WatchEvent) => watcher({ ...event, path: `${event.path}:1` }),
      (event: WatchEvent) => watcher({ ...event, path: `${event.path}:2` }),
    ];
    await Promise.all([
      connection.exists(path, first),
      connection.getData(path, first),
      connection.getData(path, second),
      connection.getChildren(path, watcher),
    ]);
    await other.delete(path);
    await allHeard();
    expect(heard.sort()).toEqual(['deleted /a', 'deleted /a:1', 'deleted /a:2']);
  });

  it('can be set anew from within a call', async () => {
    const again = (event: WatchEvent) => {
      watcher(event);
      if (event.type === 'changed') void connection.getData(`${root}/a`, again);
    };
    await connection.getData(`${root}/a`, again);
    for (let change = 1; change <= 3; change++) {
      await other.setData(`${root}/a`, EMPTY);
      await eventually('the watch fires', () => heard.length === change);
      await allHeard(); // and the new one is set: its request went out before this one
    }
    expect(heard).toEqual(['changed /a', 'changed /a', 'changed /a']);
  });

  it('are not called once they are taken off', async () => {
    const kept = (event: WatchEvent) => watcher({ ...event, path: `${event.path}:kept` });
    await connection.exists(`${root}/a`, watcher);
    await connection.exists(`${root}/a`, kept);
    await connection.getChildren(`${root}/a`, watcher);
    connection.unwatch(`${root}/a`, watcher);
    connection.unwatch(`${root}/a`, watcher);
    await other.delete(`${root}/a`);
    await allHeard();
    expect(heard).toEqual(['deleted /a:kept']);
  });

  describe('in order', () => {
    it('are called for a change of their own client before the change is answered', async () => {
      const path = `${root}/a`;
      const [, , deleted] = [
        connection.exists(path, watcher),
        connection.getChildren(root, watcher),
        connection.delete(path).then(() => heard.push('answer')),
      ];
      await deleted;
      expect(heard).toEqual(['deleted /a', 'child ', 'answer']);
    });

    it('are called for a change before any answer that shows it', async () => {
      for (let round = 0; round < 20; round++) {
        const path = `${root}/${round}`;
        let isTold = false;
        await other.create(path, EMPTY, EPHEMERAL);
        await connection.sync(path);
        await connection.exists(path, () => (isTold = true));
        const deleted = other.delete(path);
        while (await connection.exists(path)) expect(isTold).toBe(false);
        expect(isTold).toBe(true);
        await deleted;
      }
    });

    it('are called in the order in which the changes were made', async () => {
      const names = ['c', 'a', 'd', 'b'];
      for (const name of names) await connection.exists(`${root}/w-${name}`, watcher);
      const [one, two] = [other, connection];
      for (const [n, name] of [...names].sort().entries())
        await [one, two][n % 2]!.create(`${root}/w-${name}`, EMPTY, EPHEMERAL);
      await allHeard();
      expect(heard).toEqual(['created /w-a', 'created /w-b', 'created /w-c', 'created /w-d']);
    });
  });

  describe('when the connection is lost', () => {
    let network: NetworkFaults;
    let states: ConnectionState[];

    const loseConnection = async () => {
      network.cut();
      await eventually('back', () => states.includes('RECONNECTED'));
    };

    beforeEach(async () => {
      void connection.close();
      ({ connection, network } = await environment().faultyConnection());
      states = await connected(connection);
      await connection.sync(root);
    });
    afterEach(() => network.cut());

    it('are notified of the loss, once, and of nothing that happens to the node afterwards', async () => {
      await connection.exists(`${root}/a`, watcher);
      await connection.exists(`${root}/none`, watcher);
      await connection.getChildren(root, watcher);
      await loseConnection();
      expect(heard.sort()).toEqual(['disconnected ', 'disconnected /a', 'disconnected /none']);
      await other.delete(`${root}/a`);
      await other.create(`${root}/none`, EMPTY, PERSISTENT);
      await allHeard();
      expect(heard).toHaveLength(3);
    });

    it('are notified after the state has changed', async () => {
      const seen: string[] = [];
      await connection.exists(`${root}/a`, () => seen.push(connection.state));
      await loseConnection();
      expect(seen).toEqual(['SUSPENDED']);
    });

    it('are not notified if they were taken off or had been called', async () => {
      await connection.exists(`${root}/a`, watcher);
      await connection.getChildren(root, watcher);
      connection.unwatch(`${root}/a`, watcher);
      await other.delete(`${root}/a`);
      await eventually('the watch fires', () => heard.length > 0);
      await loseConnection();
      expect(heard).toEqual(['child ']);
    });

    it('work again afterwards', async () => {
      await loseConnection();
      await connection.exists(`${root}/a`, watcher);
      await other.delete(`${root}/a`);
      await allHeard();
      expect(heard).toEqual(['deleted /a']);
    });
  });

  it('are notified of the end when the connection is closed', async () => {
    await connection.exists(`${root}/a`, watcher);
    void connection.close();
    expect(heard).toEqual(['disconnected /a']);
  });
}
