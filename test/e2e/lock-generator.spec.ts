import { afterEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import {
  currentLease,
  LOCK_INTERCEPTOR,
  LockInterceptorMissingError,
  LockLostError,
  LockStream,
  LockTimeoutError,
  WithMutex,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';
import { contention, isFree, useEmbeddedApp } from './support/apps.js';

/** Events that never come, until it is left: an iterator that is no generator, as of PubSub. */
class Silence implements AsyncIterableIterator<number> {
  readonly #end = new Deferred<IteratorReturnResult<undefined>>();

  next(): Promise<IteratorReturnResult<undefined>> {
    return this.#end.promise;
  }

  async return(): Promise<IteratorReturnResult<undefined>> {
    this.#end.resolve({ done: true, value: undefined });
    return this.#end.promise;
  }

  [Symbol.asyncIterator](): this {
    return this;
  }
}

@Injectable()
class Exports {
  readonly log: string[] = [];
  readonly door = new Deferred();

  @LockStream('export')
  async *rows(count: number): AsyncGenerator<string, number, string | undefined> {
    this.log.push('begun');
    try {
      for (let i = 0; i < count; i++) {
        const said = yield `row ${i} under ${currentLease()!.key}`;
        if (said !== undefined) this.log.push(said);
      }
      return count;
    } finally {
      this.log.push(`left ${currentLease()!.isHeld ? 'with' : 'without'} the lock`);
    }
  }

  @LockStream('export')
  async *failing(error: Error): AsyncGenerator<number> {
    yield 1;
    throw error;
  }

  @LockStream('export')
  async *nested(): AsyncGenerator<string> {
    yield await this.inner();
    yield await this.inner();
  }

  @WithMutex('export', { wait: 20 })
  async inner(): Promise<string> {
    return currentLease()!.key;
  }

  @LockStream('export', { wait: 20 })
  async *impatient(): AsyncGenerator<string> {
    yield* this.rows(1);
  }

  @LockStream('export', { onBusy: 'skip' })
  async *skipping(): AsyncGenerator<string> {
    yield* this.rows(1);
  }

  @LockStream('export', { onBusy: (error) => error.code })
  async *answering(): AsyncGenerator<string> {
    yield* this.rows(1);
  }

  @LockStream('export', { as: 'generator' })
  events(): AsyncIterableIterator<number> {
    return new Silence();
  }

  @LockStream('export', { as: 'generator' })
  eventsInside(): AsyncIterableIterator<number> {
    return this.events();
  }

  @LockStream('export', { onLost: 'abort' })
  async *aborting(): AsyncGenerator<number> {
    try {
      yield 1;
      await this.door.promise;
      yield 2;
    } finally {
      this.log.push('ended');
    }
  }
}

async function all<T>(stream: AsyncIterable<T>): Promise<T[]> {
  const values: T[] = [];
  for await (const value of stream) values.push(value);
  return values;
}

describe('@LockStream on an async generator', () => {
  const app = useEmbeddedApp(() => ({ providers: [Exports] }));
  const service = () => app.get(Exports);
  const lock = () => app.client.mutex('export');
  afterEach(() => service().door.resolve());

  const nobodyQueues = () =>
    eventually('no caller queues', async () => (await lock().participants()).length === 1);
  /** Its session ends; comes back when the lock is known to be lost. */
  async function expire(): Promise<void> {
    const lost = new Promise((resolve) => app.client.on('lost', resolve));
    app.embedded.expire();
    await lost;
  }

  it('holds the lock from the first value that is asked for to the end', async () => {
    const rows = service().rows(2);
    expect(await isFree(lock())).toBe(true);
    expect(service().log).toEqual([]);
    expect(await rows.next()).toEqual({ done: false, value: 'row 0 under export' });
    expect(await isFree(lock())).toBe(false);
    expect(await rows.next('go on')).toEqual({ done: false, value: 'row 1 under export' });
    expect(await isFree(lock())).toBe(false);
    expect(await rows.next()).toEqual({ done: true, value: 2 });
    expect(await isFree(lock())).toBe(true);
    expect(service().log).toEqual(['begun', 'go on', 'left with the lock']);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('holds it until the consumer leaves', async () => {
    for await (const row of service().rows(1_000)) if (row.startsWith('row 3')) break;
    expect(service().log).toEqual(['begun', 'left with the lock']);
    expect(await isFree(lock())).toBe(true);
  });

  it('holds it until the consumer throws, or it fails itself, with the very error', async () => {
    const error = new RangeError('no such row');
    const rows = service().rows(2);
    await rows.next();
    await expect(rows.throw(error)).rejects.toBe(error);
    expect(await isFree(lock())).toBe(true);
    await expect(all(service().failing(error))).rejects.toBe(error);
    expect(await isFree(lock())).toBe(true);
  });

  it('releases the lock at the end of a scope', async () => {
    {
      await using rows = service().rows(2);
      await rows.next();
      expect(await isFree(lock())).toBe(false);
    }
    expect(await isFree(lock())).toBe(true);
  });

  it('locks for each generator by itself', async () => {
    const first = service().rows(1);
    await first.next();
    const contended = contention(app.client);
    const second = all(service().rows(1));
    await contended;
    expect(service().log).toEqual(['begun']);
    await first.return(0);
    expect(await second).toEqual(['row 0 under export']);
  });

  it('runs in the scope of its lease, wherever its values are asked for', async () => {
    expect(await all(service().nested())).toEqual(['export', 'export']);
  });

  it('does not run, nor queue any more, when the consumer leaves before the grant', async () => {
    const holder = await lock().acquire();
    const contended = contention(app.client);
    const rows = service().rows(1);
    const first = rows.next();
    await contended;
    expect(await rows.return(7)).toEqual({ done: true, value: 7 });
    expect(await first).toEqual({ done: true, value: undefined });
    await nobodyQueues();
    await holder.release();
    expect(await isFree(lock())).toBe(true);
    expect(service().log).toEqual([]);
  });

  it('does not lock where the consumer leaves before it has asked', async () => {
    const rows = service().rows(1);
    expect(await rows.return(7)).toEqual({ done: true, value: 7 });
    expect(await rows.next()).toEqual({ done: true, value: undefined });
    expect(service().log).toEqual([]);
  });

  it.each([
    ['leaves', (events: AsyncIterator<number>) => events.return!()],
    ['throws', (events: AsyncIterator<number>) => events.throw!('x').catch(() => {})],
  ])(
    'releases the lock of events when the consumer %s while it waits for one',
    async (_, leave) => {
      for (const open of ['events', 'eventsInside'] as const) {
        const acquired = new Promise((resolve) => app.client.on('acquired', resolve));
        const events = service()[open]();
        const next = events.next();
        await acquired;
        await new Promise((resolve) => setImmediate(resolve)); // the method runs
        await leave(events);
        expect(await next).toEqual({ done: true, value: undefined });
        expect(await isFree(lock())).toBe(true);
      }
    },
  );

  it('reports that the lock is busy', async () => {
    const holder = await lock().acquire();
    await expect(all(service().impatient())).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await all(service().skipping())).toEqual([]);
    expect(await all(service().answering())).toEqual(['LOCK_TIMEOUT']);
    await holder.release();
    expect(service().log).toEqual([]);
  });

  it('fails at its end when the lock was lost meanwhile', async () => {
    const rows = service().rows(2);
    await rows.next();
    await expire();
    expect(await rows.next()).toMatchObject({ done: false });
    await expect(rows.next()).rejects.toBeInstanceOf(LockLostError);
    expect(service().log).toEqual(['begun', 'left without the lock']);
  });

  it('rejects the return of a consumer that leaves after the lock was lost', async () => {
    const rows = service().rows(2);
    await rows.next();
    await expire();
    await expect(rows.return(0)).rejects.toBeInstanceOf(LockLostError);
  });

  it('fails at once with the policy `abort`, and is ended when it stands still', async () => {
    const rows = service().aborting();
    await rows.next();
    await expire();
    await eventually('its body has ended', () => service().log.includes('ended'));
    await expect(rows.next()).rejects.toBeInstanceOf(LockLostError);
    expect(await rows.next()).toEqual({ done: true, value: undefined });
  });

  it('fails at once while a value is waited for', async () => {
    const rows = service().aborting();
    await rows.next();
    const next = expect(rows.next()).rejects.toBeInstanceOf(LockLostError);
    await expire();
    await next;
    expect(service().log).toEqual([]); // it waits for its door
    service().door.resolve();
    await eventually('its body has ended', () => service().log.includes('ended'));
  });

  it('fails where Nest has not made the instance', async () => {
    await expect(all(new Exports().rows(1))).rejects.toBeInstanceOf(LockInterceptorMissingError);
  });

  it('runs in a unit test that puts a fake in the place of the locks', async () => {
    const around = (_plan: unknown, _args: unknown, proceed: () => unknown) => proceed();
    const fake = await app.apps.boot({
      clients: [],
      providers: [Exports, { provide: LOCK_INTERCEPTOR, useValue: { around } }],
    });
    expect(await all(fake.get(Exports).failing(new Error('x'))).catch(String)).toBe('Error: x');
  });

  it('does not run when the consumer leaves in the turn of the grant', async () => {
    const open: AsyncIterator<number>[] = [];
    const around = (_plan: unknown, _args: unknown, proceed: () => unknown) => {
      const work = proceed(); // granted
      for (const each of open) void each.return!();
      return work;
    };
    const fake = await app.apps.boot({
      clients: [],
      providers: [Exports, { provide: LOCK_INTERCEPTOR, useValue: { around } }],
    });
    const events = fake.get(Exports).events();
    open.push(events);
    expect(await events.next()).toEqual({ done: true, value: undefined });
  });
});
