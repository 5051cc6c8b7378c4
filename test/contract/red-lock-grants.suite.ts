import { expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import type { Lease } from '../../lib/core/lease.js';
import { eventually } from '../support/eventually.js';
import { isSettled } from '../support/is-settled.js';
import type { RedLockStage } from './red-lock-stage.js';

/** What becomes of the grants of single servers. The suite needs five. */
export function redLockGrantsSuite(stage: () => RedLockStage): void {
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

  it('are enough when they are a majority, whatever the others do (Redisson: testLockSuccess)', async () => {
    const { mine, theirs, key } = stage();
    const others = await holdElsewhere([0, 3]);
    const lease = await mine.lock(key).tryAcquire();
    expect(lease?.isHeld).toBe(true);
    await Promise.all(others.map((other) => other.release()));
    expect(await theirs.lock(key).tryAcquire()).toBeUndefined();
    await lease!.release();
  });

  it('are released when they are a minority (Redisson: testLockFailed)', async () => {
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
