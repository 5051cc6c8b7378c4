import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry } from '@nestjs/schedule';
import { currentLease, LeaderOnly, RunOnce } from '../../lib/index.js';
import { eventually } from '../support/time.js';
import { RecordingLogger, useApps } from './support/apps.js';
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
