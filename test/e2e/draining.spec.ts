import { describe, expect, it } from '@jest/globals';
import {
  Global,
  Injectable,
  type INestApplication,
  Module,
  type OnApplicationShutdown,
} from '@nestjs/common';
import {
  currentLease,
  InjectLockClient,
  LeaderElections,
  LeaderOnly,
  type Lease,
  type LockClient,
  LockClientClosedError,
  LockLostError,
  LockOptionsError,
  LockStream,
  ReadLock,
  RunOnce,
  Semaphore,
  WithMultiLock,
  WithMutex,
  WriteLock,
} from '../../lib/index.js';
import { LockTestingModule } from '../../lib/testing/index.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { clientOf, contention, errorOf, RecordingLogger, Room, useApps } from './support/apps.js';

const apps = useApps();

@Injectable()
class Jobs {
  lease?: Lease;

  constructor(
    private readonly room: Room,
    @InjectLockClient() private readonly locks: LockClient,
  ) {}

  @WithMutex('job')
  async mutex(): Promise<string> {
    this.lease = currentLease();
    return this.room.stay('done');
  }

  @ReadLock('report')
  async readLock(): Promise<string> {
    return this.room.stay('done');
  }

  @WriteLock('report')
  async writeLock(): Promise<string> {
    return this.room.stay('done');
  }

  @Semaphore('desk', { permits: 2 })
  async semaphore(): Promise<string> {
    return this.room.stay('done');
  }

  @WithMultiLock(['job', 'other'])
  async multiLock(): Promise<string> {
    return this.room.stay('done');
  }

  @RunOnce('bill', { atMost: 60_000 })
  async runOnce(): Promise<string | undefined> {
    return this.room.stay('done');
  }

  @LeaderOnly('chair')
  async leaderOnly(): Promise<string | undefined> {
    return this.room.stay('done');
  }

  @LockStream('job')
  async *stream(): AsyncGenerator<string> {
    yield await this.room.stay('done');
  }

  async generator(): Promise<string> {
    for await (const result of this.stream()) return result;
    return 'nothing';
  }

  using(): Promise<string> {
    return this.locks.mutex('job').using(() => this.room.stay('done'));
  }

  async run(): Promise<string> {
    await using lease = await this.locks.mutex('job').acquire();
    return await lease.run(() => this.room.stay('done'));
  }

  @WithMutex('step', { client: 'archive' })
  async step(): Promise<string> {
    return 'step';
  }

  @WithMutex('job')
  async steps(): Promise<string[]> {
    await this.room.stay(undefined);
    return [await this.step(), await this.mutex()];
  }

  @WithMutex('job')
  async closeApp(app: INestApplication): Promise<void> {
    await apps.close(app);
    this.room.log.push('app closed');
  }
}

/** What the jobs need; it closes in the hook in which the modules of the usual databases do. */
@Injectable()
class Database implements OnApplicationShutdown {
  /** What had happened before it closed. */
  before?: readonly string[];
  whileItCloses: () => unknown = () => {};

  constructor(private readonly room: Room) {}

  async onApplicationShutdown(): Promise<void> {
    this.before = [...this.room.log];
    await this.whileItCloses();
  }
}

const boot = (options: object = {}, rest: object = {}) => {
  @Global()
  @Module({ providers: [{ provide: Room, useValue: apps.room }, Database], exports: [Database] })
  class DatabaseModule {}

  return apps.boot({
    clients: [options, { name: 'archive' }],
    imports: [DatabaseModule],
    providers: [Jobs],
    ...rest,
  });
};

/** Resolves when the app waits for that work. */
const waitsFor = (logger: RecordingLogger, work: string) =>
  eventually(`it waits for ${work}`, () =>
    logger.lines.some((line) => line.endsWith(` ms for the end of ${work}`)),
  );

/** Records when the app frees the lock of that key, or loses it. */
function recordEnds(app: INestApplication, key = 'job'): void {
  const { log } = apps.room;
  for (const event of ['released', 'lost'] as const)
    clientOf(app).on(event, (lock) => void (lock.key === key && log.push(event)));
}

