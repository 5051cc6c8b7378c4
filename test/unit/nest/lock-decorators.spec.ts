import { describe, expect, it } from '@jest/globals';
import { SetMetadata } from '@nestjs/common';
import { Observable, of } from 'rxjs';
import {
  LockDecoratorTargetError,
  LockDefaults,
  LockKeyError,
  LockOptionsError,
  LockStream,
  ReadLock,
  RunOnce,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
} from '../../../lib/index.js';

/** A decorator without its types, so that a wrong use compiles. */
type Untyped = (...args: unknown[]) => MethodDecorator & PropertyDecorator & ClassDecorator;
const untyped = (decorator: unknown) => decorator as Untyped;
const lockStream = untyped(LockStream);
const runOnce = untyped(RunOnce);
const semaphore = untyped(Semaphore);
const withMultiLock = untyped(WithMultiLock);

/** Every decorator of async methods, as far as it is like all the others. */
const DECORATORS: [name: string, lock: Untyped][] = [
  ['WithMutex', untyped(WithMutex)],
  ['ReadLock', untyped(ReadLock)],
  ['WriteLock', untyped(WriteLock)],
  ['Semaphore', (key, options) => semaphore(key, { permits: 3, ...(options as object) })],
  ['WithMultiLock', (key, options) => withMultiLock(['another', key], options)],
];

