import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of } from 'rxjs';
import {
  currentLease,
  LockDecoratorTargetError,
  LockKeyError,
  LockTimeoutError,
  WithMutex,
  type Lease,
} from '../../lib/index.js';
import { Deferred } from '../support/time.js';
import { contention, errorOf, isFree, Room, unhandledDuring, useApp } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

interface Order {
  id: unknown;
  lines: { sku: string }[];
}

/** A service that locks by that decorator. */
function ordersThat({ lock }: LockKind) {
  @Injectable()
  class Orders {
    constructor(private readonly room: Room) {}

    @lock('orders')
    async run<T>(body: () => Promise<T> | T): Promise<T> {
      return body();
    }

    @lock('orders', { wait: 20 })
    async impatient(): Promise<void> {}

    @lock(({ id }: Pick<Order, 'id'>) => `order:${String(id)}`)
    async byFunction(_order: Pick<Order, 'id'>, amount: number): Promise<number> {
      return this.room.stay(amount);
    }

    @lock('order:{0.id}:{0.lines.0.sku}:{1}')
    async byTemplate(_order: Order, amount: unknown): Promise<unknown> {
      return this.room.stay(amount);
    }

    @lock('{orders}')
    async byText(): Promise<void> {
      await this.room.stay(undefined);
    }

    @lock(({ id }: Pick<Order, 'id'>) => id as string)
    async asIs(_order: Pick<Order, 'id'>): Promise<void> {}
  }

  return Orders;
}

