import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Injectable, Module, type INestApplication } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import {
  currentLease,
  getLockClientToken,
  InjectLockClient,
  LockLostError,
  LockModule,
  LockTimeoutError,
  WithMutex,
  type LockClient,
  type LockModuleOptions,
} from '../../lib/index.js';
import { LockTesting, LockTestingModule } from '../../lib/testing/index.js';
import { Apps } from './support/apps.js';
import { noMoreHandlesThan, openHandles } from './support/open-handles.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';

@Injectable()
class Orders {
  signal?: AbortSignal;

  constructor(private readonly room: Room) {}

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

const onRedis: LockModuleOptions = { backend: 'redis', connect: 'redis://127.0.0.1:1' };

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

describe('LockTestingModule beside the module of an app', () => {
  const apps = new Apps();
  let app: INestApplication;
  let locks: LockTesting;
  let orders: Orders;
  let room: Room;

  beforeEach(async () => {
    app = await apps.boot({ imports: [AppModule, LockTestingModule] });
    [locks, orders, room] = [app.get(LockTesting), app.get(Orders), app.get(Room)];
  });
  afterEach(() => apps.close());

  it('has waits end in virtual time, whatever servers the app names', async () => {
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
    const paying = orders.pay('1');
    await room.entered.promise;
    await locks.loseLease('order:1');
    expect(orders.signal?.reason).toBeInstanceOf(LockLostError);
    room.open();
    await Promise.allSettled([paying]);
  });

  it('ends the lease of a method on Redis', async () => {
    const shipping = orders.ship('1');
    await locks.advance(9_999);
    expect(orders.signal?.aborted).toBe(false);
    await locks.advance(1);
    expect(orders.signal?.reason).toBeInstanceOf(LockLostError);
    room.open();
    await Promise.allSettled([shipping]);
  });

  it('has all of its clients, each by its name and with its own options', async () => {
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
    const paying = orders.pay('1');
    await room.entered.promise;
    await locks.suspend();
    await apps.close();
    expect(app.get<LockClient>(getLockClientToken()).status()).toMatchObject({
      state: 'CLOSED',
      held: 0,
    });
    room.open();
    await Promise.allSettled([paying]);
  });
});

describe('LockTestingModule.forRoot', () => {
  const apps = new Apps();
  afterEach(() => apps.close());

  it('stands for LockModule.forRoot, also for several clients', async () => {
    const app = await apps.boot({
      imports: [LockTestingModule.forRoot(onRedis), LockTestingModule.forRoot({ name: 'local' })],
      providers: [Orders, Prices, Room],
    });
    app.get(Room).open();
    expect(await app.get(Orders).pay('1')).toBe('paid');
    expect(await app.get(Prices).refresh()).toBe('fresh');
    const locks = app.get(LockTesting);
    await locks.expire();
    await locks.expire('local');
    const clients = [getLockClientToken(), getLockClientToken('local')];
    const states = clients.map((token) => app.get<LockClient>(token).status().state);
    expect(states).toEqual(['RECONNECTED', 'RECONNECTED']);
  });

  it('refuses what LockModule refuses of virtual clients: two of one name, a bad wait', async () => {
    const twice = [LockTestingModule.forRoot(), LockTestingModule.forRoot()];
    await expect(Test.createTestingModule({ imports: twice }).compile()).rejects.toMatchObject({
      code: 'LOCK_CLIENT_DUPLICATE',
    });
    const wrong = [LockTestingModule.forRoot({ wait: 0 })];
    await expect(Test.createTestingModule({ imports: wrong }).compile()).rejects.toMatchObject({
      option: 'wait',
    });
  });

  it('warns an app that runs on it by mistake', async () => {
    const logger = new RecordingLogger();
    const imports = [AppModule, LockTestingModule];
    await apps.boot({ imports }, (builder) => builder.setLogger(logger));
    const warnings = logger.lines.filter((line) => line.startsWith('warn:'));
    expect(warnings).toEqual([
      'warn: Lock client "default" is one for tests: no other process is excluded.',
      'warn: Lock client "local" is one for tests: no other process is excluded.',
    ]);
  });

  it('leaves nothing open behind an app', async () => {
    const before = openHandles();
    const app = await apps.boot({
      imports: [LockTestingModule.forRoot(onRedis)],
      providers: [Orders, Room],
    });
    const locks = app.get(LockTesting);
    const paying = app.get(Orders).pay('1');
    await locks.advance(60_000);
    await locks.suspend();
    await locks.advance(3_000);
    app.get(Room).open();
    await locks.resume();
    await paying;
    await apps.close();
    await noMoreHandlesThan(before);
  });
});

describe('Virtual time beside the fake timers of Jest', () => {
  const apps = new Apps();
  beforeEach(() => void jest.useFakeTimers());
  afterEach(async () => {
    await apps.close();
    jest.useRealTimers();
  });

  it('goes on when they stand still', async () => {
    const { app, locks, room, orders } = await boot();
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
    expect(app.get<LockClient>(getLockClientToken()).status().state).toBe('RECONNECTED');
  });

  it('does not move them, nor they it', async () => {
    const { locks } = await boot();
    const fired = jest.fn();
    setTimeout(fired, 1_000);
    await locks.advance(10_000);
    expect(fired).not.toHaveBeenCalled();
    jest.advanceTimersByTime(1_000);
    expect(fired).toHaveBeenCalledTimes(1);
    expect(locks.now).toBe(10_000);
  });

  async function boot() {
    const app = await apps.boot({ imports: [AppModule, LockTestingModule] });
    return { app, locks: app.get(LockTesting), orders: app.get(Orders), room: app.get(Room) };
  }
});
