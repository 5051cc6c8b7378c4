import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable, type INestApplication } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import {
  currentLease,
  LockDefaults,
  LockLostError,
  LockModule,
  RunOnce,
  type Lease,
  type LockClient,
  type LockModuleOptions,
} from '../../lib/index.js';
import { eventually } from '../support/eventually.js';
import { IndependentRedisServers } from '../support/independent-redis-servers.js';
import { RedisServer } from '../support/redis-server.js';
import { Apps, clientOf } from './support/apps.js';
import { RecordingLogger } from './support/recording-logger.js';
import { Room } from './support/room.js';

/** Longer than a busy machine stands still. */
const AT_LEAST = 2_000;
const AT_MOST = 60_000;

@Injectable()
@LockDefaults({ wait: 'forever', onLost: 'ignore' }) // which are not for runs
class Reports {
  /** When each run began. */
  readonly runs: number[] = [];
  lease?: Lease;

  constructor(private readonly room: Room) {}

  @RunOnce('slow', { atMost: AT_MOST })
  async slow(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('quick', { atMost: AT_MOST, atLeast: AT_LEAST })
  async quick(): Promise<string | undefined> {
    return this.#run(() => 'written');
  }

  @RunOnce('slow and quick', { atMost: AT_MOST, atLeast: AT_LEAST })
  async slowAndQuick(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('failing', { atMost: AT_MOST, atLeast: AT_LEAST })
  async failing(error: Error): Promise<void> {
    await this.#run(() => Promise.reject(error));
  }

  @RunOnce('hanging', { atMost: 100 })
  async hanging(): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('report:{0}', { atMost: AT_MOST })
  async one(_id: string): Promise<string | undefined> {
    return this.#run(() => this.room.stay('written'));
  }

  @RunOnce('nested', { atMost: AT_MOST })
  async nested(): Promise<string[] | undefined> {
    return ['outer', String(await this.nested())];
  }

  async #run<T>(work: () => Promise<T> | T): Promise<T> {
    this.runs.push(performance.now());
    this.lease = currentLease();
    return work();
  }
}

describe.each(['embedded', 'redis', 'several redis'] as const)('@RunOnce (%s)', (backend) => {
  const apps = new Apps();
  let server: RedisServer | undefined;
  let servers: IndependentRedisServers | undefined;
  let options: LockModuleOptions;
  let logger: RecordingLogger;
  let room: Room;
  let app: INestApplication;
  let client: LockClient;
  let reports: Reports;
  let others: Reports;

  beforeAll(async () => {
    if (backend === 'redis') server = await RedisServer.start();
    if (backend === 'several redis') servers = await IndependentRedisServers.start(3);
  });
  afterAll(async () => {
    await server?.stop();
    await servers?.stop();
  });

  beforeEach(async () => {
    await server?.command('FLUSHALL'); // what was kept by the test before
    await servers?.commands('FLUSHALL');
    options = {};
    if (server) options = { backend: 'redis', connect: server.url };
    if (servers) options = { backend: 'redis', nodes: servers.nodes };
    logger = new RecordingLogger();
    room = new Room();
    app = await boot();
    client = clientOf(app);
    reports = app.get(Reports);
    // The embedded backend excludes only callers of its own app.
    others = backend === 'embedded' ? reports : (await boot()).get(Reports);
  });
  afterEach(async () => {
    room.open();
    await apps.close();
  });

  const boot = () =>
    apps.boot(
      {
        imports: [LockModule.forRoot(options)],
        providers: [Reports, { provide: Room, useValue: room }],
      },
      (builder) => builder.setLogger(logger),
    );
  const runs = () => [...new Set([...reports.runs, ...others.runs])];
  const isFree = async (name: string) => {
    const lease = await client.semaphoreMutex(name).tryAcquire();
    await lease?.release();
    return lease !== undefined;
  };

  it('runs a method once, and skips it at once where it runs already', async () => {
    const call = reports.slow();
    await room.entered.promise;
    expect(await others.slow()).toBeUndefined();
    expect(await reports.slow()).toBeUndefined();
    room.open();
    expect(await call).toBe('written');
    expect(await others.slow()).toBe('written');
    expect(runs().length).toBe(2);
  });

  it('keeps names apart that are made of arguments', async () => {
    const call = reports.one('sales');
    await room.entered.promise;
    expect(await others.one('sales')).toBeUndefined();
    room.open();
    expect(await others.one('stock')).toBe('written');
    expect(await call).toBe('written');
  });

  it('skips a run inside of a run', async () => {
    expect(await reports.nested()).toEqual(['outer', 'undefined']);
  });

  it('settles at once, and keeps the others out for `atLeast`', async () => {
    expect(await reports.quick()).toBe('written');
    expect(await others.quick()).toBeUndefined();
    await eventually('it may run again', () => others.quick());
    const [first, second] = runs();
    expect(second! - first!).toBeGreaterThanOrEqual(AT_LEAST - 100); // which begins with the grant, before the run
  });

  it('keeps the others out for `atLeast` although the method has failed', async () => {
    const error = new RangeError('no data');
    await expect(reports.failing(error)).rejects.toBe(error);
    expect(await others.failing(error)).toBeUndefined();
  });

  it('lets the others run at once where the method took longer than `atLeast`', async () => {
    const call = reports.slowAndQuick();
    await room.entered.promise;
    await eventually('it has taken so long', () => performance.now() - runs()[0]! > AT_LEAST);
    room.open();
    await call;
    expect(await isFree('slow and quick')).toBe(true);
  });

  it('gives the lock up after `atMost`, with a warning, aborts the signal of the method, and rejects the call', async () => {
    const call = reports.hanging();
    await room.entered.promise;
    const { signal } = reports.lease!;
    await eventually('its signal aborts', () => signal.aborted);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    await eventually('others may run', () => isFree('hanging'));
    expect(logger.lines).toContainEqual(
      expect.stringMatching(
        /^warn: Reports\.hanging is still running, .* it was held for its `atMost` of 100 ms/,
      ),
    );
    room.open();
    await expect(call).rejects.toBe(signal.reason);
    expect(room.log).toEqual(['left']);
  });

  if (backend === 'redis')
    it('does not run later, nor skip silently, where the server does not answer', async () => {
      server!.freeze();
      await expect(reports.slow()).rejects.toMatchObject({ code: 'LOCK_TIMEOUT', waitedMs: 5_000 });
      server!.thaw();
      await eventually('no call excludes the others', () => isFree('slow'));
      expect(runs()).toEqual([]);
    });

  if (backend === 'embedded') {
    it('does not hold up the end of its app for `atLeast`', async () => {
      await reports.quick();
      await apps.close(app);
      expect(performance.now() - runs()[0]!).toBeLessThan(AT_LEAST);
    });
    return;
  }

  it('keeps the others out for `atLeast` although the app is closed after the run', async () => {
    await reports.quick();
    await apps.close(app);
    expect(await others.quick()).toBeUndefined();
    await eventually('others may run', () => others.quick());
    const [first, second] = runs();
    expect(second! - first!).toBeGreaterThanOrEqual(AT_LEAST - 100);
  });

  it('keeps the others out for `atLeast` although the app is closed in mid-run', async () => {
    const call = reports.slowAndQuick();
    const outcome = expect(call).rejects.toBeInstanceOf(LockLostError);
    await room.entered.promise;
    await apps.close(app);
    room.open();
    await outcome;
    expect(await others.slowAndQuick()).toBeUndefined();
    await eventually('others may run', () => others.slowAndQuick());
    const [first, second] = runs();
    expect(second! - first!).toBeGreaterThanOrEqual(AT_LEAST - 100);
  });
});

@Injectable()
class Schedules {
  readonly ran = { above: 0, below: 0, cron: 0 };

  @RunOnce('above', { atMost: AT_MOST })
  @Interval('above', 20)
  async above(): Promise<void> {
    this.ran.above += currentLease()?.isHeld ? 1 : NaN;
  }

  @Interval('below', 20)
  @RunOnce('below', { atMost: AT_MOST })
  async below(): Promise<void> {
    this.ran.below += currentLease()?.isHeld ? 1 : NaN;
  }

  @Cron('* * * * * *', { name: 'cron' })
  @RunOnce('cron', { atMost: AT_MOST })
  async cron(): Promise<void> {
    this.ran.cron += currentLease()?.isHeld ? 1 : NaN;
  }
}

describe('@RunOnce on a schedule', () => {
  const apps = new Apps();
  afterEach(() => apps.close());

  it('runs under its lock, whether it stands above or below', async () => {
    const app = await apps.boot(
      { imports: [ScheduleModule.forRoot(), LockModule.forRoot()], providers: [Schedules] },
      (builder) => builder.setLogger(new RecordingLogger()), // of calls that come while it closes
    );
    const { ran } = app.get(Schedules);
    await eventually('all have run', () => ran.above && ran.below && ran.cron);
    expect(app.get(SchedulerRegistry).getIntervals()).toEqual(['above', 'below']);
  });
});
