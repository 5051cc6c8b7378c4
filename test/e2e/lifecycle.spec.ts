import { describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Global,
  Injectable,
  Module,
  type BeforeApplicationShutdown,
  type INestApplication,
  type OnApplicationShutdown,
  type OnModuleDestroy,
  type OnModuleInit,
} from '@nestjs/common';
import request from 'supertest';
import {
  currentLease,
  LeaderElections,
  LockClientClosedError,
  type LockModuleOptions,
  ReadLock,
  WithMultiLock,
  WithMutex,
  type Lease,
} from '../../lib/index.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { eventually } from '../support/time.js';
import { clientOf, contention, errorOf, Room, useApps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';

const apps = useApps();

@Controller('seats')
class Seats {
  lease?: Lease;

  constructor(private readonly room: Room) {}

  @Get()
  @WithMutex('seats')
  async book(): Promise<{ isHeld: boolean }> {
    this.lease = currentLease();
    await this.room.stay(undefined);
    return { isHeld: this.lease!.isHeld };
  }
}

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('reserve')
  async reserve(): Promise<string> {
    return this.room.stay('reserved');
  }

  @WithMutex('charge')
  async charge(): Promise<string> {
    return `charged, ${await this.chargeAgain()}`;
  }

  @WithMutex('charge')
  async chargeAgain(): Promise<string> {
    return 'nested';
  }

  @WithMultiLock(['reserve', { key: 'archive', client: 'archive' }])
  async both(): Promise<string> {
    return 'both';
  }

  @ReadLock('orders', { client: 'archive', wait: 10_000 })
  async archive(): Promise<string> {
    return 'archived';
  }
}

@Controller('orders')
class OrdersController {
  constructor(private readonly orders: Orders) {}

  @Get()
  async order(): Promise<string> {
    const steps = [() => this.orders.reserve(), () => this.orders.charge()];
    const results: string[] = [];
    for (const step of [...steps, () => this.orders.both(), () => this.orders.archive()])
      results.push(await step());
    return results.join(', ');
  }
}

/** Resolves when Nest has called all hooks before it waits for the requests. */
async function shuttingDown(app: INestApplication): Promise<void> {
  await eventually('the server accepts no more', () => !app.getHttpServer().listening);
}

async function serveSeats(options: LockModuleOptions = {}) {
  const app = await apps.serve({ clients: [options], controllers: [Seats] });
  return { app, room: apps.room, client: clientOf(app) };
}

