import { describe, expect, it } from '@jest/globals';
import { SetMetadata } from '@nestjs/common';
import { Observable, of } from 'rxjs';
import {
  LeaderOnly,
  LockDecoratorTargetError,
  LockDefaults,
  LockKeyError,
  LockOptionsError,
  LockStream,
  OnLeadership,
  OnLeadershipLost,
  ReadLock,
  RunOnce,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
} from '../../../lib/index.js';
import { LockPlans } from '../../../lib/plans/plan-metadata.js';

/** A decorator without its types, so that a wrong use compiles. */
type Use = MethodDecorator & PropertyDecorator & ClassDecorator;
type Untyped = (...args: unknown[]) => Use;
const untyped = (decorator: unknown) => decorator as Untyped;
const lockStream = untyped(LockStream);
const runOnce = untyped(RunOnce);
const semaphore = untyped(Semaphore);
const withMultiLock = untyped(WithMultiLock);
const leaderOnly = untyped(LeaderOnly);

/** Every decorator of async methods, as far as it is like all the others. */
const LOCKS: [name: string, lock: Untyped][] = [
  ['WithMutex', untyped(WithMutex)],
  ['ReadLock', untyped(ReadLock)],
  ['WriteLock', untyped(WriteLock)],
  ['Semaphore', (key, options) => semaphore(key, { permits: 3, ...(options as object) })],
  ['WithMultiLock', (key, options) => withMultiLock(['another', key], options)],
];
const ELECTIONS: [name: string, decorator: Untyped][] = [
  ['LeaderOnly', leaderOnly],
  ['OnLeadership', untyped(OnLeadership)],
  ['OnLeadershipLost', untyped(OnLeadershipLost)],
];

const WAIT = "Give milliseconds above 0, or 'forever'";
const NO_WAIT =
  'Give none, and `onBusy`: then a call does not wait at all. To answer 409: () => { throw new ConflictException(); }';
const LEASE = 'Give whole milliseconds from 100 to 2^31 - 1';
const ON_BUSY = "Give 'throw', 'skip' or a function";
const ON_LOST = "Give 'abort', 'throw', 'ignore' or a function";
const CLIENT = 'Give the name of a lock client';
const RECIPE = "Give 'mutex', 'readLock', 'writeLock' or 'semaphore'";
const KIND = "Give 'observable' or 'generator'";
const OF_SEMAPHORE = "Give them to the recipe 'semaphore' only";
const PERMITS = 'Give a whole number from 1';
const AT_MOST = 'Give whole milliseconds from 1 to 2^31 - 1';
const OCCURRENCE =
  'Give whole milliseconds above 0, a cron expression, `{ cron, timeZone }`, or a function that returns the time of the occurrence';
const AT_LEAST = 'Give whole milliseconds from 0 to below `atMost`';
const KEYS = 'Give an array of at least one key';

