import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { of, type Observable } from 'rxjs';
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
} from '../../lib/index.js';
import { Apps } from './support/apps.js';

const apps = new Apps();
afterEach(() => apps.close());

type Decorator = ReturnType<typeof WithMutex>;

/** Boots an app with a class for each of the decorators. */
function boot(...decorators: Decorator[]) {
  const providers = decorators.map((lock) => {
    @Injectable()
    class Orders {
      @lock
      async pay(): Promise<void> {}
    }
    return Orders;
  });
  const imports = [
    LockModule.forRoot({ literalPaths: true }),
    LockModule.forRoot({ name: 'archive' }),
  ];
  return apps.boot({ imports, providers });
}

const bootError = (...decorators: Decorator[]) =>
  boot(...decorators).then(
    () => undefined,
    (error: unknown) => error as Error,
  );

describe('An app does not boot', () => {
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
  ])('where one key stands for %s', async (_, first, second) => {
    const error = await bootError(first, second);
    expect(error).toBeInstanceOf(LockKeyError);
    expect(error?.message).toContain('(it is the key of Orders.pay)');
  });

  it('where a semaphore has two numbers of permits', async () => {
    const error = await bootError(Semaphore('a', { permits: 2 }), Semaphore('a', { permits: 3 }));
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error?.message).toContain('Option `permits` is 3.');
    expect(error?.message).toContain(', to @Semaphore of Orders.pay.');
  });

  it('where a multi-lock would wait for itself', async () => {
    const error = await bootError(
      WithMultiLock([
        { key: 'a', recipe: 'readLock' },
        { key: 'a', recipe: 'writeLock' },
      ]),
    );
    expect(error).toBeInstanceOf(LockOptionsError);
    expect(error?.message).toContain(', to @WithMultiLock of Orders.pay.');
  });

  it.each<[string, Decorator]>([
    ['literal', WithMultiLock(['a', { key: 'b', client: 'moon' }])],
    ['made of arguments', WithMultiLock(['a', { key: () => 'b', client: 'moon' }])],
  ])('where a multi-lock asks for an unknown client, its key %s', async (_, decorator) => {
    const error = await bootError(decorator);
    expect(error).toBeInstanceOf(LockClientUnknownError);
    expect(error).toMatchObject({ client: 'moon' });
    expect(error?.message).toContain('which Orders.pay asks for');
  });

  it('where a stream has a mutex and a method a write lock', async () => {
    @Injectable()
    class Reports {
      @LockStream('a')
      follow(): Observable<number> {
        return of(1);
      }

      @WriteLock('a')
      async write(): Promise<void> {}
    }
    const booting = apps.boot({ imports: [LockModule.forRoot()], providers: [Reports] });
    await expect(booting).rejects.toBeInstanceOf(LockKeyError);
  });
});

describe('An app boots', () => {
  it('where the kinds of lock go together', async () => {
    await boot(
      WithMutex('a'),
      WithMutex('a', { wait: 20 }),
      WithMultiLock(['a', 'b']),
      ReadLock('c'),
      WriteLock('c'),
      WithMultiLock([{ key: 'c', recipe: 'writeLock' }]),
      Semaphore('d', { permits: 2 }),
      Semaphore('d', { permits: 2, onBusy: 'throw' }),
      ReadLock('a', { client: 'archive' }),
    );
  });
});
