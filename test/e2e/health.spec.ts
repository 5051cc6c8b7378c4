import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { HealthIndicatorService } from '@nestjs/terminus';
import { LockHealthIndicator } from '../../lib/health/index.js';
import {
  LockClientUnknownError,
  LockOptionsError,
  LockTimeoutError,
  WithMutex,
  type LockModuleOptions,
} from '../../lib/index.js';
import { clientOf, RecordingLogger, useApps } from './support/apps.js';
import {
  expectElectionIn,
  HealthModule,
  healthOf,
  Orders,
  useChannels,
} from './support/observed.js';

const apps = useApps();

describe('GET /health of an app with embedded locks', () => {
  const serve = async (...clients: LockModuleOptions[]) => {
    const app = await apps.serve({ clients, imports: [HealthModule] });
    return { app, get: (path?: string) => healthOf(app, path) };
  };

  it('is 200, with the state of the client', async () => {
    const { app, get } = await serve({});
    const client = clientOf(app);
    await using _ = await client.mutex('seat').acquire();
    const leave = new AbortController();
    const waiting = client.mutex('seat').acquire({ signal: leave.signal });
    waiting.catch(() => {});
    const { status, locks } = await get();
    expect(status).toBe(200);
    expect(locks).toMatchObject({
      status: 'up',
      health: 'up',
      state: 'CONNECTED',
      latency: expect.any(Number),
      sessionId: client.status().sessionId,
      held: 1,
      waiting: 1,
    });
    leave.abort();
  });

  it('is 503 once the client is closed', async () => {
    const { app, get } = await serve({});
    await clientOf(app).close();
    const { status, error } = await get();
    expect(status).toBe(503);
    expect(error.locks).toMatchObject({ status: 'down', health: 'down', state: 'CLOSED', held: 0 });
  });

  it('reports all clients by their names, and fails when one of them does', async () => {
    const { app, get } = await serve({}, { name: 'bank' });
    const { status, details } = await get('/all');
    expect(status).toBe(200);
    expect(Object.keys(details).sort()).toEqual(['locks:bank', 'locks:default']);

    await clientOf(app, 'bank').close();
    const after = await get('/all');
    expect(after.status).toBe(503);
    expect(after.details['locks:default']).toMatchObject({ status: 'up' });
    expect(after.details['locks:bank']).toMatchObject({ status: 'down', state: 'CLOSED' });
  });
});

describe('LockHealthIndicator', () => {
  it('reports a degraded client as up where Terminus has no word for it', async () => {
    const older = new HealthIndicatorService();
    const check = (key: string) => {
      const session = older.check(key);
      return { up: session.up.bind(session), down: session.down.bind(session) };
    };
    const app = await apps.boot({
      imports: [HealthModule],
      override: (builder) => builder.overrideProvider(HealthIndicatorService).useValue({ check }),
    });
    const client = clientOf(app);
    const status = { ...client.status(), health: 'degraded', state: 'SUSPENDED' } as const;
    client.status = () => status;
    const { locks } = await app.get(LockHealthIndicator, { strict: false }).pingCheck('locks');
    expect(locks).toMatchObject({ status: 'up', health: 'degraded' });
  });

  it('refuses unknown clients and wrong options', async () => {
    const app = await apps.boot({ imports: [HealthModule] });
    const indicator = app.get(LockHealthIndicator, { strict: false });
    const check = (options: object) => indicator.pingCheck('locks', options);
    await expect(check({ client: 'bank' })).rejects.toBeInstanceOf(LockClientUnknownError);
    await expect(check({ timeout: 0 })).rejects.toBeInstanceOf(LockOptionsError);
    await expect(check({ failOn: 'up' })).rejects.toBeInstanceOf(LockOptionsError);
  });
});

describe('The diagnostics channels of an app', () => {
  const messages = useChannels();
  const boot = () => apps.boot({ clients: [{ name: 'orders' }], providers: [Orders] });

  it('report each step of a call and of the client that it blocked', async () => {
    const app = await boot();
    const paying = app.get(Orders).pay('7');
    await apps.room.entered.promise;
    const late = clientOf(app, 'orders').mutex('order:7').acquire({ wait: 100 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    apps.room.open();
    await paying;

    const about = { client: 'orders', key: 'order:7', recipe: 'mutex' };
    const byMethod = { ...about, method: 'Orders.pay' };
    expect(messages.filter(({ key }) => key === 'order:7')).toEqual([
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

  it('report each step of an election, with the ids of its participants', async () => {
    await expectElectionIn(messages, await boot());
  });
});

describe('The log of what locks do', () => {
  @Injectable()
  class Payments {
    @WithMutex('order:{0}')
    async pay(_id: string): Promise<void> {}
  }

  const boot = async (options: LockModuleOptions) => {
    const logger = new RecordingLogger();
    return { app: await apps.boot({ clients: [options], providers: [Payments], logger }), logger };
  };

  it('is not there unless it is asked for', async () => {
    const { app, logger } = await boot({});
    const lines = logger.fromNowOn();
    await app.get(Payments).pay('7');
    await app.close();
    expect(lines()).toEqual([]);
  });

  it('names lock and method at the level "verbose"', async () => {
    const { app, logger } = await boot({ logOperations: true });
    const lines = logger.fromNowOn();
    await app.get(Payments).pay('7');
    const mutex = clientOf(app).mutex('order:8');
    const held = await mutex.acquire();
    await expect(mutex.acquire({ wait: 500 })).rejects.toBeInstanceOf(LockTimeoutError);
    await held.release();

    const told = lines().map((line) => line.replaceAll(/\d+\.\d ms/g, '# ms'));
    expect(told).toEqual([
      'verbose: Lock client "default": acquired mutex "order:7" for Payments.pay after # ms',
      'verbose: Lock client "default": released mutex "order:7" for Payments.pay after # ms',
      'verbose: Lock client "default": acquired mutex "order:8" after # ms',
      'verbose: Lock client "default": waits for mutex "order:8"',
      'verbose: Lock client "default": was not granted mutex "order:8" within # ms: LockTimeoutError',
      'verbose: Lock client "default": released mutex "order:8" after # ms',
    ]);
  });

  it('is on or off, and nothing between', async () => {
    const clients = [{ logOperations: 'no' as unknown as boolean }];
    const error = await apps.bootError({ clients });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain('`logOperations`');
  });
});
