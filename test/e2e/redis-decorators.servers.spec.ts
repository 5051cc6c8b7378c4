import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  Controller,
  Get,
  Injectable,
  NotFoundException,
  Param,
  SetMetadata,
  type INestApplication,
  type OnModuleInit,
  type Type,
} from '@nestjs/common';
import type { Redis } from 'ioredis';
import request from 'supertest';
import {
  currentLease,
  InjectLockClient,
  LockClientClosedError,
  LockKeyError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
  ReadLock,
  WithMultiLock,
  WithMutex,
  WriteLock,
  type Lease,
  type Lock,
  type LockClient,
  type LockModuleOptions,
  type RedisLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { useRedis } from '../support/fixtures.js';
import { KEPT } from '../support/redis-server.js';
import { clientOf, contention, errorOf, Room, useApps } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

interface Order {
  id: number;
  customer: { address: { city: string } };
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

const server = useRedis();
const apps = useApps();

describe.each(['a connection of its own', 'a client of the user'] as const)(
  'Decorators on Redis, by %s,',
  (source) => {
    let user: Redis;
    let app: INestApplication;
    let orders: Orders;
    let client: RedisLockClient;
    /** On the same server, in another process as far as locks are concerned. */
    let second: LockClient;

    beforeEach(async () => {
      user = server().client();
      const redis =
        source === 'a client of the user' ? { client: user } : { connect: server().url };
      const shutdown = { drainTimeout: 50, unfinished: 'release' } as const;
      app = await apps.serve({
        clients: [
          { backend: 'redis', watchdogTimeout: 1_000, ...shutdown, ...redis },
          { name: 'second', backend: 'redis', connect: server().url },
        ],
        controllers: [Orders],
        providers: [Office],
      });
      orders = app.get(Orders);
      client = app.get(Office).locks;
      second = clientOf(app, 'second');
    });
    afterEach(async () => {
      await apps.end();
      expect(user.status).toBe('ready');
      expect((await user.keys('*')).filter((key) => !KEPT.test(key))).toEqual([]);
      user.disconnect();
    });

    const RIVALS: ['mutex' | 'read' | 'write' | 'several', (client: LockClient) => Lock][] = [
      ['mutex', (client) => client.mutex('orders')],
      ['read', (client) => client.readWriteLock('prices').writeLock()],
      ['write', (client) => client.readWriteLock('prices').readLock()],
      ['several', (client) => client.mutex('bills')],
    ];

    it.each(RIVALS)('hold the lock for as long as the method runs (%s)', async (method, rival) => {
      expect(await apps.held(second, rival(second), () => orders[method]())).toBe('done');
    });

    it('use the client that they name', async () => {
      expect(await apps.held(client, 'orders', () => orders.elsewhere())).toBe('done');
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
      await expect(orders.ship({ id: 1 } as Order)).rejects.toBeInstanceOf(LockKeyError);
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
      const error = await errorOf(orders.skipping());
      expect(error).toBeInstanceOf(LockTimeoutError);
      expect(error).toMatchObject({ key: 'orders' });
    });

    it('show operators which method holds a lock', async () => {
      const call = orders.mutex();
      await apps.room.entered.promise;
      expect(await client.mutex('orders').holders()).toMatchObject([
        { mode: 'alone', pid: process.pid, method: 'Orders.mutex' },
      ]);
      apps.room.open();
      await call;
    });

    it('abort the signal of the method when an operator takes the lock away, and reject its call in the end', async () => {
      const call = orders.write();
      await apps.room.entered.promise;
      const { signal } = orders.lease!;
      expect(signal.aborted).toBe(false);
      await client.readWriteLock('prices').forceUnlock('write');
      await eventually('the loss is reported', () => signal.aborted);
      expect(signal.reason).toBeInstanceOf(LockLostError);
      apps.room.open();
      await expect(call).rejects.toBe(signal.reason);
      expect(apps.room.log).toEqual(['left']);
    });

    it('end with the app: waiters are rejected, holders are notified, and the lock is free', async () => {
      const call = orders.mutex();
      await apps.room.entered.promise;
      const contended = contention(client);
      const waiting = expect(orders.inner()).rejects.toBeInstanceOf(LockClientClosedError);
      await contended;
      await apps.close(app);
      await waiting;
      expect([orders.lease!.isHeld, orders.lease!.signal.aborted]).toEqual([false, true]);
      expect(await user.exists('orders')).toBe(0);
      await expect(orders.inner()).rejects.toBeInstanceOf(LockClientClosedError);
      apps.room.open();
      await expect(call).rejects.toBe(orders.lease!.signal.reason);
    });
  },
);

/** A lease that is long enough for a busy machine, and ends long before the watchdog's of 30 s. */
const LEASE = 1_500;

/** A service that locks by that decorator. */
function importThat({ lock, decorator }: LockKind, lease = LEASE) {
  @Injectable()
  class Import {
    @lock(`import by ${decorator}`, { lease, onLost: 'ignore' })
    async untilLost(): Promise<Lease> {
      const current = currentLease()!;
      await new Promise((resolve) => current.signal.addEventListener('abort', resolve));
      return current;
    }
  }

  return Import;
}

describe('The option `lease`', () => {
  const onRedis = (): LockModuleOptions => ({ backend: 'redis', connect: server().url });
  const bootErrorOf = (provider: Type, ...clients: LockModuleOptions[]) =>
    apps.bootError({ clients, providers: [provider] });

  it.each(LOCK_KINDS)(
    'of @$decorator keeps an app on a backend without leases from starting',
    async (kind) => {
      const error = await bootErrorOf(importThat(kind), {});
      expect(error).toBeInstanceOf(LockOptionsError);
      expect(error).toMatchObject({
        option: 'lease',
        value: LEASE,
        client: 'default',
        message: `Option \`lease\` is ${LEASE}. Give none: on this backend the session is the lease, and \`sessionTimeout\` is its length, to @${kind.decorator} of Import.untilLost.`,
      });
    },
  );

  it('of each decorator is how long its lock lasts', async () => {
    const services = LOCK_KINDS.map((kind) => importThat(kind));
    const app = await apps.boot({ clients: [onRedis()], providers: services });
    const ends = LOCK_KINDS.map(async (kind, i) => {
      const begun = performance.now();
      const { isHeld } = await app.get(services[i]!).untilLost();
      const lasted = performance.now() - begun > LEASE * 0.9;
      const rival = kind.rival(clientOf(app), `import by ${kind.decorator}`);
      await eventually('the lock is free', async () => (await rival.tryAcquire())?.isHeld);
      return { kind: kind.decorator, lasted, isHeld };
    });
    expect(await Promise.all(ends)).toEqual(
      LOCK_KINDS.map(({ decorator }) => ({ kind: decorator, lasted: true, isHeld: false })),
    );
  });

  it.each([99, 1.5, 2 ** 31])('of %p is refused when the class is defined', (lease) => {
    expect(() => importThat(LOCK_KINDS[0]!, lease)).toThrow(
      `Option \`lease\` is ${lease}. Give whole milliseconds from 100 to 2^31 - 1, to @WithMutex of Import.untilLost.`,
    );
  });

  it('of several locks is refused where one of them is on a backend without', async () => {
    @Injectable()
    class Bank {
      @WithMultiLock(['a', { key: 'b', client: 'local' }], { lease: LEASE })
      async close(): Promise<number> {
        return 0;
      }
    }

    const error = await bootErrorOf(Bank, onRedis(), { name: 'local' });
    expect(error).toMatchObject({ option: 'lease', client: 'local' });
    expect(error.message).toContain('to @WithMultiLock of Bank.close.');
  });

  it('of locks that are known in the call is refused there', async () => {
    @Injectable()
    class Bank {
      @WithMultiLock((client: string) => ['a', { key: 'b', client }], { lease: LEASE })
      async close(_client: string): Promise<string> {
        return 'closed';
      }
    }

    const app = await apps.boot({
      clients: [onRedis(), { name: 'local' }],
      providers: [Bank],
    });
    expect(await app.get(Bank).close('default')).toBe('closed');
    await expect(app.get(Bank).close('local')).rejects.toMatchObject({
      option: 'lease',
      client: 'local',
    });
  });
});
