import { describe, expect, it } from '@jest/globals';
import {
  areLatches,
  areOfBarrier,
  latchNodes,
  mutexNodes,
} from '../../../lib/zookeeper/inspection/read-directory.js';
import {
  downgradeDriver,
  type LockInternalsDriver,
  readLockDriver,
  readWriteSortKey,
  standardLockInternalsDriver as driver,
  writeLockDriver,
} from '../../../lib/zookeeper/locks/lock-drivers.js';
import { KnownQueue } from '../../../lib/zookeeper/locks/known-queues.js';
import { sortedNames } from '../../../lib/zookeeper/locks/sorted-names.js';
import type { ZooKeeperConnection } from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { mayGrantLeases } from '../../../lib/zookeeper/semaphores/lease-attempt.js';

type Half = 'read' | 'write';

const DRIVERS = { read: readLockDriver, write: writeLockDriver };

const digits = (sequence: number) => `${sequence}`.padStart(10, '0');
const node = (sequence: number, uuid = '6f1c') => `_c_${uuid}-lock-${digits(sequence)}`;
const lease = (sequence: number, uuid = '6f1c') => `_c_${uuid}-lease-${digits(sequence)}`;
const half = (half: Half, sequence: number, uuid = '6f1c') =>
  `_c_${uuid}-${DRIVERS[half].lockName}${digits(sequence)}`;

/** The turn of `own` where these children are listed; `isNext`: there is nobody else ahead but the one that it waits for. */
function turnOf(driver: LockInternalsDriver, children: readonly string[], own: string) {
  const { sortKey, isWriter } = driver;
  const queue = new KnownQueue('/locks/a', {} as ZooKeeperConnection, sortKey, isWriter);
  queue.listed(children, { name: own, sequence: 5 }, undefined);
  const turn = queue.turnOf(own, driver);
  if (turn === undefined) return undefined;
  const isNext = driver.isClosed && queue.ahead(own, driver) === 1;
  return { blocker: turn.blocker, isNext };
}

/** Every choice of some of these, but for none. */
const choicesOf = <T>(all: readonly T[]): T[][] =>
  Array.from({ length: (1 << all.length) - 1 }, (_, n) =>
    all.filter((_, place) => (n + 1) & (1 << place)),
  );

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

  it.each([
    [half('read', 7), '0000000007'],
    [half('write', 7), '0000000007'],
    ['__READ__', ''],
    ['__READ__a__WRIT__b__READ__3', '3'],
    ['__WRIT__a__READ__b__WRIT__3', '3'],
    ['__WRIT__-2147483648', '-2147483648'],
    ['lock-0000000001', 'lock-0000000001'],
    ['foo', 'foo'],
  ])('of %j in a read/write lock is %j', (child, key) => expect(readWriteSortKey(child)).toBe(key));
});

describe('The queue', () => {
  it.each<[string, string[]]>([
    [
      'the numbers, whatever the UUIDs',
      [node(8, 'ffff'), node(9, 'aaaa'), node(10, '0000'), node(100, 'bbbb')],
    ],
    [
      'code units, as in Java, not of numbers and not of letters of a language',
      ['!', '-x', '0', 'lock-0000000002', 'Z', 'a', 'z', 'ä', '\uff5e'],
    ],
    ['code units of what is no number of ten digits', ['lock-10', 'lock-9']],
    ['names where keys are equal, the same for every client', [node(5, 'aaaa'), node(5, 'bbbb')]],
  ])('is in the order of %s', (_, queue) => {
    for (const listed of [queue, queue.toReversed(), [...queue.slice(2), ...queue.slice(0, 2)]])
      expect(sortedNames(listed, driver.sortKey)).toEqual(queue);
  });
});

describe('The turn of a node', () => {
  const mine = node(5);
  const [first, second] = [node(5, 'aaaa'), node(5, 'bbbb')];

  it.each<[string, string[], string, { blocker?: string; isNext: boolean } | undefined]>([
    ['has come when it is alone', [mine], mine, { isNext: false }],
    ['has come when it is the first', [node(6), mine, 'foo'], mine, { isNext: false }],
    [
      'is next when the one before it is the first',
      [node(9), mine, node(3)],
      mine,
      { blocker: node(3), isNext: true },
    ],
    [
      'comes after that of the nearest before it, when there are more',
      [node(4), node(1), mine, node(3), node(6)],
      mine,
      { blocker: node(4), isNext: false },
    ],
    [
      'comes after foreign nodes that sort before it, and before those that sort behind',
      ['xlock-9', '0', mine],
      mine,
      { blocker: '0', isNext: true },
    ],
    ['comes after a foreign node', ['lock-', mine], mine, { blocker: 'lock-', isNext: true }],
    ['comes before that of a twin with a greater name', [first, second], first, { isNext: false }],
    [
      'comes after that of a twin with a smaller name',
      [first, second],
      second,
      { blocker: first, isNext: true },
    ],
    ['never comes when it is not in the queue', [node(4), node(6)], mine, undefined],
    ['never comes in an empty queue', [], mine, undefined],
  ])('%s', (_, children, own, turn) => expect(turnOf(driver, children, own)).toEqual(turn));

  it('agrees with the sorted queue, in every queue of some names', () => {
    const names = ['0', 'lock-', 'foo', node(1), node(2, 'b'), node(2, 'a'), node(30), node(4)];
    for (const children of choicesOf(names)) {
      const queue = sortedNames(children, driver.sortKey);
      for (const [place, own] of queue.entries()) {
        const turn = { blocker: queue[place - 1], isNext: place === 1 };
        expect(turnOf(driver, children, own)).toEqual(turn);
      }
    }
  });
});

