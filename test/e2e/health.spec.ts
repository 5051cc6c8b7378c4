import { afterAll, afterEach, beforeAll, describe, expect, it } from '@jest/globals';
import { Controller, Get, Module, type INestApplication } from '@nestjs/common';
import {
  HealthCheck,
  HealthCheckService,
  HealthIndicatorService,
  TerminusModule,
} from '@nestjs/terminus';
import request from 'supertest';
import { LockHealthIndicator } from '../../lib/health/index.js';
import {
  LockClientUnknownError,
  LockModule,
  LockOptionsError,
  type LockModuleOptions,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';

/** No stall of this machine takes so long, in ms. */
const PATIENCE = 20_000;

@Controller('health')
class HealthController {
  constructor(
    private readonly health: HealthCheckService,
    private readonly locks: LockHealthIndicator,
  ) {}

  @Get()
  @HealthCheck()
  check() {
    return this.health.check([() => this.locks.pingCheck('locks', { timeout: PATIENCE })]);
  }

  @Get('strict')
  @HealthCheck()
  checkStrictly() {
    const options = { timeout: PATIENCE, failOn: 'degraded' } as const;
    return this.health.check([() => this.locks.pingCheck('locks', options)]);
  }

  @Get('impatient')
  @HealthCheck()
  checkImpatiently() {
    return this.health.check([() => this.locks.pingCheck('locks', { timeout: 200 })]);
  }

  @Get('all')
  @HealthCheck()
  checkAll() {
    return this.health.check([() => this.locks.pingCheckAll('locks', { timeout: PATIENCE })]);
  }
}

@Module({
  imports: [TerminusModule.forRoot({ logger: false })],
  controllers: [HealthController],
  providers: [LockHealthIndicator],
})
class HealthModule {}

const apps = new Apps();
afterEach(() => apps.close());

async function serve(...clients: LockModuleOptions[]) {
  const locks = clients.map((options) => LockModule.forRoot(options));
  const app = await apps.serve({ imports: [...locks, HealthModule] });
  return { app, get: (path = '') => health(app, path) };
}

/** Status, and what is reported of the lock client. */
async function health(app: INestApplication, path: string) {
  const { status, body } = await request(app.getHttpServer()).get(`/health${path}`);
  return { status, locks: body.details.locks, details: body.details, error: body.error };
}

describe('GET /health of an app with embedded locks', () => {
  it('is 200, with the state of the client', async () => {
    const { app, get } = await serve({});
    const client = clientOf(app);
    await using _ = await client.mutex('seat').acquire();
    const leave = new AbortController();
    const waiting = client.mutex('seat').acquire({ signal: leave.signal });
    waiting.catch(() => {});
    const { status, locks } = await get();
    expect(status).toBe(200);
    expect(locks).toEqual({
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

describe('GET /health of an app with locks on Redis', () => {
  let server: RedisServer;
  const onRedis = (watchdogTimeout: number): LockModuleOptions => {
    const { host, port } = server;
    const connect = { host, port, disconnectTimeout: 0 };
    return { backend: 'redis', connect, watchdogTimeout };
  };

  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(() => server.stop());

  it('is 200 and degraded while the server is gone and locks may still be held, 503 where that is not enough', async () => {
    const { app, get } = await serve(onRedis(90_000));
    expect(await get()).toMatchObject({ status: 200, locks: { status: 'up', health: 'up' } });
    await server.kill();
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

    await server.restart();
    await eventually('it is back', async () => (await get('/strict')).status === 200);
  });

  it('is 503 when the server is gone for longer than its locks last, and 200 when it is back', async () => {
    const { app, get } = await serve(onRedis(1_000));
    await server.kill();
    await eventually('it is down', () => clientOf(app).status().health === 'down');
    expect(await get()).toMatchObject({
      status: 503,
      error: { locks: { health: 'down', state: 'LOST' } },
    });
    await server.restart();
    await eventually('it is back', async () => (await get()).status === 200);
  });

  it('is 503 while the server is connected and does not answer', async () => {
    const { get } = await serve(onRedis(90_000));
    server.freeze();
    const { status, error } = await get('/impatient');
    server.thaw();
    expect(status).toBe(503);
    expect(error.locks).toMatchObject({
      health: 'down',
      state: 'CONNECTED',
      message: expect.stringContaining('had no answer within 200 ms'),
    });
    expect((await get()).status).toBe(200);
  });
});

describe('GET /health of an app with locks on three independent Redis servers', () => {
  let servers: RedisServer[];

  beforeAll(async () => {
    servers = await Promise.all([RedisServer.start(), RedisServer.start(), RedisServer.start()]);
  });
  afterAll(() => Promise.all(servers.map((server) => server.stop())));

  it('is degraded without one of them, and 503 without two', async () => {
    const nodes = servers.map(({ host, port }) => ({ host, port, disconnectTimeout: 0 }));
    const { app, get } = await serve({ backend: 'redis', nodes, watchdogTimeout: 90_000 });
    const areConnected = (count: number) =>
      eventually(`${count} are connected`, () => {
        return clientOf(app).status().servers?.connected === count;
      });
    await areConnected(3);
    expect(await get()).toMatchObject({ status: 200, locks: { health: 'up' } });

    await servers[0]!.kill();
    await areConnected(2);
    expect(await get()).toMatchObject({
      status: 200,
      locks: { health: 'degraded', servers: { connected: 2, total: 3 } },
    });

    await servers[1]!.kill();
    await areConnected(1);
    expect(await get()).toMatchObject({ status: 503, locks: { status: 'down' } });
  });
});

describe('LockHealthIndicator', () => {
  it('reports a degraded client as up where Terminus has no word for it', async () => {
    const older = new HealthIndicatorService();
    const app = await apps.boot({ imports: [LockModule.forRoot(), HealthModule] }, (builder) =>
      builder.overrideProvider(HealthIndicatorService).useValue({
        check: (key: string) => {
          const session = older.check(key);
          return { up: session.up.bind(session), down: session.down.bind(session) };
        },
      }),
    );
    const client = clientOf(app);
    const status = { ...client.status(), health: 'degraded', state: 'SUSPENDED' } as const;
    client.status = () => status;
    const { locks } = await app.get(LockHealthIndicator, { strict: false }).pingCheck('locks');
    expect(locks).toMatchObject({ status: 'up', health: 'degraded' });
  });

  it('refuses unknown clients and wrong options', async () => {
    const app = await apps.boot({ imports: [LockModule.forRoot(), HealthModule] });
    const indicator = app.get(LockHealthIndicator, { strict: false });
    const check = (options: object) => indicator.pingCheck('locks', options);
    await expect(check({ client: 'bank' })).rejects.toBeInstanceOf(LockClientUnknownError);
    await expect(check({ timeout: 0 })).rejects.toBeInstanceOf(LockOptionsError);
    await expect(check({ failOn: 'up' })).rejects.toBeInstanceOf(LockOptionsError);
  });
});