describe('An app that closes while a job runs that nobody awaits', () => {
  it.each([
    ['mutex', 'job'],
    ['readLock', 'report'],
    ['writeLock', 'report'],
    ['semaphore', 'desk'],
    ['multiLock', 'other'],
    ['runOnce', 'bill'],
    ['leaderOnly', 'chair'],
    ['generator', 'job'],
    ['using', 'job'],
    ['run', 'job'],
  ] as const)('waits for it, and keeps its lock meanwhile: %s', async (job, key) => {
    const logger = new RecordingLogger();
    const app = await boot({}, { logger });
    if (job === 'leaderOnly') await app.get(LeaderElections).of('chair').awaitLeadership();
    const running = app.get(Jobs)[job]();
    await apps.room.entered.promise;
    recordEnds(app, key);

    const closing = apps.close(app).then(() => void apps.room.log.push('closed'));
    await eventually('it waits', () =>
      logger.lines.some((line) => line.includes(' for the end of ')),
    );
    expect([await isSettled(closing), apps.room.log]).toEqual([false, []]);
    apps.room.open();

    expect(await running).toBe('done');
    await closing;
    expect(apps.room.log).toEqual(['left', 'released', 'closed']);
    expect(app.get(Database).before).toContain('left');
  });

  it.each(['first', 'last'] as const)(
    'closes only afterwards what the job needs, LockModule imported %s',
    async (position) => {
      const logger = new RecordingLogger();
      const app = await boot({}, { logger, position });
      const running = app.get(Jobs).mutex();
      await apps.room.entered.promise;
      const closing = apps.close(app);
      await waitsFor(logger, 'Jobs.mutex ("job")');
      expect([await isSettled(closing), app.get(Database).before]).toEqual([false, undefined]);
      apps.room.open();
      expect(await running).toBe('done');
      await closing;
      expect(app.get(Database).before).toContain('left');
    },
  );

  it('serves callers meanwhile, and waits only for what was under way', async () => {
    const logger = new RecordingLogger();
    const app = await boot({ drainTimeout: 120_000 }, { logger });
    const [client, jobs, database] = [clientOf(app), app.get(Jobs), app.get(Database)];
    const running = jobs.mutex();
    await apps.room.entered.promise;
    const closing = apps.close(app);
    await waitsFor(logger, 'Jobs.mutex ("job")');

    expect(await jobs.step()).toBe('step');
    const [entered, late] = [new Deferred(), new Deferred<string>()];
    const begun = client.mutex('late').using(() => {
      entered.resolve();
      return late.promise;
    });
    await entered.promise;
    database.whileItCloses = () => late.resolve('done');
    apps.room.open();
    expect([await running, await begun]).toEqual(['done', 'done']);
    await closing;
  });

  it('grants the locks that it asks for, of all clients, and refuses those that wait or come', async () => {
    const logger = new RecordingLogger();
    const app = await boot({}, { logger });
    const [client, jobs] = [clientOf(app), app.get(Jobs)];
    let running: Promise<unknown> | undefined;
    let waiting: Promise<unknown> | undefined;
    app.get(Database).whileItCloses = async () => {
      running = jobs.steps();
      await apps.room.entered.promise;
      const contended = contention(client);
      waiting = errorOf(jobs.mutex());
      await contended;
    };

    const closing = apps.close(app);
    await waitsFor(logger, 'Jobs.steps ("job")');
    expect(await waiting).toBeInstanceOf(LockClientClosedError);
    await expect(jobs.using()).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(jobs.step()).rejects.toBeInstanceOf(LockClientClosedError);
    apps.room.open();
    expect(await running).toEqual(['step', 'done']);
    await closing;
  });

  it('does not wait for a lease that is just held, and releases it', async () => {
    const app = await boot();
    const held = await clientOf(app).mutex('job').acquire();
    await apps.close(app);
    expect([held.isHeld, held.signal.reason]).toEqual([false, expect.any(LockLostError)]);
  });

  it('does not wait for the job that closes it, and keeps its lock until it ends', async () => {
    const app = await boot();
    recordEnds(app);
    await errorOf(app.get(Jobs).closeApp(app));
    await eventually('its lock is free', () => apps.room.log.includes('released'));
    expect(apps.room.log).toEqual(['app closed', 'released']);
  });

  it('drains in the virtual time of tests too', async () => {
    const app = await boot({ drainTimeout: 100 }, { imports: [LockTestingModule] });
    void errorOf(app.get(Jobs).mutex());
    await apps.room.entered.promise;
    await apps.close(app);
    expect(app.get(Jobs).lease!.signal.aborted).toBe(true);
  });

  it('closes at once when its boot fails', async () => {
    @Injectable()
    class Failing {
      constructor(private readonly jobs: Jobs) {}

      async onModuleInit(): Promise<void> {
        void errorOf(this.jobs.mutex());
        await apps.room.entered.promise;
        throw new LockOptionsError('wait', 0, 'another one');
      }
    }

    const error = await apps.bootError({
      clients: [{}, { name: 'archive' }],
      providers: [Jobs, Failing],
    });
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS' });
  });
});

