import { afterAll, beforeAll, describe, expect, it, jest } from '@jest/globals';
import { Program } from '../faults/support/program.js';
import { scheduleOfLocks } from './guests.js';
import { multiLock, mutex } from './locks.js';
import { BUGS } from './planted/bugs.js';
import { firstAccusation } from './planted/first-accusation.js';
import { type Faults, SketchedMultiLock } from './planted/sketched-multi-lock.js';

/** That the schedules find nothing counts only if they do find planted bugs. */
describe('The simulation catches', () => {
  let program: Program;
  beforeAll(() => {
    program = new Program(new URL('./planted/planted-bugs-program.ts', import.meta.url));
  });
  afterAll(() => program.stop());

  const cases = BUGS.flatMap(({ bug, seeds, violation }) =>
    Object.keys(seeds).map((kind) => ({ bug, kind, violation })),
  );
  it.each(cases)('a $kind that $bug', async ({ bug, kind, violation }) => {
    program.tell(JSON.stringify({ bug, kind }));
    expect(await program.next()).toMatch(violation);
  });

  describe('a multi-lock', () => {
    const sketched = (faults: Faults) =>
      scheduleOfLocks((world) => {
        const parts = [mutex(world, 'a'), mutex(world, 'b')];
        const make: Parameters<typeof multiLock>[2] = (locks, clock) =>
          new SketchedMultiLock(locks, clock, faults);
        return [multiLock(world, parts, make), ...parts];
      });

    it.each<[string, Faults, RegExp, seed: number]>([
      ['keeps what it has when it fails', { isKeeping: true }, /keeps|but for a part/, 1],
      [
        'takes the parts in the order in which they were given',
        { isUnordered: true },
        /takes b/,
        1,
      ],
      ['gives every part the whole time', { isSlow: true }, /goes on after its end/, 1],
      ['is granted although a part was lost meanwhile', { isHasty: true }, /was lost before/, 2],
      [
        'does not see that a part is lost',
        { isNumb: true },
        /goes on although a part of it is lost/,
        5,
      ],
    ])('that %s', async (_, faults, violation, seed) => {
      expect(await firstAccusation(sketched(faults), violation, seed)).toMatch(violation);
    });

    it('only if it has a bug', async () => {
      expect(await firstAccusation(sketched({}), /./, 1, 10)).toBeUndefined();
    });
  });
});

jest.setTimeout(600_000); // where a change of the library makes a known seed miss its bug, the search for the next takes long
