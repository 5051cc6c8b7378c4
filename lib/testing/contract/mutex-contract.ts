import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockTimeoutError } from '../../core/errors/index.js';
import { currentLease } from '../../core/internal/lease-scope.js';
import type { Lease } from '../../core/lease.js';
import type { LockClient } from '../../core/lock-client.js';
import {
  type ContractOptions,
  type ContractRunner,
  ContractStage,
  VisitedRoom,
} from './contract-stage.js';
import { mutexClosingContract } from './mutex-closing-contract.js';
import { mutexLeaseContract, mutexWaitContract } from './mutex-lease-contract.js';

/**
 * Guarantees of `LockClient.mutex` and `semaphoreMutex`, as tests: exclusion, order, waits that end, re-entry, leases,
 * events, closing.
 *
 * @example
 * ```ts
 * import { afterEach, beforeEach, describe, it } from 'vitest';
 *
 * mutexContract({ describe, it, beforeEach, afterEach }, { createClient: () => connectToMyBackend() });
 * ```
 */
export function mutexContract(runner: ContractRunner, options: ContractOptions): void {
  const { describe } = runner;
  describe('A mutex', () => {
    const stage = ContractStage.of(runner, options);
    describe('excludes', () => mutexExclusionContract(runner, stage, options));
    describe('is waited for', () => mutexWaitContract(runner, stage));
    describe('is re-entered', () => mutexReentryContract(runner, stage));
    describe('has a lease', () => mutexLeaseContract(runner, stage));
    describe('has events', () => mutexEventsContract(runner, stage));
    describe('of a client that closes', () => mutexClosingContract(runner, stage, options));
  });
}

/** There is one holder at a time, in the order of the queue. */
function mutexExclusionContract(
  { it }: ContractRunner,
  stage: () => ContractStage,
  { isShared = true, isFair = true }: ContractOptions,
): void {
  const clients = () => (isShared ? [stage().mine, stage().theirs] : [stage().mine]);

  it('all but one at a time', async () => {
    const { key } = stage();
    const room = new VisitedRoom();
    const visits = Array.from({ length: 10 }, () => clients()).flat();
    const work = visits.map((client) => client.mutex(key).using(() => room.visit()));
    await stage().soon('all have been inside', Promise.all(work));
    deepEqual([room.visits, room.mostAtOnce], [visits.length, 1]);
  });

  it('a second caller of the same client, until the first releases it', async () => {
    await secondIsKeptOut(stage().mine);
  });

  if (isShared)
    it('another client, until the first releases it', async () => {
      await secondIsKeptOut(stage().theirs);
    });

  it('no caller of another key', async () => {
    const { mine, key } = stage();
    const door = await stage().take(mine.mutex(key));
    const window = await stage().take(mine.mutex(`${key}-window`));
    deepEqual([door.isHeld, window.isHeld], [true, true]);
  });

  it('in the order in which the waiters of one client came', async () => {
    await areServedInOrder([stage().mine]);
  });

  if (isShared && isFair)
    it('in the order in which the waiters of all clients came', async () => {
      await areServedInOrder(clients());
    });

  async function secondIsKeptOut(second: LockClient): Promise<void> {
    const { mine, key } = stage();
    const first = await stage().take(mine.mutex(key));
    equal(await second.mutex(key).tryAcquire(), undefined);
    const { lease } = await stage().queue(second, second.mutex(key));
    equal(first.isHeld, true);
    await first.release();
    const next = await stage().soon('the waiter is granted it', lease);
    deepEqual([first.isHeld, next.isHeld], [false, true]);
    equal(await mine.mutex(key).tryAcquire(), undefined);
  }

  async function areServedInOrder(all: LockClient[]): Promise<void> {
    const { mine, key } = stage();
    const first = await stage().take(mine.mutex(key));
    const leases: Promise<Lease>[] = [];
    for (let visitor = 0; visitor < 8; visitor++) {
      const client = all[visitor % all.length]!;
      leases.push((await stage().queue(client, client.mutex(key))).lease);
    }
    const served: number[] = [];
    const visits = leases.map(async (lease, visitor) => {
      const held = await lease;
      served.push(visitor);
      await held.release();
    });
    await first.release();
    await stage().soon('all have been served', Promise.all(visits));
    deepEqual(served, [0, 1, 2, 3, 4, 5, 6, 7]);
  }
}

