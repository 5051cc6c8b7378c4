import { beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockLostError,
  LockNotHeldError,
  LockOptionsError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { LeaseScope } from '../../../lib/core/internal/lease-scope.js';
import type { MultiLease } from '../../../lib/core/internal/multi-lease.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { AcquireOptions, Lock, LockIdentity, LockRecipe } from '../../../lib/core/lock.js';
import { MultiLock } from '../../../lib/core/multi-lock.js';
import { Deferred, VirtualClock } from '../../support/time.js';
import { granted } from './fakes.js';

/** The one client of all parts that name no other. */
const CLIENT = {};

/** A lock that grants when the test says so, and writes down its story. */
class Part implements Lock {
  readonly identity: LockIdentity;
  /** Options of every acquire and tryAcquire so far. */
  readonly asked: AcquireOptions[] = [];
  /** Everything that was granted so far. */
  readonly grants: ReturnType<typeof granted>[] = [];
  /** What an acquire and a tryAcquire wait for; it may reject. */
  turn: (options: AcquireOptions) => Promise<void> = async () => {};
  /** What a release waits for; it may reject, which those of this library never do. */
  freeing: () => Promise<void> = async () => {};
  /** tryAcquire finds it taken. */
  isTaken = false;

  /** @param story where its grants and releases are written down */
  constructor(
    readonly key: string,
    private readonly story: string[] = [],
    recipe: LockRecipe = 'mutex',
    scope: object = CLIENT,
    client?: string,
  ) {
    this.identity = { scope, recipe, name: `/locks/${key}`, client };
  }

  async acquire(options: AcquireOptions = {}): Promise<Lease> {
    this.asked.push(options);
    await this.turn(options);
    return this.#grant();
  }

  async tryAcquire(options: AcquireOptions = {}): Promise<Lease | undefined> {
    this.asked.push(options);
    await this.turn(options);
    return this.isTaken ? undefined : this.#grant();
  }

  using<T>(): Promise<T> {
    throw new LockOptionsError('using', this.key, 'acquire: a multi-lock has a scope of its own');
  }

  #grant(): Lease {
    const grant = granted(this.identity.name, this.identity.scope);
    grant.ledger.free = async () => {
      this.story.push(`release ${this.key}`);
      await this.freeing();
    };
    this.grants.push(grant);
    this.story.push(`hold ${this.key}`);
    return grant.lease;
  }
}

describe('A multi-lock of 50,000 locks', () => {
  it('compares no lock with all others, and runs work inside of all of them', async () => {
    let asked = 0;
    const scope = { serverIds: () => ((asked += 1), []) };
    const parts = Array.from({ length: 50_000 }, (_, i) => new Part(`${i}`, [], 'mutex', scope));
    const lease = await new MultiLock([...parts, ...parts]).acquire();
    expect(lease.leases).toHaveLength(50_000);
    expect(asked).toBeLessThanOrEqual(100_000);
    expect(await lease.run(async () => LeaseScope.find(parts[0]!.identity))).toBe(
      (lease.leases.find(({ key }) => key === '/locks/0') as LeaseHandle).hold,
    );
    await lease.release();
    expect(LeaseScope.find(parts[0]!.identity)).toBeUndefined();
  });
});

