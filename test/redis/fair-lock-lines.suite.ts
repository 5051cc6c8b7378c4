import { expect, it } from '@jest/globals';
import { LockAbortedError } from '../../lib/core/errors/index.js';
import { WAITERS_ON_SERVER } from '../../lib/redis/locks/local-queue.js';
import { eventually } from '../support/eventually.js';
import { fairQueue } from './fair-queue.js';
import type { RedisStage } from './redis-stage.js';
import { scriptCalls } from './script-calls.js';

const FAIR = { fair: true };

/** Of one process only the first few waiters are in the queue on the server. */
export function fairLockLinesSuite(stage: () => RedisStage): void {
  it('has few waiters of each process on the server, and serves all in their order', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, FAIR).acquire();
    const served: string[] = [];
    const longest: number[] = [];
    const visits: Promise<void>[] = [];
    const enter = async (name: string, client: typeof mine) => {
      const queued = await stage().queue(client, client.mutex(key, FAIR));
      const visit = async () => {
        const held = await queued.lease;
        served.push(name);
        longest.push((await fairQueue(stage())).waiters.length);
        await held.release();
      };
      visits.push(visit());
    };
    const names = Array.from({ length: WAITERS_ON_SERVER + 9 }, (_, n) => `mine ${n}`);
    for (const name of names) await enter(name, mine);
    expect((await fairQueue(stage())).waiters).toHaveLength(WAITERS_ON_SERVER);
    await enter('theirs', theirs);
    expect((await fairQueue(stage())).waiters).toHaveLength(WAITERS_ON_SERVER + 1);

    await lease.release();
    await Promise.all(visits);
    const expected = [...names];
    expected.splice(WAITERS_ON_SERVER, 0, 'theirs'); // it came behind those that were on the server
    expect(served).toEqual(expected);
    expect(Math.max(...longest)).toBeLessThanOrEqual(WAITERS_ON_SERVER + 1);
  });

  it('adds the next waiter of the process when one of the first gives up', async () => {
    const { held, stops, leases } = await crowd(WAITERS_ON_SERVER + 2);
    const { waiters: before } = await fairQueue(stage());
    stops[4]!.abort();
    const after = await eventually('the next has come', async () => {
      const { waiters } = await fairQueue(stage());
      return waiters.length === WAITERS_ON_SERVER && !waiters.includes(before[4]!) && waiters;
    });
    expect(after.slice(0, -1)).toEqual(before.filter((_, place) => place !== 4));
    await expect(leases[4]).rejects.toBeInstanceOf(LockAbortedError);
    await leave(stops, leases);
    await held.release();
  });

  it('sends nothing for the waiters behind, neither when they come nor when they give up; a tryAcquire passes them', async () => {
    const { key } = stage();
    await stage().command('CONFIG', 'RESETSTAT');
    const client = await stage().client({ watchdogTimeout: 600_000 }); // so that no waiter looks meanwhile
    const { held, stops, leases } = await crowd(WAITERS_ON_SERVER, client);
    const asked = 1 + 2 * WAITERS_ON_SERVER; // the holder once, each waiter before and after it has subscribed
    await eventually('all have asked', async () => (await scriptCalls(stage())) === asked);
    const stop = new AbortController();
    const { lease } = await stage().queue(client, client.mutex(key, FAIR), { signal: stop.signal });
    const { lease: next } = await stage().queue(client, client.mutex(key, FAIR), { wait: 60_000 });
    stop.abort();
    await expect(lease).rejects.toBeInstanceOf(LockAbortedError);
    expect(await client.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await scriptCalls(stage())).toBe(asked + 1);

    await leave(stops, leases);
    await held.release();
    await (await next).release();
  });

  /** Queues that many waiters of this process for a lock that is held. */
  async function crowd(count: number, client = stage().mine) {
    const { theirs, key } = stage();
    const held = await theirs.mutex(key, FAIR).acquire({ lease: 60_000 });
    const stops = Array.from({ length: count }, () => new AbortController());
    const leases = [];
    for (const { signal } of stops)
      leases.push((await stage().queue(client, client.mutex(key, FAIR), { signal })).lease);
    return { held, stops, leases };
  }

  async function leave(
    stops: readonly AbortController[],
    leases: readonly Promise<unknown>[],
  ): Promise<void> {
    for (const stop of stops) stop.abort();
    await Promise.allSettled(leases);
  }
}