describe('The turn of a node of a read/write lock', () => {
  const blockerOf = (own: Half, children: string[], mine: string) =>
    turnOf(DRIVERS[own], children, mine)?.blocker;

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
    const mine = half(own, 5);
    const other = half(its, at === 'ahead' ? 4 : 6);
    expect(blockerOf(own, [mine, other], mine)).toBe(waits ? other : undefined);
    expect(blockerOf(own, [other, mine], mine)).toBe(waits ? other : undefined);
  });

  it.each(['read', 'write'] as const)('to %s never comes when it is not in the queue', (own) => {
    const mine = half(own, 5);
    expect(turnOf(DRIVERS[own], [half('read', 4), half('write', 6)], mine)).toBeUndefined();
    expect(turnOf(DRIVERS[own], [], mine)).toBeUndefined();
  });

  it('to read is next when its writer is the only one ahead, however many readers are', () => {
    const mine = half('read', 5);
    const writer = half('write', 2);
    const children = [half('read', 3), writer, half('read', 1), mine];
    expect(turnOf(readLockDriver, children, mine)).toEqual({ blocker: writer, isNext: true });
    expect(turnOf(readLockDriver, [...children, half('write', 1)], mine)?.isNext).toBe(false);
  });

  it.each(['read', 'write'] as const)(
    'to write is never next without another look: the one ahead (to %s) may have added a reader before it went',
    (ahead) => {
      const [blocker, mine] = [half(ahead, 4), half('write', 5)];
      expect(turnOf(writeLockDriver, [blocker, mine], mine)).toEqual({ blocker, isNext: false });
    },
  );

  it('to write comes after a reader with the number of the writer ahead, which has gone', () => {
    const mine = half('write', 5);
    const downgraded = half('read', 4, 'aaaa');
    expect(blockerOf('write', [mine, downgraded], mine)).toBe(downgraded);
    expect(blockerOf('read', [mine, downgraded], downgraded)).toBeUndefined();
  });

  it('comes in the order of the names where keys are equal, so that every client sees the same', () => {
    const twins = [half('write', 5, 'aaaa'), half('write', 5, 'bbbb')] as const;
    for (const children of [[...twins], twins.toReversed()]) {
      expect(blockerOf('write', children, twins[0])).toBeUndefined();
      expect(blockerOf('write', children, twins[1])).toBe(twins[0]);
      expect(sortedNames(children, readWriteSortKey)).toEqual(twins);
    }
  });

  it('comes after that of a counter that has wrapped round, as for Curator', () => {
    const [reader, writer] = [half('read', 2_147_483_646), half('write', 1)];
    const wrapped = '_c_6f1c-__WRIT__-2147483648';
    expect(blockerOf('read', [reader, wrapped], reader)).toBe(wrapped);
    expect(blockerOf('write', [reader, wrapped, writer], writer)).toBe(wrapped);
  });

  it('agrees with the sorted queue, in every queue of some names', () => {
    const names = [
      ...['0', 'foo', '__READ__', 'x__WRIT__0000000002', '_c_6f1c-__WRIT__-2147483648'],
      ...[half('read', 1), half('write', 2), half('read', 2), half('write', 30), half('read', 4)],
    ];
    for (const children of choicesOf(names)) {
      const queue = sortedNames(children, readWriteSortKey);
      for (const [place, own] of queue.entries()) {
        const ahead = queue.slice(0, place);
        const writers = ahead.filter((name) => name.includes('__WRIT__'));
        const shuffled = [...queue.slice(place), ...ahead.reverse()];
        const toWrite = { blocker: queue[place - 1], isNext: false };
        expect(turnOf(writeLockDriver, shuffled, own)).toEqual(toWrite);
        const toRead = { blocker: writers.at(-1), isNext: writers.length === 1 };
        expect(turnOf(readLockDriver, shuffled, own)).toEqual(toRead);
      }
    }
  });
});

