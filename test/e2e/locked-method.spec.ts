import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of } from 'rxjs';
import {
  currentLease,
  LockDecoratorTargetError,
  LockModule,
  LockTimeoutError,
  type Lease,
  type LockClient,
} from '../../lib/index.js';
import { Deferred } from '../support/deferred.js';
import { Apps, clientOf } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

/** A service that locks by that decorator. */
function serviceThat({ lock }: LockKind) {
  @Injectable()
  class Orders {
    @lock('orders')
    async run<T>(body: () => Promise<T> | T): Promise<T> {
      return body();
    }

    @lock('orders', { wait: 20 })
    async impatient(): Promise<void> {}
  }

  return Orders;
}

describe.each(LOCK_KINDS)('A method with @$decorator', (kind) => {
  const Orders = serviceThat(kind);
  const apps = new Apps();
  let orders: InstanceType<typeof Orders>;
  let client: LockClient;

  beforeEach(async () => {
    const app = await apps.boot({ imports: [LockModule.forRoot()], providers: [Orders] });
    orders = app.get(Orders);
    client = clientOf(app);
  });
  afterEach(() => apps.close());

  async function isFree(): Promise<boolean> {
    const lease = await kind.rival(client, 'orders').tryAcquire();
    await lease?.release();
    return lease !== undefined;
  }

  it('gives what it returns, and leaves the lock free', async () => {
    const result = { total: 3 };
    expect(await orders.run(() => result)).toBe(result);
    expect(await isFree()).toBe(true);
  });

  it('fails with the very error of its body, and leaves the lock free', async () => {
    const error = new RangeError('no such order');
    await expect(orders.run(() => Promise.reject(error))).rejects.toBe(error);
    expect(await isFree()).toBe(true);
  });

  it('finds its lease inside, and nowhere else', async () => {
    const seen = await orders.run(() => {
      const lease = currentLease()!;
      return { key: lease.key, isHeld: lease.isHeld, isAborted: lease.signal.aborted };
    });
    const key = expect.stringMatching(/\borders$/); // a multi-lock names all its keys
    expect(seen).toEqual({ key, isHeld: true, isAborted: false });
    expect(currentLease()).toBeUndefined();
  });

  it('gets a higher fencing token with every call', async () => {
    const token = () => orders.run(() => currentLease()!.fencingToken());
    const tokens = [await token(), await token(), await token()];
    expect([...tokens].sort((a, b) => Number(a - b))).toEqual(tokens);
    expect(new Set(tokens).size).toBe(3);
  });

  it('does not count work that it has left behind as inside', async () => {
    const goOn = new Deferred();
    let leftBehind: Promise<unknown> | undefined;
    let lease: Lease | undefined;
    await orders.run(() => {
      lease = currentLease();
      leftBehind = goOn.promise.then(() => orders.impatient());
    });
    expect(lease?.isHeld).toBe(false);

    const other = await kind.rival(client, 'orders').acquire();
    goOn.resolve();
    await expect(leftBehind).rejects.toBeInstanceOf(LockTimeoutError);
    await other.release();
  });

  it('may not give an Observable, which would run without the lock', async () => {
    const error = await orders.run(() => of(1)).catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error).toMatchObject({ code: 'LOCK_DECORATOR_TARGET', method: 'Orders.run' });
    expect((error as Error).message).toContain(`@${kind.decorator} cannot lock Orders.run`);
  });
});
