import { describe, expect, it } from '@jest/globals';
import { Injectable } from '@nestjs/common';
import { Cron, Interval, ScheduleModule, SchedulerRegistry, Timeout } from '@nestjs/schedule';
import { Deferred } from '../support/deferred.js';
import type { LockKind } from './support/lock-kinds.js';
import { LockedApp } from './support/locked-app.js';
import { PLACED_KINDS } from './support/placed-kinds.js';
import { Room } from './support/room.js';

const KEY = 'till';
const ONCE_IN_FOUR_YEARS = '0 0 29 2 *';

/** Work that a timer starts; it is done once, though the timer may have gone off again when it is stopped. */
@Injectable()
class Work {
  readonly done = new Deferred<number>();
  #isStarted = false;

  constructor(
    private readonly room: Room,
    private readonly timers: SchedulerRegistry,
  ) {}

  async do(): Promise<void> {
    if (this.#isStarted) return;
    this.#isStarted = true;
    for (const name of this.timers.getIntervals()) this.timers.deleteInterval(name);
    this.done.resolve(await this.room.stay(3));
  }
}

/** The jobs of an app that locks by that decorator. */
function jobsThat({ lock }: LockKind) {
  @Injectable()
  class CronJobs {
    constructor(private readonly work: Work) {}

    @Cron(ONCE_IN_FOUR_YEARS, { name: 'lock below' })
    @lock(KEY)
    async lockBelow(): Promise<void> {
      await this.work.do();
    }

    @lock(KEY)
    @Cron(ONCE_IN_FOUR_YEARS, { name: 'lock above' })
    async lockAbove(): Promise<void> {
      await this.work.do();
    }
  }

  @Injectable()
  class TimeoutBelow {
    constructor(private readonly work: Work) {}

    @Timeout(1)
    @lock(KEY)
    async run(): Promise<void> {
      await this.work.do();
    }
  }

  @Injectable()
  class TimeoutAbove {
    constructor(private readonly work: Work) {}

    @lock(KEY)
    @Timeout(1)
    async run(): Promise<void> {
      await this.work.do();
    }
  }

  @Injectable()
  class IntervalBelow {
    constructor(private readonly work: Work) {}

    @Interval(20)
    @lock(KEY, { onBusy: 'skip' })
    async run(): Promise<void> {
      await this.work.do();
    }
  }

  @Injectable()
  class IntervalAbove {
    constructor(private readonly work: Work) {}

    @lock(KEY, { onBusy: 'skip' })
    @Interval(20)
    async run(): Promise<void> {
      await this.work.do();
    }
  }

  return { CronJobs, TimeoutBelow, TimeoutAbove, IntervalBelow, IntervalAbove };
}

describe.each(PLACED_KINDS)(
  'With LockModule imported $position, the lock of @$decorator is held around',
  (kind) => {
    const { CronJobs, TimeoutBelow, TimeoutAbove, IntervalBelow, IntervalAbove } = jobsThat(kind);

    const start = (jobs: new (work: Work) => object) =>
      LockedApp.init(kind, { imports: [ScheduleModule.forRoot()], providers: [Work, jobs] });

    it.each(['lock below', 'lock above'])('a @Cron method, %s', async (name) => {
      await using app = await start(CronJobs);
      const job = app.nest.get(SchedulerRegistry).getCronJob(name);
      await app.held(KEY, () => job.fireOnTick());
    });

    it.each([
      ['@Timeout', 'below', TimeoutBelow],
      ['@Timeout', 'above', TimeoutAbove],
      ['@Interval', 'below', IntervalBelow],
      ['@Interval', 'above', IntervalAbove],
    ])('a %s method, lock %s', async (_, __, jobs) => {
      await using app = await start(jobs);
      expect(await app.held(KEY, () => app.nest.get(Work).done.promise)).toBe(3);
    });
  },
);
