import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import {
  LockConnectionError,
  LockLostError,
  LockTimeoutError,
} from '../../../lib/core/errors/index.js';
import type { LockEvents } from '../../../lib/core/lock-events.js';
import { EventLoopStalls } from '../../../lib/core/internal/event-loop-stalls.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { RedisLease } from '../../../lib/redis/locks/redis-lease.js';
import { driftAdjustedDeadline } from '../../../lib/redis/locks/redis-grant.js';
import { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import { redisCommands } from '../../../lib/redis/redis-write.js';
import {
  lockAcquire,
  lockRelease,
  lockRenew,
  lockToken,
} from '../../../lib/redis/scripts/index.js';
import { VirtualClock } from '../../support/time.js';
import { connectionOf, FakeNode, type SentCommand } from './fakes.js';

const LEASE = 30_000;
const GRANTED = [1, 0];

let clock: VirtualClock;
let node: FakeNode;
let client: RedisLockClient;

beforeEach(async () => {
  // Those that the process of the tests has had lately are not of this time.
  jest.spyOn(EventLoopStalls.shared, 'longestWithin').mockReturnValue(undefined);
  clock = new VirtualClock();
  node = new FakeNode();
  client = new RedisLockClient({
    name: 'unit',
    connection: connectionOf(node, clock),
    events: new LockEventEmitter(),
    clock,
    options: { client: node, watchdogTimeout: LEASE },
  });
  node.reply = ({ name }) => (name === 'ping' ? 'PONG' : undefined);
  await client.connect();
});
afterEach(() => void jest.restoreAllMocks());

/** What was sent of one script. */
const sent = ({ sha1 }: { sha1: string }) => node.sent.filter(({ args }) => args[0] === sha1);
const lastSent = (script: { sha1: string }): SentCommand => sent(script).at(-1)!;
/** The arguments, but for the time that the acquire has waited so far. */
const termsOf = ({ args }: SentCommand) => args.filter((_, i) => i !== args.length - 3);
const settle = () => clock.advance(0);

async function answer(script: { sha1: string }, value: unknown): Promise<void> {
  lastSent(script).answer(value);
  await settle();
}

async function granted(options?: { lease?: number }): Promise<RedisLease> {
  const acquiring = client.mutex('door').acquire(options);
  await settle();
  lastSent(lockAcquire).answer(GRANTED);
  return acquiring;
}

describe('A machine that sleeps', () => {
  it('has no lock any more at the first look after the lease, and no timer has fired', async () => {
    const lease = await granted();
    clock.sleep(LEASE - 1_000);
    expect(lease.isHeld).toBe(true);
    clock.sleep(1_000);
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    expect(sent(lockRenew)).toEqual([]);
  });

  it('does not count as held what was granted before it slept, and is answered afterwards', async () => {
    const acquiring = client.mutex('door').acquire();
    await settle();
    clock.sleep(LEASE);
    lastSent(lockAcquire).answer(GRANTED);
    await settle();
    expect(sent(lockAcquire)).toHaveLength(2);
    lastSent(lockAcquire).answer(GRANTED);
    expect((await acquiring).isHeld).toBe(true);
  });
});

describe('A grant', () => {
  it('counts from when it was asked for', async () => {
    const acquiring = client.mutex('door').acquire();
    await clock.advance(10_000);
    lastSent(lockAcquire).answer(GRANTED);
    expect((await acquiring).remaining()).toBeCloseTo(driftAdjustedDeadline(0, LEASE) - 10_000);
  });

  it('that came when half of the lease was over is asked for again, by the same holder', async () => {
    const acquiring = client.mutex('door').acquire();
    await clock.advance(LEASE / 2);
    await answer(lockAcquire, GRANTED);
    expect(sent(lockAcquire)).toHaveLength(2);
    const [first, second] = sent(lockAcquire);
    expect(termsOf(second!)).toEqual(termsOf(first!));
    second!.answer(GRANTED);
    expect((await acquiring).remaining()).toBeCloseTo(driftAdjustedDeadline(0, LEASE));
  });

  it('that is late every time is given up and taken back', async () => {
    const acquiring = client.mutex('door').acquire();
    const refused = expect(acquiring).rejects.toMatchObject({ code: 'LOCK_CONNECTION' });
    for (let late = 1; late <= 5; late++) {
      await clock.advance(LEASE / 2);
      await answer(lockAcquire, GRANTED);
    }
    await refused;
    await expect(acquiring).rejects.toBeInstanceOf(LockConnectionError);
    expect(sent(lockRelease)).toHaveLength(1);
  });

  it('that comes after the wait was over is taken back, not before it has come', async () => {
    const acquiring = client.mutex('door').acquire({ wait: 1_000 });
    const late = expect(acquiring).rejects.toBeInstanceOf(LockTimeoutError);
    await clock.advance(5_000);
    await late;
    expect(sent(lockRelease)).toEqual([]);
    await answer(lockAcquire, GRANTED);
    expect(sent(lockRelease)).toHaveLength(1);
    const holder = lastSent(lockAcquire).args[4];
    expect(lastSent(lockRelease).args).toContain(holder);
  });

  it('has the options that it was requested with, whatever becomes of their object', async () => {
    const options: { lease?: number } = {};
    const acquiring = client.mutex('door').acquire(options);
    options.lease = 1_000;
    await settle();
    await answer(lockAcquire, GRANTED);
    expect((await acquiring).isHeld).toBe(true);
    await clock.advance(LEASE / 3);
    expect(sent(lockRenew)).toHaveLength(1);
  });

  it('that is not answered after the wait was over leaves a record of its holder, as it may be sent again', async () => {
    const acquiring = client.mutex('door').acquire({ wait: 1_000 });
    const late = expect(acquiring).rejects.toBeInstanceOf(LockTimeoutError);
    await clock.advance(1_000);
    await late;
    lastSent(lockAcquire).fail();
    await settle();
    const holder = lastSent(lockAcquire).args[4];
    expect(lastSent(lockRelease).args.at(-2)).toBe(`interlock_gone:{door}:${holder}`);
  });

  it('that fails on the way is asked for again by the same holder, which does not hold twice', async () => {
    const acquiring = client.mutex('door').acquire();
    await settle();
    lastSent(lockAcquire).fail();
    await clock.advance(50);
    const [first, second] = sent(lockAcquire);
    expect(termsOf(second!)).toEqual(termsOf(first!));
    second!.answer(GRANTED);
    expect((await acquiring).isHeld).toBe(true);
  });
});

describe('A lease', () => {
  it('that is not renewed ends a little before it ends on the server', async () => {
    const lease = await granted({ lease: 1_000 });
    const { signal } = lease;
    await clock.advance(driftAdjustedDeadline(0, 1_000) - 1);
    expect([lease.isHeld, signal.aborted]).toEqual([true, false]);
    await clock.advance(1);
    expect([lease.isHeld, signal.aborted]).toEqual([false, true]);
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect(sent(lockRenew)).toEqual([]);
  });

  it('that is not renewed is asked for within each third of the `watchdogTimeout`, and not made longer', async () => {
    const lease = await granted({ lease: 10 * LEASE });
    for (let asked = 1; asked <= 5; asked++) {
      await clock.runUntil(() => sent(lockRenew).length === asked, LEASE / 3 + 1);
      expect(lastSent(lockRenew).args.slice(-4)).toEqual([0, 'alone', 0, 0]);
      await answer(lockRenew, [1]);
      expect(lease.remaining()).toBe(driftAdjustedDeadline(0, 10 * LEASE) - clock.now());
    }
    const { signal } = lease;
    await clock.runUntil(() => sent(lockRenew).length === 6);
    const confirmedAt = clock.now() - lease.hold.backend.confirmedAgoMs;
    expect(clock.now() - confirmedAt).toBeLessThanOrEqual(LEASE / 3);
    await answer(lockRenew, [0]);
    expect(lease.isHeld).toBe(false);
    expect(signal.reason).toMatchObject({ message: expect.stringContaining('forgotten') });
    expect(signal.reason).toMatchObject({ confirmedAgoMs: clock.now() - confirmedAt });
    const before = sent(lockRenew).length;
    await clock.advance(LEASE);
    expect(sent(lockRenew)).toHaveLength(before);
  });

  it('that is not renewed is extended in spite of an answer that overtakes that of the extension', async () => {
    const lease = await granted({ lease: LEASE });
    const extending = lease.extend(10 * LEASE);
    await settle();
    const extension = lastSent(lockRenew);
    await clock.runUntil(() => sent(lockRenew).length === 2);
    await answer(lockRenew, [1]);
    extension.answer([1]);
    await extending;
    expect(lease.remaining()).toBe(driftAdjustedDeadline(0, 10 * LEASE) - clock.now());
  });

  it('is lost by the clock when the process was blocked, and its signal follows', async () => {
    const lease = await granted();
    const { signal } = lease;
    clock.stall(LEASE);
    expect(() => lease.assertHeld()).toThrow(LockLostError);
    expect([lease.isHeld, signal.aborted]).toEqual([false, true]);
  });

  it('is not shortened by an older renewal that is confirmed late', async () => {
    const { hold } = await granted();
    hold.backend.renewed(10_000, LEASE);
    hold.backend.renewed(5_000, LEASE);
    expect(hold.backend.deadline).toBe(driftAdjustedDeadline(10_000, LEASE));
  });

  it('that is lost says when the server confirmed it last', async () => {
    const lease = await granted();
    const { signal } = lease;
    await clock.runUntil(() => sent(lockRenew).length === 1);
    const renewedAt = clock.now();
    await clock.advance(100);
    lastSent(lockRenew).answer([1]);
    await clock.runUntil(() => signal.aborted);
    const { confirmedAgoMs, message } = signal.reason as LockLostError;
    expect(confirmedAgoMs).toBeCloseTo(clock.now() - renewedAt);
    expect(confirmedAgoMs).toBeCloseTo(driftAdjustedDeadline(0, LEASE));
    expect(message).toContain('(the servers confirmed it last 29.7 s before)');
  });

  it('that the server does not confirm is endangered from half of its lease on, unless it is not renewed', async () => {
    const heard: LockEvents['endangered'][] = [];
    client.on('endangered', (event) => heard.push(event));
    const lease = await granted();
    await clock.runUntil(() => sent(lockRenew).length === 1);
    const renewedAt = clock.now();
    lastSent(lockRenew).answer([1]);
    await clock.advance(0.48 * LEASE);
    expect(heard).toEqual([]);
    await clock.advance(0.02 * LEASE);
    expect(heard).toHaveLength(1);
    const [{ confirmedAgoMs, safeForMs }] = heard as [LockEvents['endangered']];
    expect(heard).toEqual([
      { ...{ key: 'door', recipe: 'mutex' }, ...{ confirmedAgoMs, safeForMs, stall: undefined } },
    ]);
    expect(confirmedAgoMs).toBeGreaterThan(0.48 * LEASE);
    expect(renewedAt + confirmedAgoMs).toBeLessThanOrEqual(clock.now());
    expect(confirmedAgoMs + safeForMs).toBeCloseTo(driftAdjustedDeadline(0, LEASE));
    await clock.advance(LEASE);
    expect([heard.length, lease.isHeld]).toEqual([1, false]);
    await granted({ lease: LEASE });
    await clock.advance(LEASE);
    expect(heard).toHaveLength(1);
  });

  it('that is lost says why nothing was renewed', async () => {
    const { signal } = await granted();
    node.becomes('close');
    await clock.runUntil(() => signal.aborted);
    expect((signal.reason as LockLostError).why).toBe(
      'it could not be renewed in time, and its lease is about to end: no connection to Redis: it was closed',
    );
  });

  it('is removed from renewal before its release is sent', async () => {
    const lease = await granted();
    void lease.release();
    await settle();
    expect(sent(lockRelease)).toHaveLength(1);
    await clock.advance(LEASE);
    expect(sent(lockRenew)).toEqual([]);
    await answer(lockRelease, 0);
  });

  it('with a renewal on the way when it is released is not renewed again by the answer', async () => {
    const lease = await granted();
    await clock.runUntil(() => sent(lockRenew).length === 1);
    const releasing = lease.release();
    await settle();
    lastSent(lockRenew).answer([1]);
    lastSent(lockRelease).answer(0);
    await releasing;
    await clock.advance(10 * LEASE);
    expect(sent(lockRenew)).toHaveLength(1);
    expect(clock.isIdle).toBe(true);
  });

  it('that is extended goes on with the new length', async () => {
    const lease = await granted();
    const extending = lease.extend(60_000);
    await settle();
    lastSent(lockRenew).answer([1]);
    await extending;
    expect(lease.remaining()).toBeCloseTo(driftAdjustedDeadline(0, 60_000));
    await clock.runUntil(() => sent(lockRenew).length === 2);
    expect(clock.now()).toBeGreaterThan(LEASE / 3);
    expect(lastSent(lockRenew).args).toContain(60_000);
  });

  it.each([
    ['before', [0, 1]],
    ['after', [1, 0]],
  ])(
    'that is shortened while a renewal is on the way, is short, also if that is answered %s it',
    async (_, order) => {
      const lease = await granted();
      await clock.runUntil(() => sent(lockRenew).length === 1);
      const renewedAt = clock.now();
      const deadline = driftAdjustedDeadline(clock.now(), 1_000);
      const extending = lease.extend(1_000);
      await settle();
      expect(sent(lockRenew)).toHaveLength(2);
      for (const which of order) {
        sent(lockRenew)[which]!.answer([1]);
        await settle();
        expect(lease.remaining()).toBeLessThanOrEqual(deadline - clock.now());
      }
      await extending;
      await clock.runUntil(() => sent(lockRenew).length === 3);
      expect(clock.now() - renewedAt).toBeLessThan(1_000 / 3);
      expect(lastSent(lockRenew).args).toContain(1_000);
    },
  );

  it('that is shortened between two extensions is short until the last of them is answered', async () => {
    const lease = await granted();
    const extending = [lease.extend(60_000)];
    await clock.advance(1);
    extending.push(lease.extend(1_000));
    await clock.advance(1);
    extending.push(lease.extend(60_000));
    const [longer, shorter, longerAgain] = sent(lockRenew);
    for (const command of [longer, shorter]) {
      command!.answer([1]);
      await settle();
      expect(lease.remaining()).toBeLessThanOrEqual(1_000);
    }
    longerAgain!.answer([1]);
    await Promise.all(extending);
    expect(lease.remaining()).toBeCloseTo(driftAdjustedDeadline(0, 60_000));
  });

  it('that is lost while its token is asked for, has none, whether or not there is an answer', async () => {
    const lease = await granted({ lease: 1_000 });
    const asking = expect(lease.fencingToken()).rejects.toBeInstanceOf(LockLostError);
    await clock.advance(1_000);
    await asking;
    await answer(lockToken, 1);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockLostError);
  });

  it('that is extended, but has gone from the server, is lost', async () => {
    const lease = await granted();
    const extending = expect(lease.extend(60_000)).rejects.toBeInstanceOf(LockLostError);
    await settle();
    lastSent(lockRenew).answer([0]);
    await extending;
    expect(lease.isHeld).toBe(false);
  });

  it('that is extended without an answer is lost at the end that it had', async () => {
    const lease = await granted({ lease: 1_000 });
    const extending = expect(lease.extend(60_000)).rejects.toBeInstanceOf(LockLostError);
    await clock.advance(1_000);
    await extending;
    await answer(lockRenew, [1]);
    expect(lease.isHeld).toBe(false);
  });

  it('that was lost is released nevertheless', async () => {
    const lease = await granted({ lease: 1_000 });
    await clock.advance(1_000);
    const releasing = lease.release();
    await settle();
    lastSent(lockRelease).answer(-1);
    await releasing;
    expect(sent(lockRelease)).toHaveLength(1);
    expect(clock.isIdle).toBe(true);
  });
});

