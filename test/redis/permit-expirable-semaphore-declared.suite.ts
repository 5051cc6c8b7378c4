import { expect, it } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { semaphoreNames } from './semaphore-names.js';

/** The option `permits`: the number that a deployment declares, against the number on the server. */
export function permitExpirableSemaphoreDeclaredSuite(stage: () => RedisStage): void {
  it('is set with the first acquire where the semaphore is new, and not before', async () => {
    const { mine, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 3 });
    expect(await stage().keys()).toEqual([]);
    await using lease = (await semaphore.tryAcquire({ permits: 3 }))!;
    expect(lease.isHeld).toBe(true);
    expect(await semaphore.getPermits()).toBe(3);
  });

  it('is changed by a deployment with another number, up and down', async () => {
    const { mine, theirs, key } = stage();
    await using lease = await mine.semaphore(key, { permits: 2 }).acquire({ permits: 2 });
    await using more = (await theirs.semaphore(key, { permits: 5 }).tryAcquire({ permits: 3 }))!;
    expect([lease.isHeld, more.isHeld]).toEqual([true, true]);
    const later = await stage().client();
    expect(await later.semaphore(key, { permits: 1 }).tryAcquire()).toBeUndefined();
    expect(await later.semaphore(key).availablePermits()).toBe(-4);
  });

  it('takes nothing away from a holder of more permits than there are now, and is reduced once they are released', async () => {
    const { mine, theirs, key } = stage();
    const held = await mine.semaphore(key, { permits: 3 }).acquire({ permits: 3 });
    const semaphore = theirs.semaphore(key, { permits: 1 });
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(held.isHeld).toBe(true);
    await held.release();
    await using one = (await semaphore.tryAcquire())!;
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect([one.isHeld, await semaphore.getPermits()]).toEqual([true, 1]);
  });

  it('wakes a waiter when it grows', async () => {
    const { mine, theirs, key } = stage();
    const small = mine.semaphore(key, { permits: 1 });
    await using _ = await small.acquire();
    const { lease: waiting } = await stage().queue(mine, mine.semaphore(key));
    await stage().listening(semaphoreNames(key).channel);
    await using second = (await theirs.semaphore(key, { permits: 3 }).tryAcquire())!;
    await using third = await waiting;
    expect([second.isHeld, third.isHeld]).toEqual([true, true]);
  });

  it('follows the last acquire while two deployments declare different numbers', async () => {
    const { mine, theirs, key } = stage();
    const semaphores = [mine.semaphore(key, { permits: 2 }), theirs.semaphore(key, { permits: 4 })];
    for (const [semaphore, permits] of [...semaphores, ...semaphores].map(
      (each, i) => [each, i % 2 === 0 ? 2 : 4] as const,
    )) {
      await (await semaphore.acquire()).release();
      expect(await semaphore.getPermits()).toBe(permits);
    }
  });

  it('leaves a number alone that was set elsewhere', async () => {
    const { mine, theirs, key } = stage();
    await stage().command('SET', key, 7);
    const semaphore = mine.semaphore(key, { permits: 3 });
    await (await semaphore.acquire()).release();
    expect(await semaphore.getPermits()).toBe(7);
    await theirs.semaphore(key).setPermits(5);
    await (await semaphore.acquire()).release();
    expect(await semaphore.getPermits()).toBe(5);
    await theirs.semaphore(key).addPermits(-1);
    await (await semaphore.acquire()).release();
    expect(await semaphore.getPermits()).toBe(4);
  });

  it('counts held and expired permits when it sets a new number', async () => {
    const { mine, theirs, key } = stage();
    const first = mine.semaphore(key, { permits: 4 });
    await using held = await first.acquire();
    const connection = stage().connection();
    const dying = await stage().client({ client: connection });
    await dying.semaphore(key).acquire({ permits: 2, lease: 200 });
    connection.disconnect();
    await eventually('its lease is over', async () => (await first.acquiredPermits()) === 1);
    const second = theirs.semaphore(key, { permits: 6 });
    await using more = (await second.tryAcquire({ permits: 5 }))!;
    expect([held.isHeld, more.isHeld]).toEqual([true, true]);
    expect(await second.getPermits()).toBe(6);
  });

  it('is set anew where the semaphore has vanished, less what is held', async () => {
    const { mine, theirs, key } = stage();
    const semaphore = mine.semaphore(key, { permits: 3 });
    await using held = await semaphore.acquire({ permits: 2 });
    await stage().command('DEL', key);
    await using last = (await theirs.semaphore(key, { permits: 3 }).tryAcquire())!;
    expect([held.isHeld, last.isHeld]).toEqual([true, true]);
    expect(await semaphore.tryAcquire()).toBeUndefined();
    expect(await semaphore.getPermits()).toBe(3);
  });
}
