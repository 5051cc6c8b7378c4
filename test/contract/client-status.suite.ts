import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import {
  LockClientClosedError,
  LockConnectionError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { LockActivity, LockClient, LockClientStatus } from '../../lib/core/lock-client.js';
import { earliest, eventually } from '../support/time.js';
import { type Deployment, type LockStage, onStage, type StageClient } from './backends/stage.js';

/** What differs from backend to backend. */
export interface ClientStatusTraits<S extends LockStage> {
  /** The holders of the mutex of the test, as the servers know them. */
  readonly holders: (stage: S) => Promise<unknown[]>;
  /** Health while no server can be reached and the locks may still be held. */
  readonly suspended: 'degraded' | 'down';
  /** Id of its session, where it has one. */
  readonly sessionId?: (stage: S) => string;
  /** Has it other locks than mutexes? Default true. */
  readonly hasAllRecipes?: boolean;
}

/** What a client reports of itself: `status()`, `activity()` and `ping()`. */
export function clientStatusSuite<B, S extends LockStage>(
  on: Deployment<B>,
  build: () => Promise<S>,
  { holders, suspended, sessionId, hasAllRecipes = true }: ClientStatusTraits<S>,
): void {
  describe(`The status of a client on ${on.name}`, () => {
    const stage = onStage(build);
    const session = () => sessionId?.(stage());
    on.part('activity', 'server', () => {
      clientActivitySuite(stage, () => holders(stage()), hasAllRecipes);
    });
    on.part('its health', 'deployment', () => clientHealthSuite(stage, suspended, session));
    on.part('ping()', 'deployment', () => clientPingSuite(stage));
  });
}

/**
 * What it holds, and what it waits for.
 *
 * @param holders the holders of the mutex of the test, as the servers know them
 * @param hasAllRecipes has it other locks than mutexes?
 */
function clientActivitySuite(
  stage: () => LockStage,
  holders: () => Promise<unknown[]>,
  hasAllRecipes: boolean,
): void {
  const counts = ({ locks }: StageClient) => {
    const { held, waiting } = locks.status();
    return [held, waiting];
  };
  /** Without the times. */
  const activity = ({ locks }: StageClient) =>
    locks.activity().map(({ forMs, ...rest }): Omit<LockActivity, 'forMs'> => {
      expect(forMs).toBeGreaterThanOrEqual(0);
      return rest;
    });

  it('shows no lock at first', () => {
    const { mine } = stage();
    expect(counts(mine)).toEqual([0, 0]);
    expect(activity(mine)).toEqual([]);
  });

  it('shows a held lock: which one, which method asked for it, and its holders as the servers know them', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.lock(key);
    const lease = await lock.acquire({ method: 'Seats.take' });
    expect(counts(mine)).toEqual([1, 0]);
    expect(counts(theirs)).toEqual([0, 0]);
    const { recipe, name } = lock.identity;
    const about = { state: 'held', key, recipe, method: 'Seats.take', name };
    await eventually('the servers know its holders', async () => {
      const known = await holders();
      expect(activity(mine)).toEqual([{ ...about, holders: expect.arrayContaining(known) }]);
      expect(mine.locks.activity()[0]!.holders).toHaveLength(known.length);
      return known.length > 0;
    });

    await lease.release();
    expect(counts(mine)).toEqual([0, 0]);
    expect(activity(mine)).toEqual([]);
  });

  it('shows the waiting acquires: for which lock, and which method asked for it', async () => {
    const { mine, theirs, key } = stage();
    const lock = mine.lock(key);
    const holder = await lock.acquire();
    const one = await stage().queue(theirs, { method: 'Seats.take' });
    const two = await stage().queue(theirs);
    expect(counts(mine)).toEqual([1, 0]);
    expect(counts(theirs)).toEqual([0, 2]);
    const { recipe } = lock.identity;
    const waiting = { state: 'waiting', key, recipe, holders: [] };
    expect(activity(theirs)).toEqual([{ ...waiting, method: 'Seats.take' }, waiting]);

    await holder.release();
    await (await Promise.race([one.lease, two.lease])).release();
    for (const { lease } of [one, two]) await (await lease).release();
    expect(counts(theirs)).toEqual([0, 0]);
  });

  it('shows for how long a lock is held or waited for', async () => {
    const { mine, theirs, key } = stage();
    const [heldFrom, holder, heldBy] = await timed(() => mine.lock(key).acquire());
    const [waitsFrom, { lease }, waitsBy] = await timed(() => stage().queue(theirs));
    await stage().caughtUp(theirs);
    const before = performance.now();
    const [held] = mine.locks.activity();
    const [waiting] = theirs.locks.activity();
    const after = performance.now();
    expect(held!.forMs).toBeGreaterThanOrEqual(before - heldBy);
    expect(held!.forMs).toBeLessThanOrEqual(after - heldFrom);
    expect(waiting!.forMs).toBeGreaterThanOrEqual(before - waitsBy);
    expect(waiting!.forMs).toBeLessThanOrEqual(after - waitsFrom);

    await holder.release();
    const next = await lease;
    const waited = performance.now() - waitsFrom;
    const [taken] = theirs.locks.activity();
    expect(taken!.state).toBe('held');
    expect(taken!.forMs).toBeLessThan(waited); // it counts from the grant
    await next.release();
  });

  it('does not show acquires after their wait has ended', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await mine.lock(key).acquire();
    await expect(theirs.lock(key).acquire({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError);
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    expect(counts(theirs)).toEqual([0, 0]);
    expect(activity(theirs)).toEqual([]);
  });

  it('does not show a lost lock, though it is not released yet', async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    await stage().expire(mine);
    expect(lease.isHeld).toBe(false);
    expect(counts(mine)).toEqual([0, 0]);
    expect(activity(mine)).toEqual([]);
    await lease.release();
  });

  it('counts a mutex that is entered again once', async () => {
    const { mine, key } = stage();
    await mine.lock(key).using((lease) =>
      lease.run(async () => {
        await using _ = await mine.lock(key).acquire();
        expect(counts(mine)).toEqual([1, 0]);
      }),
    );
    expect(counts(mine)).toEqual([0, 0]);
  });

  it('counts a multi-lock by its parts', async () => {
    const { mine, key } = stage();
    const parts = [`${key}-a`, `${key}-b`].map((part) => mine.lock(part));
    await mine.locks.multiLock(parts).using(async () => {
      expect(counts(mine)).toEqual([2, 0]);
      expect(activity(mine)).toMatchObject([{ key: `${key}-a` }, { key: `${key}-b` }]);
    });
    expect(counts(mine)).toEqual([0, 0]);
  });

  if (!hasAllRecipes) return;

  it('shows the recipe of each lock', async () => {
    const { mine, key } = stage();
    const { locks } = mine;
    const readWrite = locks.readWriteLock(`${key}-rw`);
    const each = [
      locks.mutex(`${key}-m`),
      locks.semaphoreMutex(`${key}-sm`),
      readWrite.readLock(),
      locks.readWriteLock(`${key}-w`).writeLock(),
      locks.semaphore(`${key}-s`, { permits: 3 }),
    ];
    const leases = await Promise.all(each.map((lock) => lock.acquire()));
    const kinds = locks.activity().map(({ key, recipe }) => [key, recipe]);
    const expected = each.map(({ key, identity }) => [key, identity.recipe]);
    expect(kinds).toEqual(expect.arrayContaining(expected));
    expect(counts(mine)).toEqual([5, 0]);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('shows several permits of a semaphore as one hold, with a holder for each', async () => {
    const { mine, key } = stage();
    const semaphore = mine.locks.semaphore(key, { permits: 3 });
    const lease = await semaphore.acquire({ permits: 2 });
    expect(counts(mine)).toEqual([1, 0]);
    expect(mine.locks.activity()[0]!.holders).toHaveLength(2);
    await lease.release();
  });
}

/** With the times before and after. */
async function timed<T>(work: () => Promise<T>): Promise<readonly [number, T, number]> {
  const from = performance.now();
  const result = await work();
  return [from, result, performance.now()];
}

/**
 * How it is, from the connection to the closing.
 *
 * @param suspended health while no server can be reached and the locks may still be held
 * @param sessionId of `mine`, where it has one
 */
function clientHealthSuite(
  stage: () => LockStage,
  suspended: 'degraded' | 'down',
  sessionId: () => string | undefined,
): void {
  it('is up while it is connected', () => {
    const { mine } = stage();
    expect(mine.locks.status()).toMatchObject({ health: 'up', state: 'CONNECTED' });
    expect(mine.locks.status().sessionId).toBe(sessionId());
  });

  it(`is ${suspended} while the servers are away, and up when they are back, with what it held`, async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    await stage().down();
    expect(mine.locks.status()).toMatchObject({ health: suspended, state: 'SUSPENDED', held: 1 });
    await stage().up();
    await eventually('it is up', () => mine.locks.status().health === 'up');
    expect(mine.locks.status()).toMatchObject({ held: 1, waiting: 0 });
    await lease.release();
  });

  it('is up while it only refuses, and down once it closes, with nothing held', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await theirs.lock(`${key}-theirs`).acquire();
    await mine.lock(key).acquire();
    const { lease } = await stage().queueFor(mine.lock(`${key}-theirs`), mine);
    mine.locks.refuse();
    await Promise.allSettled([lease]);
    expect(mine.locks.status()).toMatchObject({ health: 'up', held: 1, waiting: 0 });

    const closing = mine.locks.close();
    expect(mine.locks.status()).toMatchObject({ health: 'down', state: 'CLOSED' });
    await closing;
    expect(mine.locks.status()).toMatchObject({
      health: 'down',
      state: 'CLOSED',
      held: 0,
      waiting: 0,
    });
    expect(mine.locks.activity()).toEqual([]);
  });
}

