import { randomUUID } from 'node:crypto';
import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  type ConnectionState,
  CreateMode,
  type ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { eventually } from '../support/time.js';
import {
  connected,
  type ConnectionEnvironment,
  type NetworkFaults,
} from './backends/connection.js';

const { PERSISTENT, EPHEMERAL } = CreateMode;
const EMPTY = Buffer.alloc(0);
const NOT_SENT = { code: 'CONNECTIONLOSS', maybeDone: false };
const UNANSWERED = { code: 'CONNECTIONLOSS', maybeDone: true };

/** What the state and the session of a `ZooKeeperConnection` promise. */
export function connectionStatesSuite(
  environment: () => ConnectionEnvironment,
  sessionsExpire: boolean,
): void {
  let connection: ZooKeeperConnection;
  let network: NetworkFaults;
  let states: ConnectionState[];
  let other: ZooKeeperConnection;
  let root: string;

  const create = (name: string) => connection.create(`${root}/${name}`, EMPTY, EPHEMERAL);
  const reconnected = () => eventually('back', () => states.includes('RECONNECTED'));
  const othersList = async () => {
    await other.sync(root);
    return (await other.getChildren(root)).sort();
  };

  beforeEach(async () => {
    ({ connection, network } = await environment().faultyConnection());
    other = await environment().connection();
    [states] = await Promise.all([connected(connection), connected(other)]);
    root = `/${randomUUID()}`;
    await connection.create(root, EMPTY, PERSISTENT);
  });
  afterEach(() => {
    network.cut();
    void connection.close();
    void other.close();
  });

  it('connects once it is started, and refuses requests before', async () => {
    const fresh = await environment().connection();
    const seen: string[] = [];
    fresh.onStateChange((state) => seen.push(state));
    expect([fresh.state, fresh.isConnected, fresh.session]).toEqual([
      'CONNECTING',
      false,
      undefined,
    ]);
    await expect(fresh.exists('/')).rejects.toMatchObject(NOT_SENT);
    fresh.start();
    fresh.start();
    await eventually('connected', () => fresh.isConnected);
    expect(seen).toEqual(['CONNECTED']);
    expect(fresh.session!.id).toMatch(/^[1-9a-f][0-9a-f]*$/);
    expect(fresh.session!.isAlive).toBe(true);
    expect(fresh.session!.id).not.toBe(connection.session!.id);
    void fresh.close();
  });

  it('goes on trying while the server takes no connections', async () => {
    const late = await environment().faultyConnection();
    late.network.refuse();
    late.connection.start();
    await expect(late.connection.exists('/')).rejects.toMatchObject(NOT_SENT);
    await late.network.accept();
    await eventually('connected', () => late.connection.isConnected);
    late.network.cut();
    void late.connection.close();
  });

  it('does not call a listener that was taken off', async () => {
    const heard: string[] = [];
    const stop = connection.onStateChange((state) => heard.push(state));
    stop();
    network.cut();
    await reconnected();
    expect(heard).toEqual([]);
  });

  describe('a lost connection', () => {
    it('is suspended, then reconnected, and keeps session and nodes', async () => {
      const { session } = connection;
      await create('own');
      network.cut();
      await reconnected();
      expect(states).toEqual(['SUSPENDED', 'RECONNECTED']);
      expect(connection.session).toBe(session);
      expect(session!.isAlive).toBe(true);
      expect(await othersList()).toEqual(['own']);
      expect(await connection.exists(`${root}/own`)).toMatchObject({ ephemeralOwner: session!.id });
      await create('next');
      expect(await othersList()).toEqual(['next', 'own']);
    });

    it('is survived time and again', async () => {
      const { id } = connection.session!;
      await create('own');
      for (let time = 1; time <= 5; time++) {
        network.cut();
        await eventually('back', () => states.length === 2 * time && connection.isConnected);
      }
      expect(connection.session!.id).toBe(id);
      expect(await othersList()).toEqual(['own']);
    });

    it('refuses requests, and does not send them later', async () => {
      network.refuse();
      network.cut();
      await eventually('suspended', () => connection.state === 'SUSPENDED');
      expect([connection.isConnected, connection.session!.isAlive]).toEqual([false, true]);
      await expect(create('early')).rejects.toMatchObject(NOT_SENT);
      await network.accept();
      await reconnected();
      expect(await connection.getChildren(root)).toEqual([]);
    });

    it('rejects unanswered requests as possibly carried out when they were', async () => {
      network.cutAt(`${root}/a`, 'after');
      const [first, second] = [create('a'), connection.getChildren(root)];
      await expect(first).rejects.toMatchObject(UNANSWERED);
      await expect(second).rejects.toMatchObject(UNANSWERED);
      await reconnected();
      expect(await connection.getChildren(root)).toEqual(['a']);
    });

    it('rejects unanswered requests as possibly carried out when they were not', async () => {
      await create('a'); // answered: a server may drop what it has not read when the cut comes
      network.cutAt(`${root}/b`, 'before');
      const [second, third] = [create('b'), create('c')];
      await expect(second).rejects.toMatchObject(UNANSWERED);
      await expect(third).rejects.toMatchObject(UNANSWERED);
      await reconnected();
      expect(await connection.getChildren(root)).toEqual(['a']);
    });

    it('can be closed', async () => {
      network.refuse();
      network.cut();
      await eventually('suspended', () => connection.state === 'SUSPENDED');
      void connection.close();
      expect(states).toEqual(['SUSPENDED', 'CLOSED']);
    });

    it('rejects unanswered requests when the state is suspended already', async () => {
      network.cutAt(`${root}/a`, 'before');
      const seen: unknown = await create('a').catch(() => connection.state);
      expect(seen).toBe('SUSPENDED');
    });
  });

  describe('an expired session', () => {
    it('is lost with its nodes, and followed by another', async () => {
      const old = connection.session!;
      await create('own');
      let endedAs: string | undefined;
      const seen: unknown[] = [];
      old.onEnd(() => (endedAs = connection.state));
      connection.onStateChange((state) => {
        if (state === 'LOST') seen.push(old.isAlive, connection.session);
      });
      await environment().expire(connection, network);
      await reconnected();
      expect(states.filter((state) => state !== 'SUSPENDED')).toEqual(['LOST', 'RECONNECTED']);
      expect(seen).toEqual([false, undefined]);
      expect(endedAs).toBe('LOST');
      expect(old.isAlive).toBe(false);
      expect(connection.session!.id).not.toBe(old.id);
      expect(connection.session!.isAlive).toBe(true);
      expect(await othersList()).toEqual([]);
      await create('own');
      expect(await othersList()).toEqual(['own']);
    });

    it('calls a listener that comes too late at once', async () => {
      const old = connection.session!;
      await environment().expire(connection, network);
      await eventually('over', () => !old.isAlive);
      let isTold = false;
      old.onEnd(() => (isTold = true));
      expect(isTold).toBe(true);
    });

    it('ends its watches', async () => {
      const heard: string[] = [];
      await connection.exists(root, ({ type }) => heard.push(type));
      await environment().expire(connection, network);
      await reconnected();
      expect(heard).toEqual(['disconnected']);
    });
  });

  const describeIfExpiring = sessionsExpire ? describe : () => {}; // else no client may call a server silent
  async function begin(sessionTimeout: number): Promise<void> {
    network.cut();
    void connection.close();
    ({ connection, network } = await environment().faultyConnection({ sessionTimeout }));
    states = await connected(connection);
    await connection.sync(root);
    await create('own');
  }

  describeIfExpiring('a server that falls silent', () => {
    beforeEach(() => begin(2_000));

    it('is noticed, and the session is given up before the server can expire it', async () => {
      const order: string[] = [];
      const old = connection.session!;
      old.onEnd(() => order.push('given up'));
      await other.sync(root);
      await other.exists(`${root}/own`, () => order.push('expired'));
      const pending = connection.exists('/');
      network.silence();
      const late = create('late');
      await Promise.allSettled([pending]);
      await expect(late).rejects.toMatchObject(UNANSWERED);
      await eventually('expired', () => order.length === 2);
      expect(order).toEqual(['given up', 'expired']);
      expect(states).toEqual(['SUSPENDED', 'LOST']);
      network.restore();
      await reconnected();
      expect(connection.session!.id).not.toBe(old.id);
      expect(await othersList()).toEqual([]);
    });

    it('does not cost the session if it speaks again in time', async () => {
      const { session } = connection;
      network.silence();
      await eventually('suspended', () => states.includes('SUSPENDED'));
      network.restore();
      await reconnected();
      expect(connection.session).toBe(session);
      expect(await othersList()).toEqual(['own']);
    });
  });

  describeIfExpiring('a session that has nothing to say', () => {
    beforeEach(() => begin(4_000)); // a busy machine may well be silent for two seconds

    it('is kept alive', async () => {
      const { session } = connection;
      const start = performance.now();
      await eventually('5 s without a request', () => performance.now() - start > 5_000);
      expect(session!.isAlive).toBe(true);
      expect(states).not.toContain('LOST'); // a busy machine may well have been silent for a moment
      expect(await othersList()).toEqual(['own']);
    });
  });

  describe('close', () => {
    beforeEach(async () => {
      network.cut();
      void connection.close();
      connection = await environment().connection();
      states = await connected(connection);
      await connection.sync(root);
    });

    it('ends session and nodes, and rejects what is unanswered', async () => {
      const { session } = connection;
      await create('own');
      const unanswered = connection.exists('/');
      void connection.close();
      void connection.close();
      await expect(unanswered).rejects.toMatchObject(UNANSWERED);
      expect([connection.state, connection.isConnected]).toEqual(['CLOSED', false]);
      expect([connection.session, session!.isAlive]).toEqual([undefined, false]);
      expect(states).toEqual(['CLOSED']);
      await expect(connection.exists('/')).rejects.toMatchObject(NOT_SENT);
      await eventually('gone', async () => (await othersList()).length === 0);
    });

    it('lets no connection come up afterwards', async () => {
      const fresh = await environment().connection();
      const seen: string[] = [];
      fresh.onStateChange((state) => seen.push(state));
      fresh.start();
      void fresh.close();
      fresh.start();
      await connection.exists('/');
      await connection.exists('/');
      expect(seen).toEqual(['CLOSED']);
    });
  });
}
