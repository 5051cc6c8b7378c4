import { beforeEach, describe, expect, it } from '@jest/globals';
import { OrderedSet } from '../../../lib/core/collections/ordered-set.js';
import { Tenure } from '../../../lib/core/hand-off.js';
import { KeptLock } from '../../../lib/core/kept-lock.js';
import type { LockIdentity } from '../../../lib/core/lock.js';
import { VirtualClock } from '../../support/time.js';

describe('A lock that is kept', () => {
  const MS = 1_000;
  const identity: LockIdentity = { scope: {}, recipe: 'mutex', name: 'door', client: 'unit' };
  let clock: VirtualClock;
  let kept: OrderedSet<KeptLock>;
  let place: { onFollowed?: (() => void) | undefined };
  let tenure: Tenure;
  /** Whether the next one in the line takes it. */
  let isTaken: boolean;
  let givenBack: number;
  let lock: KeptLock;

  beforeEach(() => {
    clock = new VirtualClock();
    kept = new OrderedSet();
    place = {};
    tenure = new Tenure(0);
    isTaken = true;
    givenBack = 0;
    const giveBack = () => void (givenBack += 1);
    const hold = { identity, place, tenure, handOn: () => isTaken, giveBack };
    lock = new KeptLock({ clock, kept }, hold, MS);
  });

  const followed = () => place.onFollowed!();
  const ENDS: [string, number, () => unknown][] = [
    ['its time is over', 1, () => clock.advance(MS)],
    ['another process wants it', 1, () => tenure.onWanted!()],
    ['its client closes', 1, () => lock.giveBack()],
    ['one comes who takes it', 0, followed],
    [
      'one comes who may not take it',
      1,
      () => {
        isTaken = false;
        followed();
      },
    ],
  ];

  it.each(ENDS)('ends once, when %s', async (_, times, end) => {
    await end();
    lock.giveBack();
    expect([givenBack, kept.size, clock.isIdle]).toEqual([times, 0, true]);
    expect([place.onFollowed, tenure.onWanted]).toEqual([undefined, undefined]);
  });
});