function errorOf(define: () => unknown): Error | undefined {
  try {
    define();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe.each(DECORATORS)('A class is refused at its definition when @%s locks', (name, lock) => {
  const elsewhere =
    'Make it an async method, or use @LockStream on an Observable or an async generator.';

  it.each<[string, () => unknown, string]>([
    [
      'a static method',
      () => {
        class Orders {
          @lock('key')
          static async pay() {}
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it is static, and only instances are given a lock client. ${elsewhere}`,
    ],
    [
      'a property',
      () => {
        class Orders {
          @lock('key')
          pay = async () => {};
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it is not a method. ${elsewhere}`,
    ],
    [
      'a getter',
      () => {
        class Orders {
          @lock('key')
          get pay() {
            return Promise.resolve();
          }
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it is not a method. ${elsewhere}`,
    ],
    [
      'a method that is declared to return no promise',
      () => {
        class Orders {
          @lock('key')
          pay(): number {
            return 1;
          }
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it does not return a promise. ${elsewhere}`,
    ],
    [
      'a generator',
      () => {
        class Orders {
          @lock('key')
          *pay() {}
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it is a generator, and its body runs after the call. ${elsewhere}`,
    ],
    [
      'an async generator',
      () => {
        class Orders {
          @lock('key')
          async *pay() {}
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it is a generator, and its body runs after the call. ${elsewhere}`,
    ],
    [
      'an Observable as if it were a promise',
      () => {
        class Orders {
          @lock('key')
          pay(): Observable<number> {
            return of(1);
          }
        }
        return Orders;
      },
      `@${name} cannot lock Orders.pay: it does not return a promise. ${elsewhere}`,
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
    [{ lease: 0 }, 'Option `lease` is 0. Give milliseconds above 0, to'],
    [{ lease: Infinity }, 'Option `lease` is Infinity. Give milliseconds above 0, to'],
    [{ lease: '5s' }, 'Option `lease` is "5s". Give milliseconds above 0, to'],
    [{ onBusy: 'ignore' }, "Option `onBusy` is \"ignore\". Give 'throw', 'skip' or a function, to"],
    [{ onBusy: null }, "Option `onBusy` is null. Give 'throw', 'skip' or a function, to"],
    [
      { onLost: 'log' },
      "Option `onLost` is \"log\". Give 'abort', 'throw', 'ignore' or a function, to",
    ],
    [{ client: '' }, 'Option `client` is "". Give the name of a lock client, to'],
    [{ client: 7 }, 'Option `client` is 7. Give the name of a lock client, to'],
    [
      { wait: 'forever', onBusy: 'skip' },
      'Option `wait` is "forever". Give a number of milliseconds, as `onBusy` has no effect on an unbounded wait, or no `onBusy`, to',
    ],
  ])('with the options %j', (options, message) => {
    const error = errorOf(() => {
      class Orders {
        @lock('key', options)
        async pay() {}
      }
      return Orders;
    });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({
      code: 'LOCK_OPTIONS',
      message: `${message} @${name} of Orders.pay.`,
    });
  });

  it.each<[unknown, string]>([
    [undefined, 'it must be a string'],
    [null, 'it must be a string'],
    [7, 'it must be a string'],
    ['', 'it is empty'],
    ['[object Object]', 'an object was turned into text; build the key from its fields'],
    ['a\0', 'it contains a NUL character'],
    ['\ud800', 'it contains a lone surrogate'],
    ['k'.repeat(513), 'it takes 513 bytes, and the maximum is 512'],
  ])('with the key %j', (key, why) => {
    const error = errorOf(() => {
      class Orders {
        @lock(key)
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

describe('A class is refused at its definition', () => {
  it('when @LockStream locks a promise as if it were an Observable', () => {
    const error = errorOf(() => {
      class Orders {
        @lockStream('key')
        async pay() {}
      }
      return Orders;
    });
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error?.message).toBe(
      '@LockStream cannot lock Orders.pay: it does not return an Observable. Let it return an Observable, make it an async generator, or use @WithMutex on an async method.',
    );
  });

  /** What is thrown where a class uses that decorator; its types are not asked. */
  const definitionError = (decorator: MethodDecorator) =>
    errorOf(() => {
      class Orders {
        @decorator
        pay(): unknown {
          return undefined;
        }
      }
      return Orders;
    });

  const permits = 'Give a whole number from 1, to @Semaphore of Orders.pay.';
  const keys = 'Give an array of at least one key, to @WithMultiLock of Orders.pay.';
  const recipes =
    "Give 'mutex', 'readLock', 'writeLock' or 'semaphore', to @WithMultiLock of Orders.pay.";
  const ofStream = 'to @LockStream of Orders.pay.';

  it.each<[string, MethodDecorator, string]>([
    ['no options of a semaphore', semaphore('key'), `Option \`permits\` is undefined. ${permits}`],
    ['no permits', semaphore('key', {}), `Option \`permits\` is undefined. ${permits}`],
    ['0 permits', semaphore('key', { permits: 0 }), `Option \`permits\` is 0. ${permits}`],
    ['-1 permits', semaphore('key', { permits: -1 }), `Option \`permits\` is -1. ${permits}`],
    ['1.5 permits', semaphore('key', { permits: 1.5 }), `Option \`permits\` is 1.5. ${permits}`],
    ['NaN permits', semaphore('key', { permits: NaN }), `Option \`permits\` is NaN. ${permits}`],
    [
      'permits as text',
      semaphore('key', { permits: '3' }),
      `Option \`permits\` is "3". ${permits}`,
    ],
    [
      'more permits than 32 bits can count',
      semaphore('key', { permits: 2 ** 31 }),
      `Option \`permits\` is 2147483648. ${permits}`,
    ],
    [
      'no options of a run',
      runOnce('key'),
      'Option `atMost` is undefined. Give whole milliseconds from 1 to 2^31 - 1, to @RunOnce of Orders.pay.',
    ],
    [
      'no time of a run',
      runOnce('key', { atMost: 0 }),
      'Option `atMost` is 0. Give whole milliseconds from 1 to 2^31 - 1, to @RunOnce of Orders.pay.',
    ],
    [
      'a run without end',
      runOnce('key', { atMost: Infinity }),
      'Option `atMost` is Infinity. Give whole milliseconds from 1 to 2^31 - 1, to @RunOnce of Orders.pay.',
    ],
    [
      'a run that takes longer than it may',
      runOnce('key', { atMost: 100, atLeast: 100 }),
      'Option `atLeast` is 100. Give whole milliseconds from 0 to below `atMost`, to @RunOnce of Orders.pay.',
    ],
    [
      'a run below no time',
      runOnce('key', { atMost: 100, atLeast: -1 }),
      'Option `atLeast` is -1. Give whole milliseconds from 0 to below `atMost`, to @RunOnce of Orders.pay.',
    ],
    [
      'a run by a client without a name',
      runOnce('key', { atMost: 100, client: '' }),
      'Option `client` is "". Give the name of a lock client, to @RunOnce of Orders.pay.',
    ],
    ['no keys', withMultiLock([]), `Option \`keys\` is []. ${keys}`],
    ['nothing as keys', withMultiLock(), `Option \`keys\` is undefined. ${keys}`],
    ['one key as keys', withMultiLock('key'), `Option \`keys\` is "key". ${keys}`],
    [
      'an unknown recipe',
      withMultiLock([{ key: 'key', recipe: 'lock' }]),
      `Option \`recipe\` is "lock". ${recipes}`,
    ],
    [
      'a multi-lock in a multi-lock',
      withMultiLock([{ key: 'key', recipe: 'multiLock' }]),
      `Option \`recipe\` is "multiLock". ${recipes}`,
    ],
    [
      'a client without a name',
      withMultiLock([{ key: 'key', client: '' }]),
      'Option `client` is "". Give the name of a lock client, to @WithMultiLock of Orders.pay.',
    ],
    [
      'a stream of an unknown recipe',
      lockStream('key', { recipe: 'lock' }),
      `Option \`recipe\` is "lock". Give 'mutex', 'readLock', 'writeLock' or 'semaphore', ${ofStream}`,
    ],
    [
      'a stream with permits of a mutex',
      lockStream('key', { permits: 3 }),
      `Option \`permits\` is 3. Give them to the recipe 'semaphore' only, ${ofStream}`,
    ],
  ])('with %s', (_, decorator, message) => {
    const error = definitionError(decorator);
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', message });
  });

  it('with an empty key, also for one lock of several', () => {
    expect(definitionError(runOnce('', { atMost: 100 }))).toBeInstanceOf(LockKeyError);
    const error = definitionError(withMultiLock([{ key: '', recipe: 'readLock' }]));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error?.message).toContain('it is empty (it is the key of Orders.pay).');
  });
});

describe('A class is refused at its definition when @LockDefaults', () => {
  it.each<[unknown, string]>([
    [{ wait: -1 }, "Option `wait` is -1. Give milliseconds above 0, or 'forever', to"],
    [{ lease: 0 }, 'Option `lease` is 0. Give milliseconds above 0, to'],
    [{ client: '' }, 'Option `client` is "". Give the name of a lock client, to'],
    [{ onBusy: 'wait' }, "Option `onBusy` is \"wait\". Give 'throw', 'skip' or a function, to"],
  ])('says %j', (options, message) => {
    const error = errorOf(() => {
      @(untyped(LockDefaults)(options))
      class Orders {}
      return Orders;
    });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error?.message).toBe(`${message} @LockDefaults of Orders.`);
  });

  it('says what does not go together with an option of a method, also of one that is inherited', () => {
    class Hasty {
      @WithMutex('key', { onBusy: 'skip' })
      async run(): Promise<void> {}
    }
    const error = errorOf(() => {
      @LockDefaults({ wait: 'forever' })
      class Orders extends Hasty {}
      return Orders;
    });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error?.message).toContain('Option `wait` is "forever".');
    expect(error?.message).toContain('to @WithMutex of Hasty.run.');
  });

  it('but not when the class itself sets right what is inherited', () => {
    @LockDefaults({ wait: 'forever' })
    class Patient {}

    @LockDefaults({ wait: 100 })
    class Orders extends Patient {
      @WithMutex('key', { onBusy: 'skip' })
      async run(): Promise<void> {}
    }
    expect(new Orders()).toBeInstanceOf(Patient);
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

    @Semaphore('key', { permits: 3 })
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
