import { describe, expect } from '@jest/globals';
import { LockLostError, LockNotHeldError, LockOptionsError } from '../../lib/core/errors/index.js';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { expectLost } from '../contract/backends/leases.js';
import { type CommandLog } from '../interop/support/redis-deployment.js';
import { earliest, eventually } from '../support/time.js';
import { isGranted, type OnRedis } from './support/redis-stage.js';

/** A lease that is renewed three times a second, and outlives the stalls of a busy machine. */
const SHORT = { watchdogTimeout: 1_000 };

/** The watchdog: leases are renewed for as long as they are held, and no longer. */
export function renewalSuite({ it, test, stage }: OnRedis): void {
  it('continues for a hold that follows a re-entered one (Redisson: RedissonLockExpirationRenewalTest testLockReentrantRenew)', async () => {
    const mutex = (await stage().client(SHORT)).mutex(stage().key);
    await mutex.using(() => mutex.using(() => mutex.using(() => {})));
    const log = await stage().log();
    const lease = await mutex.acquire();
    await eventually(
      'it was renewed in five periods',
      async () => (await renewals(log)).length >= 5,
    );
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });

  it('does not affect a later hold of the same client', async () => {
    const { key } = stage();
    const mutex = (await stage().client(SHORT)).mutex(key);
    await (await mutex.acquire()).release();
    const lease = await mutex.acquire({ lease: 1_500 });
    const log = await stage().log();
    await eventually('it ends', () => lease.signal.aborted);
    await eventually('it is free', async () => !(await mutex.isLocked()));
    const isRenewal = (line: string) => !line.includes('"0" "alone"'); // it is asked for with the lease 0
    expect((await renewals(log)).filter(isRenewal)).toEqual([]);
  });

  test('renews many leases with few commands', async () => {
    const keys = Array.from({ length: 250 }, (_, n) => `{${stage().key}}:${n}`);
    const client = await stage().client({ watchdogTimeout: 3_000 });
    const log = await stage().log();
    const leases = await Promise.all(keys.map((key) => client.mutex(key).acquire()));
    await eventually(
      'all were renewed twice',
      async () => {
        const told = (await renewals(log)).join('\n');
        return keys.every((key) => told.split(`"${key}" "${key}"`).length > 2);
      },
      { every: 100 },
    );
    expect((await renewals(log)).length).toBeLessThan(30);
    expect(leases.every(({ isHeld }) => isHeld)).toBe(true);
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('renews a lease that is extended with its new length', async () => {
    const { key } = stage();
    const client = await stage().client(SHORT);
    const [longer, shorter] = await Promise.all(
      ['longer', 'shorter'].map((each) => client.mutex(`{${key}}:${each}`).acquire()),
    );
    const log = await stage().log();
    await longer!.extend(1_500);
    await eventually('both were renewed', async () => {
      const told = (await renewals(log)).join('\n');
      return [/longer" .*"1500" "alone"/, /shorter" .*"1000" "alone"/].every((it) => it.test(told));
    });
    expect([longer!.isHeld, shorter!.isHeld]).toEqual([true, true]);
    await Promise.all([longer!.release(), shorter!.release()]);
  });

  test('notifies the holder of a deleted lock, and continues for the others', async () => {
    const { key } = stage();
    const client = await stage().client(SHORT);
    const keys = ['a', 'b', 'c'].map((each) => `{${key}}:${each}`);
    const [first, gone, last] = await Promise.all(keys.map((each) => client.mutex(each).acquire()));
    await stage().command('DEL', keys[1]!);
    await eventually('the signal of its holder aborts', () => gone!.signal.aborted);
    expect(gone!.signal.reason).toMatchObject({
      message: expect.stringContaining('removed by force'),
    });
    expectLost(gone!);

    const log = await stage().log();
    await eventually('the others are renewed', async () => (await renewals(log)).length > 3);
    expect((await renewals(log)).filter((line) => line.includes(keys[1]!))).toEqual([]);
    expect([first!.isHeld, last!.isHeld]).toEqual([true, true]);
    await Promise.all([first, gone, last].map((lease) => lease!.release()));
  });

  it('does not prolong the lock of its new holder', async () => {
    const { theirs, key } = stage();
    const client = await stage().client(SHORT);
    const lease = await client.mutex(key).acquire();
    await stage().command('DEL', key);
    const next = await theirs.mutex(key).acquire({ lease: 5_000 });
    await eventually('the signal of the old holder aborts', () => lease.signal.aborted);
    expect(await stage().command('PTTL', key)).toBeGreaterThan(1_000);
    await stage().command('PEXPIRE', key, 200);
    await eventually('it ends', async () => (await stage().command('EXISTS', key)) === 0);
    await Promise.all([lease.release(), next.release()]);
  });

  test('continues after a time in which the servers refused, and sends them little meanwhile', async () => {
    const keys = Array.from({ length: 50 }, (_, n) => `{${stage().key}}:${n}`);
    const client = await stage().client({ watchdogTimeout: 6_000 });
    const leases = await Promise.all(keys.map((key) => client.mutex(key).acquire()));
    const log = await stage().log();
    await stage().commands('CONFIG', 'SET', 'min-replicas-to-write', 5); // NOREPLICAS
    try {
      await eventually('it was tried again', async () => (await renewals(log)).length >= 6);
      expect((await renewals(log)).length).toBeLessThan(30);
    } finally {
      await stage().commands('CONFIG', 'SET', 'min-replicas-to-write', 0);
    }
    await eventually('the leases are whole again', () =>
      leases.every((lease) => lease.remaining() > 4_800),
    );
    await Promise.all(leases.map((lease) => lease.release()));
  });

  test('continues after the connection was cut', async () => {
    const { key } = stage();
    const states: string[] = [];
    const client = await stage().client({ watchdogTimeout: 3_000 });
    client.on('connection', ({ state }) => states.push(state));
    const lease = await client.mutex(key).acquire();
    await stage().commands('CLIENT', 'KILL', 'TYPE', 'normal');
    if (!stage().isCluster) await eventually('it is back', () => states.includes('RECONNECTED'));
    const log = await stage().log();
    await eventually('it is renewed', async () => (await renewals(log)).length > 3);
    expect(lease.isHeld).toBe(true);
    await lease.release();
  });

  it('sends nothing once nothing is held', async () => {
    const { mine, key } = stage();
    const client = await stage().client(SHORT);
    const log = await stage().log();
    const lease = await client.mutex(key).acquire();
    await eventually('it was renewed', async () => (await renewals(log)).length > 0);
    await lease.release();
    const before = (await renewals(log)).length;
    await mine.mutex(`{${key}}:timer`).acquire({ lease: 1_000 });
    await eventually('more than a period has passed', async () => {
      return (await stage().command('EXISTS', `{${key}}:timer`)) === 0;
    });
    expect((await renewals(log)).length).toBe(before);
  });

  function renewals(log: CommandLog): Promise<string[]> {
    return log.commands(lockRenew.sha1);
  }
}

/** How long a lock is held, by the clocks of the server and of the holder. */
export function lockLeaseSuite({ it, test, stage }: OnRedis): void {
  it('ends by itself where a length was given, for its holder earlier than on the server', async () => {
    const { mine, key } = stage();
    const lease = await mine.mutex(key).acquire({ lease: 1_000 });
    const left = await pttl();
    expect(left).toBeGreaterThan(0);
    expect(left).toBeLessThanOrEqual(1_000);

    const endsHere = Date.now() + lease.remaining();
    const endsThere = Number(await stage().command('PEXPIRETIME', key)); // by the same clock: it runs on this machine
    expect(endsHere).toBeLessThan(endsThere);
    await eventually('the signal of its holder aborts', () => lease.signal.aborted);
    expect(lease.signal.reason).toMatchObject({ message: expect.stringContaining('1000 ms') });
    expectLost(lease);
    await eventually('it is over on the server', async () => (await pttl()) === -2);
  });

  it('has its own length for every acquire', async () => {
    const { mine, key } = stage();
    const keys = ['a', 'b', 'c'].map((each) => `{${key}}:${each}`);
    const lengths = [5_000, 600_000, undefined];
    const leases = await Promise.all(
      keys.map((each, i) => mine.mutex(each).acquire({ lease: lengths[i] })),
    );
    for (const [i, most] of [5_000, 600_000, 30_000].entries()) {
      const left = await pttl(keys[i]);
      expect(left).toBeGreaterThan(most - 2_000);
      expect(left).toBeLessThanOrEqual(most);
      expect(leases[i]!.remaining()).toBeLessThanOrEqual(left);
    }
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('reports its remaining time (Redisson: RedissonLockTest testRemainTimeToLive)', async () => {
    const { mine, theirs, key } = stage();
    const mutex = mine.mutex(key);
    expect(await mutex.remainTimeToLive()).toBe(-2);

    for (const [lease, most] of [[3_600_000, 3_600_000] as const, [undefined, 30_000] as const]) {
      const held = await mutex.acquire({ lease });
      const left = await theirs.mutex(key).remainTimeToLive();
      expect(left).toBeGreaterThan(most - 2_000);
      expect(left).toBeLessThanOrEqual(most);
      await held.release();
      expect(await mutex.remainTimeToLive()).toBe(-2);
    }

    await using _ = await mutex.acquire();
    await stage().command('PERSIST', key);
    expect(await mutex.remainTimeToLive()).toBe(-1);
  });

  it('reports a little less remaining time to its holder than the server has, and none once it is over', async () => {
    const lease = await stage().mine.mutex(stage().key).acquire({ lease: 10_000 });
    const first = lease.remaining();
    const left = await pttl();
    expect(first).toBeLessThanOrEqual(10_000 - 102); // the server's clock may be faster than ours
    expect(first).toBeGreaterThan(8_000);
    expect(lease.remaining()).toBeLessThan(first);
    expect(left).toBeGreaterThan(lease.remaining());
    await lease.release();
    expect(lease.remaining()).toBe(0);
  });

  it('keeps its length when inner leases are released, and restarts when it is extended (Redisson: RedissonLockTest testRemainTimeToLive2)', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key);
    const lease = await mutex.acquire({ lease: 10_000 });
    await lease.run(() => mutex.using(() => mutex.using(() => {})));
    expect(lease.isHeld).toBe(true);
    await stage().command('PEXPIRE', key, 5_000);
    await lease.run(() => mutex.using(() => {}));
    expect(await pttl()).toBeLessThanOrEqual(5_000); // a re-entry sends nothing to the server

    await lease.extend(10_000);
    expect(await pttl()).toBeGreaterThan(8_000);
    await lease.release();
  });

  describe('extended', () => {
    test('outlives its original length', async () => {
      const { mine, theirs, key } = stage();
      const startedAt = performance.now();
      const lease = await mine.mutex(key).acquire({ lease: 1_000 });
      await lease.extend(60_000);
      expect(lease.remaining()).toBeGreaterThan(50_000);
      await eventually('the first lease is over', () => performance.now() - startedAt > 1_000);
      expect(lease.isHeld).toBe(true);
      expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
      await lease.release();
    });

    it('ends sooner when it is shortened', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire({ lease: 600_000 });
      await lease.extend(200);
      await eventually('the signal of its holder aborts', () => lease.signal.aborted);
      await using next = await theirs.mutex(key).acquire({ wait: 5_000 });
      expect([next.isHeld, lease.isHeld]).toEqual([true, false]);
    });

    it('continues with the new length where it is renewed', async () => {
      const { theirs, key } = stage();
      const client = await stage().client({ watchdogTimeout: 600_000 });
      const lease = await client.mutex(key).acquire();
      const startedAt = performance.now();
      await lease.extend(900);
      expect(lease.remaining()).toBeLessThan(900);
      await eventually('one and a half are over', () => performance.now() - startedAt > 1_400);
      expect(lease.isHeld).toBe(true);
      expect(await pttl()).toBeLessThanOrEqual(900);
      expect(await theirs.mutex(key).tryAcquire()).toBeUndefined();
      await lease.release();
    });

    it('can also be extended through a lease that re-entered it', async () => {
      const { mine, key } = stage();
      const mutex = mine.mutex(key);
      const lease = await mutex.acquire({ lease: 5_000 });
      await lease.run(async () => {
        await using inner = await mutex.acquire();
        await inner.extend(60_000);
      });
      expect(lease.remaining()).toBeGreaterThan(50_000);
      await lease.release();
    });

    it('rejects with the error that describes what became of the lease', async () => {
      const { mine, key } = stage();
      const mutex = mine.mutex(key);
      const short = await mutex.acquire();
      await expect(short.extend(50)).rejects.toBeInstanceOf(LockOptionsError);
      await short.release();
      await expect(short.extend(1_000)).rejects.toBeInstanceOf(LockNotHeldError);

      const forgotten = await mutex.acquire();
      await stage().command('DEL', key);
      await expect(forgotten.extend(1_000)).rejects.toBeInstanceOf(LockLostError);
      expectLost(forgotten);
      expect(await pttl()).toBe(-2);
      await forgotten.release();
    });

    it('does not prolong the hold of the current holder', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire({ lease: 60_000 });
      await stage().command('DEL', key);
      const next = await theirs.mutex(key).acquire({ lease: 5_000 });
      await expect(lease.extend(60_000)).rejects.toBeInstanceOf(LockLostError);
      expect(await pttl()).toBeLessThanOrEqual(5_000);
      await lease.release();
      expect(await pttl()).toBeGreaterThan(0);
      await next.release();
    });
  });

  describe('with maxHold', () => {
    it('is lost after that time, although it could be renewed', async () => {
      const { theirs, key } = stage();
      const client = await stage().client({ watchdogTimeout: 1_000 });
      const startedAt = performance.now();
      const lease = await client.mutex(key).acquire({ maxHold: 1_300 });
      await eventually('the signal of its holder aborts', () => lease.signal.aborted);
      expect(performance.now() - startedAt).toBeGreaterThanOrEqual(earliest(1_300));
      expect(lease.signal.reason).toMatchObject({ message: expect.stringContaining('1300 ms') });
      expectLost(lease);

      await using next = await theirs.mutex(key).acquire({ wait: 5_000 }); // it is not renewed any more
      expect(next.isHeld).toBe(true);
    });

    it('is free at once when it is released after that time', async () => {
      const { mine, theirs, key } = stage();
      const lease = await mine.mutex(key).acquire({ maxHold: 50 });
      const { lease: waiting } = await stage().queue(theirs);
      await eventually('the signal of its holder aborts', () => lease.signal.aborted);
      await lease.release();
      await isGranted(waiting);
    });

    it('ends with its release where that comes first', async () => {
      const { mine, key } = stage();
      const lost: unknown[] = [];
      mine.on('lost', (event) => lost.push(event));
      const startedAt = performance.now();
      await (await mine.mutex(key).acquire({ maxHold: 100 })).release();
      await using next = await mine.mutex(key).acquire();
      await eventually('it would be over', () => performance.now() - startedAt > 200);
      expect([next.isHeld, lost]).toEqual([true, []]);
    });
  });

  async function pttl(key = stage().key): Promise<number> {
    return (await stage().command('PTTL', key)) as number;
  }
}
