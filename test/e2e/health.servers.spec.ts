import { describe, expect, it } from '@jest/globals';
import { LockLostError, type LockModuleOptions, type RedisLockClient } from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { useRedis, useShared } from '../support/fixtures.js';
import { IndependentRedisServers, type RedisServer } from '../support/redis-server.js';
import { clientOf, RecordingLogger, useApps } from './support/apps.js';
import {
  expectElectionIn,
  HealthModule,
  healthOf,
  Orders,
  useChannels,
} from './support/observed.js';

const apps = useApps();
const addressOf = ({ host, port }: RedisServer) => ({ host, port, disconnectTimeout: 0 });

async function serve(options: object, logger?: RecordingLogger) {
  const clients = [{ backend: 'redis', ...options } as LockModuleOptions];
  const app = await apps.serve({ clients, imports: [HealthModule], logger });
  return { app, get: (path?: string) => healthOf(app, path) };
}

describe('GET /health of an app with locks on Redis', () => {
  const server = useRedis();
  const onRedis = (watchdogTimeout: number) =>
    serve({ connect: { ...addressOf(server()) }, watchdogTimeout });

  it('is 200 and degraded while the server is gone and locks may still be held, 503 where that is not enough', async () => {
    const { app, get } = await onRedis(90_000);
    expect(await get()).toMatchObject({ status: 200, locks: { status: 'up', health: 'up' } });
    await server().kill();
    await eventually('it knows', () => clientOf(app).status().health === 'degraded');
    const degraded = { health: 'degraded', state: 'SUSPENDED' };
    expect(await get()).toMatchObject({
      status: 200,
      locks: { ...degraded, status: 'degraded' },
    });
    expect(await get('/strict')).toMatchObject({
      status: 503,
      locks: { ...degraded, status: 'down' },
    });

    await server().restart();
    await eventually('it is back', async () => (await get('/strict')).status === 200);
  });

  it('is 503 when the server is gone for longer than its locks last, and 200 when it is back', async () => {
    const { app, get } = await onRedis(1_000);
    await server().kill();
    await eventually('it is down', () => clientOf(app).status().health === 'down');
    expect(await get()).toMatchObject({
      status: 503,
      error: { locks: { health: 'down', state: 'LOST' } },
    });
    await server().restart();
    await eventually('it is back', async () => (await get()).status === 200);
  });

  it('is 503 while the server is connected and does not answer', async () => {
    const { get } = await onRedis(90_000);
    server().freeze();
    const { status, error } = await get('/impatient');
    server().thaw();
    expect(status).toBe(503);
    expect(error.locks).toMatchObject({
      health: 'down',
      state: 'CONNECTED',
      message: expect.stringContaining('had no answer within 200 ms'),
    });
    expect((await get()).status).toBe(200);
  });
});

describe('GET /health of an app with a lock on Redis', () => {
  const server = useRedis();

  it('says that it is endangered as the server does not answer, and so does the log', async () => {
    const logger = new RecordingLogger();
    const { app, get } = await serve({ connect: server().url, watchdogTimeout: 8_000 }, logger);
    await using _ = await clientOf(app).mutex('seat').acquire();
    server().freeze();
    try {
      await eventually('it is', () => clientOf(app).status().endangered === 1);
      const { error } = await get('/impatient');
      expect(error.locks).toMatchObject({ held: 1, endangered: 1 });
      expect(logger.lines.join('\n')).toMatch(
        /have not confirmed lock "seat" for [345]\.\d s; it is lost in [234]\.\d s/,
      );
    } finally {
      server().thaw();
    }
    await eventually('it is confirmed', () => clientOf(app).status().endangered === undefined);
  });
});

describe('GET /health of an app with locks on three independent Redis servers', () => {
  const servers = useShared(() => IndependentRedisServers.start(3));

  it('is degraded without one of them, and 503 without two', async () => {
    const nodes = servers().all.map(addressOf);
    const { app, get } = await serve({ nodes, watchdogTimeout: 90_000 });
    const areConnected = (count: number) =>
      eventually(`${count} are connected`, () => {
        return clientOf(app).status().servers?.connected === count;
      });
    await areConnected(3);
    expect(await get()).toMatchObject({ status: 200, locks: { health: 'up' } });

    await servers().kill(0);
    await areConnected(2);
    expect(await get()).toMatchObject({
      status: 200,
      locks: { health: 'degraded', servers: { connected: 2, total: 3 } },
    });

    await servers().kill(1);
    await areConnected(1);
    expect(await get()).toMatchObject({ status: 503, locks: { status: 'down' } });
  });
});

describe('The diagnostics channels of an app with locks on Redis', () => {
  const servers = useShared(() => IndependentRedisServers.start(3));
  const messages = useChannels();
  const ofLock = (key: string) => messages.filter((message) => message.key === key);
  const boot = (options: object) =>
    apps.boot({
      clients: [{ name: 'orders', backend: 'redis', ...options } as LockModuleOptions],
      providers: [Orders],
    });
  const bootOnOne = () => boot({ connect: addressOf(servers().all[0]!), watchdogTimeout: 1_000 });

  it('report that a lock was lost', async () => {
    const app = await bootOnOne();
    const paying = app.get(Orders).pay('8');
    await apps.room.entered.promise;
    await (clientOf(app, 'orders') as RedisLockClient).mutex('order:8').forceUnlock();
    await eventually('the loss is reported', () =>
      messages.find(({ kind, key }) => kind === 'lost' && key === 'order:8'),
    );
    apps.room.open();
    await expect(paying).rejects.toBeInstanceOf(LockLostError);
    expect(ofLock('order:8')).toEqual([
      expect.objectContaining({ kind: 'acquired' }),
      {
        kind: 'lost',
        client: 'orders',
        key: 'order:8',
        recipe: 'mutex',
        method: 'Orders.pay',
        heldMs: expect.any(Number),
        error: expect.any(LockLostError),
      },
    ]);
  });

  it('report each step of an election, with the ids of its participants', async () => {
    await expectElectionIn(messages, await bootOnOne());
  });

  it('report a lock on several servers once, and the connection to each', async () => {
    apps.room.open();
    const app = await boot({ nodes: servers().all.map(addressOf) });
    await app.get(Orders).pay('9');
    expect(ofLock('order:9').map(({ kind }) => kind)).toEqual(['acquired', 'released']);
    await eventually('all connections are reported', () => {
      const connected = messages.filter(({ state }) => state === 'CONNECTED');
      return [1, 2, 3].every((n) => connected.some(({ server }) => server === n));
    });
  });
});
