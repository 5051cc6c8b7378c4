import { expect, it } from '@jest/globals';
import {
  LockAbortedError,
  type LockError,
  LockLostError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import type { LockClient } from '../../lib/core/lock-client.js';
import type { LockEvents } from '../../lib/core/lock-events.js';
import type { HandOff, Lock } from '../../lib/core/lock.js';
import { Deferred, eventually, isSettled } from '../support/time.js';
import { contendersBecome, type LockStage, type StageClient } from './backends/stage.js';

const LONG = 600_000;
const WITHOUT_END = { atMost: 10_000, for: LONG };
const codeOf = (error: unknown) => (error as LockError).code;

/**
 * A read lock that the callers of a client share, beside what every read lock does: how, for how long, and what is not shared.
 *
 * @param isQueue is there one queue for all clients?
 */
export function sharedReadSuite(stage: () => LockStage, { isQueue = false } = {}): void {
  const readLockOf = ({ locks }: StageClient, handOff: HandOff | false = WITHOUT_END): Lock =>
    locks.readWriteLock(stage().key, { handOff }).readLock();

  const release = (leases: readonly Lease[]) =>
    Promise.all(leases.map((lease) => lease.release())).then(() => {});

  function handOffsOf({ locks }: StageClient): (number | undefined)[] {
    const counts: (number | undefined)[] = [];
    locks.on('acquired', ({ handOffs }: LockEvents['acquired']) => counts.push(handOffs));
    return counts;
  }

  /** Whether a caller that comes after `use` of the first one's lease shares it. */
  async function sharesAfter(use: (lease: Lease) => unknown): Promise<boolean> {
    const { mine } = stage();
    const lock = readLockOf(mine);
    const first = await lock.acquire();
    await use(first);
    const before = (await stage().contenders()).length;
    const second = await lock.acquire();
    const { length } = await stage().contenders();
    expect([first.isHeld, second.isHeld]).toEqual([true, true]);
    await release([first, second]);
    return length === before;
  }

  it('lets the callers that come while one reads in without a request, as one holder', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    const first = await lock.acquire();
    const handOffs = handOffsOf(mine);
    const before = mine.requests.length;
    const others = [await lock.acquire(), (await lock.tryAcquire())!, await lock.acquire()];
    expect(mine.requests.length).toBe(before);
    expect(handOffs).toEqual([1, 2, 3]);
    await contendersBecome(stage(), 1);
    expect(mine.locks.status()).toMatchObject({ held: 4, waiting: 0 });
    await release([first, ...others]);
  });

  it('asks the servers once for the callers of one turn', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    await (await lock.acquire()).release(); // what the first one finds out of the servers
    const before = mine.requests.length;
    const alone = await lock.acquire();
    const ofOne = mine.requests.length - before;
    await alone.release();
    const begin = mine.requests.length;
    const leases = await Promise.all(Array.from({ length: 1_000 }, () => lock.acquire()));
    expect(mine.requests.length - begin).toBeLessThanOrEqual(ofOne);
    expect(leases.every(({ isHeld }) => isHeld)).toBe(true);
    await contendersBecome(stage(), 1);
    await release(leases);
  });

  it.each([
    ['the one that came first', [0, 1, 2]],
    ['the one that came last', [2, 1, 0]],
  ])('is released with the last of its callers, beginning with %s', async (_, order) => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const leases = [await lock.acquire(), await lock.acquire(), await lock.acquire()];
    const { lease: writer } = await stage().queueFor(theirs.writeLock(key), theirs);
    for (const i of order.slice(0, 2)) {
      await leases[i]!.release();
      expect(leases.filter(({ isHeld }) => isHeld)).toHaveLength(3 - order.indexOf(i) - 1);
      expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
    }
    await stage().caughtUp(theirs);
    expect(await isSettled(writer)).toBe(false);
    await leases[order[2]!]!.release();
    await (await writer).release();
  });

  it('goes on with those that come while an earlier caller still reads', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    let reading = await lock.acquire();
    const before = mine.requests.length;
    for (let i = 0; i < 20; i++) {
      const next = await lock.acquire();
      await reading.release();
      reading = next;
    }
    expect(mine.requests.length).toBe(before);
    await reading.release();
    await contendersBecome(stage(), 0);
  });

  it('asks the servers when as many have shared it as the bound says', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine, { atMost: 2, for: LONG });
    const leases = [await lock.acquire(), await lock.acquire(), await lock.acquire()];
    await contendersBecome(stage(), 1);
    leases.push(await lock.acquire(), await lock.acquire(), await lock.acquire());
    await contendersBecome(stage(), 2);
    await release(leases);
  });

  if (isQueue)
    it('lets a writer that has queued go before those that come when the bound is reached', async () => {
      const { mine, theirs, key } = stage();
      const lock = readLockOf(mine, { atMost: 1, for: LONG });
      const first = await lock.acquire();
      const { lease: writer } = await stage().queueFor(theirs.writeLock(key), theirs);
      const second = await lock.acquire();
      const { lease: late } = await stage().queueFor(lock, mine);
      await release([first, second]);
      const written = await writer;
      expect(await isSettled(late)).toBe(false);
      await written.release();
      await (await late).release();
    });

  it('asks the servers when the time is over', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine, { atMost: 1_000, for: 1 });
    const first = await lock.acquire();
    const begin = performance.now(); // it counts from the grant, which may take long
    await eventually('the time is over', () => performance.now() - begin > 100);
    const second = await lock.acquire();
    await contendersBecome(stage(), 2);
    await release([first, second]);
  });

  it('shares nothing with callers that came without the option', async () => {
    const { mine } = stage();
    const first = await readLockOf(mine).acquire();
    const second = await readLockOf(mine, false).acquire();
    await contendersBecome(stage(), 2);
    await release([first, second]);
  });

  it('lets a caller that may not wait in beside others, and does not have it wait for one that asks', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    const pending = lock.acquire();
    await using tried = await lock.tryAcquire();
    expect(tried?.isHeld).toBe(true);
    await (await pending).release();
  });

  it('answers a caller that may not wait that a writer is ahead, and leaves nothing', async () => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const writer = await theirs.writeLock(key).acquire();
    expect(await lock.tryAcquire()).toBeUndefined();
    const { lease } = await stage().queueFor(lock, mine);
    expect(await lock.tryAcquire()).toBeUndefined();
    await writer.release();
    await (await lease).release();
  });

  it('lets those in that wait behind a writer, all together, as one holder', async () => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const writer = await theirs.writeLock(key).acquire();
    const waits = [];
    for (let i = 0; i < 5; i++) waits.push((await stage().queueFor(lock, mine)).lease);
    const before = (await stage().contenders()).length;
    expect(before).toBe(2); // the writer, and one for all readers
    await writer.release();
    const leases = await Promise.all(waits);
    await contendersBecome(stage(), 1);
    await release(leases);
  });

  it('has the next one ask when the one that asks for all gives up', async () => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const writer = await theirs.writeLock(key).acquire();
    const leave = new AbortController();
    const { lease: left } = await stage().queueFor(lock, mine, { signal: leave.signal });
    const { lease: late } = await stage().queueFor(lock, mine, { wait: 50 });
    const { lease } = await stage().queueFor(lock, mine);
    leave.abort();
    await expect(left).rejects.toBeInstanceOf(LockAbortedError);
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await contendersBecome(stage(), 2);
    await writer.release();
    await (await lease).release();
  });

  it('is shared no more once its token was asked for', async () => {
    expect(await sharesAfter((lease) => lease.fencingToken())).toBe(false);
    expect(await sharesAfter(() => {})).toBe(true);
  });

  it('has a token greater than those of the writers before, the same for all that share it', async () => {
    const { mine, theirs, key } = stage();
    const writer = await theirs.writeLock(key).acquire();
    const written = await writer.fencingToken();
    await writer.release();
    const lock = readLockOf(mine);
    const [first, second] = [await lock.acquire(), await lock.acquire()];
    const tokens = [await first.fencingToken(), await second.fencingToken()];
    expect(tokens[0]).toBe(tokens[1]);
    expect(tokens[0]).toBeGreaterThan(written);
    await release([first, second]);
  });

  it('is lost for all that share it, and lets a writer in', async () => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const leases = [await lock.acquire(), await lock.acquire(), await lock.acquire()];
    const [released, ...others] = leases;
    await released!.release();
    const losses: LockEvents['lost'][] = [];
    mine.locks.on('lost', (loss) => losses.push(loss));
    const lost = others.map(
      ({ signal }) => new Promise((resolve) => signal.addEventListener('abort', resolve)),
    );
    await stage().expire(mine);
    stage().makeSure(mine);
    await Promise.all(lost);
    for (const { signal } of others) expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(released!.signal.aborted).toBe(false);
    expect(losses).toHaveLength(2);
    expect(mine.locks.status().held).toBe(0);
    await using writer = await theirs.writeLock(key).acquire();
    await release(others);
    expect(writer.isHeld).toBe(true);
  });

  it('is shared no more once it is lost', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    const first = await lock.acquire();
    await stage().expire(mine);
    stage().makeSure(mine);
    await eventually('it is lost', () => first.signal.aborted);
    const second = await lock.acquire();
    expect(second.isHeld).toBe(true);
    await release([first, second]);
  });

  it('lets a writer of the same client wait for all that share it', async () => {
    const { mine, key } = stage();
    const lock = readLockOf(mine);
    const leases = [await lock.acquire(), await lock.acquire()];
    const { lease: writer } = await stage().queueFor(mine.writeLock(key), mine);
    await leases[0]!.release();
    await stage().caughtUp(mine);
    expect(await isSettled(writer)).toBe(false);
    await leases[1]!.release();
    await (await writer).release();
  });

  it('is not what a reader inside of the write lock gets, which stays when that is released', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.locks.readWriteLock(key, { handOff: WITHOUT_END });
    const inside = await lock.writeLock().using(() => lock.readLock().acquire());
    await using beside = await lock.readLock().acquire();
    expect([inside.isHeld, beside.isHeld]).toEqual([true, true]);
    await inside.release();
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
  });

  it('is entered again by a caller that has it, also when it is not open any more', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    await lock.using(async (lease) => {
      await lease.fencingToken();
      await using again = await lock.acquire();
      expect(await again.fencingToken()).toBe(await lease.fencingToken());
    });
    await contendersBecome(stage(), 0);
  });

  it('ends with all of its callers when the client closes', async () => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const leases = [await lock.acquire(), await lock.acquire()];
    await mine.locks.close();
    expect(leases.map(({ isHeld }) => isHeld)).toEqual([false, false]);
    await expect(lock.acquire().catch(codeOf)).resolves.toBe('LOCK_CLIENT_CLOSED');
    await using writer = await theirs.writeLock(key).acquire();
    expect(writer.isHeld).toBe(true);
  });

  it('stays with a caller whose work goes on when the client is disposed of', async () => {
    const { mine, theirs, key } = stage();
    const lock = readLockOf(mine);
    const idle = await lock.acquire();
    const busy = await lock.acquire();
    const work = new Deferred();
    const working = busy.run(() => work.promise);
    await (mine.locks as LockClient & AsyncDisposable)[Symbol.asyncDispose]();
    expect([idle.isHeld, busy.isHeld]).toEqual([false, false]);
    expect(await theirs.writeLock(key).tryAcquire()).toBeUndefined();
    const { lease: writer } = await stage().queueFor(theirs.writeLock(key), theirs);
    expect(await isSettled(writer)).toBe(false);
    work.resolve();
    await working.catch(() => {}); // it has ended for the caller
    await (await writer).release();
  });

  it('shows each of its callers, and how often it was shared', async () => {
    const { mine } = stage();
    const lock = readLockOf(mine);
    const first = await lock.acquire({ method: 'Prices.quote' });
    const second = await lock.acquire({ method: 'Prices.list' });
    const shown = mine.locks.activity();
    const alike = { state: 'held', recipe: 'readLock', handOffs: 1, holders: shown[0]!.holders };
    expect(shown).toMatchObject([
      { ...alike, method: 'Prices.quote' },
      { ...alike, method: 'Prices.list' },
    ]);
    await release([first, second]);
  });

  it('is the default of a client with the option', async () => {
    const { key } = stage();
    const client = await stage().client({ handOff: { atMost: 9, for: LONG, keep: 9 } });
    const leases = [await client.readLock(key).acquire(), await client.readLock(key).acquire()];
    await contendersBecome(stage(), 1);
    const alone = await readLockOf(client, false).acquire();
    await contendersBecome(stage(), 2);
    await release([...leases, alone]);
    await contendersBecome(stage(), 0); // it is not kept
  });

  it.each([
    ['no bounds', {}],
    ['a bound of 0', { atMost: 0, for: 1 }],
    ['true', true],
    ['a time to keep it', { atMost: 1, for: 1, keep: 1 }],
  ])('refuses %s', (_, handOff) => {
    const make = () => stage().mine.locks.readWriteLock(stage().key, { handOff } as never);
    expect(make).toThrow(LockOptionsError);
  });
}
