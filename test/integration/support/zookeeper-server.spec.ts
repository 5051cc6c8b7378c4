import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { once } from 'node:events';
import ZooKeeper from 'zookeeper';
import { eventually } from '../../support/eventually.js';
import { ZooKeeperEnsemble } from '../../support/zookeeper-ensemble.js';
import { ZooKeeperServer } from '../../support/zookeeper-server.js';

describe('ZooKeeperServer', () => {
  let server: ZooKeeperServer;

  beforeAll(async () => {
    server = await ZooKeeperServer.start();
  });
  afterAll(() => server.stop());

  it('answers, falls silent while it is frozen, and answers again', async () => {
    expect(await server.role()).toBe('standalone');
    server.freeze();
    expect(await server.role()).toBeUndefined();
    server.thaw();
    expect(await server.role()).toBe('standalone');
  });

  it('comes back on the same port after a kill', async () => {
    await server.kill();
    expect(await server.role()).toBeUndefined();
    await server.restart();
    expect(await server.role()).toBe('standalone');
  });
});

it('listens on IPv6', async () => {
  const server = await ZooKeeperServer.start({ host: '::1' });
  expect(server.connectString).toBe(`[::1]:${server.port}`);
  expect(await server.role()).toBe('standalone');
  await server.stop();
});

describe('ZooKeeperEnsemble', () => {
  let ensemble: ZooKeeperEnsemble;

  beforeAll(async () => {
    ensemble = await ZooKeeperEnsemble.start();
  });
  afterAll(() => ensemble.stop());

  it('elects another leader when the leader is killed', async () => {
    const first = await ensemble.leader();
    expect(await ensemble.followers()).toHaveLength(2);
    await first.kill();
    const second = await ensemble.leader();
    expect(second).not.toBe(first);
    await first.restart();
    expect(await first.role()).toBe('follower');
  });

  it('does not take a leader that was frozen, and was replaced, for the leader', async () => {
    const first = await ensemble.leader();
    first.freeze();
    const others = ensemble.servers.filter((server) => server !== first);
    const roles = () => Promise.all(others.map((server) => server.role()));
    const isReplaced = async () => (await roles()).sort().join() === 'follower,leader';
    await eventually('another leads', isReplaced, { within: 60_000 });
    first.thaw();
    expect(await ensemble.leader()).not.toBe(first);
    await eventually('the first follows', () => ensemble.isWhole(), { within: 30_000 });
  }, 120_000);

  it('knows the server that a session is connected to', async () => {
    const server = ensemble.servers[1]!;
    const client = new ZooKeeper({
      connect: server.connectString,
      timeout: 10_000,
      debug_level: 0,
    });
    const connected = once(client, 'connect');
    client.init({});
    await connected;
    expect(await ensemble.serverOf(String(client.client_id))).toBe(server);
    client.close();
  });
});
