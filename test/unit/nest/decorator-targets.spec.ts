import { describe, expect, it } from '@jest/globals';
import {
  LeaderOnly,
  LockDecoratorTargetError,
  LockDefaults,
  LockStream,
  OnLeadership,
  RunOnce,
  Semaphore,
  WithMultiLock,
  WithMutex,
} from '../../../lib/index.js';

/** A decorator without its types, so that a wrong use compiles. */
type Use = (...args: unknown[]) => unknown;
const use = (decorated: unknown) => decorated as Use;

const OF_METHODS: [name: string, does: string, decorate: Use][] = [
  ['WithMutex', 'lock', use(WithMutex('key'))],
  ['Semaphore', 'lock', use(Semaphore('key', { permits: 3 }))],
  ['WithMultiLock', 'lock', use(WithMultiLock(['key']))],
  ['LockStream', 'lock', use(LockStream('key'))],
  ['RunOnce', 'lock', use(RunOnce('key', { atMost: 100 }))],
  ['LeaderOnly', 'lock', use(LeaderOnly('key'))],
  ['OnLeadership', 'call', use(OnLeadership('key'))],
];

class Orders {
  async pay(): Promise<void> {}
}

function errorOf(call: () => unknown): Error | undefined {
  try {
    call();
  } catch (error) {
    return error as Error;
  }
  return undefined;
}

describe.each(OF_METHODS)('@%s', (name, does, decorate) => {
  it('on a class says where it belongs', () => {
    const error = errorOf(() => decorate(Orders));
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error?.message).toBe(
      `@${name} cannot ${does} Orders: it is a class. Put it on each method; @LockDefaults on the class gives them options in common.`,
    );
  });

  it('compiled as a decorator of ECMAScript says which option to set', () => {
    const context = { kind: 'method', name: 'pay', static: false, metadata: {} };
    const error = errorOf(() => decorate(Orders.prototype.pay, context));
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error?.message).toContain(
      `@${name} cannot ${does} pay: decorators are compiled as those`,
    );
    expect(error?.message).toContain('Set `experimentalDecorators`');
  });
});

describe('@LockDefaults', () => {
  const decorate = use(LockDefaults({ wait: 5_000 }));

  it('on a method says where it belongs', () => {
    const descriptor = Object.getOwnPropertyDescriptor(Orders.prototype, 'pay');
    const error = errorOf(() => decorate(Orders.prototype, 'pay', descriptor));
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error?.message).toBe(
      '@LockDefaults cannot lock Orders.pay: it is a method. Put it on the class; give options of one method to its lock decorator.',
    );
  });

  it('compiled as a decorator of ECMAScript says which option to set', () => {
    const error = errorOf(() => decorate(Orders, { kind: 'class', name: 'Orders' }));
    expect(error?.message).toContain('Set `experimentalDecorators`');
  });
});
