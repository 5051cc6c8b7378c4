import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { LockAbortedError, LockConnectionError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually, isSettled } from '../support/time.js';
import { type RedLockKind, RedLockStage } from './backends/red-lock.js';
import type { IndependentRedis } from './backends/redis-servers.js';
import { type Deployment, onStage } from './backends/stage.js';
import { everyMutexSuite } from './mutex.suite.js';

/** A bound that no stall of this machine reaches, in ms. */
const PATIENCE = 20_000;

/** What every mutex promises, of those on several independent servers. */
export function redLockSuite(
  on: Deployment<IndependentRedis>,
  kind: RedLockKind,
  size: 3 | 5,
): void {
  describe(`A RedLock on ${size} Redis servers, a ${kind}`, () => {
    const stage = onStage(() => RedLockStage.build(on.backend().servers.slice(0, size), kind));
    everyMutexSuite(on, stage, {
      isFair: false,
      isReentrant: kind !== 'semaphoreMutex',
      shown: 'itself',
    });
    if (size === 5) on.part('grants of its servers', 'deployment', () => redLockGrantsSuite(stage));
  });
}

/** What becomes of the grants of single servers. The suite needs five. */
function redLockGrantsSuite(stage: () => RedLockStage): void {
  const someFrozen = async (indices: readonly number[], work: () => Promise<unknown>) => {
    const { servers } = stage();
    for (const i of indices) servers[i]!.freeze();
    try {
      await work();
    } finally {
      for (const i of indices) servers[i]!.thaw();
    }
  };
  const holdElsewhere = (indices: readonly number[]) => {
    const { strangers, key } = stage();
    return Promise.all(indices.map((i) => strangers[i]!.mutex(key).acquire()));
  };
  const hasIt = async (i: number) =>
    Number(await stage().servers[i]!.command('EXISTS', stage().key)) === 1;
  const haveIt = async (indices: readonly number[]) =>
    (await Promise.all(indices.map(hasIt))).every(Boolean);
  const haveItNot = async (indices: readonly number[]) =>
    !(await Promise.all(indices.map(hasIt))).some(Boolean);

  it('are enough when they are a majority, whatever the others do (Redisson: RedissonRedLockTest testLockSuccess)', async () => {
    const { mine, theirs, key } = stage();
    const others = await holdElsewhere([0, 3]);
    const lease = await mine.lock(key).tryAcquire();
    expect(lease?.isHeld).toBe(true);
    await Promise.all(others.map((other) => other.release()));
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    await lease!.release();
  });

  it('are released when they are a minority (Redisson: RedissonRedLockTest testLockFailed)', async () => {
    const { mine, key } = stage();
    const others = await holdElsewhere([0, 2, 3]);
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    await eventually('the others are free', () => haveItNot([1, 4]));
    await Promise.all(others.map((other) => other.release()));
    await using lease = await mine.lock(key).acquire();
    expect(lease.isHeld).toBe(true);
  });

  it('that come late join: with them the lock outlives the loss of the first', async () => {
    const { mine, key } = stage();
    let lease: Lease | undefined;
    await someFrozen([3, 4], async () => void (lease = await mine.lock(key).acquire()));
    await using held = lease!;
    await eventually('all have it', () => haveIt([0, 1, 2, 3, 4]));
    for (const i of [0, 1]) await stage().strangers[i]!.mutex(key).forceUnlock();
    stage().makeSure(mine);
    await mine.locks.mutex(`${key}-other`).using(async () => {}); // all are connected, and were asked
    expect(held.isHeld).toBe(true);
    await held.fencingToken();
    for (const i of [2]) await stage().strangers[i]!.mutex(key).forceUnlock();
    stage().makeSure(mine);
    await eventually('it is lost with the third', () => !held.isHeld);
  });

  it('that come after the release are released', async () => {
    const { mine, theirs, key } = stage();
    await someFrozen([1, 3], async () => {
      await mine.lock(key).using(async () => {});
      expect(await haveItNot([0, 2, 4])).toBe(true);
    });
    await using next = await theirs.lock(key).acquire();
    expect(next.isHeld).toBe(true);
  });

  it('that come after too many refusals are released', async () => {
    const { mine, key } = stage();
    const others = await holdElsewhere([0, 1, 2]);
    await someFrozen([3, 4], async () => {
      expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    });
    await Promise.all(others.map((other) => other.release()));
  });

  it('end a release when a majority of them is released; the others follow', async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    await eventually('all have it', () => haveIt([0, 1, 2, 3, 4]));
    await someFrozen([0, 4], async () => {
      await lease.release();
      expect(await haveItNot([1, 2, 3])).toBe(true);
    });
    await eventually('all have it back', () => haveItNot([0, 1, 2, 3, 4]));
  });

  it('do not end a release when only a minority of them is released', async () => {
    const { mine, key } = stage();
    const lease = await mine.lock(key).acquire();
    await eventually('all have it', () => haveIt([0, 1, 2, 3, 4]));
    let release!: Promise<void>;
    await someFrozen([0, 2, 4], async () => {
      release = lease.release();
      await eventually('those that can have it back', () => haveItNot([1, 3]));
      expect(await isSettled(release)).toBe(false);
    });
    await release;
  });

  it('are asked for by the first waiter of a process only, whichever others of it wait', async () => {
    const { mine, theirs, key } = stage();
    const held = await theirs.lock(key).acquire();
    const { lease: first } = await stage().queue(mine);
    const asked = mine.requests.length;
    const { lease: second } = await stage().queue(mine);
    expect(await mine.lock(key).tryAcquire()).toBeUndefined();
    expect(mine.requests).toHaveLength(asked);
    await held.release();
    for (const lease of [first, second]) await (await lease).release();
  });

  it('are all released when an acquire aborts at any turn while they come in', async () => {
    const { mine, theirs, key } = stage();
    for (let turns = 0; turns < 60; turns++) {
      const held = await theirs.lock(key).acquire();
      const stop = new AbortController();
      const { lease } = await stage().queue(mine, { signal: stop.signal });
      const restore = afterReply(mine.nodes, turns, () => stop.abort());
      await held.release();
      await lease.then(
        (granted) => granted.release(),
        (error) => expect(error).toBeInstanceOf(LockAbortedError),
      );
      restore();
      await eventually('nothing is left', () => haveItNot([0, 1, 2, 3, 4]));
    }
  });

  /** Calls `tell` so many turns after each answer of a server to a script. */
  function afterReply(nodes: readonly Redis[], turns: number, tell: () => void): () => void {
    const calls = nodes.map(({ call }) => call);
    for (const node of nodes) {
      const call = node.call.bind(node) as (...command: unknown[]) => Promise<unknown>;
      const delayed = async (answer: Promise<unknown>) => {
        await answer;
        for (let turn = 0; turn < turns; turn++) await Promise.resolve();
        tell();
      };
      Object.assign(node, {
        call(...command: unknown[]) {
          const answer = call(...command);
          void delayed(answer).catch(() => {});
          return answer;
        },
      });
    }
    return () => nodes.forEach((node, i) => Object.assign(node, { call: calls[i] }));
  }
}