describe('The parts of a multi-lock', () => {
  const part = (key: string, recipe?: LockRecipe, scope?: object) =>
    new Part(key, [], recipe, scope);
  const keysOf = (locks: readonly Lock[]) => new MultiLock(locks).locks.map(({ key }) => key);

  it('are in the order of their names on the servers, however they were given', () => {
    expect(keysOf(['c', 'a', 'b'].map((key) => part(key)))).toEqual(['a', 'b', 'c']);
    const odd = ['\uff5e', 'ä', 'z', 'Z', '10', '9', '🔒']; // by code units, as in every other process
    expect(keysOf(odd.map((key) => part(key)))).toEqual(['10', '9', 'Z', 'z', 'ä', '🔒', '\uff5e']);
  });

  it('are, where they have one name, in the order of the names of their clients', () => {
    const [first, second] = ['first', 'second'].map(
      (client) => new Part('a', [], 'mutex', { client }, client),
    );
    for (const given of [
      [first!, second!],
      [second!, first!],
    ])
      expect(new MultiLock(given).locks).toEqual([first, second]);
  });

  it('give it its key', () => {
    const multi = new MultiLock([part('b'), part('a')]);
    expect(multi.key).toBe('a + b');
    expect(multi.identity).toMatchObject({ recipe: 'multiLock' });
  });

  it('include those of nested multi-locks, however deep', () => {
    const deep = new MultiLock([part('d'), new MultiLock([part('b'), part('a')])]);
    expect(keysOf([part('c'), deep])).toEqual(['a', 'b', 'c', 'd']);
  });

  it('include those of a multi-lock that another copy of this package made', () => {
    const foreign = Object.assign(part('nested', 'multiLock'), { locks: [part('c'), part('a')] });
    expect(keysOf([part('b'), foreign])).toEqual(['a', 'b', 'c']);
  });

  it('are taken down when it is made: what happens to the list afterwards changes nothing', () => {
    const locks = [part('b'), part('a')];
    const multi = new MultiLock(locks);
    locks.push(part('c'));
    expect(multi.locks.map(({ key }) => key)).toEqual(['a', 'b']);
    expect(locks.map(({ key }) => key)).toEqual(['b', 'a', 'c']);
  });

  it.each(['mutex', 'semaphoreMutex', 'readLock', 'writeLock'] as const)(
    'count once when they are the same %s',
    (recipe) => {
      const twice = [part('a', recipe), part('b'), part('a', recipe)];
      expect(keysOf(twice)).toEqual(['a', 'b']);
      expect(keysOf([new MultiLock(twice), new MultiLock(twice)])).toEqual(['a', 'b']);
    },
  );

  it('are different ones when they belong to different clients', () => {
    expect(keysOf([part('a'), part('a', 'mutex', {})])).toEqual(['a', 'a']);
  });

  /** The client of that name, which uses these servers. */
  const clientOf = (client: string, ...servers: string[]) => ({ client, serverIds: () => servers });
  const partOf = (scope: ReturnType<typeof clientOf>, key: string, recipe?: LockRecipe) =>
    new Part(key, [], recipe, scope, scope.client);

  it.each([
    ['same lock', 'mutex', 'mutex'],
    ['same lock in one mode', 'readLock', 'readLock'],
    ['same lock in two modes', 'readLock', 'writeLock'],
    ['same semaphore', 'semaphore', 'semaphore'],
  ] as const)('are refused when two clients of one server have the %s', (_, one, other) => {
    const [r, s] = [clientOf('r', 'a:1', 'b:1'), clientOf('s', 'c:1', 'b:1')];
    const twins = [partOf(r, 'k', one), partOf(r, 'other'), partOf(s, 'k', other)];
    expect(() => new MultiLock(twins)).toThrow(LockOptionsError);
    expect(() => new MultiLock([new MultiLock(twins.slice(0, 2)), twins[2]!])).toThrow(
      '"k" would wait for itself, as the clients "r" and "s" use the same servers',
    );
  });

  it('may have one key on clients of other servers, and on clients of which none is known', () => {
    const clients = [clientOf('r', 'a:1'), clientOf('s', 'b:1'), clientOf('t'), clientOf('u')];
    expect(keysOf(clients.map((client) => partOf(client, 'k')))).toEqual(['k', 'k', 'k', 'k']);
  });

  it.each(['acquire', 'tryAcquire'] as const)(
    'are refused by %s when their servers turn out to be the same, and none stays held',
    async (how) => {
      const [r, s] = [clientOf('r', 'a:1'), clientOf('s')];
      const [first, second] = [partOf(r, 'k'), partOf(s, 'k')];
      const multi = new MultiLock([first, second]);
      first.turn = async () => void (s.serverIds = () => ['a:1']); // it is connected by now
      await expect(multi[how]()).rejects.toBeInstanceOf(LockOptionsError);
      expect(first.grants.map(({ lease }) => lease.isHeld)).toEqual([false]);
      await expect(multi[how]()).rejects.toBeInstanceOf(LockOptionsError);
      expect([first.asked.length, second.asked.length]).toEqual([1, 0]);
    },
  );

  it.each([
    ['a read and a write lock of one key', () => [part('a', 'readLock'), part('a', 'writeLock')]],
    ['a semaphore twice', () => [part('a', 'semaphore'), part('a', 'semaphore')]],
    [
      'a semaphore inside and outside of a nested one',
      () => [part('a', 'semaphore'), new MultiLock([part('a', 'semaphore')])],
    ],
    ['none at all', () => []],
    ['no list', () => part('a') as unknown as Lock[]],
    ['a list with a gap', () => [part('a'), undefined as unknown as Lock]],
    ['a key', () => ['a' as unknown as Lock]],
  ])('are refused when they are %s', (_, locks) => {
    expect(() => new MultiLock(locks())).toThrow(LockOptionsError);
  });
});