describe.each(LOCK_KINDS)('A method with @$decorator', (kind) => {
  const Orders = ordersThat(kind);
  const app = useApp(() => ({ providers: [Orders] }));
  const orders = () => app.get(Orders);
  const rival = (key: string) => kind.rival(app.client, key);

  it('gives what it returns, and leaves the lock free', async () => {
    const result = { total: 3 };
    expect(await orders().run(() => result)).toBe(result);
    expect(await isFree(rival('orders'))).toBe(true);
  });

  it('fails with the very error of its body, and leaves the lock free', async () => {
    const error = new RangeError('no such order');
    await expect(orders().run(() => Promise.reject(error))).rejects.toBe(error);
    expect(await isFree(rival('orders'))).toBe(true);
  });

  it('finds its lease inside, and nowhere else', async () => {
    const seen = await orders().run(() => {
      const lease = currentLease()!;
      return { key: lease.key, isHeld: lease.isHeld, isAborted: lease.signal.aborted };
    });
    const key = expect.stringMatching(/\borders$/); // a multi-lock names all its keys
    expect(seen).toEqual({ key, isHeld: true, isAborted: false });
    expect(currentLease()).toBeUndefined();
  });

  it('gets a higher fencing token with every call', async () => {
    const token = () => orders().run(() => currentLease()!.fencingToken());
    const tokens = [await token(), await token(), await token()];
    expect([...tokens].sort((a, b) => Number(a - b))).toEqual(tokens);
    expect(new Set(tokens).size).toBe(3);
  });

  it('does not count work that it has left behind as inside', async () => {
    const goOn = new Deferred();
    let leftBehind: Promise<unknown> | undefined;
    let lease: Lease | undefined;
    await orders().run(() => {
      lease = currentLease();
      leftBehind = goOn.promise.then(() => orders().impatient());
    });
    expect(lease?.isHeld).toBe(false);

    const other = await rival('orders').acquire();
    goOn.resolve();
    await expect(leftBehind).rejects.toBeInstanceOf(LockTimeoutError);
    await other.release();
  });

  it('may not give an Observable, which would run without the lock', async () => {
    const error = await errorOf(orders().run(() => of(1)));
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error).toMatchObject({ code: 'LOCK_DECORATOR_TARGET', method: 'Orders.run' });
    expect(error.message).toContain(`@${kind.decorator} cannot lock Orders.run`);
  });

  describe('has a key that', () => {
    it('comes from a function of the arguments', async () => {
      const call = () => orders().byFunction({ id: 7 }, 3);
      expect(await app.held(rival('order:7'), call)).toBe(3);
    });

    it('comes from a template', async () => {
      const call = () => orders().byTemplate({ id: 7n, lines: [{ sku: 'ink' }] }, 3);
      expect(await app.held(rival('order:7:ink:3'), call)).toBe(3);
    });

    it.each(['null-safety', 'undefined behaviour', 'NaNtes'])('may contain %j', async (id) => {
      const call = () => orders().byTemplate({ id, lines: [{ sku: 'ink' }] }, 3);
      expect(await app.held(rival(`order:${id}:ink:3`), call)).toBe(3);
    });

    it('may contain braces that are no placeholder', async () => {
      await app.held(rival('{orders}'), () => orders().byText());
    });

    it.each([
      [undefined, 'it must be a string'],
      [7, 'it must be a string'],
      ['', 'it is empty'],
      ['undefined', '"undefined" in it is a value that is missing'],
      ['order:[object Object]', 'an object was turned into text'],
      ['order:[object Promise]', 'an object was turned into text'],
      ['order:undefined', '"undefined" in it is a value that is missing'],
      ['null/7', '"null" in it is a value that is missing'],
      ['order:NaN:7', '"NaN" in it is a value that is missing'],
      ['  ', 'it is blank'],
      ['a\nb', 'it contains the control character U+000A'],
      ['\ud800', 'it contains a lone surrogate'],
      ['é'.repeat(257), 'it takes 514 bytes, and the maximum is 512'],
    ])('is refused when its function gives %j', async (id, why) => {
      const error = await errorOf(orders().asIs({ id }));
      expect(error).toBeInstanceOf(LockKeyError);
      expect(error).toMatchObject({ code: 'LOCK_KEY' });
      expect(error.message).toContain(why);
      expect(error.message).toContain('(it is the key of Orders.asIs)');
    });

    it('is refused when its function gives a promise, whose failure is no one of the process', async () => {
      const refused = async () => {
        const error = await errorOf(orders().asIs({ id: Promise.reject(new Error('too late')) }));
        expect(error).toBeInstanceOf(LockKeyError);
        expect(error.message).toContain('it must be a string');
      };
      expect(await unhandledDuring(refused)).toEqual([]);
    });

    it.each([
      [{}, 1, '{0.id} is undefined'],
      [{ id: '' }, 1, '{0.id} is ""'],
      [{ id: ' ' }, 1, '{0.id} is " "'],
      [{ id: 'null' }, 1, '{0.id} is "null"'],
      [{ id: '[object Object]' }, 1, '{0.id} is "[object Object]"'],
      [{ id: '[object Promise]' }, 1, '{0.id} is "[object Promise]"'],
      [{ id: '[object Set Iterator]' }, 1, '{0.id} is "[object Set Iterator]"'],
      [{ id: 'a', lines: [] }, 1, '{0.lines.0.sku} is undefined'],
      [{ id: 'a', lines: [{ sku: 'ink' }] }, {}, '{1} is an object'],
      [{ id: 'a', lines: [{ sku: 'ink' }] }, undefined, '{1} is undefined'],
      [undefined, 1, '{0.id} is undefined'],
    ])('is refused when its template finds no value in %j, %j', async (order, amount, what) => {
      const error = await errorOf(orders().byTemplate(order as Order, amount));
      expect(error).toBeInstanceOf(LockKeyError);
      expect(error).toMatchObject({ code: 'LOCK_KEY' });
      expect(error.message).toContain(`${what} in a call of Orders.byTemplate`);
    });

    it('is refused when the end of its template has a part that is missing', async () => {
      const order = { id: 'a', lines: [{ sku: 'ink' }] };
      const error = await errorOf(orders().byTemplate(order, 'shop:undefined'));
      expect(error).toBeInstanceOf(LockKeyError);
      expect(error.message).toContain('"undefined" in it is a value that is missing');
    });

    it('lets an error of its function through', async () => {
      const call = orders().asIs(null as unknown as Order);
      await expect(call).rejects.toThrow("Cannot destructure property 'id'");
    });
  });
});

/** A service that locks by that decorator, with a method for each policy on a lock that is taken. */
function reportsThat({ lock }: LockKind) {
  @Injectable()
  class Reports {
    runs = 0;

    @lock('report', { wait: 20 })
    async throwing(): Promise<string> {
      return this.#run();
    }

    @lock('report', { wait: 20_000 })
    async waiting(): Promise<string> {
      return this.#run();
    }

    @lock('report', { onBusy: 'skip' })
    async skipping(): Promise<string | undefined> {
      return this.#run();
    }

    @lock('report', { onBusy: 'skip', wait: 1_000 })
    async skippingLater(): Promise<string | undefined> {
      return this.#run();
    }

    @lock((_name: string) => 'report', {
      onBusy: async (error, name) => `${name}: ${error.code} after ${error.waitedMs} ms`,
    })
    async answering(_name: string): Promise<string> {
      return this.#run();
    }

    @lock('report', {
      onBusy: () => {
        throw new RangeError('come back tomorrow');
      },
    })
    async failing(): Promise<string> {
      return this.#run();
    }

    @lock('summary', { onBusy: 'skip' })
    async skippingItself(): Promise<string | undefined> {
      return this.throwing();
    }

    @lock('summary', { onBusy: 'skip' })
    async failingWith(error: unknown): Promise<string | undefined> {
      throw error;
    }

    async #run(): Promise<string> {
      this.runs += 1;
      return 'done';
    }
  }

  return Reports;
}

