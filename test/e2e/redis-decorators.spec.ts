import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  NotFoundException,
  Param,
  SetMetadata,
  type INestApplication,
  type OnModuleInit,
} from '@nestjs/common';
import type { Redis } from 'ioredis';
import 'reflect-metadata';
import request from 'supertest';
import {
  currentLease,
  InjectLockClient,
  LockClientClosedError,
  LockKeyError,
  LockLostError,
  LockModule,
  LockTimeoutError,
  ReadLock,
  WithMultiLock,
  WithMutex,
  WriteLock,
  type Lease,
  type Lock,
  type LockClient,
  type RedisLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { Room } from './support/room.js';
import { KEPT } from '../support/kept-keys.js';

interface Order {
  id: number;
  customer?: { address?: { city?: string } };
}

@Injectable()
@Controller('orders')
class Orders implements OnModuleInit {
  initialisedUnder?: Lease;
  lease?: Lease;

  constructor(private readonly room: Room) {}

  @WithMutex('init')
  async onModuleInit(): Promise<void> {
    this.initialisedUnder = currentLease();
  }

  @WithMutex('orders')
  async mutex(): Promise<string> {
    return this.#stay();
  }

  @ReadLock('prices')
  async read(): Promise<string> {
    return this.#stay();
  }

  @WriteLock('prices')
  async write(): Promise<string> {
    return this.#stay();
  }

  @WithMultiLock(['bills', 'orders'])
  async several(): Promise<string> {
    return this.#stay();
  }

  @WithMutex('orders', { client: 'second' })
  async elsewhere(): Promise<string> {
    return this.#stay();
  }

  @WithMutex('orders')
  async nested(): Promise<bigint[]> {
    const token = await currentLease()!.fencingToken();
    return [token, ...(await this.inner())];
  }

  @WithMutex('orders')
  async inner(): Promise<bigint[]> {
    return [await currentLease()!.fencingToken()];
  }

  @WithMutex('city:{0.customer.address.city}')
  async ship(_order: Order): Promise<string> {
    return currentLease()!.key;
  }

  @WithMutex('{0.customer}')
  async bill(_order: Order): Promise<void> {}

  @WithMutex('outer', { onBusy: 'skip' })
  async skipping(): Promise<string | undefined> {
    return this.impatient();
  }

  @WithMutex('orders', { wait: 20 })
  async impatient(): Promise<string> {
    return 'done';
  }

  @WithMutex((id: string) => `order:${id}`)
  @Get(':id')
  @SetMetadata('roles', ['admin'])
  async find(@Param('id') id: string): Promise<{ id: string; isHeld: boolean }> {
    if (id === '404') throw new NotFoundException('no such order');
    return { id, isHeld: currentLease()!.isHeld };
  }

  #stay(): Promise<string> {
    this.lease = currentLease();
    return this.room.stay('done');
  }
}

@Injectable()
class Office {
  constructor(@InjectLockClient() readonly locks: RedisLockClient) {}
}