const writes = () => node.sent.filter(({ args }) => args.includes('visits'));
const write = (lease: RedisLease) => lease.guard(redisCommands([['incr', 'visits']]));

describe('A guarded write that the server refuses for now', () => {
  it('is not sent again when its lock is lost during the pause: its caller knows by then that nothing was written', async () => {
    const lease = await granted();
    const written = expect(write(lease)).rejects.toBeInstanceOf(LockLostError);
    await settle();
    writes()[0]!.refuse('OOM command not allowed');
    await settle();
    lease.hold.markLost('it was taken away');
    await written;
    await clock.advance(1_000);
    expect(writes()).toHaveLength(1);
  });
});

describe('The record of guarded writes', () => {
  const deletions = () => node.sent.filter(({ name }) => name === 'del');

  it('is deleted when the release was answered', async () => {
    const lease = await granted();
    const written = write(lease);
    await settle();
    writes()[0]!.answer([1, [1]]);
    expect(await written).toEqual([1]);
    const releasing = lease.release();
    await settle();
    expect(deletions()).toEqual([]);
    await answer(lockRelease, 0);
    await releasing;
    expect(deletions()).toHaveLength(1);
  });

  it('stays while one of them may be sent again, as the first copy may have been carried out', async () => {
    const lease = await granted();
    const written = write(lease);
    await settle();
    writes()[0]!.fail();
    await settle();
    const releasing = lease.release();
    await settle();
    await answer(lockRelease, 0);
    await releasing;
    await clock.advance(1_000);
    expect(deletions()).toEqual([]);
    expect(writes()).toHaveLength(2);
    writes()[1]!.answer([1, [1]]); // as the server remembers it
    expect(await written).toEqual([1]);
  });
});