describe('The turn of a reader that holds the write lock', () => {
  const [writer, mine] = [half('write', 5, 'bbbb'), half('read', 5, 'aaaa')];
  const driver = downgradeDriver(writer);

  it('has come where both nodes are seen, whatever other nodes there are', () => {
    const others = [half('write', 4), half('read', 4), '__WRIT__', half('write', 6)];
    expect(driver.turnOf!([...others, mine, writer], mine)).toEqual({});
    expect(driver.turnOf!([writer, mine], mine)?.blocker).toBeUndefined();
  });

  it('never comes where one of them is missing', () => {
    for (const children of [[mine], [writer], [mine, half('write', 5, 'cccc')]])
      expect(driver.turnOf!(children, mine)).toBeUndefined();
  });

  it('is, for all others, that of any reader in the queue', () => {
    expect(driver.lockName).toBe(readLockDriver.lockName);
    const queue = [mine, writer, half('write', 6)];
    expect(sortedNames(queue.toReversed(), driver.sortKey)).toEqual(queue);
  });
});

describe('The leases of one acquire of permits', () => {
  const mine = [lease(5)];
  const both = [lease(3), lease(5)];
  const numbered = [lease(9, 'ffff'), lease(10, 'aaaa')];

  it.each<[string, string[], string[], number, boolean | undefined]>([
    ['there is a permit', [lease(5)], mine, 1, true],
    ['there are permits for all up to the last of them', [lease(5), lease(3)], mine, 2, true],
    ['there are fewer permits than up to them', [lease(5), lease(3)], mine, 1, false],
    ['two came before, and there are two', [lease(4), lease(5), lease(3)], mine, 2, false],
    ['other leases came later', [lease(6), lease(5), lease(7)], mine, 1, true],
    ['one of the others came before', [lease(6), lease(5), lease(4)], mine, 1, false],
    ['one of another came between them', [...both, lease(4)], both, 2, false],
    ['there is a permit for that too', [...both, lease(4)], both, 3, true],
    ['one of another came behind them', [...both, lease(6)], both, 2, true],
    ['there is a permit for one of them only', both, both, 1, false],
    ['there is none in the directory', [], mine, 9, undefined],
    ['they are not in the directory', [lease(4)], mine, 9, undefined],
    ['one of them is not in the directory', [lease(3)], both, 9, undefined],
    ['there are no permits', mine, mine, 0, false],
    ['there are fewer permits than none', mine, mine, -1, false],
    ['their number is the first, whatever the UUIDs', numbered, [lease(9, 'ffff')], 1, true],
    ['their number is not the first', numbered, [lease(10, 'aaaa')], 1, false],
  ])('when %s (%j, %j, %d permits): granted? %p', (_, children, own, permits, granted) => {
    expect(mayGrantLeases(children, own, permits)).toBe(granted);
  });

  it.each(['0', 'zzz', 'lease-', 'xlease-5', '_c_6f1c-lock-0000000009'])(
    'come after the child %j, which is no lease, whatever it sorts like',
    (stray) => {
      expect(mayGrantLeases([stray, lease(5)], mine, 1)).toBe(false);
      expect(mayGrantLeases([stray, lease(5)], mine, 2)).toBe(true);
    },
  );

  it('are granted to no more than there are permits for, in every queue of some', () => {
    const strays = [['foo'], ['lease-']];
    const owners = [[lease(1)], [lease(2), lease(5)], [lease(3)], [lease(4), lease(6), lease(7)]];
    for (const chosen of [[], ...choicesOf([...owners, ...strays])]) {
      const there = chosen.filter((own) => owners.includes(own));
      const foreign = chosen.filter((own) => strays.includes(own));
      const children = [...foreign, ...there].flat().reverse();
      for (let permits = 0; permits <= 9; permits++) {
        const granted = there.filter((own) => mayGrantLeases(children, own, permits));
        const taken = granted.flat().length + (granted.length > 0 ? foreign.length : 0);
        expect(taken).toBeLessThanOrEqual(permits);
        if (children.length <= permits) expect(granted).toEqual(there); // as Curator would
      }
    }
  });
});

describe('The nodes of a queue, for the inspector', () => {
  const [a, b, c] = ['a', 'b', 'c'].map((digit) =>
    [8, 4, 4, 4, 12].map((length) => digit.repeat(length)).join('-'),
  );
  const named = (lockName: string) => [
    `_c_${a}-${lockName}0000000012`,
    `_c_${c}-${lockName}0000000003`,
    `_c_${b}-${lockName}0000000007`,
  ];
  const LATCHES = named('latch-');
  const LOCKS = named('lock-');

  it.each([
    ['leader latch', latchNodes, LATCHES],
    ['mutex', mutexNodes, LOCKS],
  ] as const)('of a %s go by their numbers, and the first of them holds', (_, nodes, names) => {
    const [last, first, second] = names;
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
    expect(areOfBarrier([a!, b!, 'ready'])).toBe(true);
    expect(areOfBarrier(['ready'])).toBe(true);
    for (const other of ['a stranger', LOCKS[0]!, LATCHES[0]!])
      expect(areOfBarrier([a!, other])).toBe(false);
  });
});