describe.each(['a connection of its own', 'a client of the user'] as const)(
  'Decorators on Redis, by %s,',
  (source) => {
    const apps = new Apps();
    let server: RedisServer;
    let user: Redis;
    let app: INestApplication;
    let room: Room;
    let orders: Orders;
    let client: RedisLockClient;
    /** On the same server, in another process as far as locks are concerned. */
    let second: LockClient;

    beforeAll(async () => {
      server = await RedisServer.start();
    });
    beforeEach(async () => {
      user = server.client();
      room = new Room();
      const redis = source === 'a client of the user' ? { client: user } : { connect: server.url };
      app = await apps.serve({
        imports: [
          LockModule.forRoot({ backend: 'redis', watchdogTimeout: 1_000, ...redis }),
          LockModule.forRoot({ name: 'second', backend: 'redis', connect: server.url }),
        ],
        controllers: [Orders],
        providers: [Office, { provide: Room, useValue: room }],
      });
      orders = app.get(Orders);
      client = app.get(Office).locks;
      second = clientOf(app, 'second');
    });
    afterEach(async () => {
      room.open();
      await apps.close();
      expect(user.status).toBe('ready');
      expect((await user.keys('*')).filter((key) => !KEPT.test(key))).toEqual([]);
      user.disconnect();
    });
    afterAll(() => server.stop());

    const RIVALS: ['mutex' | 'read' | 'write' | 'several', (client: LockClient) => Lock][] = [
      ['mutex', (client) => client.mutex('orders')],
      ['read', (client) => client.readWriteLock('prices').writeLock()],
      ['write', (client) => client.readWriteLock('prices').readLock()],
      ['several', (client) => client.mutex('bills')],
    ];

    it.each(RIVALS)('hold the lock for as long as the method runs (%s)', async (method, rival) => {
      expect(await expectHeld(second, rival(second), room, () => orders[method]())).toBe('done');
    });

    it('use the client that they name', async () => {
      expect(await expectHeld(client, 'orders', room, () => orders.elsewhere())).toBe('done');
    });

    it('lock before the module is initialised', () => {
      expect(orders.initialisedUnder).toMatchObject({ key: 'init', isHeld: false });
    });

    it('re-enter at once, with the same fencing token, which grows with each grant', async () => {
      const first = await orders.nested();
      expect(new Set(first).size).toBe(1);
      const [next] = await orders.inner();
      expect(next).toBeGreaterThan(first[0]!);
    });

    it('keep a deep part of an argument apart, and refuse an object as a key', async () => {
      const to = (city: string): Order => ({ id: 1, customer: { address: { city } } });
      expect(await orders.ship(to('Oslo'))).toBe('city:Oslo');
      expect(await orders.ship(to('Bergen'))).toBe('city:Bergen');
      await expect(orders.ship({ id: 1 })).rejects.toBeInstanceOf(LockKeyError);
      await expect(orders.bill(to('Oslo'))).rejects.toBeInstanceOf(LockKeyError);
    });

    it('leave routes and metadata as they are, above them too', async () => {
      const http = request(app.getHttpServer());
      await http.get('/orders/7').expect(200, { id: '7', isHeld: true });
      expect(Reflect.getMetadata('roles', Orders.prototype.find)).toEqual(['admin']);
    });

    it('let the errors of the method come out as they are', async () => {
      const http = request(app.getHttpServer());
      await http.get('/orders/404').expect(404);
      await http.get('/orders/404').expect(404); // the lock is free again
    });

    it('do not take the timeout of an inner lock for their own', async () => {
      await using _ = await second.mutex('orders').acquire();
      const error = await orders.skipping().catch((error: unknown) => error);
      expect(error).toBeInstanceOf(LockTimeoutError);
      expect(error).toMatchObject({ key: 'orders' });
    });

    it('show operators which method holds a lock', async () => {
      const call = orders.mutex();
      await room.entered.promise;
      expect(await client.mutex('orders').holders()).toMatchObject([
        { mode: 'alone', pid: process.pid, method: 'Orders.mutex' },
      ]);
      room.open();
      await call;
    });

    it('abort the signal of the method when an operator takes the lock away, and reject its call in the end', async () => {
      const call = orders.write();
      await room.entered.promise;
      const { signal } = orders.lease!;
      expect(signal.aborted).toBe(false);
      await client.readWriteLock('prices').forceUnlock('write');
      await eventually('the loss is reported', () => signal.aborted);
      expect(signal.reason).toBeInstanceOf(LockLostError);
      room.open();
      await expect(call).rejects.toBe(signal.reason);
      expect(room.log).toEqual(['left']);
    });

    it('end with the app: waiters are rejected, holders are notified, and the lock is free', async () => {
      const call = orders.mutex();
      await room.entered.promise;
      const contended = new Promise<void>(
        (resolve) => void client.on('contended', () => resolve()),
      );
      const waiting = expect(orders.inner()).rejects.toBeInstanceOf(LockClientClosedError);
      await contended;
      await apps.close(app);
      await waiting;
      expect([orders.lease!.isHeld, orders.lease!.signal.aborted]).toEqual([false, true]);
      expect(await user.exists('orders')).toBe(0);
      await expect(orders.inner()).rejects.toBeInstanceOf(LockClientClosedError);
      room.open();
      await expect(call).rejects.toBe(orders.lease!.signal.reason);
    });
  },
);