/** Re-entry follows the async call tree: it is an acquire inside a live lease of the same lock. */
function mutexReentryContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('inside `using`, to any depth', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const depth = mutex.using(() => mutex.using(() => mine.mutex(key).using(async () => 3)));
    equal(await stage().soon('three have entered', depth), 3);
  });

  it('inside `run`, and not outside', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key));
    equal(await mine.mutex(key).tryAcquire(), undefined);
    await lease.run(async () => {
      equal(currentLease(), lease);
      const again = await stage().take(mine.mutex(key));
      equal(again.isHeld, true);
      await again.release();
    });
    equal(lease.isHeld, true);
  });

  it('and is held until the last of its leases is released', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const inner = await mutex.using(() => stage().take(mutex));
    equal(inner.isHeld, true);
    equal(await mutex.tryAcquire(), undefined);
    await inner.release();
    await (await stage().take(mutex)).release();
  });

  it('not by siblings, which exclude each other', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const story: string[] = [];
    const work = (name: string) =>
      mutex.using(async () => {
        story.push(`${name} enters`);
        await mutex.using(() => nextTurn());
        story.push(`${name} leaves`);
      });
    await stage().soon('both have worked', Promise.all([work('a'), work('b')]));
    const [first, second] = story[0] === 'a enters' ? ['a', 'b'] : ['b', 'a'];
    deepEqual(story, [
      `${first} enters`,
      `${first} leaves`,
      `${second} enters`,
      `${second} leaves`,
    ]);
  });

  it('not if it is a semaphoreMutex', async () => {
    const { mine, key } = stage();
    const mutex = mine.semaphoreMutex(key);
    const nested = mutex.using(async () => {
      equal(await mutex.tryAcquire(), undefined);
      await rejects(mutex.acquire({ wait: 20 }), LockTimeoutError);
      return 'outer';
    });
    equal(await stage().soon('the nested wait ends', nested), 'outer');
  });
}

/** Events that a client emits to its listeners, and the state that it reports to operators. */
function mutexEventsContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('for each step of each caller, and none for re-entry', async () => {
    const { mine, key } = stage();
    const story: string[] = [];
    for (const event of ['contended', 'acquired', 'released', 'failed'] as const)
      mine.on(event, (lock) => void (lock.key === key && story.push(`${lock.method} ${event}`)));
    const first = await stage().take(mine.mutex(key), { method: 'first' });
    await first.run(async () => await (await stage().take(mine.mutex(key))).release());
    const hasty = mine.mutex(key).acquire({ wait: 20, method: 'hasty' });
    await stage().soon('the wait ends', rejects(hasty, LockTimeoutError));
    const { lease } = await stage().queue(mine, mine.mutex(key), { method: 'second' });
    await first.release();
    await (await stage().soon('the waiter is granted it', lease)).release();
    const ofEach = (who: string) => story.filter((line) => line.startsWith(who));
    deepEqual(ofEach('first'), ['first acquired', 'first released']);
    equal(ofEach('hasty').at(-1), 'hasty failed');
    deepEqual(ofEach('second'), ['second contended', 'second acquired', 'second released']);
    equal(ofEach('undefined').length, 0);
  });

  it('until a listener is removed', async () => {
    const { mine, key } = stage();
    let heard = 0;
    const stop = mine.on('acquired', () => (heard += 1));
    await mine.mutex(key).using(() => {});
    stop();
    await mine.mutex(key).using(() => {});
    equal(heard, 1);
  });

  it('and shows its holder and its waiters', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key), { method: 'holder' });
    const { lease: next } = await stage().queue(mine, mine.mutex(key), { method: 'waiter' });
    const shown = mine.activity().map(({ state, method }) => `${method} ${state}`);
    deepEqual(shown.sort(), ['holder held', 'waiter waiting']);
    const { health, held, waiting } = mine.status();
    deepEqual([health, held, waiting], ['up', 1, 1]);
    ok((await mine.ping()) >= 0);
    await lease.release();
    await (await stage().soon('the waiter is granted it', next)).release();
    deepEqual(mine.activity(), []);
  });
}