describe('A multi-lock', () => {
  let clock: VirtualClock;
  let story: string[];
  let parts: Part[];
  let multi: MultiLock;

  beforeEach(() => {
    clock = new VirtualClock();
    story = [];
    parts = ['a', 'b', 'c'].map((key) => new Part(key, story));
    multi = new MultiLock(parts.toReversed(), { clock });
  });

  it('takes its parts one after the other, and releases them in the reverse order', async () => {
    const turn = new Deferred();
    parts[1]!.turn = () => turn.promise;
    const taking = multi.acquire();
    await clock.advance(1_000);
    expect(story).toEqual(['hold a']);
    turn.resolve();
    const lease = await taking;
    await lease.release();
    await lease.release();
    expect(story).toEqual(['hold a', 'hold b', 'hold c', 'release c', 'release b', 'release a']);
  });

  it.each(['acquire', 'tryAcquire'] as const)(
    '%s passes each part the time that is left',
    async (how) => {
      for (const part of parts) part.turn = () => clock.advance(300);
      await multi[how]({ wait: 1_000 });
      expect(parts.map(({ asked }) => asked[0]!.wait)).toEqual([1_000, 700, 400]);
    },
  );

  it('asks no further part when the time is up, and says how long it had, not what was left', async () => {
    for (const part of parts) part.turn = () => clock.advance(500);
    const late = multi.acquire({ wait: 1_000 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ waitedMs: 1_000, key: 'a + b + c' });
    expect(parts.map(({ asked }) => asked.length)).toEqual([1, 1, 0]);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
  });

  it('says so too when it is a part that has run out of time', async () => {
    const cause = new LockTimeoutError(400, { key: 'b' });
    parts[1]!.turn = async () => Promise.reject(cause);
    await expect(multi.acquire({ wait: 1_000 })).rejects.toMatchObject({
      code: 'LOCK_TIMEOUT',
      waitedMs: 1_000,
      key: 'a + b + c',
      cause,
      message:
        'lock "a + b + c" was not granted within 1000 ms (it waited for lock "b"). Retry later, raise `wait`, or hold the lock for a shorter time.',
    });
  });

  it('waits as long as it was made to, where an acquire names no time', async () => {
    await new MultiLock(parts, { clock, wait: 70 }).acquire();
    await multi.acquire({ wait: undefined });
    expect(parts[0]!.asked).toMatchObject([{ wait: 70 }, { wait: 'forever' }]);
  });

  it('stops at the first part that tryAcquire finds taken, and comes back when nothing is left', async () => {
    parts[2]!.isTaken = true;
    const freed = new Deferred();
    parts[0]!.freeing = () => freed.promise;
    let isBack = false;
    const trying = multi.tryAcquire().then((lease) => ((isBack = true), lease));
    await clock.advance(1_000);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
    expect(isBack).toBe(false);
    freed.resolve();
    expect(await trying).toBeUndefined();
  });

  it('releases all of them though some cannot be released (Curator: testSomeReleasesFail)', async () => {
    for (const part of parts.slice(1)) part.freeing = async () => Promise.reject(new Error('no'));
    const lease = await multi.acquire();
    await lease.release();
    expect(story.slice(3)).toEqual(['release c', 'release b', 'release a']);
  });

  it('fails with the error of the part that failed, though another cannot be released (Curator: testSomeLocksFailToLock)', async () => {
    const error = new Error('no connection');
    parts[0]!.freeing = async () => Promise.reject(new Error('no'));
    parts[2]!.turn = async () => Promise.reject(error);
    await expect(multi.acquire()).rejects.toBe(error);
    expect(story).toEqual(['hold a', 'hold b', 'release b', 'release a']);
  });

  it.each([{ wait: 0 }, { wait: -1 }, { wait: NaN }, { wait: Infinity }])(
    'refuses %p before a part is asked',
    async (options) => {
      await expect(multi.acquire(options)).rejects.toBeInstanceOf(LockOptionsError);
      await expect(multi.tryAcquire(options)).rejects.toBeInstanceOf(LockOptionsError);
      expect(() => new MultiLock(parts, options)).toThrow(LockOptionsError);
      expect(parts.flatMap(({ asked }) => asked)).toEqual([]);
    },
  );
});

describe('The lease of a multi-lock', () => {
  let story: string[];
  let parts: Part[];
  let multi: MultiLock;
  let lease: MultiLease;

  beforeEach(async () => {
    story = [];
    parts = ['a', 'b', 'c'].map((key) => new Part(key, story));
    multi = new MultiLock(parts.toReversed());
    lease = await multi.acquire();
  });

  const grantOf = (part: number) => parts[part]!.grants[0]!;

  it('has those of its parts', () => {
    expect(lease.leases.map(({ key }) => key)).toEqual(parts.map(({ identity }) => identity.name));
    expect(lease.leases.every(({ isHeld }) => isHeld)).toBe(true);
  });

  it.each([0, 1, 2])('is lost as soon as part %i is', async (part) => {
    const { signal } = lease;
    grantOf(part).hold.markLost('its session ended');
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect((signal.reason as Error).message).toContain(`its part "/locks/${parts[part]!.key}"`);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockLostError);
    await expect(lease.run(() => 'never')).rejects.toBeInstanceOf(LockLostError);
  });

  it('asks its parts at the moment of the question whether they are still exclusive', () => {
    grantOf(1).ledger.isExclusiveNow = false;
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
  });

  it('is not lost by what happens to a part after the release', async () => {
    const { signal } = lease;
    await lease.release();
    grantOf(0).hold.markLost('its session ended');
    expect(signal.aborted).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockNotHeldError);
  });

  it('is no longer held when a part was released by itself', async () => {
    await lease.leases[1]!.release();
    expect(lease.isHeld).toBe(false);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    await lease.release();
    expect(story.slice(3)).toEqual(['release b', 'release c', 'release a']);
  });

  it('has a fencing token that grows when that of any part grows', async () => {
    const tokens = [3n, 9n, 5n];
    for (const part of [0, 1, 2]) grantOf(part).ledger.token = async () => tokens[part]!;
    expect(await lease.fencingToken()).toBe(9n);
  });
});
