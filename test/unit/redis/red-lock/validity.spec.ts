import { describe, expect, it } from '@jest/globals';
import { lockRenew } from '../../../../lib/redis/scripts/index.js';
import { RedLockOnFakes } from './red-lock-on-fakes.js';

const LEASE = 10_000;
/** What a clock that runs faster may take off: a hundredth, and 2 ms. */
const DRIFT = 102;
const GRANTED = [1, 0];
const TAKEN = [0, 5_000];

describe('The validity of a lock on five servers', () => {
  const connect = () => RedLockOnFakes.connect({ nodeTimeout: 1_000 });

  it('is the lease less what the answers took, and less the drift', async () => {
    const { fakes, client } = await connect();
    const acquired = client.mutex('key').acquire({ lease: LEASE });
    await fakes.clock.advance(400);
    for (const asked of fakes.asked) asked.answer(GRANTED);
    const lease = await fakes.clock.runUntil(acquired);
    expect(lease.remaining()).toBe(LEASE - DRIFT - 400);
    await fakes.clock.advance(LEASE - DRIFT - 401);
    expect([lease.isHeld, lease.remaining()]).toEqual([true, 1]);
    await fakes.clock.advance(1);
    expect([lease.isHeld, lease.signal.aborted]).toEqual([false, true]);
  });

  it('ends by the clock, although the timers are late', async () => {
    const { fakes, client } = await connect();
    const acquired = client.mutex('key').acquire({ lease: LEASE });
    await fakes.clock.advance(0);
    for (const asked of fakes.asked) asked.answer(GRANTED);
    const lease = await fakes.clock.runUntil(acquired);
    fakes.clock.stall(LEASE - DRIFT);
    expect([lease.isHeld, lease.remaining()]).toEqual([false, 0]);
  });

  it('needs three grants: two, with three refusals, are released at once', async () => {
    const { fakes, client } = await connect();
    const acquired = client.mutex('key').tryAcquire({ lease: LEASE });
    await fakes.clock.advance(0);
    fakes.asked.forEach((asked, i) => asked.answer(i < 2 ? GRANTED : TAKEN));
    expect(await fakes.clock.runUntil(acquired)).toBeUndefined();
    const sent = fakes.nodes.map(
      (node) => node.sent.filter(({ name }) => name === 'evalsha').length,
    );
    expect(sent).toEqual([2, 2, 1, 1, 1]); // a release where it was granted
  });

  it('does not wait for the other two', async () => {
    const { fakes, client } = await connect();
    const acquired = client.mutex('key').acquire({ lease: LEASE });
    await fakes.clock.advance(0);
    for (const asked of fakes.asked.slice(2)) asked.answer(GRANTED);
    const lease = await fakes.clock.runUntil(acquired);
    expect([lease.isHeld, fakes.clock.now()]).toEqual([true, 0]);
  });

  it('asks all five again after a release, also those that have not answered yet', async () => {
    const { fakes, client } = await connect();
    const mutex = client.mutex('key');
    const acquired = mutex.acquire({ lease: LEASE });
    await fakes.clock.advance(0);
    const [first, second, ...others] = fakes.asked;
    for (const asked of others) asked.answer(GRANTED);
    const lease = await fakes.clock.runUntil(acquired);
    const released = lease.release();
    await fakes.clock.advance(0);
    for (const asked of fakes.asked.slice(2)) asked.answer(1);
    await fakes.clock.runUntil(released);
    const tried = expect(mutex.tryAcquire({ lease: LEASE })).rejects.toMatchObject({
      code: 'LOCK_KEY',
    });
    await fakes.clock.advance(0);
    const asked = fakes.asked;
    expect(asked.slice(0, 2)).not.toEqual([first, second]);
    for (const each of asked.slice(3)) each.answer(GRANTED);
    for (const each of asked.slice(0, 3)) each.refuse('WRONGTYPE not a hash');
    await fakes.clock.runUntil(tried);
  });

  it('is kept for `atLeast` by servers that grant the lock after it was released', async () => {
    const { fakes, client } = await connect();
    const acquired = client.mutex('key').acquire({ lease: LEASE });
    await fakes.clock.advance(0);
    const [first, second, ...others] = fakes.asked;
    for (const asked of others) asked.answer(GRANTED);
    const lease = await fakes.clock.runUntil(acquired);
    lease.hold.atLeast = 60_000;
    void lease.release();
    await fakes.clock.advance(0);
    for (const asked of [first!, second!]) asked.answer(GRANTED);
    await fakes.clock.advance(0);
    const [late] = fakes.asked;
    expect(late).not.toBe(first);
    expect(late!.args).toEqual([
      lockRenew.sha1,
      2,
      'key',
      'key',
      expect.anything(),
      60_000,
      'alone',
      1,
      1,
    ]);
  });

  it('is not there when the event loop stood still until the grants were over', async () => {
    const { fakes, client } = await connect();
    const acquired = client.mutex('key').tryAcquire({ lease: LEASE });
    await fakes.clock.advance(0);
    const asked = fakes.asked;
    for (const each of asked.slice(0, 2)) each.answer(GRANTED);
    await fakes.clock.advance(0);
    fakes.clock.stall(LEASE);
    for (const each of asked.slice(2)) each.answer(TAKEN);
    expect(await fakes.clock.runUntil(acquired.catch(() => undefined))).toBeUndefined();
  });

  /** How far the answer has come to the caller when the abort comes in between. */
  const STEPS = Array.from({ length: 40 }, (_, i) => i);

  it.each(STEPS)('leaves no grant that meets an abort after %i steps', async (steps) => {
    const { fakes, client } = await connect();
    const controller = new AbortController();
    const acquired = client.mutex('key').acquire({ signal: controller.signal });
    const aborted = expect(acquired).rejects.toMatchObject({ code: 'LOCK_ABORTED' });
    await fakes.clock.advance(0);
    for (const asked of fakes.asked) asked.answer(TAKEN);
    const gate = fakes.nodes[0]!;
    const before = gate.sent.length;
    await fakes.clock.runUntil(() => gate.sent.length > before);
    gate.last.answer(GRANTED);
    for (let step = 0; step < steps; step++) await Promise.resolve();
    controller.abort();
    await aborted;
    await fakes.clock.advance(0);
    expect(gate.last.args).not.toEqual(gate.sent[before]!.args);
    expect(gate.sent.length).toBeGreaterThan(before + 1);
  });
});
