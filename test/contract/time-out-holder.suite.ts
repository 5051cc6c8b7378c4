import { hostname } from 'node:os';
import { expect, it } from '@jest/globals';
import { LockAbortedError, type LockTimeoutError } from '../../lib/core/errors/index.js';
import type { Lock } from '../../lib/core/lock.js';
import { eventually } from '../support/time.js';
import type { LockStage, StageClient } from './backends/stage.js';

/** What a time-out reports of a holder of another client: what it wrote about itself, its node, or nothing. */
export type ShownOfOthers = 'itself' | 'its node' | 'nothing';

/** Resolves to the error of a wait; of one that is long enough to have seen a holder. */
async function timeOutOf(lock: Lock): Promise<LockTimeoutError> {
  let error: unknown;
  await eventually('the error names a holder', async () => {
    error = await lock.acquire({ wait: 100, method: 'Orders.refund' }).catch((it: unknown) => it);
    return (error as LockTimeoutError).holder !== undefined;
  });
  return error as LockTimeoutError;
}

/** The holder in the error of a wait that was too long. */
export function timeOutHolderSuite(
  stage: () => LockStage,
  of: {
    readonly wanted: (client: StageClient) => Lock;
    readonly taken?: (client: StageClient) => Lock;
    readonly shown: ShownOfOthers;
    readonly mode?: 'alone' | 'read' | 'write';
    /** Whether of each client only one waits on the servers. Default false. */
    readonly isHandedOn?: boolean;
  },
): void {
  const { wanted, taken = wanted, shown, mode = 'alone', isHandedOn } = of;
  const itself = { method: 'Orders.pay', host: hostname(), pid: process.pid };

  it('names the holder of its own client', async () => {
    const { mine } = stage();
    await using _ = await taken(mine).acquire({ method: 'Orders.pay' });
    const error = await timeOutOf(wanted(mine));
    expect(error.holder).toMatchObject({ ...itself, mode });
    expect(Math.abs(Date.now() - error.holder!.since!.getTime())).toBeLessThan(60_000);
    expect(error.message).toContain(`held by "Orders.pay" on host "${hostname()}" (process`);
  });

  if (shown === 'itself')
    it('names the holder of another client', async () => {
      const { mine, theirs } = stage();
      await using _ = await taken(theirs).acquire({ method: 'Orders.pay' });
      const { holder } = await timeOutOf(wanted(mine));
      expect(holder).toMatchObject({ ...itself, mode });
      expect(Math.abs(Date.now() - holder!.since!.getTime())).toBeLessThan(60_000);
    });

  if (shown !== 'its node') return;

  it('names the node of the holder of another client', async () => {
    const { mine, theirs, key } = stage();
    await using _ = await taken(theirs).acquire({ method: 'Orders.pay' });
    const { holder, message } = await timeOutOf(wanted(mine));
    expect(holder).toMatchObject({ id: expect.stringContaining(key), mode });
    expect(message).toContain(`held by "${holder!.id.slice(0, 40)}`);
  });

  if (mode === 'read' || isHandedOn) return;

  it('names no node while others wait in between', async () => {
    const { mine, theirs } = stage();
    await using _ = await taken(theirs).acquire();
    const stop = new AbortController();
    const { lease } = await stage().queueFor(taken(theirs), theirs, { signal: stop.signal });
    const behind = wanted(mine).acquire({ wait: 100 });
    await expect(behind).rejects.toMatchObject({ waitedMs: 100, holder: undefined });
    stop.abort();
    await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
  });
}
