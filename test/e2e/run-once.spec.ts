import { beforeEach, describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import {
  currentLease,
  LeaderOnly,
  LockAbortedError,
  type LockClient,
  LockLostError,
  LockTimeoutError,
  type Occurrence,
  type OccurrenceMark,
  RunOnce,
} from '../../lib/index.js';
import { overrideMembers } from '../../lib/testing/testing-client.js';
import { useCleanup } from '../support/fixtures.js';
import { eventually } from '../support/time.js';
import { Embedded, isFree, RecordingLogger, useApps } from './support/apps.js';
import { runOnceSuite } from './support/run-once.suite.js';

runOnceSuite('embedded');

/** Jobs that are guarded by that decorator. */
function jobsThat(guard: (name: string) => ReturnType<typeof RunOnce>) {
  @Injectable()
  class Jobs {
    readonly ran = { above: 0, below: 0, cron: 0 };

    @guard('above')
    @Interval('above', 20)
    async above(): Promise<void> {
      this.ran.above += currentLease()?.isHeld ? 1 : NaN;
    }

    @Interval('below', 20)
    @guard('below')
    async below(): Promise<void> {
      this.ran.below += currentLease()?.isHeld ? 1 : NaN;
    }

    @Cron('* * * * * *', { name: 'cron' })
    @guard('cron')
    async cron(): Promise<void> {
      this.ran.cron += currentLease()?.isHeld ? 1 : NaN;
    }
  }

  return Jobs;
}

describe.each([
  ['@RunOnce', jobsThat((name) => RunOnce(name, { atMost: 60_000 }))],
  [
    '@RunOnce with an occurrence',
    jobsThat((name) =>
      RunOnce(name, { atMost: 60_000, occurrence: name === 'cron' ? '* * * * * *' : 20 }),
    ),
  ],
  ['@LeaderOnly', jobsThat(() => LeaderOnly('jobs'))],
])('%s on a schedule', (_, Jobs) => {
  const apps = useApps();

  it('runs under its lock, whether it stands above or below', async () => {
    const app = await apps.boot({
      imports: [ScheduleModule.forRoot()],
      providers: [Jobs],
      logger: new RecordingLogger(), // of calls that come while it closes
    });
    const { ran } = app.get(Jobs);
    await eventually('all have run', () => ran.above && ran.below && ran.cron);
    expect(app.get(SchedulerRegistry).getIntervals()).toEqual(['above', 'below']);
  });
});

describe('An app does not boot where an occurrence', () => {
  const apps = useApps();

  function jobsWith(occurrence: Occurrence) {
    @Injectable()
    class Jobs {
      @RunOnce('job', { atMost: 60_000, occurrence })
      async run(): Promise<void> {}
    }
    return Jobs;
  }

  it.each<[what: string, occurrence: Occurrence, why: RegExp]>([
    ['is no cron expression', '0 25 * * *', /a cron expression and a time zone that exist/],
    ['is in no time zone', { cron: '0 3 * * *', timeZone: 'Mars/Base' }, /time zone that exist/],
    ['never comes', '0 0 30 2 *', /a cron expression and a time zone that exist/],
  ])('%s', async (_, occurrence, why) => {
    const error = await apps.bootError({ providers: [jobsWith(occurrence)] });
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', option: 'occurrence' });
    expect(error.message).toMatch(why);
    expect(error.message).toContain('to @RunOnce of Jobs.run');
  });

  it('is for a client that cannot remember it', async () => {
    const { client } = new Embedded();
    const foreign = overrideMembers<LockClient>(client, { occurrenceMark: undefined });
    const error = await apps.bootError({ client: foreign, providers: [jobsWith(60_000)] });
    expect(error).toMatchObject({ code: 'LOCK_OPTIONS', option: 'occurrence' });
    expect(error.message).toMatch(/`occurrenceMark`, to @RunOnce of Jobs\.run/);
    await client.close();
  });
});

describe('A call of an occurrence', () => {
  const apps = useApps();
  const cleanup = useCleanup();
  let marks: Partial<OccurrenceMark>;
  let client: LockClient;
  let jobs: Jobs;

  @Injectable()
  class Jobs {
    runs = 0;

    @RunOnce('job', { atMost: 60_000, occurrence: () => 1_000 })
    async run(): Promise<string | undefined> {
      this.runs += 1;
      return 'done';
    }
  }

  beforeEach(async () => {
    const embedded = cleanup(new Embedded().client, (it) => it.close());
    await embedded.connect();
    marks = {};
    client = overrideMembers<LockClient>(embedded, {
      occurrenceMark: (key) => overrideMembers(embedded.occurrenceMark(key), marks),
    });
    jobs = (await apps.boot({ client, providers: [Jobs] })).get(Jobs);
  });

  const mayRun = () => isFree(client.semaphoreMutex('job'));

  it('does not run where another began it after the first look, or a lagging server was asked', async () => {
    marks.isReached = async () => false;
    expect(await jobs.run()).toBe('done');
    expect(await jobs.run()).toBeUndefined();
    expect(jobs.runs).toBe(1);
    expect(await mayRun()).toBe(true);
  });

  it('does not take the lock where the occurrence has begun', async () => {
    await jobs.run();
    let acquires = 0;
    client.on('acquired', () => (acquires += 1));
    expect(await jobs.run()).toBeUndefined();
    expect(acquires).toBe(0);
  });

  it('does not run, and releases the lock, where it is unknown whether the occurrence has begun', async () => {
    const error = new LockTimeoutError(5_000);
    marks.raise = () => Promise.reject(error);
    await expect(jobs.run()).rejects.toBe(error);
    expect([jobs.runs, await mayRun()]).toEqual([0, true]);
  });

  it('does not run where the lock is lost meanwhile', async () => {
    marks.raise = async () => {
      await client.close();
      throw new LockAbortedError();
    };
    await expect(jobs.run()).rejects.toBeInstanceOf(LockLostError);
    expect(jobs.runs).toBe(0);
  });
});