/** A bound that no stall of this machine reaches, in ms. */
const PATIENCE = 20_000;

/** `ping()`. */
function clientPingSuite(stage: () => LockStage): void {
  it('resolves to the time until the servers answer, and is not an acquire', async () => {
    const { mine } = stage();
    stage().freeze();
    const askedAt = performance.now();
    const answer = mine.locks.ping(PATIENCE);
    const sentAt = performance.now();
    expect(mine.locks.status().waiting).toBe(0);
    expect(mine.locks.activity()).toEqual([]);
    await eventually('a while has passed', () => performance.now() - sentAt > 100);
    stage().thaw();
    const took = await answer;
    expect(took).toBeGreaterThan(100);
    expect(took).toBeLessThanOrEqual(performance.now() - askedAt);
  });

  it('rejects when the servers do not answer in time, and resolves again when they do', async () => {
    const { mine } = stage();
    stage().freeze();
    const sentAt = performance.now();
    const error: unknown = await mine.locks.ping(300).catch((failure: unknown) => failure);
    const took = performance.now() - sentAt;
    stage().thaw();
    expect(error).toBeInstanceOf(LockConnectionError);
    expect(error).toMatchObject({ client: 'contract', code: 'LOCK_CONNECTION' });
    expect((error as Error).message).toMatch(/^Lock client "contract" had no answer within 300 ms/);
    expect(took).toBeGreaterThanOrEqual(earliest(300));
    expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
  });

  it('rejects while the servers are away', async () => {
    const { mine } = stage();
    await stage().down();
    await expect(mine.locks.ping(300)).rejects.toBeInstanceOf(LockConnectionError);
    await stage().up();
    expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
  });

  it('rejects when the client is closed', async () => {
    const { mine } = stage();
    await mine.locks.close();
    await expect(mine.locks.ping()).rejects.toBeInstanceOf(LockClientClosedError);
  });

  it('rejects when the client closes meanwhile', async () => {
    const { mine } = stage();
    stage().freeze();
    const answer = mine.locks.ping(PATIENCE);
    const refused = expect(answer).rejects.toBeInstanceOf(LockClientClosedError);
    const closing = mine.locks.close();
    await refused.finally(() => stage().thaw());
    await closing;
  });

  it.each([0, -1, NaN, Infinity])('rejects a timeout of %d ms', async (timeout) => {
    const { mine } = stage();
    await expect(mine.locks.ping(timeout)).rejects.toBeInstanceOf(LockOptionsError);
  });
}

