import { beforeEach, describe, expect, it } from '@jest/globals';
import { Refusals } from '../../../lib/redis/connection/refusals.js';
import { VirtualClock } from '../../support/virtual-clock.js';

const OOM = new Error('OOM command not allowed');
const READONLY = new Error('READONLY replica');

let clock: VirtualClock;
let told: string[];
let refusals: Refusals;

beforeEach(() => {
  clock = new VirtualClock();
  told = [];
  refusals = new Refusals(clock, {
    refused: ({ message }) => void told.push(message),
    over: () => void told.push('over'),
  });
});

/** A waiter that asks again and again, for so many ms. */
async function asking(ms: number, error: Error, every = 1_000): Promise<void> {
  for (let left = ms; left > 0; left -= every) {
    refusals.add(error);
    await clock.advance(Math.min(every, left));
  }
}

describe('What servers refuse', () => {
  it('is known at once, and reported once, when it has lasted for a second', async () => {
    refusals.add(READONLY);
    await clock.advance(900);
    refusals.add(OOM);
    expect([refusals.last, refusals.isTold, told]).toEqual([OOM, false, []]);
    await clock.advance(100);
    expect([refusals.isTold, told]).toEqual([true, [OOM.message]]);
    await asking(60_000, OOM);
    expect(told).toEqual([OOM.message]);
  });

  it('is reported though other scripts succeed meanwhile, for as long as some do not', async () => {
    for (let i = 0; i < 30; i++) {
      refusals.add(OOM);
      refusals.hasSucceeded = true;
      await clock.advance(1_000);
    }
    expect([refusals.last, told]).toEqual([OOM, [OOM.message]]);
  });

  it('is not reported where it was over within the second', async () => {
    refusals.add(OOM);
    refusals.hasSucceeded = true;
    await clock.advance(10_000);
    expect([refusals.last, refusals.isTold, told, clock.isIdle]).toEqual([
      undefined,
      false,
      [],
      true,
    ]);
  });

  it('is over when a script has succeeded and none was refused any more', async () => {
    await asking(3_000, OOM);
    refusals.hasSucceeded = true;
    await clock.advance(2_000);
    expect([refusals.last, refusals.isTold, told]).toEqual([
      undefined,
      false,
      [OOM.message, 'over'],
    ]);
    expect(clock.isIdle).toBe(true);
  });

  it('is over some seconds after nothing was asked any more: traffic may depend on what is reported', async () => {
    await asking(3_000, OOM);
    await clock.advance(3_000);
    expect(refusals.last).toBe(OOM);
    await clock.advance(2_000);
    expect([refusals.last, told]).toEqual([undefined, [OOM.message, 'over']]);
  });

  it('is reported again when it begins again', async () => {
    await asking(2_000, OOM);
    refusals.hasSucceeded = true;
    await clock.advance(3_000);
    await asking(2_000, READONLY);
    expect(told).toEqual([OOM.message, 'over', READONLY.message]);
  });

  it('can be forgotten, silently', async () => {
    await asking(2_000, OOM);
    refusals.clear();
    expect([refusals.last, refusals.isTold, clock.isIdle]).toEqual([undefined, false, true]);
    await clock.advance(10_000);
    expect(told).toEqual([OOM.message]);
  });
});
