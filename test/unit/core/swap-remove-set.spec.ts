import { describe, expect, it } from '@jest/globals';
import { SwapRemoveSet } from '../../../lib/core/internal/swap-remove-set.js';

describe('Bag', () => {
  it('has what was put in and not taken out', () => {
    const bag = new SwapRemoveSet<string>();
    const takeA = bag.add('a');
    bag.add('b');
    const takeC = bag.add('c');
    takeA();
    expect([...bag].sort()).toEqual(['b', 'c']);
    takeC();
    expect([...bag]).toEqual(['b']);
    expect(bag.size).toBe(1);
  });

  it('takes nothing else out when asked twice', () => {
    const bag = new SwapRemoveSet<string>();
    const takeA = bag.add('a');
    bag.add('b');
    takeA();
    takeA();
    expect([...bag]).toEqual(['b']);
  });

  it('goes over what was in it at the start', () => {
    const bag = new SwapRemoveSet<() => void>();
    const seen: string[] = [];
    const takes = ['a', 'b', 'c'].map((name) =>
      bag.add(() => {
        seen.push(name);
        takes.forEach((take) => take());
      }),
    );
    for (const see of bag) see();
    expect(seen).toEqual(['a', 'b', 'c']);
    expect(bag.size).toBe(0);
  });

  it('remembers the order in which things were put in', () => {
    const bag = new SwapRemoveSet<string>();
    const takes = ['a', 'b', 'c', 'd'].map((name) => bag.add(name));
    takes[0]!();
    bag.add('e');
    takes[2]!();
    expect(bag.inOrder()).toEqual(['b', 'd', 'e']);
  });

  it('agrees with a Set, whatever comes and goes', () => {
    const bag = new SwapRemoveSet<number>();
    const set = new Set<number>();
    const takes = new Map<number, () => void>();
    for (let i = 0; i < 1_000; i++) {
      const n = (i * 7919) % 31;
      if (set.delete(n)) takes.get(n)!();
      else {
        set.add(n);
        takes.set(n, bag.add(n));
      }
      expect([...bag].sort()).toEqual([...set].sort());
    }
  });
});
