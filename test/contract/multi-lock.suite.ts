import { describe, expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockOptionsError,
  LockTimeoutError,
  LockUpgradeError,
} from '../../lib/core/errors/index.js';
import { currentLease } from '../../lib/core/internal/lease-scope.js';
import type { Lease } from '../../lib/core/lease.js';
import type { Lock, Mutex } from '../../lib/core/lock.js';
import { createEmbeddedLockClient } from '../../lib/embedded/create-embedded-lock-client.js';
import { Permission } from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { CriticalSection } from '../faults/support/leases.js';
import { eventually } from '../support/time.js';
import { expectLost } from './backends/leases.js';
import {
  type Deployment,
  onStage,
  type StageClient,
  type StageOf,
  useWarnings,
} from './backends/stage.js';
import {
  type Backend,
  type Client,
  handedOnMultiLockRecipe,
  multiLockRecipe,
  Stage,
} from './backends/zookeeper.js';
import { mutexRequestsSuite } from './mutex-znodes.suite.js';
import { everyMutexSuite } from './mutex.suite.js';

/**
 * Everything that a multi-lock promises: of two mutexes what a mutex does, as in Curator, where TestInterProcessMultiMutex
 * runs TestInterProcessMutexBase; and what there is to it when its parts differ.
 */
