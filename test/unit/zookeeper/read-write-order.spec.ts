import { describe, expect, it } from '@jest/globals';
import {
  downgradeDriver,
  readLockDriver,
  readWriteSortKey,
  writeLockDriver,
} from '../../../lib/zookeeper/locks/lock-drivers.js';
import { sortedChildren } from '../../../lib/zookeeper/locks/lock-drivers.js';

type Half = 'read' | 'write';

const DRIVERS = { read: readLockDriver, write: writeLockDriver };

const node = (half: Half, sequence: number, uuid = '6f1c') =>
  `_c_${uuid}-${DRIVERS[half].lockName}${digits(sequence)}`;

const digits = (sequence: number) => `${sequence}`.padStart(10, '0');

describe('The sort key of a child of a read/write lock', () => {
  it.each([
    [node('read', 7), '0000000007'],
    [node('write', 7), '0000000007'],
    ['__READ__', ''],
    ['__READ__a__WRIT__b__READ__3', '3'],
    ['__WRIT__a__READ__b__WRIT__3', '3'],
    ['__WRIT__-2147483648', '-2147483648'],
    ['lock-0000000001', 'lock-0000000001'],
    ['foo', 'foo'],
  ])('of %j is %j', (child, key) => expect(readWriteSortKey(child)).toBe(key));
});

describe('The turn of a node of a read/write lock', () => {
  it.each<[Half, Half, string, boolean]>([
    ['read', 'read', 'ahead', false],
    ['read', 'read', 'behind', false],
    ['read', 'write', 'ahead', true],
    ['read', 'write', 'behind', false],
    ['write', 'read', 'ahead', true],
    ['write', 'read', 'behind', false],
    ['write', 'write', 'ahead', true],
    ['write', 'write', 'behind', false],
  ])('to %s, beside a node to %s, %s: waits? %p', (own, its, at, waits) => {
    const mine = node(own, 5);
    const other = node(its, at === 'ahead' ? 4 : 6);
    for (const children of [
      [mine, other],
      [other, mine],
    ]) {
      expect(DRIVERS[own].turnOf(children, mine)?.blocker).toBe(waits ? other : undefined);
    }
  });

  it.each(['read', 'write'] as const)('to %s never comes when it is not in the queue', (half) => {
    const mine = node(half, 5);
    expect(DRIVERS[half].turnOf([node('read', 4), node('write', 6)], mine)).toBeUndefined();
    expect(DRIVERS[half].turnOf([], mine)).toBeUndefined();
  });

  it('to read is next when its writer is the only one ahead, however many readers are', () => {
    const mine = node('read', 5);
    const children = [node('read', 3), node('write', 2), node('read', 1), mine];
    expect(readLockDriver.turnOf(children, mine)).toEqual({
      blocker: node('write', 2),
      isNext: true,
    });
    expect(readLockDriver.turnOf([...children, node('write', 1)], mine)?.isNext).toBe(false);
  });

  it('to write is never next without another look: the one ahead may have added a reader before it went', () => {
    const mine = node('write', 5);
    for (const half of ['read', 'write'] as const) {
      expect(writeLockDriver.turnOf([node(half, 4), mine], mine)).toEqual({
        blocker: node(half, 4),
        isNext: false,
      });
    }
  });

  it('to write comes after a reader with the number of the writer ahead, which has gone', () => {
    const mine = node('write', 5);
    const downgraded = node('read', 4, 'aaaa');
    expect(writeLockDriver.turnOf([mine, downgraded], mine)?.blocker).toBe(downgraded);
    expect(readLockDriver.turnOf([mine, downgraded], downgraded)?.blocker).toBeUndefined();
  });

  it('comes in the order of the names where keys are equal, so that every client sees the same', () => {
    const [first, second] = [node('write', 5, 'aaaa'), node('write', 5, 'bbbb')];
    for (const children of [
      [first, second],
      [second, first],
    ]) {
      expect(writeLockDriver.turnOf(children, first)?.blocker).toBeUndefined();
      expect(writeLockDriver.turnOf(children, second)?.blocker).toBe(first);
      expect(sortedChildren(children, readWriteSortKey)).toEqual([first, second]);
    }
  });

  it('comes after that of a counter that has wrapped round, as for Curator', () => {
    const mine = node('read', 2_147_483_646);
    const wrapped = '_c_6f1c-__WRIT__-2147483648';
    expect(readLockDriver.turnOf([mine, wrapped], mine)?.blocker).toBe(wrapped);
    expect(
      writeLockDriver.turnOf([mine, wrapped, node('write', 1)], node('write', 1))?.blocker,
    ).toBe(wrapped);
  });

  it('agrees with the sorted queue, in every queue of some names', () => {
    const names = [
      ...['0', 'foo', '__READ__', 'x__WRIT__0000000002', '_c_6f1c-__WRIT__-2147483648'],
      ...[node('read', 1), node('write', 2), node('read', 2), node('write', 30), node('read', 4)],
    ];
    for (let subset = 1; subset < 1 << names.length; subset++) {
      const queue = sortedChildren(
        names.filter((_, place) => subset & (1 << place)),
        readWriteSortKey,
      );
      for (const [place, own] of queue.entries()) {
        const ahead = queue.slice(0, place);
        const writers = ahead.filter((name) => name.includes('__WRIT__'));
        const shuffled = [...queue.slice(place), ...ahead.reverse()];
        expect(writeLockDriver.turnOf(shuffled, own)).toEqual({
          blocker: queue[place - 1],
          isNext: false,
        });
        expect(readLockDriver.turnOf(shuffled, own)).toEqual({
          blocker: writers.at(-1),
          isNext: writers.length === 1,
        });
      }
    }
  });
});

describe('The turn of a reader that holds the write lock', () => {
  const [writer, mine] = [node('write', 5, 'bbbb'), node('read', 5, 'aaaa')];
  const driver = downgradeDriver(writer);

  it('has come where both nodes are seen, whatever other nodes there are', () => {
    const others = [node('write', 4), node('read', 4), '__WRIT__', node('write', 6)];
    expect(driver.turnOf([...others, mine, writer], mine)).toEqual({ isNext: false });
    expect(driver.turnOf([writer, mine], mine)?.blocker).toBeUndefined();
  });

  it('never comes where one of them is missing', () => {
    expect(driver.turnOf([mine], mine)).toBeUndefined();
    expect(driver.turnOf([writer], mine)).toBeUndefined();
    expect(driver.turnOf([mine, node('write', 5, 'cccc')], mine)).toBeUndefined();
  });

  it('is, for all others, that of any reader in the queue', () => {
    expect(driver.lockName).toBe(readLockDriver.lockName);
    expect(sortedChildren([node('write', 6), writer, mine], driver.sortKey)).toEqual([
      mine,
      writer,
      node('write', 6),
    ]);
  });
});
