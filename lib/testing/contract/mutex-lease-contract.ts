import { deepEqual, equal, ok, rejects, throws } from 'node:assert/strict';
import { LockNotHeldError } from '../../core/errors/index.js';
import type { ContractRunner } from './contract-runner.js';
import type { ContractStage } from './contract-stage.js';

/** The handle of whoever holds. */
export function mutexLeaseContract({ it }: ContractRunner, stage: () => ContractStage): void {
  it('that says what it is, and whether it is held', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key));
    const { signal } = lease;
    deepEqual([lease.key, lease.isHeld], [key, true]);
    lease.assertHeld();
    await lease.release();
    equal(lease.isHeld, false);
    throws(() => lease.assertHeld(), LockNotHeldError);
    await rejects(
      lease.run(() => 'never'),
      LockNotHeldError,
    );
    equal(signal.aborted, false, 'a release is no loss');
  });

  it('that is released once: again takes nothing from who came next', async () => {
    const { mine, key } = stage();
    const first = await stage().take(mine.mutex(key));
    await Promise.all([first.release(), first.release()]);
    const second = await stage().take(mine.mutex(key));
    await first.release();
    equal(second.isHeld, true);
    equal(await mine.mutex(key).tryAcquire(), undefined);
  });

  it('that `await using` releases', async () => {
    const { mine, key } = stage();
    const lease = await stage().take(mine.mutex(key));
    await lease[Symbol.asyncDispose]();
    equal(lease.isHeld, false);
    await (await stage().take(mine.mutex(key))).release();
  });

  it('with a fencing token that grows from grant to grant', async () => {
    const { mine, key } = stage();
    const tokens: bigint[] = [];
    for (let grant = 0; grant < 3; grant++) {
      const lease = await stage().take(mine.mutex(key));
      tokens.push(await lease.fencingToken());
      await lease.release();
    }
    const [first = 0n, second = 0n, third = 0n] = tokens;
    ok(first < second && second < third, `tokens do not grow: ${tokens.join(', ')}`);
  });

  it('for as long as `using` runs, which settles like its function', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    equal(await mutex.using((lease) => Promise.resolve(lease.isHeld && 'done')), 'done');
    const failure = new Error('of the user');
    const failing = mutex.using(() => Promise.reject(failure));
    await rejects(failing, (error) => error === failure);
    await (await stage().take(mutex)).release();
  });
}
