import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { concat, lastValueFrom, NEVER, of, Subject, type Observable } from 'rxjs';
import { currentLease, LockLostError, LockModule, LockStream, WithMutex } from '../../lib/index.js';
import { Deferred } from '../support/deferred.js';
import { eventually } from '../support/eventually.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';

/** A client that has heard nothing from the server for so long has lost its locks, in ms. */
const LEASE = 2_000;

const losses: LockLostError[] = [];

@Injectable()
class Import {
  readonly door = new Deferred();
  readonly lines = new Subject<string>();
  readonly signals: AbortSignal[] = [];
  left = 0;

  @WithMutex('throwing')
  async throwing(): Promise<string> {
    return this.#work();
  }

  @WithMutex('failing')
  async failing(error: unknown): Promise<string> {
    await this.#work();
    throw error;
  }

  @WithMutex('aborting', { onLost: 'abort' })
  async aborting(): Promise<string> {
    return this.#work();
  }

  @WithMutex('ignoring', { onLost: 'ignore' })
  async ignoring(): Promise<string> {
    return this.#work();
  }

  @WithMutex('told', { onLost: (error) => void losses.push(error) })
  async told(): Promise<string> {
    return this.#work();
  }

  @LockStream('stream')
  stream(): Observable<string> {
    this.signals.push(currentLease()!.signal);
    return this.lines;
  }

  @LockStream('aborted stream', { onLost: 'abort' })
  abortedStream(): Observable<string> {
    this.signals.push(currentLease()!.signal);
    return concat(of('first'), NEVER);
  }

  async #work(): Promise<string> {
    this.signals.push(currentLease()!.signal);
    await this.door.promise;
    this.left += 1;
    return 'loaded';
  }
}

describe('When Redis dies in mid-method', () => {
  const apps = new Apps();
  let server: RedisServer;

  beforeAll(async () => void (server = await RedisServer.start()));
  afterAll(async () => {
    await apps.close();
    await server.stop();
  });

  it('each call ends as its `onLost` says', async () => {
    const app = await apps.boot({
      imports: [
        LockModule.forRoot({
          backend: 'redis',
          connect: server.url,
          watchdogTimeout: LEASE,
        }),
      ],
      providers: [Import],
    });
    const service = app.get(Import);
    const error = new RangeError('no such file');
    const loss = expect.any(LockLostError);
    const outcome = (call: Promise<unknown>) =>
      call.then(
        (value) => ({ value }),
        (reason: unknown) => ({ reason }),
      );

    const atOnce = [outcome(service.aborting()), outcome(lastValueFrom(service.abortedStream()))];
    const later = [
      outcome(service.throwing()),
      outcome(service.failing(error)),
      outcome(service.ignoring()),
      outcome(service.told()),
      outcome(lastValueFrom(service.stream())),
    ];
    await eventually('all run', () => service.signals.length === 7);
    await server.kill();

    expect(await Promise.all(atOnce)).toEqual([{ reason: loss }, { reason: loss }]);
    await eventually('all know', () => service.signals.every(({ aborted }) => aborted));
    expect(service.left).toBe(0);
    expect(losses).toEqual([loss]);

    service.door.resolve();
    service.lines.next('line');
    service.lines.complete();
    expect(await Promise.all(later)).toEqual([
      { reason: loss },
      { reason: error },
      { value: 'loaded' },
      { value: 'loaded' },
      { reason: loss },
    ]);
    await eventually('all have left, the one that was given up too', () => service.left === 5);

    await server.restart(); // a client that has no connection takes long to close
    await eventually('it is connected again', () => clientOf(app).status().health === 'up');
  });
});
