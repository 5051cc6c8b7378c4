import { describe, expect, it } from '@jest/globals';
import { SetMetadata } from '@nestjs/common';
import { Observable, of } from 'rxjs';
import {
  LockDecoratorTargetError,
  LockKeyError,
  LockOptionsError,
  LockStream,
  WithMutex,
} from '../../../lib/index.js';

/** A decorator whose types have been talked out of their objections. */
const untyped = (decorate: unknown) => decorate as MethodDecorator & PropertyDecorator;
const withMutex = (...args: unknown[]) =>
  untyped((WithMutex as (...args: unknown[]) => unknown)(...args));
const lockStream = (...args: unknown[]) =>
  untyped((LockStream as (...args: unknown[]) => unknown)(...args));

function errorOf(define: () => unknown): Error | undefined {
  try {
    define();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe('A class is refused at its definition when it locks', () => {
  const elsewhere =
    'Make it an async method, or use @LockStream on one that returns an Observable.';
  const streamless = 'Let it return an Observable, or use @WithMutex on an async method.';

  it.each<[string, () => unknown, string]>([
    [
      'a static method',
      () => {
        class Orders {
          @withMutex('key')
          static async pay() {}
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it is static, and only instances are given a lock client. ${elsewhere}`,
    ],
    [
      'a property',
      () => {
        class Orders {
          @withMutex('key')
          pay = async () => {};
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it is not a method. ${elsewhere}`,
    ],
    [
      'a getter',
      () => {
        class Orders {
          @withMutex('key')
          get pay() {
            return Promise.resolve();
          }
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it is not a method. ${elsewhere}`,
    ],
    [
      'a method that is declared to return no promise',
      () => {
        class Orders {
          @withMutex('key')
          pay(): number {
            return 1;
          }
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it does not return a promise. ${elsewhere}`,
    ],
    [
      'a generator',
      () => {
        class Orders {
          @withMutex('key')
          *pay() {}
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it is a generator, whose body runs after the call. ${elsewhere}`,
    ],
    [
      'an async generator',
      () => {
        class Orders {
          @withMutex('key')
          async *pay() {}
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it is a generator, whose body runs after the call. ${elsewhere}`,
    ],
    [
      'an Observable as if it were a promise',
      () => {
        class Orders {
          @withMutex('key')
          pay(): Observable<number> {
            return of(1);
          }
        }
        return Orders;
      },
      `@WithMutex cannot lock Orders.pay: it does not return a promise. ${elsewhere}`,
    ],
    [
      'a promise as if it were an Observable',
      () => {
        class Orders {
          @lockStream('key')
          async pay() {}
        }
        return Orders;
      },
      `@LockStream cannot lock Orders.pay: it does not return an Observable. ${streamless}`,
    ],
  ])('%s', (_, define, message) => {
    const error = errorOf(define);
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error).toMatchObject({ code: 'LOCK_DECORATOR_TARGET', method: 'Orders.pay', message });
  });

  it.each<[unknown, string]>([
    [{ wait: 0 }, "Option `wait` is 0. Give milliseconds above 0, or 'forever', to"],
    [{ wait: -1 }, "Option `wait` is -1. Give milliseconds above 0, or 'forever', to"],
    [{ wait: NaN }, "Option `wait` is NaN. Give milliseconds above 0, or 'forever', to"],
    [{ wait: Infinity }, "Option `wait` is Infinity. Give milliseconds above 0, or 'forever', to"],
    [{ wait: '5s' }, 'Option `wait` is "5s". Give milliseconds above 0, or \'forever\', to'],
    [{ onBusy: 'ignore' }, "Option `onBusy` is \"ignore\". Give 'throw', 'skip' or a function, to"],
    [{ onBusy: null }, "Option `onBusy` is null. Give 'throw', 'skip' or a function, to"],
    [{ onLost: 'log' }, 'Option `onLost` is "log". Give a function, to'],
    [{ client: '' }, 'Option `client` is "". Give the name of a lock client, to'],
    [{ client: 7 }, 'Option `client` is 7. Give the name of a lock client, to'],
    [
      { wait: 'forever', onBusy: 'skip' },
      'Option `wait` is "forever". Give a number of milliseconds, as a wait for ever is never busy, or no `onBusy`, to',
    ],
  ])('with the options %j', (options, message) => {
    const error = errorOf(() => {
      class Orders {
        @withMutex('key', options)
        async pay() {}
      }
      return Orders;
    });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({
      code: 'LOCK_OPTIONS',
      message: `${message} @WithMutex of Orders.pay.`,
    });
  });

  it.each<[unknown, string]>([
    [undefined, 'it must be a string'],
    [7, 'it must be a string'],
    ['', 'it is empty'],
    ['[object Object]', 'an object was turned into text; build the key from its fields'],
    ['a\0', 'it contains a NUL character'],
    ['\ud800', 'it contains a lone surrogate'],
    ['k'.repeat(513), 'it takes 513 bytes, the most is 512'],
  ])('with the key %j', (key, why) => {
    const error = errorOf(() => {
      class Orders {
        @withMutex(key)
        async pay() {}
      }
      return Orders;
    });
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({ code: 'LOCK_KEY' });
    expect(error?.message).toContain(
      `cannot be the key of a lock: ${why} (it is the key of Orders.pay).`,
    );
  });
});

describe('A locked method', () => {
  const symbol = Symbol('pay');

  class Orders {
    @WithMutex('key')
    @SetMetadata('below', 1)
    async pay(_order: string, _amount: number): Promise<void> {}

    @SetMetadata('above', 1)
    @WithMutex('outer')
    @WithMutex('inner')
    async [symbol](): Promise<void> {}

    @WithMutex('key')
    notMarkedAsync(): Promise<void> {
      return Promise.resolve();
    }

    @WithMutex('key')
    maybe(): Promise<void> | Promise<number> {
      return Promise.resolve(1);
    }
  }

  it('keeps name, length and metadata', () => {
    const { pay } = Orders.prototype;
    expect([pay.name, pay.length]).toEqual(['pay', 2]);
    expect(Reflect.getMetadata('below', pay)).toBe(1);
    expect(Reflect.getMetadata('above', Orders.prototype[symbol])).toBe(1);
    expect(Reflect.getMetadata('design:paramtypes', Orders.prototype, 'pay')).toEqual([
      String,
      Number,
    ]);
  });

  it('names itself when it is called without Nest, as a rejection', async () => {
    const orders = new Orders();
    await expect(orders.pay('a', 1)).rejects.toThrow(/^Orders\.pay was not run/);
    await expect(orders[symbol]()).rejects.toThrow(/^Orders\.Symbol\(pay\) was not run/);
    await expect(orders.notMarkedAsync()).rejects.toThrow(/^Orders\.notMarkedAsync was not run/);
  });
});
