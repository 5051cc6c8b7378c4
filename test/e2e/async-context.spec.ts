import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';
import { Global, type INestApplicationContext, Injectable, Module } from '@nestjs/common';
import { Test } from '@nestjs/testing';
import { AsyncLocalStorage } from 'node:async_hooks';
import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';
import {
  finalize,
  firstValueFrom,
  lastValueFrom,
  type Observable,
  range,
  Subject,
  take,
  tap,
  timer,
} from 'rxjs';
import { LeaseScope } from '../../lib/core/internal/lease-scope.js';
import {
  currentLease,
  getLockClientToken,
  LeaderElection,
  type Lease,
  LOCK_TRACER,
  LockLostError,
  LockModule,
  LockNotHeldError,
  LockStream,
  type LockTracer,
  WithMutex,
  type ZooKeeperLease,
  type ZooKeeperLockClient,
} from '../../lib/index.js';
import { Deferred, eventually } from '../support/time.js';

setFlagsFromString('--expose-gc');
const collectGarbage = runInNewContext('gc') as () => void;

@Injectable()
class Service {
  readonly past: WeakRef<Lease>[] = [];
  /** What the next run finds of each. */
  readonly ended: WeakRef<Lease>[] = [];
  produced = 0;
  insideNow = 0;
  mostInside = 0;
  readonly seen: (string | undefined)[] = [];

  /** Starts its own next run, as a method that polls. */
  @WithMutex('poll')
  async poll(times: number, done: () => void): Promise<void> {
    this.past.push(new WeakRef(currentLease()!));
    if (times === 1) return done();
    setImmediate(() => {
      this.ended.push(new WeakRef(currentLease()!));
      void this.poll(times - 1, done);
    });
  }

  /** What is left of the lease in work that outlives it. */
  @WithMutex('outlived')
  async outlived(released: Promise<void>): Promise<{ readonly after: Promise<Lease | undefined> }> {
    return { after: released.then(() => currentLease()) };
  }

  @WithMutex('stream', { wait: 5_000 })
  async exclusive(): Promise<void> {
    this.mostInside = Math.max(this.mostInside, ++this.insideNow);
    await new Promise(setImmediate);
    this.insideNow -= 1;
  }

  @LockStream('stream')
  ticks(): Observable<number> {
    return timer(0, 1).pipe(
      take(5),
      tap(() => this.seen.push(currentLease()?.key)),
      finalize(() => this.seen.push(currentLease()?.key)),
    );
  }

  @WithMutex('outer')
  async outer<T>(body: () => Promise<T> | T): Promise<T> {
    return body();
  }

  @WithMutex((_body: unknown, _hear: () => void) => 'lost', {
    onLost: (_error, _body, hear) => hear(),
  })
  async losing(body: () => unknown, _hear: () => void): Promise<unknown> {
    return body();
  }

  @LockStream('stream')
  async *rows(): AsyncGenerator<number> {
    yield 1;
  }

  @LockStream('many')
  many(): Observable<number> {
    return range(0, 1_000_000).pipe(tap(() => (this.produced += 1)));
  }
}

describe('The async context of locked methods', () => {
  let app: INestApplicationContext;
  let service: Service;

  beforeAll(async () => {
    const imports = [LockModule.forRoot()];
    app = await Test.createTestingModule({ imports, providers: [Service] }).compile();
    await app.init();
    service = app.get(Service);
  });
  afterAll(() => app.close());

  it('keeps nothing of past leases when a method starts its own next run', async () => {
    const left = await new Promise<number[]>((resolve) => {
      const inLastRun = () => {
        collectGarbage();
        const { past, ended } = service;
        resolve([past, ended].map((leases) => leases.filter((lease) => lease.deref()).length));
      };
      void service.poll(500, inLastRun);
    });
    expect([service.past.length, service.ended.length]).toEqual([500, 499]);
    for (const count of left) expect(count).toBeLessThan(10);
  });

  it('gives work that outlives its lease one that knows only how it ended', async () => {
    let release!: () => void;
    const { after } = await service.outlived(new Promise((done) => (release = done)));
    release();
    const lease = (await after)!;
    expect(lease).toMatchObject({ key: 'outlived', isHeld: false });
    expect(lease.signal.aborted).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
    for (const refused of [lease.fencingToken(), lease.run(() => {})])
      await expect(refused).rejects.toMatchObject({ code: 'LOCK_NOT_HELD', key: 'outlived' });
    await expect(lease.release()).resolves.toBeUndefined();
  });

  it('passes over the ended lease of another copy of the package', async () => {
    const key = Symbol.for('nestjs-interlock:lease-chain');
    const scopes = (globalThis as never as { [key]: AsyncLocalStorage<unknown> })[key];
    const link = { scoped: { lease: { key: 'stream', isHeld: false } }, outer: undefined };
    await scopes.run(link, () => service.exclusive());
    expect(service.mostInside).toBe(1);
  });

  it('runs the consumers of a locked Observable outside its lease, and its source inside', async () => {
    const bus = new Subject<number>(); // one of the whole app: its subscriber does not know of the stream
    const work: Promise<void>[] = [];
    const leases: unknown[] = [];
    bus.subscribe(() => {
      leases.push(currentLease());
      work.push(service.exclusive());
    });
    await lastValueFrom(service.ticks().pipe(tap((value) => bus.next(value))));
    await Promise.all(work);
    expect(leases).toEqual(Array(5).fill(undefined));
    expect(service.seen).toEqual(Array(6).fill('stream'));
    expect(service.mostInside).toBe(1);
  });

  it('ends the source of a locked Observable in its lease when the consumer leaves', async () => {
    service.seen.length = 0;
    await firstValueFrom(service.ticks());
    expect(service.seen).toEqual(['stream', 'stream']);
  });

  it('stops a locked Observable that emits all at once when the consumer has what it wants', async () => {
    await firstValueFrom(service.many());
    expect(service.produced).toBe(1);
  });
});