export function multiLockSuite(on: Deployment<Backend>): void {
  describe(`A multi-lock on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend(), multiLockRecipe));
    describe('of two mutexes', () => {
      everyMutexSuite(on, stage, { isMulti: true, isVariant: true });
      on.part('its requests', 'server', () => mutexRequestsSuite(stage));
    });
    on.part('its parts', 'server', () => {
      multiLockPartsSuite(stage, mutexOf);
      multiLockKindsSuite(stage, kindsOfEvery);
      multiLockNodesSuite(stage);
    });
    on.part('waiting for its parts', 'deployment', () => multiLockWaitSuite(stage, mutexOf));
    on.part('when something happens to its parts', 'server', () => multiLockFaultsSuite(stage));
  });
}

/** Everything that a mutex promises, of two that are handed on, one of which is kept, but for the order across processes. */
export function handedOnMultiLockSuite(on: Deployment<Backend>): void {
  describe(`A multi-lock of two mutexes that are handed on, on ${on.name}`, () => {
    const stage = onStage(() => Stage.build(on.backend(), handedOnMultiLockRecipe));
    const traits = { isFair: false, isMulti: true, isVariant: true, isHandedOn: true };
    everyMutexSuite(on, stage, traits);
  });
}

/** A lock of several that may be held as one. */
type PartOf<C extends StageClient> = (client: C, key: string) => Mutex;

const mutexOf: PartOf<StageClient> = ({ locks }, key) => locks.mutex(key);

/** Those locks of a test, by names that sort as their keys do; in a cluster they are in one slot. */
function partsOn<C extends StageClient>(stage: () => StageOf<C>, partOf: PartOf<C>) {
  const keyOf = (part: string) => `{${stage().key}}-${part}`;
  const lockOf = (client: C, part: string) => partOf(client, keyOf(part));
  const multiOf = (client: C, ...parts: string[]) =>
    client.locks.multiLock(parts.map((part) => lockOf(client, part)));
  /** Those of the three that the other client could have. */
  const free = async () => {
    const found: string[] = [];
    for (const part of ['a', 'b', 'c']) {
      await using lease = await lockOf(stage().theirs, part).tryAcquire();
      if (lease) found.push(part);
    }
    return found;
  };
  return { keyOf, lockOf, multiOf, free };
}

/** Which locks may be held as one, and what holding them as one means for each. */
export function multiLockPartsSuite<C extends StageClient>(
  stage: () => StageOf<C>,
  partOf: PartOf<C>,
): void {
  const { keyOf, lockOf, multiOf, free } = partsOn(stage, partOf);

  it('are held one and all: each of them keeps others out', async () => {
    await using lease = await multiOf(stage().mine, 'a', 'b', 'c').acquire();
    expect(lease.isHeld).toBe(true);
    expect(await free()).toEqual([]);
  });

  it('are on the chain inside: each of them is re-entered', async () => {
    const { mine } = stage();
    const multi = multiOf(mine, 'a', 'b', 'c');
    await multi.using(async (lease) => {
      expect(currentLease()).toBe(lease);
      const asked = mine.requests.length;
      await lockOf(mine, 'b').using(async (inner) => expect(currentLease()).toBe(inner));
      await multi.using(async (inner) => expect(inner.isHeld).toBe(true));
      expect(mine.requests).toHaveLength(asked);
      expect(currentLease()).toBe(lease);
    });
    expect(currentLease()).toBeUndefined();
  });

  it('are on the chain inside: what is reentrant re-enters, what is not waits', async () => {
    const { mine } = stage();
    const mutex = lockOf(mine, 'a');
    const semaphore = mine.locks.semaphore(`${stage().key}-b`, { permits: 1 });
    const rw = mine.locks.readWriteLock(keyOf('c'));
    await mine.locks.multiLock([semaphore, mutex, rw.writeLock()]).using(async (lease) => {
      await mutex.using(async (inner) => expect(currentLease()).toBe(inner));
      await rw.readLock().using(async (inner) => expect(inner.isHeld).toBe(true)); // a downgrade
      expect(await semaphore.tryAcquire()).toBeUndefined();
      expect(currentLease()).toBe(lease);
    });
  });

  it('that the caller holds already are re-entered, and stay when the multi-lock is released', async () => {
    const { mine } = stage();
    await lockOf(mine, 'b').using(async (outer) => {
      const lease = await multiOf(mine, 'a', 'b').acquire();
      await lease.release();
      expect(outer.isHeld).toBe(true);
      expect(await free()).toEqual(['a', 'c']);
    });
    expect(await free()).toEqual(['a', 'b', 'c']);
  });

  it('that the caller holds already stay, too, when the others are not granted', async () => {
    const { mine, theirs } = stage();
    await using _ = await lockOf(theirs, 'c').acquire();
    const multi = multiOf(mine, 'a', 'b', 'c');
    await lockOf(mine, 'b').using(async (outer) => {
      expect(await multi.tryAcquire()).toBeUndefined();
      await expect(multi.acquire({ wait: 30 })).rejects.toMatchObject({ waitedMs: 30 });
      const aborted = multi.acquire({ signal: AbortSignal.abort() });
      await expect(aborted).rejects.toBeInstanceOf(LockAbortedError);
      expect(outer.isHeld).toBe(true);
      await eventually('only the first is free', async () => (await free()).join() === 'a');
    });
    expect(await free()).toContain('b');
  });

  it('do not upgrade: a write lock inside of a held read lock is refused, and the others are released', async () => {
    const { mine } = stage();
    const rw = mine.locks.readWriteLock(keyOf('c'));
    const multi = mine.locks.multiLock([lockOf(mine, 'a'), rw.writeLock()]);
    await rw.readLock().using(async () => {
      await expect(multi.tryAcquire()).rejects.toBeInstanceOf(LockUpgradeError);
      await expect(multi.acquire()).rejects.toBeInstanceOf(LockUpgradeError);
    });
    await using lease = await multi.acquire({ wait: 10_000 });
    expect(lease.isHeld).toBe(true);
  });

  it('that are multi-locks stand for their own parts', async () => {
    const { mine } = stage();
    const inner = multiOf(mine, 'c', 'b');
    const outer = mine.locks.multiLock([inner, lockOf(mine, 'a'), lockOf(mine, 'b')]); // b twice
    await outer.using(async () => {
      await inner.using(async () => {});
      expect(await free()).toEqual([]);
    });
    expect(await free()).toEqual(['a', 'b', 'c']);
  });

  it('are refused when two of them would wait for each other', () => {
    const { mine, key } = stage();
    const rw = mine.locks.readWriteLock(key);
    const semaphore = mine.locks.semaphore(`${key}-s`, { permits: 2 });
    for (const locks of [[rw.readLock(), rw.writeLock()], [semaphore, semaphore], []])
      expect(() => mine.locks.multiLock(locks)).toThrow(LockOptionsError);
  });

  it('may belong to different clients', async () => {
    const { mine, theirs } = stage();
    const lease = await mine.locks.multiLock([lockOf(theirs, 'b'), lockOf(mine, 'a')]).acquire();
    expect(await lockOf(theirs, 'a').tryAcquire()).toBeUndefined();
    expect(await lockOf(mine, 'b').tryAcquire()).toBeUndefined();
    await lease.release();
    expect(await free()).toEqual(['a', 'b', 'c']);
  });

  it('may belong to different backends: to these servers and to the embedded tree', async () => {
    const { mine, theirs } = stage();
    const embedded = createEmbeddedLockClient('in this process');
    await embedded.connect();
    try {
      const a = embedded.mutex('a');
      const multi = mine.locks.multiLock([lockOf(mine, 'b'), a]);
      await multi.using(async (lease) => {
        expect(await lease.fencingToken()).toBeGreaterThan(0n);
        expect(await a.using(async () => 're-entered')).toBe('re-entered');
        expect(await free()).not.toContain('b');
      });
      const taken = await lockOf(theirs, 'b').acquire();
      expect(await multi.tryAcquire()).toBeUndefined();
      expect(await a.participants()).toEqual([]);
      await taken.release();
      await using lease = await multi.acquire();
      await embedded.close();
      expect(lease.isHeld).toBe(false); // one of its parts is not
    } finally {
      await embedded.close();
    }
  });

  it('have a fencing token together, which grows with every grant', async () => {
    const { mine, theirs } = stage();
    const tokens: bigint[] = [];
    for (const client of [mine, theirs, mine, theirs]) {
      const note = async (lease: Lease) => void tokens.push(await lease.fencingToken());
      await multiOf(client, 'a', 'b', 'c').using(note);
      await lockOf(client, 'b').using(async (lease) => void (await lease.fencingToken())); // one may be granted more often
    }
    for (const [i, token] of tokens.entries())
      if (i > 0) expect(token).toBeGreaterThan(tokens[i - 1]!);
  });
}

/** Locks of every kind that all backends have. */
export const kindsOfEvery = ({ locks }: StageClient, key: string): Record<string, Lock> => ({
  mutex: locks.mutex(`${key}-mutex`),
  reader: locks.readWriteLock(`${key}-read`).readLock(),
  writer: locks.readWriteLock(`${key}-write`).writeLock(),
  permit: locks.semaphore(`${key}-semaphore`, { permits: 2 }),
  semaphoreMutex: locks.semaphoreMutex(`${key}-semaphore-mutex`),
});

/** Locks of different kinds that are held as one. */
export function multiLockKindsSuite<C extends StageClient>(
  stage: () => StageOf<C>,
  kindsOf: (client: C, key: string) => Record<string, Lock>,
): void {
  it('may be of every kind', async () => {
    const { mine, theirs, key } = stage();
    const kinds = kindsOf(mine, key);
    const free = async () => {
      const found: string[] = [];
      for (const [name, lock] of Object.entries(kindsOf(theirs, key))) {
        await using lease = await lock.tryAcquire();
        if (lease) found.push(name);
      }
      return found;
    };
    await mine.locks.multiLock(Object.values(kinds)).using(async () => {
      expect(await free()).toEqual(['reader', 'permit']);
    });
    expect(await free()).toEqual(Object.keys(kinds));
  });
}

/** Deadlines, signals and single attempts over several locks; and that no clients wait in a circle. */
export function multiLockWaitSuite<C extends StageClient>(
  stage: () => StageOf<C>,
  partOf: PartOf<C>,
): void {
  const { keyOf, lockOf, multiOf, free } = partsOn(stage, partOf);
  /** On the servers is one lock of each, and nothing else. */
  const areLeft = async (...taken: string[]) => {
    await eventually(`only ${taken.join()} is left`, async () => {
      const remains = (await stage().remains()).map(decodeURIComponent); // as paths of nodes are
      const isThere = (part: string) => remains.some((left) => left.includes(keyOf(part)));
      return remains.length === taken.length && taken.every(isThere);
    });
  };

  it('has one deadline over all of them, not one for each', async () => {
    const { mine, theirs } = stage();
    const first = await lockOf(theirs, 'a').acquire();
    await using _ = await lockOf(theirs, 'b').acquire();
    const start = performance.now();
    const { lease: late } = await stage().queueFor(multiOf(mine, 'b', 'a'), mine, { wait: 1_500 });
    await eventually('most of it is over', () => performance.now() - start > 1_000);
    const releasedAt = performance.now();
    await first.release();
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({
      waitedMs: 1_500,
      key: `${keyOf('a')} + ${keyOf('b')}`,
    });
    expect(performance.now() - releasedAt).toBeLessThan(1_500); // after one for each it would be longer
    await areLeft('b');
  });

  it('leaves nothing when a signal aborts the wait', async () => {
    const { mine, theirs } = stage();
    await using _ = await lockOf(theirs, 'b').acquire();
    const stop = new AbortController();
    const why = new Error('the user went away');
    const multi = multiOf(mine, 'a', 'b', 'c');
    const { lease } = await stage().queueFor(multi, mine, { signal: stop.signal });
    stop.abort(why);
    await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
    await expect(lease).rejects.toMatchObject({ cause: why });
    await areLeft('b');
    await using other = await lockOf(mine, 'a').tryAcquire(); // its place in the line is free, too
    expect(other?.isHeld).toBe(true);
  });

  it('leaves nothing when its client closes', async () => {
    const { mine, theirs } = stage();
    await using _ = await lockOf(theirs, 'b').acquire();
    const { lease } = await stage().queueFor(multiOf(mine, 'a', 'b'), mine);
    await mine.locks.close();
    await expect(lease).rejects.toMatchObject({ code: 'LOCK_CLIENT_CLOSED' });
    await areLeft('b');
  });

  it('takes none with tryAcquire when one is taken, and leaves nothing', async () => {
    const { mine, theirs } = stage();
    for (const taken of ['a', 'b', 'c']) {
      await lockOf(theirs, taken).using(async () => {
        expect(await multiOf(mine, 'c', 'b', 'a').tryAcquire()).toBeUndefined();
        await areLeft(taken);
      });
    }
    await using lease = await multiOf(mine, 'c', 'b', 'a').tryAcquire();
    expect(lease?.isHeld).toBe(true);
  });

  it('takes what comes free one by one, whichever it finds taken', async () => {
    const { mine, theirs } = stage();
    const holders = [await lockOf(theirs, 'c').acquire(), await lockOf(theirs, 'a').acquire()];
    const { lease } = await stage().queueFor(multiOf(mine, 'a', 'b', 'c'), mine);
    for (const holder of holders) await holder.release();
    await using held = await lease;
    expect(held.isHeld).toBe(true);
    expect(await free()).toEqual([]);
  });

  describe('never waits in a circle', () => {
    it('with others that name the same locks in the opposite order', async () => {
      const { mine, theirs } = stage();
      const section = new CriticalSection();
      await Promise.all([
        rounds(section, multiOf(mine, 'a', 'b')),
        rounds(section, multiOf(theirs, 'b', 'a')),
        rounds(section, multiOf(mine, 'b', 'a')),
        rounds(section, multiOf(theirs, 'a', 'b')),
      ]);
      expect(section.most).toBe(1);
      expect(section.visitors).toHaveLength(80);
    });

    it('with others that share one lock each', async () => {
      const { mine, theirs } = stage();
      const third = (await stage().client()) as C;
      const sections = Array.from({ length: 3 }, () => new CriticalSection());
      await Promise.all([
        rounds(sections[0]!, multiOf(mine, 'a', 'b')),
        rounds(sections[1]!, multiOf(theirs, 'b', 'c')),
        rounds(sections[2]!, multiOf(third, 'c', 'a')),
      ]);
      for (const { visitors } of sections) expect(visitors).toHaveLength(20);
    });

    it('with another that has its parts from several clients, too', async () => {
      const { mine, theirs } = stage();
      const section = new CriticalSection();
      const one = mine.locks.multiLock([lockOf(mine, 'a'), lockOf(theirs, 'b')]);
      const other = mine.locks.multiLock([lockOf(mine, 'b'), lockOf(theirs, 'a')]);
      await Promise.all([rounds(section, one), rounds(section, other)]);
      expect(section.most).toBe(1);
    });

    async function rounds(section: CriticalSection, multi: Lock): Promise<void> {
      const visit = async () => {
        section.enter('somebody');
        await stage().contenders(); // a turn of the servers
        section.leave();
      };
      for (let round = 0; round < 20; round++) await multi.using(visit, { wait: 20_000 });
    }
  });
}

/** What the parts have on ZooKeeper. */
function multiLockNodesSuite(stage: () => Stage): void {
  it('may be named by their paths: that is a re-entry too', async () => {
    const { mine, key, path } = stage();
    await mine.lock(key).using(async () => {
      await using byPath = await mine.lock(path).tryAcquire();
      expect(byPath?.isHeld).toBe(true);
    });
  });

  it('are held one after the other: the first stays while the next is waited for', async () => {
    const { mine, theirs, key } = stage();
    const multiOf = ({ locks }: Client) =>
      locks.multiLock([locks.mutex(`${key}-a`), locks.mutex(`${key}-b`)]);
    const held = await theirs.mutex(`${key}-b`).acquire();
    const { lease } = await stage().queueFor(multiOf(mine), mine);
    expect(await theirs.mutex(`${key}-a`).tryAcquire()).toBeUndefined();
    await held.release();
    await (await lease).release();
  });

  it('have one node each, however often they are named', async () => {
    const { mine, key, path } = stage();
    const [a, b] = [mine.mutex(`${key}-a`), mine.mutex(`${key}-b`)];
    await mine.locks.multiLock([mine.locks.multiLock([b, a]), b]).using(async () => {
      for (const part of ['a', 'b']) expect(await stage().nodes(`${path}-${part}`)).toHaveLength(1);
    });
    for (const part of ['a', 'b']) expect(await stage().nodes(`${path}-${part}`)).toEqual([]);
  });
}

/** What happens to the whole when something happens to a part. */
function multiLockFaultsSuite(stage: () => Stage): void {
  const warnings = useWarnings();

  const keyOf = (part: string) => `${stage().key}-${part}`;
  const pathOf = (part: string) => `/locks/${keyOf(part)}`;
  const multiOf = ({ locks }: Client, ...parts: string[]) =>
    locks.multiLock(parts.map((part) => locks.mutex(keyOf(part))));

  it('releases the parts that are held when one cannot be acquired (Curator: testSomeLocksFailToLock)', async () => {
    const { mine, theirs } = stage();
    const dead = await stage().client();
    const parts = [mine.locks.mutex(keyOf('a')), dead.locks.mutex(keyOf('b'))];
    const multi = mine.locks.multiLock([...parts, mine.locks.mutex(keyOf('c'))]);
    await dead.locks.close();
    await expect(multi.acquire()).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(multi.tryAcquire()).rejects.toBeInstanceOf(LockClientClosedError);
    expect(mine.requests.some(({ path }) => path.startsWith(pathOf('c')))).toBe(false);
    await using next = await theirs.locks.mutex(keyOf('a')).acquire({ wait: 10_000 });
    expect(next.isHeld).toBe(true);
  });

  it('releases the other parts when one cannot be released (Curator: testSomeReleasesFail)', async () => {
    const { mine, theirs, stranger } = stage();
    const warn = warnings();
    const onlyRead = [{ perms: Permission.READ, scheme: 'world', id: 'anyone' }];
    const lease = await multiOf(mine, 'a', 'b', 'c').acquire();
    await stranger.setAcl(pathOf('b'), onlyRead);
    await lease.release();
    expect(warn).toHaveBeenCalledWith(expect.stringMatching(/not allowed to remove.*NOAUTH/));
    for (const part of ['a', 'c']) {
      await using next = await theirs.locks.mutex(keyOf(part)).tryAcquire();
      expect(next?.isHeld).toBe(true);
    }
  });

  it('is lost, and holds the other parts until its release, when another client deletes the node of one', async () => {
    const { mine, theirs, stranger } = stage();
    const lease = await multiOf(mine, 'a', 'b', 'c').acquire();
    await lease.fencingToken(); // it watches its nodes from now on
    const { signal } = lease;
    const [node] = await stage().queueIn(pathOf('b'));
    await stranger.delete(node!);
    await eventually('the signal of the holder aborts', () => signal.aborted);
    expect((signal.reason as Error).message).toContain(`its part "${keyOf('b')}"`);
    expectLost(lease);
    for (const part of ['a', 'c'])
      expect(await theirs.locks.mutex(keyOf(part)).tryAcquire()).toBeUndefined();
    await lease.release();
    await using next = await multiOf(theirs, 'a', 'b', 'c').tryAcquire();
    expect(next?.isHeld).toBe(true);
  });

  it('is lost as a whole when the session of one part ends', async () => {
    const { mine, theirs } = stage();
    const multi = mine.locks.multiLock([
      mine.locks.mutex(keyOf('a')),
      theirs.locks.mutex(keyOf('b')),
    ]);
    const lease = await multi.acquire();
    const { signal } = lease;
    await stage().expire(theirs);
    expect(signal.aborted).toBe(true);
    expectLost(lease);
    await lease.release();
    expect(await stage().queueIn(pathOf('a'))).toEqual([]);
  });

  describe('when one part is lost while it waits for the next', () => {
    it('begins again and holds all of them, if the session of the part ended', async () => {
      const { mine, theirs } = stage();
      const third = await stage().client();
      const holder = await third.locks.mutex(keyOf('b')).acquire();
      const multi = mine.locks.multiLock([
        mine.locks.mutex(keyOf('a')),
        theirs.locks.mutex(keyOf('b')),
      ]);
      const waiting = multi.acquire();
      await eventually('it waits', async () => (await stage().queueIn(pathOf('b'))).length === 2);
      await stage().expire(mine);
      await using meanwhile = await third.locks.mutex(keyOf('a')).acquire({ wait: 10_000 });
      await holder.release();
      await eventually('it queues again', async () => {
        return (await stage().queueIn(pathOf('a'))).length === 2;
      });
      await meanwhile.release();
      await using lease = await waiting;
      expect(lease.isHeld).toBe(true);
      for (const part of ['a', 'b'])
        expect(await third.locks.mutex(keyOf(part)).tryAcquire()).toBeUndefined();
    });

    it('is not granted without that part, if another client deleted its node', async () => {
      const { mine, theirs, stranger } = stage();
      const holder = await theirs.locks.mutex(keyOf('b')).acquire();
      const waiting = multiOf(mine, 'a', 'b').acquire();
      await eventually('it waits', async () => (await stage().queueIn(pathOf('b'))).length === 2);
      const watches = () =>
        mine.requests.some((it) => it.op === 'getData' && it.path.startsWith(`${pathOf('a')}/`));
      await eventually('its long hold is watched', watches);
      await mine.connection.exists('/'); // when that is answered, the watch is set
      const [node] = await stage().queueIn(pathOf('a'));
      await stranger.delete(node!);
      await stage().caughtUp(mine);
      await holder.release();
      await using lease = await waiting;
      expect(lease.isHeld).toBe(true);
      expect(await theirs.locks.mutex(keyOf('a')).tryAcquire()).toBeUndefined();
    });
  });

  it('goes on when the servers go and come back while it waits for the next', async () => {
    const { mine, theirs } = stage();
    const holder = await theirs.locks.mutex(keyOf('b')).acquire();
    const waiting = multiOf(mine, 'a', 'b').acquire();
    await eventually('it waits', async () => (await stage().queueIn(pathOf('b'))).length === 2);
    await stage().down();
    await stage().up();
    await holder.release();
    await using lease = await waiting;
    expect(lease.isHeld).toBe(true);
  });
}
