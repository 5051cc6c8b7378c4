import { describe, expect, it } from '@jest/globals';
import { LeaseHandle } from '../../../lib/core/internal/lease-handle.js';
import { Hold } from '../../../lib/core/internal/hold.js';
import { LockLostError, type OnLost } from '../../../lib/index.js';
import { runUnderLease } from '../../../lib/interceptors/run-under-lease.js';

/** A lease that does not report its loss: it shows only when the clock is asked. */
function silentLease() {
  const clock = { isOver: false };
  const hold = new Hold(
    { scope: clock, recipe: 'mutex', name: 'import' },
    { key: 'import' },
    {
      isExclusive: () => !clock.isOver,
      fencingToken: () => Promise.resolve(1n),
      lost() {},
      free: () => Promise.resolve(),
    },
  );
  return { lease: new LeaseHandle(hold), clock };
}

/** What becomes of a call to a method that blocks the event loop for longer than the lease, and ends with `end`. */
async function blocked(onLost: OnLost | undefined, end: () => string): Promise<unknown> {
  const { lease, clock } = silentLease();
  const plan = {
    decorator: 'WithMutex',
    method: 'Import.load',
    lock: { key: 'import' },
    options: { onLost },
  };
  try {
    return await runUnderLease(lease, plan, ['sales.csv'], () => {
      clock.isOver = true;
      return end();
    });
  } finally {
    expect(lease.isHeld).toBe(false);
  }
}

const done = () => 'done';
const failing = () => {
  throw new RangeError('no such file');
};

describe('A loss that only the clock knows of, as the event loop was blocked', () => {
  it.each([undefined, 'throw', 'abort'] as const)('rejects the call (%s)', async (onLost) => {
    await expect(blocked(onLost, done)).rejects.toBeInstanceOf(LockLostError);
  });

  it.each([undefined, 'throw', 'abort', 'ignore'] as const)(
    'does not hide the error of the method (%s)',
    async (onLost) => {
      await expect(blocked(onLost, failing)).rejects.toEqual(new RangeError('no such file'));
    },
  );

  it('is ignored with the policy `ignore`', async () => {
    expect(await blocked('ignore', done)).toBe('done');
  });

  it.each([done, failing])('is passed to a function, with the arguments (%p)', async (end) => {
    const told: unknown[] = [];
    const onLost: OnLost = (...all: unknown[]) => void told.push(...all);
    const call = blocked(onLost, end).catch((error: Error) => error.message);
    expect(['done', 'no such file']).toContain(await call);
    expect(told).toEqual([expect.any(LockLostError), 'sales.csv']);
  });

  it('is not looked for where the lease was released by hand before', async () => {
    const { lease, clock } = silentLease();
    const plan = { decorator: 'WithMutex', method: 'a.b', lock: { key: 'import' }, options: {} };
    const call = runUnderLease(lease, plan, [], async () => {
      await lease.release();
      clock.isOver = true;
      return 'done';
    });
    expect(await call).toBe('done');
  });
});
