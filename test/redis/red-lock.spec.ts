import { describe, expect, it } from '@jest/globals';
import { LockLostError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { CriticalSection } from '../integration/support/critical-section.js';
import { lossOf } from '../integration/support/loss-of.js';
import { eventually } from '../support/eventually.js';
import { onRedLock } from './red-lock-stage.js';

describe('A mutex on five servers', () => {
  const stage = onRedLock();

  it('is held on all of them, and on none after its release', async () => {
    const client = await stage().client();
    const lease = await stage().onAll(client);
    expect([lease.isHeld, lease.key]).toEqual([true, stage().key]);
    await lease.release();
    expect(lease.isHeld).toBe(false);
    await stage().isEmpty();
  });

  it('is granted where others hold a minority (testLockSuccess, testLockSuccess2)', async () => {
    await stage().occupy(0, 3);
    const client = await stage().client();
    const lease = await client.mutex(stage().key).acquire({ wait: 5_000 });
    expect(lease.isHeld).toBe(true);
    await lease.release();
    expect(await stage().servers.having(stage().key)).toBe(2);
    expect(await client.mutex(stage().key).tryAcquire()).toMatchObject({ isHeld: true });
  });

  it('is denied where others hold a majority, which leaves nothing on the rest (testLockFailed)', async () => {
    const { key, servers } = stage();
    await stage().occupy(0, 1, 4);
    const client = await stage().client();
    expect(await client.mutex(key).tryAcquire()).toBeUndefined();
    await expect(client.mutex(key).acquire({ wait: 400 })).rejects.toThrow(LockTimeoutError);
    await eventually('only theirs are left', async () => (await servers.having(key)) === 3);
  });

  it('is granted once others have released the majority', async () => {
    const { key, servers } = stage();
    await stage().occupy(0, 1, 4);
    const client = await stage().client();
    const contended = stage().next(client, 'contended');
    const waiting = client.mutex(key).acquire();
    await contended;
    await servers.all[4]!.command('DEL', key);
    expect(await waiting).toMatchObject({ isHeld: true });
  });

  it.each([{}, { lease: 4_000 }])(
    'admits the contenders of three clients one after the other with %p (testLockLeasetimeWithSeconds, testTryLockLeasetime)',
    async (options) => {
      const section = new CriticalSection();
      let counter = 0;
      const visit = async (visitor: string, lock: ReturnType<typeof mutexOf>) => {
        const lease = await lock.acquire({ wait: 25_000, ...options });
        section.enter(visitor);
        const seen = counter;
        await new Promise(setImmediate);
        counter = seen + 1; // a second one inside would lose an update
        section.leave();
        await lease.release();
      };
      const clients = await stage().clients(3);
      const mutexOf = (client: (typeof clients)[number]) => client.mutex(stage().key);
      await Promise.all(
        Array.from({ length: 20 }, (_, i) => visit(`${i}`, mutexOf(clients[i % 3]!))),
      );
      expect([counter, section.most, new Set(section.visitors).size]).toEqual([20, 1, 20]);
      await stage().isEmpty();
    },
    60_000,
  );

  it('is renewed on every server', async () => {
    const { key, servers } = stage();
    const client = await stage().client({ watchdogTimeout: 2_500, nodeTimeout: 500 });
    const lease = await stage().onAll(client);
    const ends = (await servers.commands('PEXPIRETIME', key)) as number[];
    await eventually('the first lease would be over', () => Date.now() > Math.max(...ends));
    expect([lease.isHeld, await servers.having(key)]).toEqual([true, 5]);
    expect(lease.remaining()).toBeGreaterThan(0);
    expect(lease.remaining()).toBeLessThan(2_500);
    await lease.release();
    expect(lease.remaining()).toBe(0);
  });

  it('with a lease of its own is not renewed, and ends before the servers forget it', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    const lease = await stage().onAll(client, { lease: 2_000 });
    const ends = (await servers.commands('PEXPIRETIME', key)) as number[];
    expect(await lossOf(lease)).toBeLessThan(Math.min(...ends));
    expect(lease.isHeld).toBe(false);
    expect(lease.signal.reason).toBeInstanceOf(LockLostError);
    await stage().isEmpty();
  });

  it('is re-entered without a command to the servers', async () => {
    const { key, servers } = stage();
    const client = await stage().client();
    await client.mutex(key).using(async (outer) => {
      await servers.kill(0, 1, 2, 3, 4);
      await client.mutex(key).using((inner) => expect(inner.isHeld).toBe(true));
      expect(outer.isHeld).toBe(true);
    });
  });

  it('is not re-entered where it is not reentrant', async () => {
    const { key } = stage();
    const client = await stage().client();
    await client.semaphoreMutex(`${key} strict`).using(async () => {
      expect(await client.semaphoreMutex(`${key} strict`).tryAcquire()).toBeUndefined();
    });
  });

  it('emits its events once, whatever the servers report', async () => {
    const client = await stage().client();
    const told: string[] = [];
    for (const event of ['contended', 'acquired', 'released', 'lost', 'failed'] as const)
      client.on(event, () => told.push(event));
    const lease = await client.mutex(stage().key).acquire();
    await lease.release();
    expect(told).toEqual(['acquired', 'released']);
  });

  it('works as one of many in a multi-lock', async () => {
    const client = await stage().client();
    const locks = ['a', 'b'].map((part) => client.mutex(`${stage().key} ${part}`));
    const lease = await client.multiLock(locks).acquire();
    expect(await client.mutex(`${stage().key} b`).tryAcquire()).toBeUndefined();
    await lease.release();
    await stage().isEmpty();
  });
});
