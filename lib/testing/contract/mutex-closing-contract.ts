import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { LockClientClosedError, LockLostError } from '../../core/errors/index.js';
import type { Lease } from '../../core/lease.js';
import type { ContractOptions, ContractRunner, ContractStage } from './contract-stage.js';

/** Shutdown in three steps: `refuse` or `drain`, so that running work can finish, then `close`. */
export function mutexClosingContract(
  { it }: ContractRunner,
  stage: () => ContractStage,
  { isShared = true }: ContractOptions,
): void {
  it('is refused from `refuse` on, also to waiters, and stays with its holder', async () => {
    const { mine, key } = stage();
    const holder = await stage().take(mine.mutex(key));
    const { lease } = await stage().queue(mine, mine.mutex(key));
    mine.refuse();
    await stage().soon('the waiter is refused', rejects(lease, LockClientClosedError));
    await rejects(mine.mutex(key).acquire(), LockClientClosedError);
    await rejects(mine.mutex(`${key}-other`).tryAcquire(), LockClientClosedError);
    equal(holder.isHeld, true);
    await holder.run(async () => await (await stage().take(mine.mutex(key))).release());
    await holder.release();
  });

  it('is granted to work inside a lock, from `refuse` on too', async () => {
    const { mine, key } = stage();
    const inner = mine.mutex(`${key}-inner`);
    const outer = await stage().take(mine.mutex(key));
    mine.refuse();
    await outer.run(async () => await (await stage().take(inner)).release());
    await rejects(inner.tryAcquire(), LockClientClosedError);
    await outer.release();
  });

  it('is waited for by `drain` while work runs under it, and not while it is just held', async () => {
    const { mine, key } = stage();
    const bare = await stage().take(mine.mutex(`${key}-bare`));
    const { work, end } = await workUnder(stage(), key);
    const waiter = await stage().queue(mine, mine.mutex(key));
    let isDrained = false;
    const drained = mine.drain().then(() => (isDrained = true));
    await stage().soon('the waiter is refused', rejects(waiter.lease, LockClientClosedError));
    for (let turns = 0; turns < 10; turns++) await nextTurn();
    const keys = mine.unfinished().map((lock) => lock.key);
    deepEqual([keys, isDrained], [[key], false]);
    end();
    await stage().soon('it is drained', Promise.all([work, drained]));
    deepEqual([mine.unfinished(), bare.isHeld], [[], true]);
  });

  it('is not waited for by a `drain` that work under it calls', async () => {
    const { mine, key } = stage();
    const work = mine.mutex(key).using(() => mine.drain());
    await stage().soon('it is drained', work);
  });

  it('is kept until the work under it ends, although its signal aborts, if `close` says so', async () => {
    const { mine, key } = stage();
    const { lease, work, end } = await workUnder(stage(), key);
    await stage().soon('it is closed', mine.close(1_000, 'keep'));
    ok(lease.signal.reason instanceof LockLostError, 'the signal did not abort');
    await rejects(
      lease.run(() => 'never'),
      LockLostError,
    );
    const isFree = async () => (await stage().theirs.mutex(key).tryAcquire()) !== undefined;
    if (isShared) equal(await isFree(), false);
    end();
    await stage().soon('the work ends', work);
    if (isShared) await stage().until('the other client is granted it', isFree);
  });

  it('is lost by its holder, as its signal reports, and refused to all others', async () => {
    const { mine, key } = stage();
    const holder = await stage().take(mine.mutex(key));
    const { signal } = holder;
    const { lease } = await stage().queue(mine, mine.mutex(key));
    const refused = rejects(lease, LockClientClosedError);
    await stage().soon('it is closed', Promise.all([mine.close(), mine.close()]));
    ok(signal.reason instanceof LockLostError, 'the signal of the holder did not report the loss');
    equal(holder.isHeld, false);
    await refused;
    await rejects(mine.mutex(key).acquire(), LockClientClosedError);
    await holder.release(); // late, but harmless
    deepEqual([mine.activity(), mine.status().health], [[], 'down']);
  });

  if (isShared)
    it('is free for other clients at once', async () => {
      const { mine, theirs, key } = stage();
      await stage().take(mine.mutex(key));
      const { lease } = await stage().queue(theirs, theirs.mutex(key));
      await stage().soon('it is closed', mine.close());
      const next = await stage().soon('the other client is granted it', lease);
      equal(next.isHeld, true);
    });
}

/** Begins work under the mutex of that key; it goes on until `end`. */
async function workUnder(stage: ContractStage, key: string) {
  let end!: () => void;
  const mayEnd = new Promise<void>((resolve) => (end = resolve));
  let enter!: (lease: Lease) => void;
  const entered = new Promise<Lease>((resolve) => (enter = resolve));
  const work = stage.mine.mutex(key).using(async (lease) => {
    enter(lease);
    await mayEnd;
  });
  work.catch(() => {}); // the test that awaits it gets the rejection
  const lease = await stage.soon('the work begins', entered);
  return { lease, work, end };
}
