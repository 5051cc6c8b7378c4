import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
import type * as library from '../../lib/index.js';
import {
  LockClientUnknownError,
  LockKeyError,
  LockModule,
  LockOptionsError,
  LockStream,
  ReadLock,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
  type LockModuleOptions,
} from '../../lib/index.js';
import { withCopy } from '../support/copies.js';
import { RecordingLogger, useApps } from './support/apps.js';

const apps = useApps();
const host = '127.0.0.1';

const bootError = (...clients: object[]) => apps.bootError({ clients });

describe('An app without the package of its backend says', () => {
  const without = ['ioredis', 'redis', 'zookeeper'];

  it.each([
    [
      { backend: 'redis', connect: { host } },
      'The backend "redis" needs the package `ioredis`, which could not be loaded. Run `npm install ioredis`, or hand a client over as the option `client`.',
    ],
    [
      { backend: 'zookeeper', connect: host, driver: 'native' },
      'The `driver` "native" needs the package `zookeeper`, which could not be loaded. Use the `driver` "wire", or run `npm install zookeeper` (on Linux it compiles, so it needs make, g++ and python3, and install scripts must be allowed).',
    ],
  ])('%j', async (options, message) => {
    const bootWithout = async (copy: typeof library) => {
      const error = await apps.bootError({
        imports: [copy.LockModule.forRoot(options as LockModuleOptions)],
        clients: [],
        logger: new RecordingLogger(),
      });
      expect([error.name, error.message.split('\n')[0]]).toEqual(['LockConnectionError', message]);
    };
    await withCopy('index', bootWithout, { without });
  });
});

const backends = "Give 'zookeeper', 'redis' or 'embedded'.";
const OPTIONS = "Give an object such as { backend: 'redis', connect: url }.";
const SERVERS =
  "Give servers as 'host:port,host:port', with a chroot such as '/app' behind them if there is one.";

describe('LockModule refuses to boot', () => {
  it.each([
    [{ backend: 'postgres' }, `Option \`backend\` is "postgres". ${backends}`],
    [{ client: {} }, `Option \`backend\` is undefined. ${backends}`],
    [{ backend: '' }, `Option \`backend\` is "". ${backends}`],
    [{ backend: undefined }, `Option \`backend\` is undefined. ${backends}`],
    [{ connect: 'zk1:2181' }, `Option \`backend\` is undefined. ${backends}`],
    [{ name: '' }, 'Option `name` is "". Give a name that is not empty, or none.'],
    [{ name: 7 }, 'Option `name` is 7. Give a name that is not empty, or none.'],
    [{ shutdownTimeout: 0 }, 'Option `shutdownTimeout` is 0. Give milliseconds above 0.'],
    [{ shutdownTimeout: NaN }, 'Option `shutdownTimeout` is NaN. Give milliseconds above 0.'],
    [{ shutdownTimeout: '5s' }, 'Option `shutdownTimeout` is "5s". Give milliseconds above 0.'],
    [
      { wait: '5s' },
      'Option `wait` is "5s". Give milliseconds above 0, or \'forever\' (tryAcquire does not wait).',
    ],
    [{ backend: 'zookeeper' }, `Option \`connect\` is undefined. ${SERVERS}`],
    [
      { backend: 'zookeeper', connect: 'zk1:2181', sessionTimeout: '30s' },
      'Option `sessionTimeout` is "30s". Give milliseconds above 0 and below 2^31.',
    ],
    [
      { backend: 'redis', connect: { host }, watchdogTimeout: '30s' },
      'Option `watchdogTimeout` is "30s". Give whole milliseconds from 100 to 2^31 - 1.',
    ],
  ])('with the options %j, and says what to give', async (options, message) => {
    const error = await bootError(options);
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', name: 'LockOptionsError', message });
  });

  it.each([
    [{ backend: 'redis' }, 'Option `connect` is undefined.'],
    [{ wait: -1 }, 'Option `wait` is -1.'],
    [{ wait: Infinity }, 'Option `wait` is Infinity.'],
    [{ basePath: 'locks/' }, 'Option `basePath` is "locks/".'],
    [
      { backend: 'zookeeper', connect: 'zk1:port' },
      'Option `connect` is a text with something else in it than servers.',
    ],
    [{ backend: 'zookeeper', connect: 'zk1', sessionTimeout: 0 }, 'Option `sessionTimeout` is 0.'],
    [{ backend: 'constructor' }, 'Option `backend` is "constructor".'],
    [
      { conect: 'zk1:2181' },
      "Option `conect` is unknown to the backend 'embedded'. Give `connect` and `backend`: 'zookeeper' or 'redis'.",
    ],
    [
      { sessionTimeout: 5_000 },
      "Option `sessionTimeout` is unknown to the backend 'embedded'. Give it to the backend 'zookeeper' only.",
    ],
    [
      { backend: 'redis', connect: 'redis://127.0.0.1', sesionTimeout: 1 },
      "Option `sesionTimeout` is unknown to the backend 'redis'. Give an option that the backend 'redis' has: `name`, `backend`,",
    ],
    [
      { backend: 'zookeeper', connect: 'zk1', prefix: 'a' },
      "Option `prefix` is unknown to the backend 'zookeeper'. Give it to the backend 'redis' only.",
    ],
  ])('with the options %j', async (options, message) => {
    const error = await bootError(options);
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS' });
    expect(error.message).toContain(message);
  });

  it.each([
    [undefined, `Option \`options\` is undefined. ${OPTIONS}`],
    [null, `Option \`options\` is null. ${OPTIONS}`],
    [{ name: 'b' }, 'Option `name` is "b". Give it to forRootAsync, beside the factory.'],
    [{ backend: undefined }, `Option \`backend\` is undefined. ${backends}`],
    [{}, `Option \`backend\` is undefined. ${backends}`],
    [{ wait: 5_000, namespace: 'shop' }, `Option \`backend\` is undefined. ${backends}`],
  ])('with a factory that gives %j', async (options, message) => {
    const useFactory = () => Promise.resolve(options as LockModuleOptions);
    const imports = [LockModule.forRootAsync({ name: 'a', useFactory })];
    const error = await apps.bootError({ clients: [], imports });
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', client: 'a', message });
  });

  it('with the error of the factory itself', async () => {
    const error = new Error('no configuration');
    const useFactory = () => Promise.reject<LockModuleOptions>(error);
    const imports = [LockModule.forRootAsync({ useFactory })];
    expect(await apps.bootError({ clients: [], imports })).toBe(error);
  });
});

