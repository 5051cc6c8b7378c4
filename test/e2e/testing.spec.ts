import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type INestApplication, type Provider } from '@nestjs/common';
import { from, lastValueFrom, of, throwError, toArray, type Observable } from 'rxjs';
import {
  currentLease,
  InjectLockClient,
  LOCK_INTERCEPTOR,
  LockLostError,
  LockModule,
  LockStream,
  LockTimeoutError,
  RunOnce,
  WithMutex,
  type LockClient,
  type LockModuleOptions,
} from '../../lib/index.js';
import {
  LockTesting,
  LockTestingModule,
  RedisLockTestingModule,
  withoutLocks,
} from '../../lib/testing/index.js';
import { clientOf, RecordingLogger, Room, useApp, useApps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';

@Injectable()
class Orders {
  signal?: AbortSignal;

  constructor(readonly room: Room) {}

  @WithMutex('order:{0}', { wait: 5_000 })
  async pay(_id: string): Promise<string> {
    this.signal = currentLease()?.signal;
    return this.room.stay('paid');
  }

  @WithMutex('order:{0}', { lease: 10_000 })
  async ship(id: string): Promise<string> {
    return this.pay(id);
  }
}

@Injectable()
class Prices {
  constructor(@InjectLockClient('local') readonly locks: LockClient) {}

  @WithMutex('prices', { client: 'local' })
  async refresh(): Promise<string> {
    return 'fresh';
  }
}

const onRedis: LockModuleOptions = {
  backend: 'redis',
  connect: 'redis://127.0.0.1:1',
  drainTimeout: 200,
};

/** An app as users have it: on servers, which are not there. */
@Module({
  imports: [
    LockModule.forRoot(onRedis),
    LockModule.forRootAsync({
      name: 'local',
      useFactory: () => ({ backend: 'zookeeper', connect: '127.0.0.1:1', wait: 200 }),
    }),
  ],
  providers: [Orders, Prices, Room],
})
class AppModule {}

const MODULES = [
  { name: 'LockTestingModule', module: LockTestingModule },
  { name: 'RedisLockTestingModule', module: RedisLockTestingModule },
];
const testedBy = (module: (typeof MODULES)[number]['module']) => ({
  clients: [],
  imports: [AppModule, module],
});
const partsOf = (app: INestApplication) => {
  const orders = app.get(Orders);
  return { locks: app.get(LockTesting), orders, room: orders.room };
};

describe.each(MODULES)('$name beside the module of an app', ({ module }) => {
  const app = useApp(() => testedBy(module));

  it('has waits end in virtual time, whatever servers the app names', async () => {
    const { locks, orders, room } = partsOf(app.nest);
    const first = orders.pay('1');
    const second = expect(orders.pay('1')).rejects.toBeInstanceOf(LockTimeoutError);
    await locks.advance(4_999);
    expect(locks.waiting()).toMatchObject([{ key: 'order:1', method: 'Orders.pay' }]);
    await locks.advance(1);
    await second;
    expect(locks.held()).toMatchObject([{ key: 'order:1', method: 'Orders.pay', forMs: 5_000 }]);
    room.open();
    expect(await first).toBe('paid');
    expect(locks.held()).toEqual([]);
  });

  it('notifies a method of the loss of its lock', async () => {
    const { locks, orders, room } = partsOf(app.nest);
    const paying = orders.pay('1');
    await room.entered.promise;
    await locks.loseLease('order:1');
    expect(orders.signal?.reason).toBeInstanceOf(LockLostError);
    room.open();
    await Promise.allSettled([paying]);
  });

  it('ends the lease of a method on Redis', async () => {
    const { locks, orders, room } = partsOf(app.nest);
    const shipping = orders.ship('1');
    const before = module === RedisLockTestingModule ? 200 : 1; // it allows for clocks that differ by a hundredth
    await locks.advance(10_000 - before);
    expect(orders.signal?.aborted).toBe(false);
    await locks.advance(before);
    expect(orders.signal?.reason).toBeInstanceOf(LockLostError);
    room.open();
    await Promise.allSettled([shipping]);
  });

  it('has all of its clients, each by its name and with its own options', async () => {
    const { locks } = partsOf(app.nest);
    const prices = app.get(Prices);
    expect(await prices.refresh()).toBe('fresh');
    const held = await prices.locks.mutex('prices').acquire();
    expect([locks.held().length, locks.held('local').length]).toEqual([0, 1]);
    const wait = expect(prices.refresh()).rejects.toMatchObject({ waitedMs: 200 });
    await locks.advance(200);
    await wait;
    await held.release();
  });

  it('closes while a client is suspended, and takes its locks back', async () => {
    const { locks, orders, room } = partsOf(app.nest);
    const paying = orders.pay('1');
    await room.entered.promise;
    await locks.suspend();
    await app.close();
    expect(app.client.status()).toMatchObject({ state: 'CLOSED', held: 0 });
    room.open();
    await Promise.allSettled([paying]);
  });
});

describe.each(MODULES)('$name.forRoot', ({ module }) => {
  const apps = useApps();

  it('stands for LockModule.forRoot, also for several clients', async () => {
    const app = await apps.boot({
      clients: [],
      imports: [module.forRoot(onRedis), module.forRoot({ name: 'local' })],
      providers: [Orders, Prices],
    });
    apps.room.open();
    expect(await app.get(Orders).pay('1')).toBe('paid');
    expect(await app.get(Prices).refresh()).toBe('fresh');
    const locks = app.get(LockTesting);
    await locks.expire();
    await locks.expire('local');
    const health = ['default', 'local'].map((name) => clientOf(app, name).status().health);
    expect(health).toEqual(['up', 'up']);
  });

  it.each([
    ['two of one name', [{}, {}], { code: 'LOCK_CLIENT_DUPLICATE' }],
    ['a bad wait', [{ wait: 0 }], { option: 'wait' }],
  ])('refuses what LockModule refuses of virtual clients: %s', async (_, clients, refusal) => {
    const imports = clients.map((options) => module.forRoot(options));
    expect(await apps.bootError({ clients: [], imports })).toMatchObject(refusal);
  });

  it('warns an app that runs on it by mistake', async () => {
    const logger = new RecordingLogger();
    await apps.boot({ ...testedBy(module), logger });
    expect(logger.lines.filter((line) => line.startsWith('warn:'))).toEqual([
      'warn: Lock client "default" is one for tests: no other process is excluded.',
      'warn: Lock client "local" is one for tests: no other process is excluded.',
    ]);
  });

  it('leaves nothing open behind an app', async () => {
    const before = openHandles();
    const app = await apps.boot({
      clients: [],
      imports: [module.forRoot(onRedis)],
      providers: [Orders],
    });
    const { locks, orders, room } = partsOf(app);
    const paying = orders.pay('1');
    await locks.advance(60_000);
    await locks.suspend();
    await locks.advance(3_000);
    room.open();
    await locks.resume();
    await paying;
    await apps.close();
    await noMoreHandlesThan(before);
  });
});

describe.each(MODULES)('Virtual time of $name beside the fake timers of Jest', ({ module }) => {
  const apps = useApps();
  beforeEach(() => void jest.useFakeTimers());
  afterEach(async () => {
    await apps.close();
    jest.useRealTimers();
  });

  it('goes on when they stand still', async () => {
    const app = await apps.boot(testedBy(module));
    const { locks, room, orders } = partsOf(app);
    const first = orders.pay('1');
    const second = expect(orders.pay('1')).rejects.toBeInstanceOf(LockTimeoutError);
    await locks.advance(5_000);
    await second;
    await locks.suspend();
    await locks.advance(1_000);
    await locks.resume();
    expect(locks.held()).toHaveLength(1);
    await locks.loseLease('order:1');
    room.open();
    await Promise.allSettled([first]);
    await locks.suspend();
    await locks.advance(60_000);
    await locks.resume();
    await locks.expire();
    expect(await orders.pay('2')).toBe('paid');
    expect(clientOf(app).status().health).toBe('up');
  });

  it('does not move them, nor they it', async () => {
    const { locks } = partsOf(await apps.boot(testedBy(module)));
    const fired = jest.fn();
    setTimeout(fired, 1_000);
    await locks.advance(10_000);
    expect(fired).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    expect(fired).toHaveBeenCalledTimes(1);
    expect(locks.now).toBe(10_000);
  });

  it('ends the wait of a shutdown for work that does not end', async () => {
    const app = await apps.boot(testedBy(module));
    const { locks, orders, room } = partsOf(app);
    const paying = orders.pay('1');
    await locks.advance(0);
    await apps.close(app);
    expect(orders.signal?.aborted).toBe(true);
    expect(clientOf(app).status().state).toBe('CLOSED');
    room.open();
    await Promise.allSettled([paying]);
  });
});

describe.each([
  { backend: 'what stands for the embedded backend', module: LockTestingModule, options: {} },
  { backend: 'what stands for Redis', module: LockTestingModule, options: onRedis },
  { backend: 'a simulated Redis', module: RedisLockTestingModule, options: onRedis },
])('@RunOnce in virtual time, on $backend', ({ module, options }) => {
  @Injectable()
  class Reports {
    runs = 0;

    constructor(private readonly room: Room) {}

    @RunOnce('nightly-report', { atMost: 60_000, atLeast: 10_000 })
    async nightly(): Promise<string | undefined> {
      this.runs += 1;
      return this.room.stay('sent');
    }

    @RunOnce('brief-report', { atMost: 60_000, atLeast: 1_000 })
    async brief(): Promise<string | undefined> {
      this.runs += 1;
      return 'sent';
    }

    @RunOnce('ticking-report', { atMost: 60_000, atLeast: 1_000, occurrence: () => 1_000 })
    async ticking(): Promise<string | undefined> {
      this.runs += 1;
      return 'sent';
    }

    @RunOnce('hourly-report', { atMost: 60_000, occurrence: '0 * * * *' })
    async hourly(): Promise<string | undefined> {
      this.runs += 1;
      return 'sent';
    }
  }

  const app = useApp(() => ({
    clients: [],
    imports: [module.forRoot(options)],
    providers: [Reports],
  }));
  const parts = () => ({ reports: app.get(Reports), locks: app.get(LockTesting) });

  it('skips other calls while it runs, and for `atLeast` from its start', async () => {
    const { reports, locks } = parts();
    const running = reports.nightly();
    await locks.advance(1_000);
    expect(await reports.nightly()).toBeUndefined();
    app.room.open();
    expect(await running).toBe('sent');
    await locks.advance(8_999);
    expect(await reports.nightly()).toBeUndefined();
    await locks.advance(module === RedisLockTestingModule ? 2 : 1); // a key of Redis ends after its time, not at it
    expect(await reports.nightly()).toBe('sent');
    expect(reports.runs).toBe(2);
  });

  it('runs nothing on a grant that comes later than `atLeast`, and gives it back at once', async () => {
    const { reports, locks } = parts();
    await locks.suspend();
    const late = expect(reports.brief()).rejects.toThrow(/the grant came 1001 ms after the call/);
    await locks.advance(1_001);
    await locks.resume();
    await late;
    expect(reports.runs).toBe(0);
    expect(await reports.brief()).toBe('sent');
  });

  it('runs an occurrence on a late grant, as no other has run it', async () => {
    const { reports, locks } = parts();
    await locks.suspend();
    const late = reports.ticking();
    await locks.advance(1_001);
    await locks.resume();
    expect(await late).toBe('sent');
    await locks.advance(1_000);
    expect(await reports.ticking()).toBeUndefined();
  });

  it('runs an occurrence once, by the clock of the test runner', async () => {
    const { reports } = parts();
    jest.useFakeTimers();
    const sent = [];
    for (const time of ['03:00:00', '03:59:59', '04:00:00', '03:00:00']) {
      jest.setSystemTime(new Date(`2031-03-01T${time}`));
      sent.push(await reports.hourly());
    }
    expect(sent).toEqual(['sent', undefined, 'sent', undefined]);
    jest.useRealTimers();
  });

  it('gives up a run at `atMost`, so that another may begin', async () => {
    const { reports, locks } = parts();
    const endless = expect(reports.nightly()).rejects.toBeInstanceOf(LockLostError);
    await locks.advance(59_999);
    expect(await reports.nightly()).toBeUndefined();
    await locks.advance(1);
    const second = reports.nightly();
    await locks.advance(0);
    expect(reports.runs).toBe(2);
    app.room.open();
    await endless;
    expect(await second).toBe('sent');
  });
});

const proceed = (_plan: unknown, _args: unknown, run: () => unknown) => run();

describe.each<{ how: string; provider: Provider }>([
  { how: '`withoutLocks`', provider: withoutLocks },
  {
    how: 'an interceptor of its own',
    provider: { provide: LOCK_INTERCEPTOR, useValue: { around: proceed, stream: proceed } },
  },
])('A class with locked methods in a test without LockModule, with $how', ({ provider }) => {
  @Injectable()
  class Reports {
    @WithMutex('report:{0}')
    async write(id: string): Promise<string> {
      return `${id} ${currentLease() === undefined ? 'without' : 'with'} a lease`;
    }

    @WithMutex('failing')
    async fail(error: Error): Promise<never> {
      throw error;
    }

    @LockStream('report:{0}')
    follow(id: string): Observable<string> {
      return of(`${id} begins`, `${id} ends`);
    }

    @LockStream('report:{0}')
    async *lines(id: string): AsyncGenerator<string> {
      yield `${id} begins`;
      yield `${id} ends`;
    }

    @LockStream('failing')
    failLater(error: Error): Observable<never> {
      return throwError(() => error);
    }
  }

  const app = useApp(() => ({ clients: [], providers: [Reports, provider] }));

  it('runs them, and their errors are the same objects', async () => {
    const error = new Error('of the user');
    expect(await app.get(Reports).write('1')).toBe('1 without a lease');
    await expect(app.get(Reports).fail(error)).rejects.toBe(error);
  });

  it.each(['follow', 'lines'] as const)('streams what %s gives', async (method) => {
    const stream = from(app.get(Reports)[method]('1')).pipe(toArray());
    expect(await lastValueFrom<string[]>(stream)).toEqual(['1 begins', '1 ends']);
  });

  it('streams an error as it is', async () => {
    const error = new Error('of the user');
    await expect(lastValueFrom(app.get(Reports).failLater(error))).rejects.toBe(error);
  });
});
