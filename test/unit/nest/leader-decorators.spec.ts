import { describe, expect, it } from '@jest/globals';
import {
  LeaderOnly,
  LockDecoratorTargetError,
  LockKeyError,
  LockOptionsError,
  OnLeadership,
  OnLeadershipLost,
} from '../../../lib/index.js';

/** A decorator without its types, so that a wrong use compiles. */
type Untyped = (...args: unknown[]) => MethodDecorator & PropertyDecorator;
const untyped = (decorator: unknown) => decorator as Untyped;

const DECORATORS: [name: string, decorator: Untyped, does: string, advice: string][] = [
  [
    'LeaderOnly',
    untyped(LeaderOnly),
    'lock',
    'Make it an async method, or use @LockStream on an Observable or an async generator.',
  ],
  ...[OnLeadership, OnLeadershipLost].map((decorator): [string, Untyped, string, string] => [
    decorator.name,
    untyped(decorator),
    'call',
    'Put it on a method of a singleton provider or controller.',
  ]),
];

function errorOf(define: () => unknown): Error | undefined {
  try {
    define();
    return undefined;
  } catch (error) {
    return error as Error;
  }
}

describe.each(DECORATORS)('@%s at class definition', (name, decorator, does, advice) => {
  const target = (define: () => unknown, why: string) => {
    const error = errorOf(define);
    expect(error).toBeInstanceOf(LockDecoratorTargetError);
    expect(error).toMatchObject({
      code: 'LOCK_DECORATOR_TARGET',
      method: 'Jobs.run',
      message: `@${name} cannot ${does} Jobs.run: ${why}. ${advice}`,
    });
  };

  it('refuses a static method', () => {
    const define = () => {
      class Jobs {
        @decorator('jobs')
        static async run() {}
      }
      return Jobs;
    };
    const instances = does === 'lock' ? 'are given a lock client' : 'are called';
    target(define, `it is static, and only instances ${instances}`);
  });

  it('refuses a property and a getter', () => {
    target(() => {
      class Jobs {
        @decorator('jobs')
        run = async () => {};
      }
      return Jobs;
    }, 'it is not a method');
    target(() => {
      class Jobs {
        @decorator('jobs')
        get run() {
          return Promise.resolve();
        }
      }
      return Jobs;
    }, 'it is not a method');
  });

  const defining = (...args: unknown[]) =>
    errorOf(() => {
      class Jobs {
        @decorator(...args)
        async run() {}
      }
      return Jobs;
    });

  it.each<[unknown, string]>([
    [undefined, 'it must be a string'],
    [() => 'jobs', 'it must be a string'],
    ['', 'it is empty'],
    ['jobs:{0}', 'it is the name of one election, so it has no placeholders'],
    ['a\0', 'it contains a NUL character'],
    ['k'.repeat(513), 'it takes 513 bytes, and the maximum is 512'],
  ])('refuses the name %j', (election, why) => {
    const error = defining(election);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error?.message).toContain(`${why} (it is the key of Jobs.run).`);
  });

  it.each([[''], [7]])('refuses the client %j', (client) => {
    const error = defining('jobs', { client });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error?.message).toBe(
      `Option \`client\` is ${JSON.stringify(client)}. Give the name of a lock client, to @${name} of Jobs.run.`,
    );
  });
});

describe('@LeaderOnly at class definition', () => {
  it('refuses an unknown `onLost`, and a method that returns no promise', () => {
    const leaderOnly = untyped(LeaderOnly);
    const option = errorOf(() => {
      class Jobs {
        @leaderOnly('jobs', { onLost: 'log' })
        async run() {}
      }
      return Jobs;
    });
    expect(option?.message).toBe(
      "Option `onLost` is \"log\". Give 'abort', 'throw', 'ignore' or a function, to @LeaderOnly of Jobs.run.",
    );
    const method = errorOf(() => {
      class Jobs {
        @leaderOnly('jobs')
        run(): number {
          return 1;
        }
      }
      return Jobs;
    });
    expect(method?.message).toContain(
      '@LeaderOnly cannot lock Jobs.run: it does not return a promise.',
    );
  });
});
