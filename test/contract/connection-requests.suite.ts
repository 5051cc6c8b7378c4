import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  CreateMode,
  Permission,
  type ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/eventually.js';
import { connected } from './connected.js';
import type { ConnectionEnvironment } from './connection-environment.js';

const { PERSISTENT, PERSISTENT_SEQUENTIAL, EPHEMERAL, EPHEMERAL_SEQUENTIAL, CONTAINER } =
  CreateMode;
const EMPTY = Buffer.alloc(0);

/** What the requests of a `ZooKeeperConnection` promise. */
export function connectionRequestsSuite(environment: () => ConnectionEnvironment): void {
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

  describe('nodes', () => {
    it('hold what was written to them, and count the changes', async () => {
      const path = `${root}/a`;
      expect(await connection.create(path, Buffer.from('one'), PERSISTENT)).toBe(path);
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
      const create = (name: string, mode: CreateMode) =>
        connection.create(`${root}/${name}`, EMPTY, mode);
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
        const path = await connection.create(`${parent}/`, EMPTY, EPHEMERAL_SEQUENTIAL);
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
    await connection.delete(await connection.create(`${used}/`, EMPTY, EPHEMERAL_SEQUENTIAL));
    expect(await connection.exists(used)).toMatchObject({ ephemeralOwner: '0' });
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
    expect(await ann.create(path, EMPTY, PERSISTENT)).toBe(path);
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
      expect([made, stat!.version, changed.version, gone]).toEqual([path, 0, 1, undefined]);
    });

    it('lists a node that was made in the same tick, whatever others do', async () => {
      const client = async (one: ZooKeeperConnection) => {
        for (let round = 0; round < 200; round++) {
          const [path, names] = await Promise.all([
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
        const path = await other.create(`${root}/`, EMPTY, EPHEMERAL_SEQUENTIAL);
        const [, stat] = await Promise.all([connection.sync(path), connection.exists(path)]);
        expect(stat).toBeDefined();
      }
    });
  });
}
