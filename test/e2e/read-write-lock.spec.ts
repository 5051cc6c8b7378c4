import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  currentLease,
  LockModule,
  LockUpgradeError,
  ReadLock,
  WriteLock,
  type LockClient,
} from '../../lib/index.js';
import { Deferred } from '../support/deferred.js';
import { Apps, clientOf } from './support/apps.js';

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
  const apps = new Apps();
  let prices: Prices;
  let client: LockClient;

  beforeEach(async () => {
    const app = await apps.boot({ imports: [LockModule.forRoot()], providers: [Prices] });
    prices = app.get(Prices);
    client = clientOf(app);
  });
  afterEach(() => apps.close());

  const contended = () =>
    new Promise<void>((resolve) => {
      const stop = client.on('contended', () => {
        stop();
        resolve();
      });
    });

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
      await begin((body) => prices.read(body)),
      await begin((body) => prices.read(body)),
    ];
    await Promise.all(leave.map((each) => each()));
  });

  it('keep a writer out while there are readers', async () => {
    const leave = await begin((body) => prices.read(body));
    const queued = contended();
    const log: string[] = [];
    const writing = prices.write(() => void log.push('written'));
    await queued;
    log.push('still reading');
    await leave();
    await writing;
    expect(log).toEqual(['still reading', 'written']);
  });

  it('keep readers and writers out while there is a writer', async () => {
    const leave = await begin((body) => prices.write(body));
    expect(await prices.tryToRead(() => 'read')).toBeUndefined();
    let isWritten = false;
    await prices.tryToWrite(() => void (isWritten = true));
    expect(isWritten).toBe(false);
    await leave();
    expect(await prices.tryToRead(() => 'read')).toBe('read');
  });

  it('let a later reader wait for the queued writer', async () => {
    const log: string[] = [];
    const leave = await begin((body) => prices.read(body));
    let queued = contended();
    const writing = prices.write(() => void log.push('write'));
    await queued;
    queued = contended();
    const reading = prices.read(() => void log.push('read'));
    await queued;
    await leave();
    await Promise.all([writing, reading]);
    expect(log).toEqual(['write', 'read']);
  });

  it('re-enter in each other where that cannot block', async () => {
    expect(await prices.read(() => prices.read(() => 'twice read'))).toBe('twice read');
    expect(await prices.write(() => prices.write(() => 'twice written'))).toBe('twice written');
    expect(await prices.write(() => prices.read(() => 'downgraded'))).toBe('downgraded');
  });

  it('downgrade: what reads inside of a writer goes on reading after it', async () => {
    const left = new Deferred();
    const entered = new Deferred<bigint>();
    const tokens: bigint[] = [];
    let reading: Promise<void> | undefined;
    await prices.write(async () => {
      tokens.push(await currentLease()!.fencingToken());
      reading = prices.read(async () => {
        entered.resolve(await currentLease()!.fencingToken());
        await left.promise;
      });
      tokens.push(await entered.promise);
    });

    expect(tokens[1]).toBe(tokens[0]);
    expect(await client.readWriteLock('prices').writeLock().tryAcquire()).toBeUndefined();
    expect(await prices.tryToRead(() => 'read')).toBe('read');
    left.resolve();
    await reading;
    expect(await prices.write(() => 'written')).toBe('written');
  });

  it.each(['write', 'tryToWrite'] as const)('refuse to upgrade (%s)', async (write) => {
    let isWritten = false;
    const error = await prices
      .read(() => prices[write](() => void (isWritten = true)))
      .catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockUpgradeError);
    expect(error).toMatchObject({ code: 'LOCK_UPGRADE', key: 'prices', client: 'default' });
    expect(isWritten).toBe(false);
    expect(await prices.write(() => 'written')).toBe('written');
  });
});
