import { describe, expect, it } from '@jest/globals';
import { mayGrantLeases } from '../../../lib/zookeeper/semaphores/lease-attempt.js';

const lease = (sequence: number, uuid = '6f1c') =>
  `_c_${uuid}-lease-${String(sequence).padStart(10, '0')}`;

describe('The leases of one acquire of permits', () => {
  const mine = [lease(5)];

  it('are granted while there are permits for all up to the last of them', () => {
    expect(mayGrantLeases([lease(5)], mine, 1)).toBe(true);
    expect(mayGrantLeases([lease(5), lease(3)], mine, 2)).toBe(true);
    expect(mayGrantLeases([lease(5), lease(3)], mine, 1)).toBe(false);
    expect(mayGrantLeases([lease(4), lease(5), lease(3)], mine, 2)).toBe(false);
  });

  it('take no notice of leases that came later', () => {
    expect(mayGrantLeases([lease(6), lease(5), lease(7)], mine, 1)).toBe(true);
    expect(mayGrantLeases([lease(6), lease(5), lease(4)], mine, 1)).toBe(false);
  });

  it('come after every child that is no lease, whatever it sorts like', () => {
    for (const stray of ['0', 'zzz', 'lease-', 'xlease-5', '_c_6f1c-lock-0000000009']) {
      expect(mayGrantLeases([stray, lease(5)], mine, 1)).toBe(false);
      expect(mayGrantLeases([stray, lease(5)], mine, 2)).toBe(true);
    }
  });

  it('are granted together, or not at all', () => {
    const both = [lease(3), lease(5)];
    expect(mayGrantLeases([...both, lease(4)], both, 2)).toBe(false);
    expect(mayGrantLeases([...both, lease(4)], both, 3)).toBe(true);
    expect(mayGrantLeases([...both, lease(6)], both, 2)).toBe(true);
    expect(mayGrantLeases(both, both, 1)).toBe(false);
  });

  it('are never granted when one of them is not there', () => {
    expect(mayGrantLeases([], mine, 9)).toBeUndefined();
    expect(mayGrantLeases([lease(4)], mine, 9)).toBeUndefined();
    expect(mayGrantLeases([lease(3)], [lease(3), lease(5)], 9)).toBeUndefined();
  });

  it('are not granted while there are no permits, or fewer than none', () => {
    expect(mayGrantLeases(mine, mine, 0)).toBe(false);
    expect(mayGrantLeases(mine, mine, -1)).toBe(false);
  });

  it('are in the order of their numbers, not of their UUIDs', () => {
    const children = [lease(9, 'ffff'), lease(10, 'aaaa')];
    expect(mayGrantLeases(children, [lease(9, 'ffff')], 1)).toBe(true);
    expect(mayGrantLeases(children, [lease(10, 'aaaa')], 1)).toBe(false);
  });

  it('are granted to no more than there are permits for, in every queue of some', () => {
    const owners = [[lease(1)], [lease(2), lease(5)], [lease(3)], [lease(4), lease(6), lease(7)]];
    const strays = ['foo', 'lease-'];
    for (let subset = 0; subset < 1 << (owners.length + strays.length); subset++) {
      const isIn = (_: unknown, i: number) => (subset & (1 << i)) !== 0;
      const there = owners.filter(isIn);
      const foreign = strays.filter((_, i) => isIn(_, i + owners.length));
      const children = [...foreign, ...there.flat()].reverse();
      for (let permits = 0; permits <= 9; permits++) {
        const granted = there.filter((own) => mayGrantLeases(children, own, permits));
        const taken = granted.flat().length + (granted.length > 0 ? foreign.length : 0);
        expect(taken).toBeLessThanOrEqual(permits);
        if (children.length <= permits) expect(granted).toEqual(there); // as Curator would
      }
    }
  });
});
