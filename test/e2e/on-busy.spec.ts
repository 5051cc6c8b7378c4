import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { LockModule, LockTimeoutError, type LockClient } from '../../lib/index.js';
import { Apps, clientOf } from './support/apps.js';
import { LOCK_KINDS, type LockKind } from './support/lock-kinds.js';

/** A service that locks by that decorator. */
function serviceThat({ lock }: LockKind) {
  @Injectable()
  class Reports {
    runs = 0;

    @lock('report', { wait: 20 })
    async throwing(): Promise<string> {
      return this.#run();
    }

    @lock('report', { onBusy: 'skip' })
    async skipping(): Promise<string | undefined> {
      return this.#run();
    }

    @lock('report', { onBusy: 'skip', wait: 20 })
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
  const Reports = serviceThat(kind);
  const apps = new Apps();
  let client: LockClient;
  let reports: InstanceType<typeof Reports>;

  beforeEach(async () => {
    const app = await apps.boot({ imports: [LockModule.forRoot()], providers: [Reports] });
    client = clientOf(app);
    reports = app.get(Reports);
  });
  afterEach(() => apps.close());

  /** A multi-lock names all its keys. */
  const keyOf = (key: string) => expect.stringMatching(new RegExp(`\\b${key}$`));
  const isBusy = () => kind.rival(client, 'report').acquire();

  it('rejects after its `wait`', async () => {
    await isBusy();
    const error = await reports.throwing().catch((error: unknown) => error);
    expect(error).toBeInstanceOf(LockTimeoutError);
    expect(error).toMatchObject({ code: 'LOCK_TIMEOUT', key: keyOf('report'), waitedMs: 20 });
    expect(reports.runs).toBe(0);
  });

  it.each(['skipping', 'skippingLater'] as const)('is not run (%s)', async (method) => {
    await isBusy();
    expect(await reports[method]()).toBeUndefined();
    expect(reports.runs).toBe(0);
  });

  it('does not queue without a `wait`', async () => {
    let contended = 0;
    client.on('contended', () => (contended += 1));
    await isBusy();
    await reports.skipping();
    expect(contended).toBe(0);
    await reports.skippingLater();
    expect(contended).toBe(1);
  });

  it('returns what `onBusy` answers', async () => {
    await isBusy();
    expect(await reports.answering('sales')).toBe('sales: LOCK_TIMEOUT after 0 ms');
    expect(reports.runs).toBe(0);
  });

  it('fails as `onBusy` does', async () => {
    await isBusy();
    await expect(reports.failing()).rejects.toThrow(new RangeError('come back tomorrow'));
  });

  it('runs when the lock is released in time', async () => {
    const lease = await isBusy();
    const queued = new Promise<void>((resolve) => void client.on('contended', () => resolve()));
    const call = reports.throwing();
    await queued;
    await lease.release();
    expect(await call).toBe('done');
  });

  it('does not take the timeout of an inner lock for its own', async () => {
    await isBusy();
    await expect(reports.skippingItself()).rejects.toMatchObject({ key: keyOf('report') });
  });

  it('does not take an error of its body for its own', async () => {
    const error = new LockTimeoutError(1, { key: 'summary' });
    await expect(reports.failingWith(error)).rejects.toBe(error);
  });

  it('runs when the lock is free', async () => {
    expect(await reports.skipping()).toBe('done');
    expect(await reports.skippingLater()).toBe('done');
    expect(await reports.answering('sales')).toBe('done');
    expect(await (await kind.rival(client, 'report').tryAcquire())?.release()).toBeUndefined();
  });
});
