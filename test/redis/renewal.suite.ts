import { expect, it } from '@jest/globals';
import { lockRenew } from '../../lib/redis/scripts/index.js';
import { expectLost } from '../contract/expect-lost.js';
import type { CommandLog } from '../interop/support/command-log.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';

/** A lease that is renewed three times a second, and outlives the stalls of a busy machine. */
const SHORT = { watchdogTimeout: 1_000 };

/** The watchdog: leases are renewed for as long as they are held, and no longer. */
export function renewalSuite(stage: () => RedisStage): void {
  it('continues for a hold that follows a re-entered one (Redisson: RedissonLockExpirationRenewalTest testLockReentrantRenew)', async () => {
    const mutex = (await stage().client(SHORT)).mutex(stage().key);
    await mutex.using(() => mutex.using(() => mutex.using(() => {})));
    const log = await stage().log();
    const lease = await mutex.acquire();
    await eventually(
      'it was renewed in ten periods',
      async () => (await renewals(log)).length >= 10,
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
    expect(await renewals(log)).toEqual([]);
  });

  it('renews many leases with few commands', async () => {
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

  it('notifies the holder of a deleted lock, and continues for the others', async () => {
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
    await eventually('the others are renewed', async () => (await renewals(log)).length > 6);
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

  it('continues after a time in which the servers refused, and sends them little meanwhile', async () => {
    const keys = Array.from({ length: 50 }, (_, n) => `{${stage().key}}:${n}`);
    const client = await stage().client({ watchdogTimeout: 3_000 });
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
      leases.every((lease) => lease.remaining() > 2_400),
    );
    await Promise.all(leases.map((lease) => lease.release()));
  });

  it('continues after the connection was cut', async () => {
    const { key } = stage();
    const states: string[] = [];
    const client = await stage().client(SHORT);
    client.on('connection', ({ state }) => states.push(state));
    const lease = await client.mutex(key).acquire();
    await stage().commands('CLIENT', 'KILL', 'TYPE', 'normal');
    if (!stage().isCluster) await eventually('it is back', () => states.includes('RECONNECTED'));
    const log = await stage().log();
    await eventually('it is renewed', async () => (await renewals(log)).length > 5);
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
