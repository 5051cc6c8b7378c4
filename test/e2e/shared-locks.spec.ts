import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  currentLease,
  LockTimeoutError,
  LockUpgradeError,
  ReadLock,
  Semaphore,
  WriteLock,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';
import { contention, errorOf, useApp } from './support/apps.js';

type Body<T> = () => Promise<T> | T;

@Injectable()
class Prices {
  @ReadLock('prices')
  async read<T>(body: Body<T>): Promise<T> {
    return body();
  }

  @WriteLock('prices')
  async write<T>(body: Body<T>): Promise<T> {
    return body();
  }

  @WriteLock('prices', { onBusy: 'skip' })
  async tryToWrite(body: Body<void>): Promise<void> {
    return body();
  }

  @ReadLock('prices', { onBusy: 'skip' })
  async tryToRead<T>(body: Body<T>): Promise<T | undefined> {
    return body();
  }
}

describe('Methods with @ReadLock and @WriteLock of one key', () => {
  const app = useApp(() => ({ providers: [Prices] }));
  const prices = () => app.get(Prices);

  /** A call that stays inside until `leave`. */
  async function begin(call: (body: Body<void>) => Promise<void>) {
    const entered = new Deferred();
    const left = new Deferred();
    const done = call(() => {
      entered.resolve();
      return left.promise;
    });
    await entered.promise;
    return async () => {
      left.resolve();
      await done;
    };
  }

  it('let readers in together', async () => {
    const leave = [
      await begin((body) => prices().read(body)),
      await begin((body) => prices().read(body)),
    ];
    await Promise.all(leave.map((each) => each()));
  });

  it('keep a writer out while there are readers', async () => {
    const leave = await begin((body) => prices().read(body));
    const queued = contention(app.client);
    const log: string[] = [];
    const writing = prices().write(() => void log.push('written'));
    await queued;
    log.push('still reading');
    await leave();
    await writing;
    expect(log).toEqual(['still reading', 'written']);
  });

  it('keep readers and writers out while there is a writer', async () => {
    const leave = await begin((body) => prices().write(body));
    expect(await prices().tryToRead(() => 'read')).toBeUndefined();
    let isWritten = false;
    await prices().tryToWrite(() => void (isWritten = true));
    expect(isWritten).toBe(false);
    await leave();
    expect(await prices().tryToRead(() => 'read')).toBe('read');
  });

  it('let a later reader wait for the queued writer', async () => {
    const log: string[] = [];
    const leave = await begin((body) => prices().read(body));
    let queued = contention(app.client);
    const writing = prices().write(() => void log.push('write'));
    await queued;
    queued = contention(app.client);
    const reading = prices().read(() => void log.push('read'));
    await queued;
    await leave();
    await Promise.all([writing, reading]);
    expect(log).toEqual(['write', 'read']);
  });

  it('re-enter in each other where that cannot block', async () => {
    expect(await prices().read(() => prices().read(() => 'twice read'))).toBe('twice read');
    expect(await prices().write(() => prices().write(() => 'twice written'))).toBe('twice written');
    expect(await prices().write(() => prices().read(() => 'downgraded'))).toBe('downgraded');
  });

  it('downgrade: what reads inside of a writer goes on reading after it', async () => {
    const left = new Deferred();
    const entered = new Deferred<bigint>();
    const tokens: bigint[] = [];
    let reading: Promise<void> | undefined;
    await prices().write(async () => {
      tokens.push(await currentLease()!.fencingToken());
      reading = prices().read(async () => {
        entered.resolve(await currentLease()!.fencingToken());
        await left.promise;
      });
      tokens.push(await entered.promise);
    });

    expect(tokens[1]).toBe(tokens[0]);
    expect(await app.client.readWriteLock('prices').writeLock().tryAcquire()).toBeUndefined();
    expect(await prices().tryToRead(() => 'read')).toBe('read');
    left.resolve();
    await reading;
    expect(await prices().write(() => 'written')).toBe('written');
  });

  it.each(['write', 'tryToWrite'] as const)('refuse to upgrade (%s)', async (write) => {
    let isWritten = false;
    const upgrade = () => prices()[write](() => void (isWritten = true));
    const error = await errorOf(prices().read(upgrade));
    expect(error).toBeInstanceOf(LockUpgradeError);
    expect(error).toMatchObject({ code: 'LOCK_UPGRADE', key: 'prices', client: 'default' });
    expect(isWritten).toBe(false);
    expect(await prices().write(() => 'written')).toBe('written');
  });
});

@Injectable()
class Renderer {
  running = 0;
  most = 0;
  done = 0;

  @Semaphore('render', { permits: 3 })
  async render(until: Promise<void>): Promise<void> {
    this.running += 1;
    this.most = Math.max(this.most, this.running);
    await until;
    this.running -= 1;
    this.done += 1;
  }

  @Semaphore('render', { permits: 3, onBusy: 'skip' })
  async renderNow(): Promise<string | undefined> {
    return 'rendered';
  }

  @Semaphore('render', { permits: 3, wait: 1_000 })
  async nested(depth: number): Promise<number> {
    return depth > 1 ? this.nested(depth - 1) : depth;
  }

  @Semaphore((page: number) => `page:${page}`, { permits: 1, onBusy: 'skip' })
  async renderPage(_page: number, until: Promise<void>): Promise<string | undefined> {
    await until;
    return 'rendered';
  }
}

describe('A method with @Semaphore', () => {
  const app = useApp(() => ({ providers: [Renderer] }));
  const renderer = () => app.get(Renderer);
  const available = () => app.client.semaphore('render', { permits: 3 }).availablePermits();

  it('runs as many calls at a time as there are permits, and all in the end', async () => {
    const until = new Deferred();
    const calls = Array.from({ length: 10 }, () => renderer().render(until.promise));
    await eventually('all permits are taken', () => renderer().running === 3);
    expect(await renderer().renderNow()).toBeUndefined();
    expect(await available()).toBe(0);

    until.resolve();
    await Promise.all(calls);
    expect(renderer()).toMatchObject({ running: 0, most: 3, done: 10 });
    expect(await available()).toBe(3);
  });

  it('shares its permits with callers that take them by hand', async () => {
    const two = await app.client.semaphore('render', { permits: 3 }).acquire({ permits: 2 });
    expect(await renderer().renderNow()).toBe('rendered');
    const third = await app.client.semaphore('render', { permits: 3 }).acquire();
    expect(await renderer().renderNow()).toBeUndefined();
    await Promise.all([two.release(), third.release()]);
  });

  it('takes one more permit for a nested call', async () => {
    expect(await renderer().nested(3)).toBe(1);
    await expect(renderer().nested(4)).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await available()).toBe(3);
  });

  it('has the permits of its key', async () => {
    const until = new Deferred();
    const first = renderer().renderPage(1, until.promise);
    await eventually(
      'page 1 is rendered',
      async () => (await app.client.semaphore('page:1', { permits: 1 }).availablePermits()) === 0,
    );
    expect(await renderer().renderPage(1, until.promise)).toBeUndefined();
    const second = renderer().renderPage(2, until.promise);
    until.resolve();
    expect(await Promise.all([first, second])).toEqual(['rendered', 'rendered']);
  });
});
