import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of } from 'rxjs';
import {
  currentLease,
  LockDecoratorTargetError,
  LockModule,
  LockTimeoutError,
  WithMutex,
  type Lease,
  type LockClient,
} from '../../lib/index.js';
import { Deferred } from '../support/deferred.js';
import { Apps, clientOf } from './support/apps.js';
import { expectHeld } from './support/expect-held.js';
import { Room } from './support/room.js';

@Injectable()
class Orders {
  constructor(private readonly room: Room) {}

  @WithMutex('orders')
  async run<T>(body: () => Promise<T> | T): Promise<T> {
    return body();
  }

  @WithMutex('orders')
  async nested(): Promise<string> {
    return this.run(() => this.run(() => 'deep'));
  }

  @WithMutex('other')
  async siblings(...bodies: (() => Promise<void>)[]): Promise<void> {
    await Promise.all(bodies.map((body) => this.run(body)));
  }

  @WithMutex('orders', { wait: 20 })
  async impatient(): Promise<void> {}

  @WithMutex('outer')
  @WithMutex('inner')
  async twice(): Promise<void> {
    await this.room.stay(undefined);
  }
}

describe('A @WithMutex method', () => {
  const apps = new Apps();
  let room: Room;
  let orders: Orders;
  let client: LockClient;

  beforeEach(async () => {
    room = new Room();
    const app = await apps.boot({
      imports: [LockModule.forRoot()],
      providers: [Orders, { provide: Room, useValue: room }],
    });
    orders = app.get(Orders);
    client = clientOf(app);
  });
  afterEach(() => apps.close());

  async function isFree(key: string): Promise<boolean> {
    const lease = await client.mutex(key).tryAcquire();
    await lease?.release();
    return lease !== undefined;
  }

  it('gives what it returns, and leaves the lock free', async () => {
    const result = { total: 3 };
    expect(await orders.run(() => result)).toBe(result);
    expect(await isFree('orders')).toBe(true);
  });

  it('fails with the very error of its body, and leaves the lock free', async () => {
    const error = new RangeError('no such order');
    await expect(orders.run(() => Promise.reject(error))).rejects.toBe(error);
    expect(await isFree('orders')).toBe(true);
  });

  it('finds its lease inside, and nowhere else', async () => {
    const seen = await orders.run(() => {
      const lease = currentLease()!;
      return { key: lease.key, isHeld: lease.isHeld, isAborted: lease.signal.aborted };
    });
    expect(seen).toEqual({ key: 'orders', isHeld: true, isAborted: false });
    expect(currentLease()).toBeUndefined();
  });

  it('gets a higher fencing token with every call', async () => {
    const token = () => orders.run(() => currentLease()!.fencingToken());
    const tokens = [await token(), await token(), await token()];
    expect([...tokens].sort((a, b) => Number(a - b))).toEqual(tokens);
    expect(new Set(tokens).size).toBe(3);
  });

  it('re-enters when it calls itself', async () => {
    expect(await orders.nested()).toBe('deep');
  });

  it('keeps siblings of one caller apart', async () => {
    const log: string[] = [];
    const visit = (name: string) => async () => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
    };
    await orders.siblings(visit('a'), visit('b'));
    const [first, second] = log[0] === 'a in' ? ['a', 'b'] : ['b', 'a'];
    expect(log).toEqual([`${first} in`, `${first} out`, `${second} in`, `${second} out`]);
  });

  it('does not re-enter from work that it has left behind', async () => {
    const goOn = new Deferred();
    let leftBehind: Promise<unknown> | undefined;
    let lease: Lease | undefined;
    await orders.run(() => {
      lease = currentLease();
      leftBehind = goOn.promise.then(() => orders.impatient());
    });
    expect(lease?.isHeld).toBe(false);

    const other = await client.mutex('orders').acquire();
    goOn.resolve();
    await expect(leftBehind).rejects.toBeInstanceOf(LockTimeoutError);
    await other.release();
  });

  it('with two locks takes the upper one first', async () => {
    const keys: string[] = [];
    client.on('acquired', ({ key }) => void keys.push(key));
    room.open();
    await orders.twice();
    expect(keys).toEqual(['outer', 'inner']);
  });

  it.each(['outer', 'inner'])('with two locks holds the %s one', async (key) => {
    await expectHeld(client, key, room, () => orders.twice());
  });

  it('may not give an Observable, which would run without the lock', async () => {
    const error = await orders.run(() => of(1)).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error).toMatchObject({ code: 'LOCK_DECORATOR_TARGET', method: 'Orders.run' });
  });
});