/** Servers of one client that loses its locks 2 s after the servers. */
export interface ShortLived {
  /** Not connected yet. */
  readonly client: LockClient;
  /** Connects it to all servers. Default: `client.connect()`. */
  readonly connect?: () => Promise<void>;
  /** The servers go away. */
  kill(): Promise<void>;
  /** They are back, and have forgotten the client. */
  restart(): Promise<void>;
  /** Ends them, when the client is closed. */
  stop(): Promise<void>;
}

/**
 * The health of a client from before the connection to a new one after the loss of everything.
 *
 * @param suspended health while no server can be reached and the locks may still be held
 */
export function clientStatusLossSuite(
  name: string,
  start: () => Promise<ShortLived>,
  suspended: 'degraded' | 'down',
): void {
  describe(`A client on ${name}`, () => {
    let servers: ShortLived;

    beforeEach(async () => void (servers = await start()), 60_000);
    afterEach(async () => {
      await servers.client.close();
      await servers.stop();
    });

    it('is down before it is connected, and once its locks are lost, until the servers are back', async () => {
      const { client } = servers;
      const told: LockClientStatus[] = [];
      client.on('connection', () => told.push(client.status()));
      const toldOf = (state: string) => told.find((status) => status.state === state);

      expect(client.status()).toMatchObject({ health: 'down', state: 'CONNECTING', held: 0 });
      await (servers.connect?.() ?? client.connect());
      expect(client.status()).toMatchObject({ health: 'up', state: 'CONNECTED' });
      const lease = await client.mutex('key').acquire();

      await servers.kill();
      await eventually('it is suspended', () => toldOf('SUSPENDED'));
      expect(toldOf('SUSPENDED')).toMatchObject({ health: suspended });
      await eventually('it is lost', () => client.status().state === 'LOST');
      expect(client.status()).toMatchObject({ health: 'down', held: 0 });
      expect(client.status().sessionId).toBeUndefined();
      expect(lease.isHeld).toBe(false);

      await servers.restart();
      await eventually('it is up again', () => client.status().health === 'up', {
        within: 20_000,
      });
      await lease.release();
      await client.mutex('key').using(async () => {
        expect(client.status()).toMatchObject({ health: 'up', held: 1 });
      });
    });
  });
}