function errorOf(define: () => unknown): Error | undefined {
  try {
    define();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

/** What is thrown where a class uses that decorator; its types are not asked. */
const errorOfUse = (use: MethodDecorator) =>
  errorOf(() => {
    class Orders {
      @use pay(): unknown {
        return undefined;
      }
    }
    return Orders;
  });

function expectRefusal(error: unknown, option: string, value: unknown, advice: string): void {
  const isPlain = typeof value === 'number' || value === undefined;
  const shown = isPlain
    ? String(value)
    : Array.isArray(value)
      ? 'an empty array'
      : JSON.stringify(value);
  expect(error).toBeInstanceOf(LockOptionsError);
  const message = `Option \`${option}\` is ${shown}. ${advice}.`;
  expect(error).toMatchObject({ code: 'LOCK_OPTIONS', message });
}

/** Wrong places for any decorator. */
const PLACES: [what: string, define: (use: Use) => unknown, why: string][] = [
  [
    'a static method',
    (use) => {
      class Orders {
        @use static async pay() {}
      }
      return Orders;
    },
    'it is static, and only instances are given a lock client',
  ],
  [
    'a property',
    (use) => {
      class Orders {
        @use pay = async () => {};
      }
      return Orders;
    },
    'it is not a method',
  ],
  [
    'a getter',
    (use) => {
      class Orders {
        @use get pay() {
          return Promise.resolve();
        }
      }
      return Orders;
    },
    'it is not a method',
  ],
];

/** Wrong places for one that locks a call. */
const CALLS: typeof PLACES = [
  [
    'a method that is declared to return no promise',
    (use) => {
      class Orders {
        @use pay(): number {
          return 1;
        }
      }
      return Orders;
    },
    'it does not return a promise',
  ],
  [
    'a generator',
    (use) => {
      class Orders {
        @use *pay() {}
      }
      return Orders;
    },
    'it is a generator, and its body runs after the call',
  ],
  [
    'an async generator',
    (use) => {
      class Orders {
        @use async *pay() {}
      }
      return Orders;
    },
    'it is a generator, and its body runs after the call',
  ],
  [
    'an Observable as if it were a promise',
    (use) => {
      class Orders {
        @use pay(): Observable<number> {
          return of(1);
        }
      }
      return Orders;
    },
    'it does not return a promise',
  ],
];

describe.each([...LOCKS, ...ELECTIONS])('A class is refused where @%s is', (name, decorator) => {
  const isHandler = name.startsWith('On');
  const advice = isHandler
    ? 'Put it on a method of a singleton provider or controller.'
    : 'Make it an async method, or use @LockStream on an Observable or an async generator.';

  it.each(isHandler ? PLACES : [...PLACES, ...CALLS])('on %s', (_, define, why) => {
    const error = errorOf(() => define(decorator('key')));
    const [does, reason] = isHandler
      ? ['call', why.replace('are given a lock client', 'are called')]
      : ['lock', why];
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error).toMatchObject({
      code: 'LOCK_DECORATOR_TARGET',
      method: 'Orders.pay',
      message: `@${name} cannot ${does} Orders.pay: ${reason}. ${advice}`,
    });
  });

  it.each<[unknown, string]>([
    [undefined, 'it must be a string'],
    [null, 'it must be a string'],
    [7, 'it must be a string'],
    ['', 'it is empty'],
    ['[object Object]', 'an object was turned into text; build the key from its fields'],
    [' \t', 'it is blank'],
    ['a\0', 'it contains the control character U+0000'],
    ['a\nb', 'it contains the control character U+000A'],
    ['\ud800', 'it contains a lone surrogate'],
    ['k'.repeat(513), 'it takes 513 bytes, and the maximum is 512'],
  ])('given the key %j', (key, why) => {
    const error = errorOfUse(decorator(key));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error).toMatchObject({ code: 'LOCK_KEY' });
    expect(error?.message).toContain(
      `cannot be the key of a lock: ${why} (it is the key of Orders.pay).`,
    );
  });

  it.each<[options: unknown, shown: string, expected: string]>([
    [{ clinet: 'a' }, '`clinet` is unknown here', 'Give `client`'],
    [{ ttl: 5 }, '`ttl` is unknown here', 'Give one of `'],
    [5_000, '`options` is 5000', 'Give an object with options such as `'],
    [null, '`options` is null', 'Give an object with options such as `'],
    [['a'], '`options` is an array', 'Give an object with options such as `'],
    ['wait', '`options` is "wait"', 'Give an object with options such as `'],
  ])('given the options %j', (options, shown, expected) => {
    const use = name === 'Semaphore' ? semaphore('key', options) : decorator('key', options);
    const error = errorOfUse(use);
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error?.message).toContain(`Option ${shown}. ${expected}`);
    expect(error?.message).toContain(`, to @${name} of Orders.pay`);
  });

  it.each(['', 7])('given the client %j', (client) => {
    const error = errorOfUse(decorator('key', { client }));
    expectRefusal(error, 'client', client, `${CLIENT}, to @${name} of Orders.pay`);
  });
});

describe.each(ELECTIONS)('A class is refused where @%s', (_, decorator) => {
  it.each<[unknown, string]>([
    [() => 'jobs', 'it must be a string'],
    ['jobs:{0}', 'it is the name of one election, so it has no placeholders'],
  ])('is given the name %p', (election, why) => {
    const error = errorOfUse(decorator(election));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error?.message).toContain(`${why} (it is the key of Orders.pay).`);
  });
});

describe.each(LOCKS)('A class is refused where @%s', (name, lock) => {
  it.each<[string, unknown, string]>([
    ['wait', 0, NO_WAIT],
    ['wait', -1, WAIT],
    ['wait', NaN, WAIT],
    ['wait', Infinity, WAIT],
    ['wait', '5s', WAIT],
    ['lease', 99, LEASE],
    ['lease', 2 ** 31, LEASE],
    ['lease', '5s', LEASE],
    ['onBusy', 'ignore', ON_BUSY],
    ['onBusy', null, ON_BUSY],
    ['onLost', 'log', ON_LOST],
  ])('is given the option `%s` %p', (option, value, advice) => {
    const error = errorOfUse(lock('key', { [option]: value }));
    expectRefusal(error, option, value, `${advice}, to @${name} of Orders.pay`);
  });

  it('is given a policy for the end of a wait without one', () => {
    const error = errorOfUse(lock('key', { wait: 'forever', onBusy: 'skip' }));
    const advice =
      'Give a number of milliseconds, as `onBusy` has no effect on an unbounded wait, or no `onBusy`';
    expectRefusal(error, 'wait', 'forever', `${advice}, to @${name} of Orders.pay`);
  });
});