describe('Under a lock, the code of others runs outside of it:', () => {
  let app: INestApplicationContext;
  let service: Service;
  let client: ZooKeeperLockClient;
  const heard: unknown[] = [];
  /** Code of others: it notes the lease that it runs in. */
  const hear = (..._news: unknown[]) => void heard.push(currentLease()?.key ?? 'outside');
  let isTraced = false;
  const tracer: LockTracer = {
    async hold(_plan, proceed) {
      if (isTraced) hear();
      const result = await proceed();
      if (isTraced) hear();
      return result;
    },
  };

  beforeAll(async () => {
    const imports = [LockModule.forRoot()];
    const providers = [Service, { provide: LOCK_TRACER, useValue: tracer }];
    @Global()
    @Module({ providers, exports: providers })
    class Parts {}
    app = await Test.createTestingModule({ imports: [...imports, Parts] }).compile();
    await app.init();
    service = app.get(Service);
    client = app.get(getLockClientToken());
  });
  afterAll(() => app.close());

  const here = () => currentLease() as ZooKeeperLease;
  const lose = (lease: ZooKeeperLease) => void lease.hold.revoke('it was taken away');
  const cases: Record<string, () => Promise<unknown>> = {
    'a tracer': async () => {
      isTraced = true;
      await service.exclusive();
      isTraced = false;
    },
    'a listener of a client': async () => {
      const stop = client.on('acquired', hear);
      await service.outer(() => client.mutex('other').using(() => {}));
      stop();
    },
    'an onLost': () => service.losing(() => lose(here()), hear),
    'a revocation listener': () =>
      service.outer(async () => {
        const [participant] = await client.mutex('outer').participants();
        await client.revoke(participant!);
        await new Promise<void>((resolve) =>
          here().makeRevocable(() => {
            hear();
            resolve();
          }),
        );
      }),
    'a listener of a latch': () =>
      service.outer(async () => {
        const latch = client.leaderLatch('latch');
        const leads = new Promise<void>((resolve) =>
          latch.onLeadership(() => {
            hear();
            resolve();
          }),
        );
        latch.start();
        await leads;
        latch.onLeadershipLost(hear);
        await latch.close('NOTIFY_LEADER');
      }),
    'a subscriber of the state of an election': () =>
      service.outer(() => {
        const latch = { hasLeadership: false, onLeadership() {}, onLeadershipLost() {} };
        const election = new LeaderElection('jobs', 'default', () => latch as never);
        election.join();
        LeaseScope.runOutside(() => election.state$.subscribe(hear));
        latch.hasLeadership = true;
        expect(election.state).toBe('leader');
      }),
    'a consumer of a locked generator': async () => {
      for await (const row of service.rows()) hear(row);
    },
    'a consumer of a locked Observable, told of its end': () =>
      new Promise<void>((complete) => {
        service.ticks().subscribe({
          next: hear,
          complete: () => complete(hear()),
        });
      }),
  };

  it.each(Object.entries(cases))('%s', async (_, act) => {
    heard.length = 0;
    await act();
    expect(new Set(heard)).toEqual(new Set(['outside']));
  });

  it('but a listener of the signal of a lease finds that lease, which has ended', async () => {
    const found: unknown[] = [];
    const listen = () => {
      here().signal.addEventListener('abort', () => found.push(here().key, here().isHeld));
      lose(here());
    };
    await service.losing(listen, () => {});
    expect(found).toEqual(['lost', false]);
  });
});

describe('What a call hears of its lease', () => {
  it('comes in the async context of that call, such as its request or tenant, whichever call noticed it', async () => {
    const imports = [LockModule.forRoot()];
    const app = await Test.createTestingModule({ imports, providers: [Service] }).compile();
    await app.init();
    const service = app.get(Service);
    const client = app.get<ZooKeeperLockClient>(getLockClientToken());
    const tenant = new AsyncLocalStorage<string>();
    const heard: unknown[] = [];
    const hear = (what: string) => () => heard.push([what, tenant.getStore()]);
    const begun = new Deferred<ZooKeeperLease>();
    const end = new Deferred();
    const body = () => {
      const lease = currentLease() as ZooKeeperLease;
      lease.signal.addEventListener('abort', hear('signal'));
      lease.makeRevocable(hear('revocation'));
      begun.resolve(lease);
      return end.promise;
    };
    const call = tenant.run('A', () => service.losing(body, hear('onLost')));
    const lease = await begun.promise;
    const [participant] = await client.mutex('lost').participants();
    await tenant.run('B', () => client.revoke(participant!));
    await eventually('it was asked', () => heard.length === 1);
    void tenant.run('B', () => lease.hold.revoke('it was taken away'));
    end.resolve();
    await call;
    await app.close();
    expect(heard).toEqual([
      ['revocation', 'A'],
      ['onLost', 'A'],
      ['signal', 'A'],
    ]);
  });
});

describe('A lease that ended', () => {
  it('shows in work that outlives it that it was lost', async () => {
    const { EndedLease } = await import('../../lib/core/internal/lease-scope.js');
    const lost = new LockLostError('its session is over', { key: 'a' });
    const lease = new EndedLease({ key: 'a' }, lost);
    expect(lease.signal.reason).toBe(lost);
    expect(() => lease.assertHeld()).toThrow(lost);
    await expect(lease.run()).rejects.toBe(lost);
  });
});
