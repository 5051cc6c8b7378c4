import { describe, expect, it } from '@jest/globals';
import { seededRandom } from '../support/seeded-random.js';
import { byTier } from '../support/tier.js';
import { type Call, contradictionIn } from './linearizability.js';
import { atomicNumber, type NumberAction, type NumberAnswer } from './models.js';

type NumberCall = Call<NumberAction, NumberAnswer>;

const call = (
  action: NumberAction,
  begin: number,
  end?: number,
  answer: NumberAnswer = 'unchanged',
): NumberCall => ({
  client: 'ann',
  action,
  begin,
  ...(end !== undefined && { answered: { at: end, answer } }),
});
const add = (delta: number, begin: number, end?: number, before = 0) =>
  call({ does: 'add', delta }, begin, end, { before, now: before + delta });
const get = (value: number, begin: number, end: number) =>
  call({ does: 'get' }, begin, end, { before: value, now: value });
const failed = (expected: number, begin: number, end: number) =>
  call({ does: 'compareAndSet', expected, value: 9 }, begin, end);

/** By trying all orders. */
function hasOrder(left: readonly NumberCall[], state: number): boolean {
  if (left.every(({ answered }) => answered === undefined)) return true;
  return left.some((next) => {
    if (left.some(({ answered }) => answered !== undefined && answered.at <= next.begin))
      return false;
    const after = atomicNumber.apply(state, next.action, next.answered?.answer);
    if (after === undefined) return false;
    return hasOrder(
      left.filter((other) => other !== next),
      after,
    );
  });
}

describe('A history of calls', () => {
  it('is linearizable if calls at the same time have an order that explains the answers', () => {
    const history = [add(1, 0, 10, 2), add(2, 1, 9, 0), get(3, 11, 12)];
    expect(contradictionIn(history, atomicNumber)).toBeUndefined();
  });

  it.each<[string, NumberCall[]]>([
    ['a value is read that was replaced before', [add(1, 0, 1), get(0, 2, 3)]],
    ['two changes have replaced the same value', [add(1, 0, 5), add(2, 1, 6), get(3, 7, 8)]],
    ['a value is read before it was written', [get(1, 0, 1), add(1, 2, 3)]],
    ['an unanswered change was made twice', [add(1, 0), get(2, 1, 2)]],
    ['an unanswered change was made before it began', [get(1, 0, 1), add(1, 2)]],
    ['a comparison fails although nothing else was there', [add(1, 0, 1), failed(1, 2, 3)]],
    ['it was seen, and is gone', [add(1, 0), get(1, 1, 2), get(0, 3, 4)]],
  ])('is not if %s', (_, history) => {
    expect(contradictionIn(history, atomicNumber)).toMatch(/^at \d+, after \d+ calls: ann at/);
  });

  it('is judged soon, however many unanswered calls have changed nothing', () => {
    const unanswered = Array.from({ length: 30 }, (_, i) =>
      call({ does: 'compareAndSet', expected: 100 + i, value: 9 }, i),
    );
    const history = [...unanswered, add(1, 40, 41), get(0, 42, 43)];
    expect(contradictionIn(history, atomicNumber)).toMatch(/^at 1, after 1 calls/);
  });

  it.each([0, 1])('is so whether an unanswered change was made or not (%d)', (value) => {
    const history = [add(1, 0), get(0, 1, 2), get(value, 3, 4)];
    expect(contradictionIn(history, atomicNumber)).toBeUndefined();
  });

  it('gets the verdict of a search through all orders', () => {
    const random = seededRandom(byTier({ quick: 1, standard: 1, long: Date.now() }));
    const below = (n: number) => Math.floor(random() * n);
    const one = (): NumberCall => {
      const begin = below(8) + random() / 2;
      const end = random() < 0.2 ? undefined : begin + 0.5 + below(4);
      const [before, delta] = [below(3), 1 + below(2)];
      const value = below(4);
      switch (below(4)) {
        case 0:
          return add(delta, begin, end, before);
        case 1:
          return call({ does: 'set', value }, begin, end, { before, now: value });
        case 2:
          return random() < 0.5
            ? failed(before, begin, end ?? begin + 1)
            : call({ does: 'compareAndSet', expected: before, value }, begin, end, {
                before,
                now: value,
              });
        default:
          return get(before, begin, end ?? begin + 1);
      }
    };
    const verdicts = { linearizable: 0, contradictory: 0 };
    for (let left = byTier({ quick: 3_000, standard: 3_000, long: 100_000 }); left > 0; left--) {
      const history = Array.from({ length: 1 + below(6) }, one);
      const isLinearizable = contradictionIn(history, atomicNumber) === undefined;
      expect({ history, isLinearizable }).toEqual({
        history,
        isLinearizable: hasOrder(history, 0),
      });
      verdicts[isLinearizable ? 'linearizable' : 'contradictory'] += 1;
    }
    expect(Math.min(...Object.values(verdicts))).toBeGreaterThan(200);
  });
});