describe('LockModule.forRootAsync', () => {
  it('refuses options that do not say where the options come from', () => {
    const forRootAsync = () => LockModule.forRootAsync({});
    expect(forRootAsync).toThrow(LockOptionsError);
    expect(forRootAsync).toThrow(
      'Option `useFactory` is undefined. Give it, `useClass` or `useExisting`.',
    );
  });
});

describe('An app with several locked methods', () => {
  type Decorator = ReturnType<typeof WithMutex>;

  /** The parts of an app with a class for each of the decorators. */
  const partsWith = (...decorators: Decorator[]) => ({
    clients: [{ literalPaths: true }, { name: 'archive' }],
    providers: decorators.map((lock) => {
      @Injectable()
      class Orders {
        @lock
        async pay(): Promise<void> {}
      }
      return Orders;
    }),
  });
  const bootErrorOf = (...decorators: Decorator[]) => apps.bootError(partsWith(...decorators));

  it.each<[string, Decorator, Decorator]>([
    ['a mutex and a write lock', WithMutex('a'), WriteLock('a')],
    ['a read lock and a mutex', ReadLock('a'), WithMutex('a')],
    ['a read lock and a semaphore', ReadLock('a'), Semaphore('a', { permits: 1 })],
    ['a semaphore and a mutex', Semaphore('a', { permits: 1 }), WithMutex('a')],
    [
      'a mutex and a read lock of a multi-lock',
      WithMutex('a'),
      WithMultiLock(['b', { key: 'a', recipe: 'readLock' }]),
    ],
    ['a write lock and a mutex of a multi-lock', WriteLock('a'), WithMultiLock(['a', 'b'])],
    ['two spellings of one path', WithMutex('a'), WriteLock('/locks/a')],
  ])('does not boot where one key stands for %s', async (_, first, second) => {
    const error = await bootErrorOf(first, second);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error.message).toContain('(it is the key of Orders.pay)');
  });

  it('does not boot where a semaphore has two numbers of permits', async () => {
    const error = await bootErrorOf(Semaphore('a', { permits: 2 }), Semaphore('a', { permits: 3 }));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain('Option `permits` is 3.');
    expect(error.message).toContain(', to @Semaphore of Orders.pay.');
  });

  it('does not boot where a multi-lock would wait for itself', async () => {
    const error = await bootErrorOf(
      WithMultiLock([
        { key: 'a', recipe: 'readLock' },
        { key: 'a', recipe: 'writeLock' },
      ]),
    );
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error.message).toContain(', to @WithMultiLock of Orders.pay.');
  });

  it.each<[string, Decorator]>([
    ['literal', WithMultiLock(['a', { key: 'b', client: 'moon' }])],
    ['made of arguments', WithMultiLock(['a', { key: () => 'b', client: 'moon' }])],
  ])(
    'does not boot where a multi-lock asks for an unknown client, its key %s',
    async (_, decorator) => {
      const error = await bootErrorOf(decorator);
      expect(error).toBeInstanceOf(LockClientUnknownError);
      expect(error).toMatchObject({ client: 'moon' });
      expect(error.message).toContain('which Orders.pay asks for');
    },
  );

  it('does not boot where a stream has a mutex and a method a write lock', async () => {
    @Injectable()
    class Reports {
      @LockStream('a')
      follow(): Observable<number> {
        return of(1);
      }

      @WriteLock('a')
      async write(): Promise<void> {}
    }
    expect(await apps.bootError({ providers: [Reports] })).toBeInstanceOf(LockKeyError);
  });

  it('boots where the kinds of lock go together', async () => {
    await apps.boot(
      partsWith(
        WithMutex('a'),
        WithMutex('a', { wait: 20 }),
        WithMultiLock(['a', 'b']),
        ReadLock('c'),
        WriteLock('c'),
        WithMultiLock([{ key: 'c', recipe: 'writeLock' }]),
        Semaphore('d', { permits: 2 }),
        Semaphore('d', { permits: 2, onBusy: 'throw' }),
        ReadLock('a', { client: 'archive' }),
      ),
    );
  });
});