describe('A class is refused where', () => {
  it('@LockStream locks a promise as if it were an Observable', () => {
    const error = errorOf(() => {
      class Orders {
        @lockStream('key') async pay() {}
      }
      return Orders;
    });
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error?.message).toBe(
      '@LockStream cannot lock Orders.pay: it does not return an Observable. Let it return an Observable, make it an async generator, or use @WithMutex on an async method.',
    );
  });

  it.each([Object, Function, undefined])('@LockStream locks what the compiler calls %p', (type) => {
    const error = errorOf(() => {
      class Orders {
        pay() {
          return of(1);
        }
      }
      Reflect.defineMetadata('design:returntype', type, Orders.prototype, 'pay');
      const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'pay')!;
      lockStream('key')(Orders.prototype, 'pay', descriptor as never);
      return Orders;
    });
    expect(error).toBeUndefined();
  });

  it('@LockStream is told of another kind of stream than the method returns', () => {
    const errors = [
      errorOf(() => {
        class Orders {
          @lockStream('key', { as: 'observable' }) async *pay() {}
        }
        return Orders;
      }),
      errorOf(() => {
        class Orders {
          @lockStream('key', { as: 'generator' }) pay(): Observable<number> {
            return of(1);
          }
        }
        return Orders;
      }),
    ];
    for (const error of errors) expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(errors[0]?.message).toContain(
      "it returns an async generator, and `as` says 'observable'",
    );
    expect(errors[1]?.message).toContain("it returns an Observable, and `as` says 'generator'");
  });

  it.each<[by: string, option: string, value: unknown, use: MethodDecorator, advice: string]>([
    ['Semaphore', 'permits', undefined, semaphore('key'), PERMITS],
    ['Semaphore', 'permits', undefined, semaphore('key', { permits: undefined }), PERMITS],
    ['Semaphore', 'permits', 0, semaphore('key', { permits: 0 }), PERMITS],
    ['Semaphore', 'permits', -1, semaphore('key', { permits: -1 }), PERMITS],
    ['Semaphore', 'permits', 1.5, semaphore('key', { permits: 1.5 }), PERMITS],
    ['Semaphore', 'permits', NaN, semaphore('key', { permits: NaN }), PERMITS],
    ['Semaphore', 'permits', '3', semaphore('key', { permits: '3' }), PERMITS],
    ['Semaphore', 'permits', 2 ** 31, semaphore('key', { permits: 2 ** 31 }), PERMITS],
    ['RunOnce', 'atMost', undefined, runOnce('key'), AT_MOST],
    ['RunOnce', 'atMost', 0, runOnce('key', { atMost: 0 }), AT_MOST],
    ['RunOnce', 'atMost', Infinity, runOnce('key', { atMost: Infinity }), AT_MOST],
    ['RunOnce', 'atLeast', 100, runOnce('key', { atMost: 100, atLeast: 100 }), AT_LEAST],
    ['RunOnce', 'atLeast', -1, runOnce('key', { atMost: 100, atLeast: -1 }), AT_LEAST],
    ['RunOnce', 'occurrence', 0, runOnce('key', { atMost: 100, occurrence: 0 }), OCCURRENCE],
    ['RunOnce', 'occurrence', ' ', runOnce('key', { atMost: 100, occurrence: ' ' }), OCCURRENCE],
    ['RunOnce', 'occurrence', null, runOnce('key', { atMost: 100, occurrence: null }), OCCURRENCE],
    ['RunOnce', 'client', '', runOnce('key', { atMost: 100, client: '' }), CLIENT],
    ['WithMultiLock', 'keys', [], withMultiLock([]), KEYS],
    ['WithMultiLock', 'keys', undefined, withMultiLock(), KEYS],
    ['WithMultiLock', 'keys', 'key', withMultiLock('key'), KEYS],
    ['WithMultiLock', 'recipe', 'lock', withMultiLock([{ key: 'a', recipe: 'lock' }]), RECIPE],
    [
      'WithMultiLock',
      'recipe',
      'multiLock',
      withMultiLock([{ key: 'a', recipe: 'multiLock' }]),
      RECIPE,
    ],
    ['WithMultiLock', 'client', '', withMultiLock([{ key: 'key', client: '' }]), CLIENT],
    ['LockStream', 'recipe', 'lock', lockStream('key', { recipe: 'lock' }), RECIPE],
    ['LockStream', 'as', 'promise', lockStream('key', { as: 'promise' }), KIND],
    ['LockStream', 'permits', 3, lockStream('key', { permits: 3 }), OF_SEMAPHORE],
    ['LeaderOnly', 'onLost', 'log', leaderOnly('jobs', { onLost: 'log' }), ON_LOST],
  ])('@%s is given the option `%s` %p', (by, option, value, use, advice) => {
    expectRefusal(errorOfUse(use), option, value, `${advice}, to @${by} of Orders.pay`);
  });

  it.each([
    lockStream('{0}{1}'),
    withMultiLock(['a', 'b:{0}{1}']),
    runOnce('{0}{1}', { atMost: 100 }),
  ])('a template has nothing between two values, also for one lock of several', (use) => {
    const error = errorOfUse(use);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error?.message).toMatch(/ between \{0\} and \{1\} .* \(it is the key of Orders.pay\)/);
  });

  it('the key is empty, also for one lock of several', () => {
    expect(errorOfUse(runOnce('', { atMost: 100 }))).toBeInstanceOf(LockKeyError);
    const error = errorOfUse(withMultiLock([{ key: '', recipe: 'readLock' }]));
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error?.message).toContain('it is empty (it is the key of Orders.pay).');
  });

  it.each([{ key: 'x' }, { waitt: 5 }, null, 5])(
    '@LockDefaults is given the options %j',
    (options) => {
      const error = errorOf(() => {
        @(untyped(LockDefaults)(options))
        class Orders {}
        return Orders;
      });
      expect(error).toBeInstanceOf(LockOptionsError);
      expect(error?.message).toContain(', to @LockDefaults of Orders');
    },
  );

  it.each([
    withMultiLock([{ key: 'a', recip: 'readLock' }]),
    lockStream('key', { kind: 'observable' }),
    runOnce('key', { atMost: 100, atleast: 5 }),
    runOnce('key', null),
    runOnce('key', { atMost: 100, wait: 5 }),
  ])('an option is none of those of the decorator (%#)', (use) => {
    expect(errorOfUse(use)).toBeInstanceOf(LockOptionsError);
  });

  it.each<[string, unknown, string]>([
    ['wait', -1, WAIT],
    ['lease', 0, LEASE],
    ['client', '', CLIENT],
    ['onBusy', 'wait', ON_BUSY],
  ])('@LockDefaults is given the option `%s` %p', (option, value, advice) => {
    const error = errorOf(() => {
      @(untyped(LockDefaults)({ [option]: value }))
      class Orders {}
      return Orders;
    });
    expectRefusal(error, option, value, `${advice}, to @LockDefaults of Orders`);
  });

  it('@LockDefaults does not go together with an option of a method, also of one that is inherited', () => {
    class Hasty {
      @WithMutex('key', { onBusy: 'skip' }) async run(): Promise<void> {}
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
});

describe('@LockDefaults of a class', () => {
  it('sets right what is inherited', () => {
    @LockDefaults({ wait: 'forever' })
    class Patient {}

    @LockDefaults({ wait: 100 })
    class Orders extends Patient {
      @WithMutex('key', { onBusy: 'skip' }) async run(): Promise<void> {}
    }
    expect(new Orders()).toBeInstanceOf(Patient);
  });

  it('adds to another one of the same class, and wins over it where it stands above', () => {
    @LockDefaults({ wait: 20 })
    @LockDefaults({ wait: 'forever', client: 'orders' })
    class Twice {
      @WithMutex('twice') async run(): Promise<void> {}
    }
    const [plan] = LockPlans.of(Object.create(Twice.prototype) as object);
    expect(plan?.options).toEqual({ wait: 20, client: 'orders' });
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
    const types = Reflect.getMetadata('design:paramtypes', Orders.prototype, 'pay');
    expect(types).toEqual([String, Number]);
  });

  it('names itself when it is called without Nest, as a rejection', async () => {
    const orders = new Orders();
    await expect(orders.pay('a', 1)).rejects.toThrow(/^Orders\.pay was not run/);
    await expect(orders[symbol]()).rejects.toThrow(/^Orders\.Symbol\(pay\) was not run/);
    await expect(orders.notMarkedAsync()).rejects.toThrow(/^Orders\.notMarkedAsync was not run/);
  });
});
