import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import {
  LockLostError,
  LockModule,
  LockTimeoutError,
  WithMutex,
  type LeaderLatch,
  type LockModuleOptions,
  type RedisLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';
import { Room } from './support/room.js';

const KINDS = ['acquired', 'contended', 'released', 'lost', 'failed', 'connection'] as const;

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('order:{0}', { client: 'orders' })
  async pay(_id: string): Promise<string> {
    return this.room.stay('paid');
  }
}

describe('The diagnostics channels of an app', () => {
  const apps = new Apps();
  const messages: {
    kind: string;
    key?: string;
    participant?: string;
    state?: string;
    server?: number;
  }[] = [];
  const listeners = KINDS.map((kind) => ({
    channel: `nestjs-interlock:${kind}`,
    listener: (message: unknown) => void messages.push({ kind, ...(message as object) }),
  }));
  let redis: RedisServer;
  let room: Room;

  beforeAll(async () => {
    redis = await RedisServer.start();
  });
  beforeEach(() => {
    room = new Room();
    messages.length = 0;
    for (const { channel, listener } of listeners) subscribe(channel, listener);
  });
  afterEach(async () => {
    room.open();
    await apps.close();
    for (const { channel, listener } of listeners) unsubscribe(channel, listener);
  });
  afterAll(() => redis.stop());

  const boot = (options: LockModuleOptions = {}) =>
    apps.boot({
      imports: [LockModule.forRoot({ ...options, name: 'orders' })],
      providers: [Orders, { provide: Room, useValue: room }],
    });
  const ofLock = (key: string) => messages.filter((message) => message.key === key);
  const onRedis = () => ({ host: redis.host, port: redis.port, disconnectTimeout: 0 });

  it('report each step of a call and of the client that it blocked', async () => {
    const app = await boot();
    const paying = app.get(Orders).pay('7');
    await room.entered.promise;
    const late = clientOf(app, 'orders').mutex('order:7').acquire({ wait: 100 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    room.open();
    await paying;

    const about = { client: 'orders', key: 'order:7', recipe: 'mutex' };
    const byMethod = { ...about, method: 'Orders.pay' };
    expect(ofLock('order:7')).toEqual([
      { kind: 'acquired', ...byMethod, waitedMs: expect.any(Number) },
      { kind: 'contended', ...about, method: undefined },
      {
        kind: 'failed',
        ...about,
        method: undefined,
        waitedMs: expect.any(Number),
        error: expect.any(LockTimeoutError),
      },
      { kind: 'released', ...byMethod, heldMs: expect.any(Number) },
    ]);
    expect(messages).toContainEqual(
      expect.objectContaining({ kind: 'connection', client: 'orders', state: 'CONNECTED' }),
    );
  });

  it('report that a lock was lost', async () => {
    const app = await boot({ backend: 'redis', connect: onRedis(), watchdogTimeout: 1_000 });
    const paying = app.get(Orders).pay('8');
    await room.entered.promise;
    await (clientOf(app, 'orders') as RedisLockClient).mutex('order:8').forceUnlock();
    await eventually('the loss is reported', () =>
      messages.find(({ kind, key }) => kind === 'lost' && key === 'order:8'),
    );
    room.open();
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

  it.each(['embedded', 'redis'] as const)(
    'report each step of an election on %s, with the ids of its participants',
    async (backend) => {
      const app = await boot(
        backend === 'redis' ? { backend, connect: onRedis(), watchdogTimeout: 1_000 } : {},
      );
      const client = clientOf(app, 'orders');
      const [first, second] = ['web-1', 'web-2'].map((id) => {
        return client.leaderLatch('cron', { id });
      }) as [LeaderLatch, LeaderLatch];
      const story = () => ofLock('cron').map(({ kind, participant }) => [kind, participant]);
      first.start();
      await first.awaitLeadership();
      second.start();
      await eventually('the other follows', () => story().length === 2);
      await first.close();
      await second.awaitLeadership();
      await second.close();
      await eventually('all events are reported', () => story().length === 5);

      expect(story().slice(0, 2)).toEqual([
        ['acquired', 'web-1'],
        ['contended', 'web-2'],
      ]);
      expect(story()).toContainEqual(['released', 'web-1']); // reported when the server has answered
      expect(story()).toContainEqual(['acquired', 'web-2']);
      expect(story().at(-1)).toEqual(['released', 'web-2']);
      const about = { client: 'orders', recipe: 'leaderLatch' };
      for (const message of ofLock('cron')) {
        expect(message).toMatchObject(about);
        expect(message).not.toHaveProperty('method');
      }
    },
  );

  it('report a lock on several servers once, and the connection to each', async () => {
    const others = [await RedisServer.start(), await RedisServer.start()];
    try {
      const nodes = [redis, ...others].map(({ host, port }) => ({
        host,
        port,
        disconnectTimeout: 0,
      }));
      room.open();
      const app = await boot({ backend: 'redis', nodes });
      await app.get(Orders).pay('9');
      expect(ofLock('order:9').map(({ kind }) => kind)).toEqual(['acquired', 'released']);
      await eventually('all connections are reported', () => {
        const connected = messages.filter(({ state }) => state === 'CONNECTED');
        return [1, 2, 3].every((n) => connected.some(({ server }) => server === n));
      });
      await apps.close();
    } finally {
      await Promise.all(others.map((server) => server.stop()));
    }
  });
});