describe('An app that shuts down', () => {
  it('lets requests under way keep their locks to the end', async () => {
    const { app, room, client } = await serveSeats();
    const booking = request(app.getHttpServer()).get('/seats').then();
    await room.entered.promise;
    client.on('released', () => void room.log.push('released'));
    client.on('lost', () => void room.log.push('lost'));

    const closing = apps.close(app);
    room.open();

    expect((await booking).body).toEqual({ isHeld: true });
    await closing;
    expect(room.log).toEqual(['left', 'released']);
  });

  it('gives a request under way every lock that it asks for, of all clients, nested or not', async () => {
    const app = await apps.serve({
      clients: [{}, { name: 'archive' }],
      providers: [Orders],
      controllers: [OrdersController],
    });
    const rival = await clientOf(app).mutex('charge').acquire();
    const ordering = request(app.getHttpServer()).get('/orders').then();
    await apps.room.entered.promise;

    const contended = contention(clientOf(app), 'charge');
    const closing = apps.close(app);
    await shuttingDown(app);
    apps.room.open();
    await contended;
    await rival.release();

    expect((await ordering).text).toBe('reserved, charged, nested, both, archived');
    await closing;
  });

  it.each([
    ['', []],
    [', in the virtual time of tests too', [LockTestingModule]],
  ])(
    'bounds the waits that have no bound by shutdownTimeout, so that it ends%s',
    async (_, imports) => {
      const clients = [{ shutdownTimeout: 200 }];
      const app = await apps.serve({ clients, imports, controllers: [Seats] });
      const client = clientOf(app);
      await client.mutex('seats').acquire(); // is never released
      const failures = () => {
        const failure = new Promise((resolve) => client.on('failed', resolve));
        return failure as Promise<{ error: unknown; waitedMs: number }>;
      };

      const contended = contention(client);
      const booking = request(app.getHttpServer()).get('/seats').then();
      await contended;
      const [early, patient] = [failures(), client.mutex('seats').acquire({ wait: 60_000 })];
      const closing = apps.close(app);
      await shuttingDown(app);
      const late = errorOf(client.mutex('seats').acquire());
      const refusal = { code: 'LOCK_CLIENT_CLOSED', key: 'seats', client: 'default' };
      expect(await early).toMatchObject({ error: refusal });
      expect(await late).toMatchObject(refusal);

      expect((await booking).status).toBe(500);
      await expect(patient).rejects.toMatchObject(refusal); // its own bound counts; the client has closed before
      await closing;
      await expect(app.get(Seats).book()).rejects.toBeInstanceOf(LockClientClosedError);
    },
  );

  it.each([
    ['', []],
    [', in the virtual time of tests too', [LockTestingModule]],
  ])('bounds those of the hooks of its classes as well%s', async (_, imports) => {
    const errors: Error[] = [];

    @Injectable()
    class Ledger implements BeforeApplicationShutdown {
      @WithMutex('ledger')
      async flush(): Promise<void> {}

      async beforeApplicationShutdown(): Promise<void> {
        errors.push(await errorOf(this.flush()));
      }
    }

    @Global()
    @Module({ providers: [Ledger] })
    class LedgerModule {}

    const app = await apps.boot({
      clients: [{ shutdownTimeout: 100 }],
      imports: [...imports, LedgerModule],
      providers: [Ledger],
    });
    await clientOf(app).mutex('ledger').acquire(); // is never released
    await apps.close(app);
    const refusal = { code: 'LOCK_CLIENT_CLOSED', key: 'ledger' };
    expect(errors).toMatchObject([refusal, refusal]); // of the root module and of a global one
  });

  it('has left its elections while a request is still under way', async () => {
    const { app, room, client } = await serveSeats();
    const elections = app.get(LeaderElections);
    await elections.of('mailer').awaitLeadership();
    const booking = request(app.getHttpServer()).get('/seats').then();
    await room.entered.promise;

    const closing = apps.close(app);
    await shuttingDown(app);
    const successor = client.leaderLatch('mailer');
    successor.start();
    await successor.awaitLeadership();
    expect(elections.of('mailer').state).toBe('closed');
    await successor.close();

    room.open();
    expect((await booking).body).toEqual({ isHeld: true });
    await closing;
  });

  it('takes its leases away from work that does not end, and notifies it and its caller', async () => {
    const { app, room } = await serveSeats({ drainTimeout: 50 });
    const booking = app.get(Seats).book();
    await room.entered.promise;
    await apps.close(app);

    const lease = app.get(Seats).lease!;
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
    room.open();
    await expect(booking).rejects.toBe(lease.signal.reason);
  });

  it.each(['first', 'last'] as const)(
    'locks in all hooks, LockModule imported %s',
    async (position) => {
      const log: string[] = [];

      @Injectable()
      class Worker
        implements OnModuleInit, OnModuleDestroy, BeforeApplicationShutdown, OnApplicationShutdown
      {
        @WithMutex('work')
        async work(hook: string): Promise<void> {
          log.push(hook);
        }

        onModuleInit = () => this.work('init');
        onModuleDestroy = () => this.work('destroy');
        beforeApplicationShutdown = () => this.work('before shutdown');
        onApplicationShutdown = () => this.work('shutdown');
      }

      @Global()
      @Module({ providers: [Worker] })
      class WorkModule {}

      const app = await apps.boot({ position, imports: [WorkModule] });
      const client = clientOf(app);
      await apps.close(app);
      expect(log).toEqual(['init', 'destroy', 'before shutdown', 'shutdown']);
      await expect(client.mutex('work').acquire()).rejects.toBeInstanceOf(LockClientClosedError);
    },
  );

  it('leaves no handle open', async () => {
    const before = openHandles();

    const { app, room, client } = await serveSeats();
    room.open();
    await request(app.getHttpServer()).get('/seats').expect(200);
    const held = await client.mutex('other').acquire({ wait: 60_000 });
    const waiting = client.mutex('other').acquire({ wait: 60_000 });
    await Promise.all([apps.close(app), expect(waiting).rejects.toMatchObject({ key: 'other' })]);

    expect(held.isHeld).toBe(false);
    await noMoreHandlesThan(before);
  });
});
