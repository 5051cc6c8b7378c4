import { beforeEach, expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import { commandCalls } from './command-calls.js';
import { fairQueue } from './fair-queue.js';
import type { RedisStage } from './redis-stage.js';
import { WaitersOnServer } from './waiters-on-server.js';

const FAIR = { fair: true };
/** Wait that all clients add and subtract by default, in ms. */
const WAIT = 300_000;
/** Commands that change a queue. */
const WRITES = 'z(add|incrby|rem)|l(rem|pop|trim)|rpush|del';
/** How many dead waiters one call removes at most. */
const AT_ONCE = 1_000;
/** Many more, so that it takes several calls. */
const MANY = 2_500;
/** Far below a third of the default watchdogTimeout, in ms: a waiter served within it was woken, and did not just look. */
const SOON = 5_000;

/** Whole pods that die in the queue, and what the removal of their waiters costs the server. */
export function fairLockDeadWaitersSuite(stage: () => RedisStage): void {
  let waiters: WaitersOnServer;

  beforeEach(() => {
    waiters = new WaitersOnServer(stage());
  });

  it('causes few writes for many dead waiters, and removes a limited number at a time', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key, FAIR).acquire();
    await waiters.ours('dead', MANY);
    await waiters.ours('alive', 3);
    await waiters.kill('dead');
    await stage().command('CONFIG', 'RESETSTAT');
    for (const left of [MANY - AT_ONCE, MANY - 2 * AT_ONCE, 0]) {
      expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
      expect(await waiters.count()).toBe(left + 3);
    }
    expect(await commandCalls(stage(), WRITES)).toBeLessThan(MANY / 10);
    expect(await stage().command('ZCARD', waiters.alive)).toBe(3);
    expect(await stage().command('ZCARD', stage().names.timeouts)).toBe(3);
    await clear();
    await lease.release();
  });

  it('subtracts one wait per dead waiter from those behind it, and none from those ahead', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key, FAIR).acquire();
    for (const part of [1, 2, 3]) {
      await waiters.ours(`dead ${part}`, 400 * part);
      await waiters.ours(`alive ${part}`, 2);
    }
    const { waiters: line, deadlines } = await fairQueue(stage());
    await waiters.kill('dead');
    await eventually('the dead are out', async () => {
      expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
      return (await waiters.count()) === 6;
    });
    const living = [1, 2, 3].flatMap((part) => [`alive ${part}:1`, `alive ${part}:2`]);
    const deadAhead = [400, 400, 1_200, 1_200, 2_400, 2_400];
    const after = await fairQueue(stage());
    expect(after.waiters).toEqual(living);
    expect(after.deadlines).toEqual(
      living.map((waiter, i) => deadlines[line.indexOf(waiter)]! - deadAhead[i]! * WAIT),
    );
    await clear();
    await lease.release();
  });

  it('skips all of them at the release, however many', async () => {
    const { mine, theirs, key } = stage();
    const lease = await theirs.mutex(key, FAIR).acquire();
    await waiters.ours('dead', MANY);
    const { lease: next } = await stage().queue(mine, mine.mutex(key, FAIR));
    const [waiter] = (await fairQueue(stage())).waiters.slice(-1);
    await stage().listening(stage().names.waiterChannel(waiter!));
    await waiters.kill('dead');
    const begin = performance.now();
    await lease.release();
    const held = await next;
    expect(performance.now() - begin).toBeLessThan(SOON);
    await held.release();
  });

  it('looks again at once until the last dead one is out', async () => {
    const { mine, key } = stage();
    await waiters.ours('dead', MANY);
    await waiters.kill('dead');
    const begin = performance.now();
    const lease = await mine.mutex(key, FAIR).acquire();
    expect(performance.now() - begin).toBeLessThan(SOON);
    await lease.release();
  });

  it('drops overdue waiters of Redisson a limited number at a time, and looks again at once', async () => {
    const { mine, key } = stage();
    await waiters.overdue('redisson', MANY);
    expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await waiters.count()).toBe(MANY - AT_ONCE);
    const begin = performance.now();
    const lease = await mine.mutex(key, FAIR).acquire();
    expect(performance.now() - begin).toBeLessThan(SOON);
    await lease.release();
  });

  it('forgets dead waiters that Redisson has dropped from the queue', async () => {
    const { mine, key } = stage();
    const { queue, timeouts } = stage().names;
    const lease = await mine.mutex(key, FAIR).acquire();
    await waiters.ours('alive', 1);
    await waiters.ours('dead', 1);
    await stage().command('LREM', queue, 1, 'dead:1');
    await stage().command('ZREM', timeouts, 'dead:1');
    await waiters.kill('dead');
    expect(await mine.mutex(key, FAIR).tryAcquire()).toBeUndefined();
    expect(await stage().command('ZRANGE', waiters.alive, 0, -1)).toEqual(['alive:1']);
    await clear();
    await lease.release();
  });

  it('remembers each waiter until its deadline, although those ahead of it look again', async () => {
    const { theirs, key } = stage();
    const client = await stage().client({ watchdogTimeout: 600 });
    const lease = await theirs.mutex(key, FAIR).acquire();
    const stop = new AbortController();
    await stage().queue(client, client.mutex(key, FAIR), { signal: stop.signal });
    const [first] = (await fairQueue(stage())).waiters;
    const { lease: second } = await stage().queue(theirs, theirs.mutex(key, FAIR));
    const heardOf = () => stage().command('ZSCORE', waiters.alive, first!);
    const before = await heardOf();
    await eventually('the first has looked again', async () => (await heardOf()) !== before);
    const { now, deadlines } = await fairQueue(stage());
    const known = Number(await stage().command('PTTL', waiters.alive));
    expect(known).toBeGreaterThan(deadlines[1]! - now - 1_000); // ms: the two looks are not at once
    stop.abort();
    await lease.release();
    await (await second).release();
  });

  /** No client cleans up after the waiters that were added. */
  async function clear(): Promise<void> {
    const { queue, timeouts } = stage().names;
    await stage().command('DEL', queue, timeouts, waiters.alive);
  }
}