describe.each(LOCK_KINDS)('A method with @$decorator, when the lock is taken,', (kind) => {
  const Reports = reportsThat(kind);
  const app = useApp(() => ({ providers: [Reports] }));
  const reports = () => app.get(Reports);
  const isBusy = () => kind.rival(app.client, 'report').acquire();
  /** A multi-lock names all its keys. */
  const keyOf = (key: string) => expect.stringMatching(new RegExp(`\\b${key}$`));

  it('rejects after its `wait`', async () => {
    await isBusy();
    const error = await errorOf(reports().throwing());
    expect(error).toBeInstanceOf(LockTimeoutError);
    const method = 'Reports.throwing';
    const about = { code: 'LOCK_TIMEOUT', key: keyOf('report'), waitedMs: 20, method };
    expect(error).toMatchObject(about);
    expect(error.message).toContain(`was not granted to ${method} within 20 ms`);
    expect(reports().runs).toBe(0);
  });

  it.each(['skipping', 'skippingLater'] as const)('is not run (%s)', async (method) => {
    await isBusy();
    expect(await reports()[method]()).toBeUndefined();
    expect(reports().runs).toBe(0);
  });

  it('does not queue without a `wait`', async () => {
    let contended = 0;
    app.client.on('contended', () => (contended += 1));
    await isBusy();
    await reports().skipping();
    expect(contended).toBe(0);
  });

  it('returns what `onBusy` answers', async () => {
    await isBusy();
    expect(await reports().answering('sales')).toBe('sales: LOCK_TIMEOUT after 0 ms');
    expect(reports().runs).toBe(0);
  });

  it('fails as `onBusy` does', async () => {
    await isBusy();
    await expect(reports().failing()).rejects.toThrow(new RangeError('come back tomorrow'));
  });

  it('queues with a `wait`, and runs when the lock is released in time', async () => {
    const lease = await isBusy();
    const queued = contention(app.client);
    const call = reports().waiting();
    await queued;
    await lease.release();
    expect(await call).toBe('done');
  });

  it('does not take the timeout of an inner lock for its own', async () => {
    await isBusy();
    await expect(reports().skippingItself()).rejects.toMatchObject({ key: keyOf('report') });
  });

  it('does not take an error of its body for its own', async () => {
    const error = new LockTimeoutError(1, { key: 'summary' });
    await expect(reports().failingWith(error)).rejects.toBe(error);
  });

  it('runs when the lock is free', async () => {
    expect(await reports().skipping()).toBe('done');
    expect(await reports().skippingLater()).toBe('done');
    expect(await reports().answering('sales')).toBe('done');
    expect(await isFree(kind.rival(app.client, 'report'))).toBe(true);
  });
});

@Injectable()
class Nested {
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

  @WithMutex('outer')
  @WithMutex('inner')
  async twice(): Promise<void> {
    await this.room.stay(undefined);
  }
}

describe('A @WithMutex method', () => {
  const app = useApp(() => ({ providers: [Nested] }));

  it('re-enters when it calls itself', async () => {
    expect(await app.get(Nested).nested()).toBe('deep');
  });

  it('keeps siblings of one caller apart', async () => {
    const log: string[] = [];
    const visit = (name: string) => async () => {
      log.push(`${name} in`);
      await new Promise((resolve) => setImmediate(resolve));
      log.push(`${name} out`);
    };
    await app.get(Nested).siblings(visit('a'), visit('b'));
    const [first, second] = log[0] === 'a in' ? ['a', 'b'] : ['b', 'a'];
    expect(log).toEqual([`${first} in`, `${first} out`, `${second} in`, `${second} out`]);
  });

  it('with two locks takes the upper one first', async () => {
    const keys: string[] = [];
    app.client.on('acquired', ({ key }) => void keys.push(key));
    app.room.open();
    await app.get(Nested).twice();
    expect(keys).toEqual(['outer', 'inner']);
  });

  it.each(['outer', 'inner'])('with two locks holds the %s one', async (key) => {
    await app.held(key, () => app.get(Nested).twice());
  });
});
