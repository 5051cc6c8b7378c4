import { describe, expect, it } from '@jest/globals';
import { Controller, Get, Param, Sse, type MessageEvent } from '@nestjs/common';
import { get, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { concat, lastValueFrom, NEVER, Observable, of, Subject, throwError, toArray } from 'rxjs';
import request from 'supertest';
import {
  currentLease,
  LOCK_INTERCEPTOR,
  LockInterceptorMissingError,
  LockStream,
  LockTimeoutError,
  type ZooKeeperLockClient,
} from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { contention, isFree, useApp } from './support/apps.js';

@Controller('reports')
class Reports {
  readonly lines = new Subject<string>();
  runs = 0;

  @Sse(':id/live')
  @LockStream((id: string) => `report:${id}`)
  live(@Param('id') id: string): Observable<MessageEvent> {
    return concat(of({ data: `report ${id}` }), NEVER);
  }

  @LockStream((id: string) => `report:${id}`)
  @Get(':id/last')
  last(@Param('id') id: string): Observable<string> {
    return of('first', `last of ${id}`);
  }

  @LockStream('report:1')
  follow(): Observable<string> {
    this.runs += 1;
    return this.lines;
  }

  @LockStream('report:1')
  lease(): Observable<string | undefined> {
    return of(currentLease()?.key);
  }

  @LockStream('report:1')
  closing(): Observable<string> {
    return new Observable((subscriber) => subscriber.unsubscribe());
  }

  @LockStream('report:1')
  failing(): Observable<string> {
    throw new RangeError('no such report');
  }

  @LockStream('report:1')
  ending(error: unknown): Observable<string> {
    return concat(
      of('begun'),
      throwError(() => error),
    );
  }

  @LockStream('archive', { recipe: 'readLock' })
  shared(): Observable<string> {
    return this.lines;
  }

  @LockStream('live', { recipe: 'semaphore', permits: 2, onBusy: () => 'full' })
  counted(): Observable<string> {
    return this.lines;
  }

  @LockStream('report:1', { wait: 20 })
  impatient(): Observable<string> {
    return this.follow();
  }

  @LockStream('report:1', { onBusy: 'skip' })
  skipping(): Observable<string> {
    return this.follow();
  }

  @LockStream('report:1', { onBusy: (error) => error.code })
  answering(): Observable<string> {
    return this.follow();
  }
}

describe('@LockStream holds the lock over the whole stream', () => {
  const app = useApp<ZooKeeperLockClient>(() => ({ controllers: [Reports] }));
  const reports = () => app.get(Reports);
  const report = () => app.client.mutex('report:1');
  const all = <T>(stream: Observable<T>) => lastValueFrom(stream.pipe(toArray()));
  const acquired = () =>
    new Promise<void>((resolve) => {
      const stop = app.client.on('acquired', () => {
        stop();
        resolve();
      });
    });

  it('until it completes', async () => {
    const lines = all(reports().follow());
    await acquired();
    expect(await isFree(report())).toBe(false);
    reports().lines.next('a');
    reports().lines.next('b');
    expect(await isFree(report())).toBe(false);
    reports().lines.complete();
    expect(await lines).toEqual(['a', 'b']);
    expect(await isFree(report())).toBe(true);
  });

  it('and releases it before it emits the end', async () => {
    const log: string[] = [];
    app.client.on('released', () => void log.push('released'));
    const subscription = reports()
      .lease()
      .subscribe({ complete: () => void log.push('completed') });
    await eventually('the stream has ended', () => subscription.closed);
    expect(log).toEqual(['released', 'completed']);
  });

  it('until it fails, with the very error', async () => {
    const error = new Error('the source broke');
    await expect(all(reports().ending(error))).rejects.toBe(error);
    expect(await isFree(report())).toBe(true);
    await expect(all(reports().failing())).rejects.toThrow(new RangeError('no such report'));
    expect(await isFree(report())).toBe(true);
  });

  it('until its source closes it without a word, as RxJS does when the call stack is exceeded', async () => {
    await expect(all(reports().closing())).rejects.toThrow(/without its end or an error/);
    expect(await isFree(report())).toBe(true);
  });

  it('until its last subscriber leaves', async () => {
    const subscription = reports().follow().subscribe();
    await acquired();
    expect(await isFree(report())).toBe(false);
    subscription.unsubscribe();
    await report().using(() => {});
    expect(reports().lines.observed).toBe(false);
  });

  it('of each subscription, one after the other', async () => {
    const stream = reports().follow();
    const first = all(stream);
    await acquired();
    const contended = contention(app.client);
    const second = all(stream);
    await contended;
    expect(reports().runs).toBe(1);

    const granted = acquired();
    reports().lines.complete();
    await first;
    await granted;
    expect(await second).toEqual([]);
    expect(reports().runs).toBe(2);
  });

  it('and does not queue for a subscription that has ended', async () => {
    const holder = await report().acquire();
    const contended = contention(app.client);
    const subscription = reports().follow().subscribe();
    await contended;
    subscription.unsubscribe();
    await eventually('no caller queues', async () => {
      const queue = await report().participants();
      return queue.length === 1;
    });
    await holder.release();
    expect(reports().runs).toBe(0);
  });

  it('and runs the method in the scope of that lease', async () => {
    expect(await all(reports().lease())).toEqual(['report:1']);
  });

  it('and may share it with other readers', async () => {
    const archive = app.client.readWriteLock('archive');
    const lines = all(reports().shared());
    await eventually('it listens', () => reports().lines.observed);
    const reader = await archive.readLock().tryAcquire();
    expect(reader?.isHeld).toBe(true);
    await reader?.release();
    expect(await archive.writeLock().tryAcquire()).toBeUndefined();

    reports().lines.complete();
    await lines;
    expect((await archive.writeLock().tryAcquire())?.isHeld).toBe(true);
  });

  it('and may share it with as many others as there are permits', async () => {
    const live = app.client.semaphore('live', { permits: 2 });
    const subscriptions = [reports().counted().subscribe(), reports().counted().subscribe()];
    await eventually('all permits are taken', async () => (await live.availablePermits()) === 0);
    expect(await all(reports().counted())).toEqual(['full']);
    for (const subscription of subscriptions) subscription.unsubscribe();
    await eventually('all permits are back', async () => (await live.availablePermits()) === 2);
  });

  it('or reports that the lock is busy', async () => {
    const holder = await report().acquire();
    await expect(all(reports().impatient())).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await all(reports().skipping())).toEqual([]);
    expect(await all(reports().answering())).toEqual(['LOCK_TIMEOUT']);
    expect(reports().runs).toBe(0);
    await holder.release();
  });

  it('or fails where Nest has not made the instance', async () => {
    await expect(all(new Reports().follow())).rejects.toBeInstanceOf(LockInterceptorMissingError);
  });

  it('or runs in a unit test that puts a fake in the place of the locks', async () => {
    const around = (_plan: unknown, _args: unknown, proceed: () => unknown) => proceed();
    const fake = await app.apps.boot({
      clients: [],
      providers: [Reports, { provide: LOCK_INTERCEPTOR, useValue: { around } }],
    });
    expect(await all(fake.get(Reports).lease())).toEqual([undefined]);
  });

  it('of an HTTP handler', async () => {
    await request(app.nest.getHttpServer()).get('/reports/1/last').expect(200, 'last of 1');
    expect(await isFree(report())).toBe(true);
  });

  it('of server-sent events, until the reader leaves', async () => {
    const server = app.nest.getHttpServer() as Server;
    const { port } = server.address() as AddressInfo;
    const response = await new Promise<IncomingMessage>((resolve, reject) => {
      get({ host: '127.0.0.1', port, path: '/reports/1/live' }, resolve).on('error', reject);
    });
    const text = await new Promise<string>((resolve) => {
      let read = '';
      response.on('data', (chunk) => {
        read += String(chunk);
        if (read.includes('report 1')) resolve(read);
      });
    });
    expect(text).toContain('data: report 1');
    expect(await isFree(report())).toBe(false);

    const contended = contention(app.client);
    const contender = report().using(() => 'granted');
    await contended;
    response.destroy();
    expect(await contender).toBe('granted');
  });
});
