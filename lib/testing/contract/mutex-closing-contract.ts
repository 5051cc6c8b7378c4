import { deepEqual, equal, ok, rejects } from 'node:assert/strict';
import { LockClientClosedError, LockLostError } from '../../core/errors/index.js';
import type { ContractOptions } from './contract-options.js';
import type { ContractRunner } from './contract-runner.js';
import type { ContractStage } from './contract-stage.js';

/** Shutdown in two steps: refuse, so that running work may end; then close. */
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

  it('is taken from its holder, who is told, and refused to all others', async () => {
    const { mine, key } = stage();
    const holder = await stage().take(mine.mutex(key));
    const { signal } = holder;
    const { lease } = await stage().queue(mine, mine.mutex(key));
    const refused = rejects(lease, LockClientClosedError);
    await stage().soon('it is closed', Promise.all([mine.close(), mine.close()]));
    ok(signal.reason instanceof LockLostError, 'the holder was not told of its loss');
    equal(holder.isHeld, false);
    await refused;
    await rejects(mine.mutex(key).acquire(), LockClientClosedError);
    await holder.release(); // late, and harmless
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