describe('An app that closes while a job hangs, after its drainTimeout,', () => {
  const hang = async (options: object) => {
    const logger = new RecordingLogger();
    const app = await boot({ drainTimeout: 50, ...options }, { logger });
    const running = errorOf(app.get(Jobs).mutex());
    await apps.room.entered.promise;
    recordEnds(app);
    const lines = logger.fromNowOn();
    await apps.close(app);
    return { app, running, lines, lease: app.get(Jobs).lease! };
  };

  it('aborts its signal, keeps its lock until it ends, and says so', async () => {
    const { app, running, lines, lease } = await hang({});
    expect(lease.signal.reason).toMatchObject({
      code: 'LOCK_LOST',
      message: expect.stringContaining('others are kept out until then'),
    });
    expect(clientOf(app).unfinished()).toMatchObject([{ key: 'job', method: 'Jobs.mutex' }]);
    expect(apps.room.log).toEqual([]);
    expect(lines().map((line) => line.replace(/Its signal.*/, '…'))).toEqual([
      'log: Lock client "default" waits for up to 50 ms for the end of Jobs.mutex ("job")',
      'warn: Lock client "default" closes, although its work was not over after the `drainTimeout` of 50 ms: Jobs.mutex ("job"). …',
    ]);
    expect(lines()[1]).toContain('keeps others out until the work ends');
    apps.room.open();
    expect(await running).toBe(lease.signal.reason);
    await eventually('its lock is free', () => apps.room.log.includes('released'));
    expect(clientOf(app).unfinished()).toEqual([]);
  });

  it('releases its lock if it is to, and says so', async () => {
    const { lines, lease } = await hang({ unfinished: 'release' });
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect(apps.room.log).toEqual(['lost']);
    expect(lines()[1]).toContain('is released now: others may run beside it');
  });

  it.each([
    [{ drainTimeout: -1 }, 'drainTimeout'],
    [{ drainTimeout: '20s' }, 'drainTimeout'],
    [{ unfinished: 'wait' }, 'unfinished'],
    [{ shutdownTimeout: 0 }, 'shutdownTimeout'],
  ])('would not have booted with %j', async (options, option) => {
    const error = await apps.bootError({ clients: [options as object] });
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', option });
  });
});

describe('An election in an app that closes while its leader works', () => {
  it('ends for a latch at once, and others are elected only when the work has ended', async () => {
    const app = await boot();
    const latch = clientOf(app).leaderLatch('head');
    latch.start();
    const leadership = await latch.awaitLeadership();
    const { signal } = leadership;
    const working = leadership.run(() => apps.room.stay('done'));
    await apps.room.entered.promise;
    recordEnds(app, 'head');

    const closing = apps.close(app);
    await eventually('it does not lead', () => signal.aborted);
    expect([latch.state, apps.room.log]).toEqual(['CLOSED', []]);
    apps.room.open();
    await working;
    await closing;
    expect(apps.room.log).toEqual(['left', 'released']);
    expect(app.get(Database).before).toContain('left');
  });

  it('interrupts a selector, and waits until its work has obeyed', async () => {
    const app = await boot();
    const selector = clientOf(app).leaderSelector('head', async ({ signal }) => {
      apps.room.entered.resolve();
      await new Promise((resolve) => signal.addEventListener('abort', resolve));
      apps.room.log.push('obeyed');
    });
    selector.start();
    await apps.room.entered.promise;
    recordEnds(app, 'head');
    await apps.close(app);
    expect(apps.room.log).toEqual(['obeyed', 'released']);
    expect(app.get(Database).before).toContain('obeyed');
  });
});