/** The status of a client some of whose five servers are away. */
export function redLockStatusSuite(on: Deployment<IndependentRedis>): void {
  describe('A client on five Redis servers of which some are away', () => {
    const stage = onStage(() => RedLockStage.build(on.backend().servers, 'mutex'));
    const health = () => stage().mine.locks.status();

    it('is up with all servers, degraded without a minority, down without a majority', async () => {
      const { servers } = stage();
      expect(health()).toMatchObject({ health: 'up', servers: { connected: 5, total: 5 } });
      for (const [i, expected] of (['degraded', 'degraded', 'down'] as const).entries()) {
        await servers[i]!.kill();
        const connected = 4 - i;
        await eventually('it knows', () => health().servers?.connected === connected);
        const state = expected === 'down' ? 'SUSPENDED' : 'CONNECTED';
        expect(health()).toMatchObject({ health: expected, state, servers: { total: 5 } });
      }
      await Promise.all(servers.slice(0, 3).map((server) => server.restart()));
      await eventually('all are back', () => health().health === 'up', { within: 20_000 });
    });

    it('rejects ping() with the answers of a minority, though it need not wait for the others', async () => {
      const { mine } = stage();
      for (const node of mine.nodes.slice(0, 3)) node.disconnect(); // as when ioredis gives up
      await eventually('it knows', () => health().servers?.connected === 2);
      expect(health()).toMatchObject({ health: 'down', state: 'CLOSED' });
      await expect(mine.locks.ping(PATIENCE)).rejects.toThrow('2 of 5 servers have answered');
    });

    it('resolves ping() with the answers of a majority, and rejects it with those of a minority', async () => {
      const { mine, servers } = stage();
      for (const i of [0, 3]) servers[i]!.freeze();
      expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
      servers[1]!.freeze();
      await expect(mine.locks.ping(300)).rejects.toBeInstanceOf(LockConnectionError);
      for (const i of [0, 1, 3]) servers[i]!.thaw();
      expect(await mine.locks.ping(PATIENCE)).toBeGreaterThanOrEqual(0);
    });
  });
}
