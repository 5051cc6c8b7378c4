import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { randomUUID } from 'node:crypto';
import {
  type ConnectionState,
  CreateMode,
  type WatchEvent,
  type ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/eventually.js';
import { connected } from './connected.js';
import type { ConnectionEnvironment } from './connection-environment.js';
import type { NetworkFaults } from './network-faults.js';

const { PERSISTENT, EPHEMERAL } = CreateMode;
const EMPTY = Buffer.alloc(0);

/** What the watches of a `ZooKeeperConnection` promise. */
export function connectionWatchesSuite(environment: () => ConnectionEnvironment): void {
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
