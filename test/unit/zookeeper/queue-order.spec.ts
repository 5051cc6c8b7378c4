import { describe, expect, it } from '@jest/globals';
import { sortedChildren } from '../../../lib/zookeeper/locks/lock-drivers.js';
import { standardLockInternalsDriver as driver } from '../../../lib/zookeeper/locks/lock-drivers.js';

const node = (sequence: number, uuid = '6f1c') =>
  `_c_${uuid}-lock-${String(sequence).padStart(10, '0')}`;

describe('The sort key of a child', () => {
  it.each([
    [node(7), '0000000007'],
    ['lock-0000000007', '0000000007'],
    ['lock-', ''],
    ['a-lock-b-lock-3', '3'],
    ['lock--2147483648', '-2147483648'],
    ['foo', 'foo'],
    ['_c_6f1c-__WRIT__0000000001', '_c_6f1c-__WRIT__0000000001'],
  ])('of %j is %j', (child, key) => expect(driver.sortKey(child)).toBe(key));
});

describe('The queue', () => {
  it('is in the order of the numbers, whatever the UUIDs and the order of the listing', () => {
    const queue = [node(8, 'ffff'), node(9, 'aaaa'), node(10, '0000'), node(100, 'bbbb')];
    expect(sortedChildren([...queue].reverse(), driver.sortKey)).toEqual(queue);
    expect(sortedChildren([queue[2]!, queue[0]!, queue[3]!, queue[1]!], driver.sortKey)).toEqual(
      queue,
    );
  });

  it('compares code units, as Java does, not numbers and not letters of a language', () => {
    const queue = ['!', '-x', '0', 'lock-0000000002', 'Z', 'a', 'z', 'ä', '\uff5e'];
    expect(sortedChildren([...queue].reverse(), driver.sortKey)).toEqual(queue);
    expect(sortedChildren(['lock-10', 'lock-9'], driver.sortKey)).toEqual(['lock-10', 'lock-9']);
  });

  it('orders equal keys by name, so that every client sees the same', () => {
    const twins = [node(5, 'aaaa'), node(5, 'bbbb')];
    expect(sortedChildren(twins, driver.sortKey)).toEqual(twins);
    expect(sortedChildren([...twins].reverse(), driver.sortKey)).toEqual(twins);
  });
});

describe('The turn of a node', () => {
  const mine = node(5);

  it('has come when it is the first', () => {
    expect(driver.turnOf([mine], mine)).toEqual({ blocker: undefined, isNext: false });
    expect(driver.turnOf([node(6), mine, 'foo'], mine)?.blocker).toBeUndefined();
  });

  it('is next when the one before it is the first', () => {
    expect(driver.turnOf([node(9), mine, node(3)], mine)).toEqual({
      blocker: node(3),
      isNext: true,
    });
  });

  it('comes after that of the nearest before it, when there are more', () => {
    const children = [node(4), node(1), mine, node(3), node(6)];
    expect(driver.turnOf(children, mine)).toEqual({ blocker: node(4), isNext: false });
  });

  it('comes after foreign nodes that sort before it, and before those that sort behind', () => {
    expect(driver.turnOf(['xlock-9', '0', mine], mine)).toEqual({ blocker: '0', isNext: true });
    expect(driver.turnOf(['lock-', mine], mine)).toEqual({ blocker: 'lock-', isNext: true });
  });

  it('comes after that of a twin with a smaller name only', () => {
    const [first, second] = [node(5, 'aaaa'), node(5, 'bbbb')];
    expect(driver.turnOf([first, second], first)?.blocker).toBeUndefined();
    expect(driver.turnOf([first, second], second)?.blocker).toBe(first);
  });

  it('never comes when it is not in the queue', () => {
    expect(driver.turnOf([node(4), node(6)], mine)).toBeUndefined();
    expect(driver.turnOf([], mine)).toBeUndefined();
  });

  it('agrees with the sorted queue, in every queue of some names', () => {
    const names = ['0', 'lock-', 'foo', node(1), node(2, 'b'), node(2, 'a'), node(30), node(4)];
    for (let subset = 1; subset < 1 << names.length; subset++) {
      const children = names.filter((_, i) => subset & (1 << i));
      const queue = sortedChildren(children, driver.sortKey);
      for (const [place, own] of queue.entries()) {
        expect(driver.turnOf(children, own)).toEqual({
          blocker: queue[place - 1],
          isNext: place === 1,
        });
      }
    }
  });
});
