import { describe, expect, it } from '@jest/globals';
import { CronTime } from 'cron';
import { compileOccurrence } from '../../../lib/plans/occurrence.js';

const at = (time: string) => Date.parse(time);
const shown = (time: number) => new Date(time).toISOString();

/** The times of a schedule from `start` on, as `@nestjs/schedule` fires them. */
function firings(cron: string, timeZone: string, start: string, count: number): number[] {
  const time = new CronTime(cron, timeZone);
  const times: number[] = [];
  for (let last = at(start); times.length < count; times.push(last))
    last = time.getNextDateFrom(new Date(last), timeZone).toMillis();
  return times;
}

describe('The occurrence of a call', () => {
  it('of an interval begins with it, and lasts until the next', async () => {
    const occurrenceOf = await compileOccurrence(10_000);
    const times = [0, 1, 9_899, 9_900, 9_999, 10_000].map((ms) => occurrenceOf(1_000_000 + ms));
    expect(times).toEqual([0, 0, 0, 10_000, 10_000, 10_000].map((ms) => 1_000_000 + ms));
  });

  it('of an interval shorter than a timer may be early is not the one after the next', async () => {
    const occurrenceOf = await compileOccurrence(20);
    expect([995, 1_000, 1_009, 1_010].map(occurrenceOf)).toEqual([1_000, 1_000, 1_000, 1_020]);
  });

  it('is what a function makes of its time', async () => {
    const occurrenceOf = await compileOccurrence((now) => new Date(now.getTime() + 1));
    expect(occurrenceOf(1_000)).toBe(1_101);
    for (const wrong of [NaN, 1.5, Infinity, new Date(NaN), 'now', 9e15]) {
      const broken = await compileOccurrence(() => wrong as number);
      expect(() => broken(0)).toThrow(expect.objectContaining({ option: 'occurrence' }));
    }
  });

  it.each([
    ['0 3 * * *', 'UTC', '2026-06-10T20:00Z'],
    ['*/10 * * * * *', 'UTC', '2026-06-10T20:00Z'],
    ['0 9 * * 1-5', 'America/New_York', '2026-03-05T20:00Z'],
    ['30 2 * * *', 'Europe/Berlin', '2026-03-27T20:00Z'], // there is no 2:30 on the 29th
    ['30 2 * * *', 'Europe/Berlin', '2026-10-23T20:00Z'], // and it comes twice on the 25th
    ['*/15 * * * *', 'Europe/Berlin', '2026-10-25T00:00Z'],
    ['0 */2 * * *', 'America/New_York', '2026-03-08T00:00Z'],
    ['15 1,2,3 * * *', 'Australia/Lord_Howe', '2026-10-02T20:00Z'], // by half an hour
    ['0 0 29 2 *', 'Asia/Kolkata', '2017-01-01T20:00Z'],
  ])(
    'of the cron expression %s in %s is the last that fired, for every replica',
    async (cron, timeZone, start) => {
      const times = firings(cron, timeZone, start, cron.startsWith('0 0 29') ? 3 : 8);
      const old = await compileOccurrence({ cron, timeZone });
      for (const [i, time] of times.slice(0, -1).entries()) {
        const next = times[i + 1]!;
        const young = await compileOccurrence({ cron, timeZone }); // of a replica that has just started
        for (const call of [time - 50, time, time + 3_000, next - 150]) {
          expect(shown(old(call))).toBe(shown(time));
          if (call <= time + 3_000) expect(shown(young(call))).toBe(shown(time));
        }
      }
      expect(shown(old(times[0]!))).toBe(shown(times[0]!)); // the clock was set back
    },
  );
});
