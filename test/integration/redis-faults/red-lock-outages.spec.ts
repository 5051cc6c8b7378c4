import { describe, expect, it } from '@jest/globals';
import {
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import { eventually } from '../../support/eventually.js';
import { onRedLock } from '../../redis/red-lock-stage.js';
import { lossOf } from '../support/loss-of.js';

const PAIRS = [0, 1, 2, 3].flatMap((i) =>
  Array.from({ length: 4 - i }, (_, j) => [i, i + 1 + j] as const),
);

/** A hundredth of it is between the loss and the end on the servers: more than a busy machine takes for one turn. */
const LEASE = 4_000;

describe('Of five servers', () => {
  const stage = onRedLock();

  it.each(PAIRS)('with %i and %i killed, a lock is kept, renewed and released', async (...pair) => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    const ends = (await servers.commands('PEXPIRETIME', key)) as number[];
    await servers.kill(...pair);
    await eventually('the first lease would be over', () => Date.now() > Math.max(...ends));
    expect([lease.isHeld, lease.signal.aborted, await servers.having(key)]).toEqual([
      true,
      false,
      3,
    ]);
    await lease.release();
    expect(await servers.having(key)).toBe(0);

    const next = await client.mutex(key).acquire({ wait: 5_000 });
    expect(await servers.having(key)).toBe(3);
    await next.release();
    expect(await servers.having(key)).toBe(0);
  });

  it('with three killed, a lock is refused within the wait, with what to do about it', async () => {
    const client = await stage().client();
    await stage().servers.kill(0, 2, 4);
    const mutex = client.mutex(stage().key);
    const startedAt = performance.now();
    const refusal = await mutex.acquire({ wait: 1_000 }).catch((error: unknown) => error);
    expect(performance.now() - startedAt).toBeLessThan(3_000);
    expect(refusal).toBeInstanceOf(LockConnectionError);
    expect(refusal).toMatchObject({ key: stage().key, client: 'test' });
    expect(String(refusal)).toMatch(/Fewer than 3 of the 5 servers .* Check the servers/);

    await expect(mutex.tryAcquire()).rejects.toBeInstanceOf(LockConnectionError);
    await expect(mutex.tryAcquire({ wait: 1_000 })).rejects.toBeInstanceOf(LockConnectionError);
    await expect(mutex.acquire({ wait: 20 })).rejects.toBeInstanceOf(LockTimeoutError); // too short to be sure
    await stage().isEmpty();
  });

  it('with three killed, a holder loses its lock before the others forget it', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: LEASE, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    const lost = lossOf(lease);
    for (const i of [0, 1, 2]) servers.all[i]!.freeze(); // their clocks go on: the leases of the dead end as well
    const ends = await eventually('the others renew it', async () => {
      const all = await Promise.all([3, 4].map((i) => servers.all[i]!.command('PTTL', key)));
      return Math.min(...(all as number[])) > 0 && Date.now() + LEASE;
    });
    expect(await lost).toBeLessThan(ends);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect([lease.isHeld, lease.remaining()]).toEqual([false, 0]);
    await eventually('the rest is released', async () => {
      const rest = await Promise.all([3, 4].map((i) => servers.all[i]!.command('EXISTS', key)));
      return rest.every((exists) => exists === 0);
    });
    await lease.release();
  });

  it('a waiter that comes while three are down is served when one of them is back', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    await servers.kill(0, 1, 2);
    const waiting = client.mutex(key).acquire({ wait: 20_000 });
    await servers.all[1]!.restart();
    const lease = await waiting;
    expect(await servers.having(key)).toBe(3);
    await lease.release();
    await stage().isEmpty();
  });

  it('those that were down are used again', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    await servers.kill(0, 1);
    await (await client.mutex(key).acquire()).release();
    await servers.restore();
    await eventually('a lock is on all of them', async () => {
      const lease = await client.mutex(key).acquire();
      const having = await servers.having(key);
      await lease.release();
      return having === 5;
    });
  });

  it('two forget a lock, which is held by the other three, and lost with the next', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    for (const i of [1, 3]) await servers.all[i]!.command('DEL', key);
    const [end] = (await servers.commands('PEXPIRETIME', key)) as number[];
    await eventually('the first lease would be over', () => Date.now() > end!);
    expect([lease.isHeld, await servers.having(key)]).toEqual([true, 3]);

    const lost = stage().next(client, 'lost');
    await servers.all[0]!.command('DEL', key);
    expect(await lost).toMatchObject({ key, error: { code: 'LOCK_LOST' } });
    expect(lease.isHeld).toBe(false);
    await lease.release();
    await stage().isEmpty();
  });

  it('waiters go on when the one where they queue is killed', async () => {
    const { key, servers } = stage();
    const [holder, waiter] = await stage().clients(2);
    const lease = await holder!.mutex(key).acquire();
    const contended = stage().next(waiter!, 'contended');
    const waiting = waiter!.mutex(key).acquire({ wait: 20_000 });
    await contended;
    await servers.kill(0);
    await lease.release();
    expect(await waiting).toMatchObject({ isHeld: true });
  });
});
