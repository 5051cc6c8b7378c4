import { describe, expect, it } from '@jest/globals';
import {
  areLatches,
  areOfBarrier,
  latchNodes,
  mutexNodes,
} from '../../../lib/zookeeper/inspection/read-directory.js';

const [a, b, c] = ['a', 'b', 'c'].map((digit) => {
  return [8, 4, 4, 4, 12].map((length) => digit.repeat(length)).join('-');
}) as [string, string, string];

const named = (lockName: string) => [
  `_c_${a}-${lockName}0000000012`,
  `_c_${c}-${lockName}0000000003`,
  `_c_${b}-${lockName}0000000007`,
];
const LATCHES = named('latch-');
const LOCKS = named('lock-');

describe('The nodes of a queue, for the inspector', () => {
  it.each([
    ['leader latch', latchNodes, LATCHES],
    ['mutex', mutexNodes, LOCKS],
  ] as const)('of a %s go by their numbers, and the first of them holds', (_, nodes, names) => {
    const [last, first, second] = names as [string, string, string];
    expect(nodes(names)).toEqual([
      { name: first, isHolder: true },
      { name: second, isHolder: false },
      { name: last, isHolder: false },
    ]);
  });

  it('of a leader latch are known by their names', () => {
    expect(areLatches(LATCHES)).toBe(true);
    expect(areLatches([...LATCHES, 'a stranger'])).toBe(true);
    expect(areLatches(LOCKS)).toBe(false);
    expect(areLatches([])).toBe(false);
  });

  it('are distinguished from the members of a double barrier', () => {
    expect(areOfBarrier([a, b, 'ready'])).toBe(true);
    expect(areOfBarrier(['ready'])).toBe(true);
    for (const other of ['a stranger', LOCKS[0]!, LATCHES[0]!])
      expect(areOfBarrier([a, other])).toBe(false);
  });
});
