import { beforeEach, expect, it } from '@jest/globals';
import {
  CreateMode,
  type Operation,
  Permission,
  type ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/time.js';

const { PERSISTENT, EPHEMERAL, EPHEMERAL_SEQUENTIAL, CONTAINER } = CreateMode;
const EMPTY = Buffer.alloc(0);
const [ONE, TWO] = [Buffer.from('one'), Buffer.from('two')];

/** What `multi` promises. @param place two connections to one server, and a node of this test alone */
export function multiSuite(
  place: () => { connection: ZooKeeperConnection; other: ZooKeeperConnection; root: string },
): void {
  let connection: ZooKeeperConnection;
  let other: ZooKeeperConnection;
  let root: string;
  const create = (name: string, mode: CreateMode = PERSISTENT, data = EMPTY): Operation => ({
    op: 'create',
    path: `${root}/${name}`,
    data,
    mode,
  });
  const names = async () => (await connection.getChildren(root)).sort();

  beforeEach(() => void ({ connection, other, root } = place()));

  it('carries out all operations in one transaction, each after those before it', async () => {
    const path = `${root}/a`;
    const [made, changed, checked, child, numbered, container, gone] = await connection.multi([
      { op: 'create', path, data: ONE, mode: PERSISTENT },
      { op: 'setData', path, data: TWO, version: 0 },
      { op: 'check', path, version: 1 },
      { op: 'create', path: `${path}/b`, data: EMPTY, mode: EPHEMERAL },
      { op: 'create', path: `${path}/n-`, data: EMPTY, mode: EPHEMERAL_SEQUENTIAL },
      { op: 'create', path: `${path}/c`, data: EMPTY, mode: CONTAINER },
      { op: 'delete', path: `${path}/b`, version: 0 },
    ]);
    const { data, stat } = await connection.getData(path);
    expect([data, stat.version, stat.numChildren]).toEqual([TWO, 1, 2]);
    const paths = [path, `${path}/b`, `${path}/n-0000000001`, `${path}/c`];
    expect([made, child, numbered, container].map((it) => it.path)).toEqual(paths);
    expect([changed.version, changed.mzxid]).toEqual([1, stat.czxid]);
    for (const there of paths.filter((it) => it !== child.path))
      expect(await connection.exists(there)).toMatchObject({ czxid: stat.czxid });
    expect([checked, gone]).toEqual([undefined, undefined]);
  });

  it('carries out none of them where one fails, and says which', async () => {
    await connection.create(`${root}/there`, ONE, PERSISTENT);
    const path = `${root}/there`;
    const failures: [Operation, string][] = [
      [create('there'), 'NODEEXISTS'],
      [{ op: 'create', path: `${root}/none/a`, data: EMPTY, mode: PERSISTENT }, 'NONODE'],
      [{ op: 'delete', path: root, version: -1 }, 'NOTEMPTY'],
      [{ op: 'delete', path, version: 1 }, 'BADVERSION'],
      [{ op: 'setData', path, data: TWO, version: 1 }, 'BADVERSION'],
      [{ op: 'check', path, version: 1 }, 'BADVERSION'],
      [{ op: 'check', path: `${root}/none`, version: -1 }, 'NONODE'],
    ];
    for (const [failing, code] of failures) {
      const change = { op: 'setData', path, data: TWO, version: 0 } as const;
      const tried = connection.multi([create('a'), failing, change, failing]);
      await expect(tried).rejects.toMatchObject({
        code,
        path: failing.path,
        operation: `multi[1] ${failing.op}`,
        maybeDone: false,
      });
    }
    expect(await names()).toEqual(['there']);
    expect((await connection.getData(path)).data).toEqual(ONE);
    const { path: next } = await connection.create(`${root}/n-`, EMPTY, EPHEMERAL_SEQUENTIAL);
    expect(next).toBe(`${root}/n-0000000001`); // no number was used up
  });

  it('refuses a write whose lock node is gone, or of another session: a guarded write', async () => {
    await other.create(`${root}/lock`, EMPTY, EPHEMERAL);
    await connection.create(`${root}/value`, ONE, PERSISTENT);
    const write = () =>
      other.multi([
        { op: 'check', path: `${root}/lock`, version: 0 },
        { op: 'setData', path: `${root}/value`, data: TWO, version: -1 },
      ]);
    expect((await write())[1].version).toBe(1);
    await connection.delete(`${root}/lock`);
    await expect(write()).rejects.toMatchObject({ code: 'NONODE', path: `${root}/lock` });
    expect((await connection.getData(`${root}/value`)).stat.version).toBe(1);
  });

  it('fires watches when all is done, and none where nothing was', async () => {
    const heard: string[] = [];
    const watch = () =>
      connection.getChildren(root, ({ type }) => {
        void connection.getChildren(root).then((all) => heard.push(type, ...all.sort()));
      });
    await watch();
    await expect(
      other.multi([create('a'), { op: 'check', path: root, version: 9 }]),
    ).rejects.toMatchObject({ code: 'BADVERSION' });
    await other.sync(root);
    await other.multi([create('a'), create('b'), create('c')]);
    await eventually('the watch fires', () => heard.length > 0);
    expect(heard).toEqual(['child', 'a', 'b', 'c']);
  });

  it('respects access control lists', async () => {
    await connection.create(`${root}/shown`, EMPTY, PERSISTENT);
    const anyone = { scheme: 'world', id: 'anyone' };
    await connection.setAcl(`${root}/shown`, [{ perms: Permission.READ, ...anyone }]);
    const hidden = { op: 'setData', path: `${root}/shown`, data: ONE, version: -1 } as const;
    await expect(connection.multi([create('a'), hidden])).rejects.toMatchObject({
      code: 'NOAUTH',
      operation: 'multi[1] setData',
    });
    const acl = [{ perms: Permission.READ, ...anyone }];
    await connection.multi([
      { op: 'check', path: `${root}/shown`, version: 0 },
      { op: 'create', path: `${root}/b`, data: EMPTY, mode: PERSISTENT, acl },
    ]);
    await expect(connection.setData(`${root}/b`, ONE)).rejects.toMatchObject({ code: 'NOAUTH' });
    expect(await names()).toEqual(['b', 'shown']);
  });

  it.each([
    ['nothing', () => []],
    ['a path that is none', () => [create('a'), create('b/')]],
  ])('refuses %s without asking', async (_, operations) => {
    await expect(connection.multi(operations())).rejects.toMatchObject({ code: 'BADARGUMENTS' });
    expect(await names()).toEqual([]);
  });

  it('is answered in its turn', async () => {
    const [, made, names] = await Promise.all([
      connection.create(`${root}/a`, EMPTY, PERSISTENT),
      connection.multi([create('b'), { op: 'delete', path: `${root}/a`, version: 0 }]),
      connection.getChildren(root),
    ]);
    expect(made).toHaveLength(2);
    expect(names).toEqual(['b']);
  });
}

/** What is left of it by a driver that cannot. */
export function noMultiSuite(place: () => { connection: ZooKeeperConnection; root: string }): void {
  it('is refused at once by a driver that cannot, without writing anything', async () => {
    const { connection, root } = place();
    const path = `${root}/a`;
    const tried = connection.multi([{ op: 'create', path, data: EMPTY, mode: PERSISTENT }]);
    await expect(tried).rejects.toMatchObject({ code: 'UNIMPLEMENTED', path, maybeDone: false });
    expect(await connection.getChildren(root)).toEqual([]);
  });
}
