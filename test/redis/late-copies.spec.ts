import { describe, expect, it } from '@jest/globals';
import { LockAbortedError, LockTimeoutError } from '../../lib/core/errors/index.js';
import { eventually } from '../support/time.js';
import { type LateCopy } from '../support/redis-proxy.js';
import {
  extend,
  KINDS,
  type Leased,
  onLateCopies,
  partsOf,
  SINGLE_KINDS,
  warm,
} from './support/late-copies.js';

/** The record of holders that are gone has to outlive every copy that may still arrive. */
const LONG_ENOUGH = 15 * 60_000;

describe('A late copy of an acquire takes nothing for a holder that is gone:', () => {
  const stage = onLateCopies();

  describe.each(KINDS)('of a %s,', (_, of, rival) => {
    it.each([
      ['acquire', (lock: Leased) => lock.acquire({ lease: 60_000 })],
      ['tryAcquire', (lock: Leased) => lock.tryAcquire()],
    ])('that was released (%s)', async (_, acquire) => {
      const { mine, key } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().late(() => acquire(of(mine, key)));
      await lease!.release();
      await stage().arrive(copy);
      await isFree();
    });

    it('that was extended and released', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().late(() => of(mine, key).acquire());
      await extend(lease, 60_000);
      await lease.release();
      await stage().arrive(copy);
      await isFree();
    });

    it('that was released when the server had no memory left', async () => {
      const { mine, key, server } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().late(() => of(mine, key).acquire());
      await server.command('CONFIG', 'SET', 'maxmemory', 1);
      await lease.release();
      await mine.close();
      await server.command('CONFIG', 'SET', 'maxmemory', 0);
      await stage().arrive(copy);
      await isFree();
    });

    it('whose lease ran out', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().late(() => of(mine, key).acquire({ lease: 1_200 }));
      await eventually('its lease is over', () => !lease.isHeld);
      await mine.close(); // leaves the tombstone before
      await eventually(
        'the server has forgotten it',
        async () => (await stage().leaseLeft()) < 0 || (await stage().left()).length === 0,
      );
      await stage().arrive(copy);
      expect(await rival(stage().theirs, key).tryAcquire()).toMatchObject({ isHeld: true });
    });

    it('that was released after its grant was lost', async () => {
      const { mine, key, proxy } = stage();
      await warm(of, mine);
      proxy.holdReplies();
      const copy = proxy.replay(stage().isScript);
      const acquired = of(mine, key).acquire();
      await eventually('it is granted', async () => (await stage().left()).length > 0);
      copy.giveUp();
      proxy.resume();
      await (await acquired).release();
      await stage().arrive(copy);
      await isFree();
    });

    it('that was aborted meanwhile', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const abort = new AbortController();
      const copy = await underWay(() => of(mine, key).acquire({ signal: abort.signal }));
      abort.abort();
      await expect(copy.acquired).rejects.toBeInstanceOf(LockAbortedError);
      await settle(copy.copy);
      await stage().arrive(copy.copy);
      await isFree();
    });

    it('that timed out meanwhile', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const { acquired, copy } = await underWay(() => of(mine, key).acquire({ wait: 600 }));
      await expect(acquired).rejects.toBeInstanceOf(LockTimeoutError);
      await settle(copy);
      await stage().arrive(copy);
      await isFree();
    });

    it('that waited and was aborted', async () => {
      const { mine, theirs, key } = stage();
      await warm(of, mine);
      const held = await rival(theirs, key).acquire({ lease: 60_000 });
      const before = await stage().left();
      const abort = new AbortController();
      let contended = 0;
      mine.on('contended', () => (contended += 1));
      const { acquired, copy } = await underWay(() =>
        of(mine, key).acquire({ signal: abort.signal }),
      );
      copy.giveUp();
      await eventually('it waits', () => contended);
      abort.abort();
      await expect(acquired).rejects.toBeInstanceOf(LockAbortedError);
      await mine.close();
      await stage().arrive(copy);

      expect(await stage().left()).toEqual(before);
      await held.release();
      await isFree();
    });

    it('and a record of the holder is left only where its connection was interrupted', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      await (await of(mine, key).acquire()).release();
      await (await of(mine, key).tryAcquire())!.release();
      expect(await stage().tombstones()).toEqual([]);
      expect(await stage().left()).toEqual([]);

      const [lease] = await stage().late(() => of(mine, key).acquire());
      const holders = partsOf(lease).map(({ holder }) => holder);
      await lease.release();
      const tombstones = await stage().tombstones();
      expect(tombstones.length).toBeGreaterThan(0);
      for (const name of tombstones) {
        expect(holders.some((holder) => name.includes(holder))).toBe(true);
        expect(await stage().server.command('PTTL', name)).toBeGreaterThan(LONG_ENOUGH);
      }
    });

    /** Starts an acquire of which the first script does not arrive. */
    async function underWay(acquire: () => Promise<unknown>) {
      const copy = stage().proxy.strand(stage().isScript);
      const acquired = acquire();
      acquired.catch(() => {}); // the test awaits it later
      await eventually('it is under way', () => copy.count);
      return { acquired, copy };
    }

    /** Gives the connection up; resolves when all that is sent again was answered, and everything is released. */
    async function settle(copy: LateCopy): Promise<void> {
      copy.giveUp();
      await stage().mine.close();
    }

    /** Asserts that nothing is held, nothing waits, and another client is granted it at once. */
    async function isFree(): Promise<void> {
      const { theirs, key } = stage();
      expect(await stage().left()).toEqual([]);
      const lease = await rival(theirs, key).tryAcquire();
      expect(lease).toMatchObject({ isHeld: true });
      await lease!.release();
      expect(await of(theirs, key).tryAcquire()).toMatchObject({ isHeld: true });
    }
  });

  it('that was unlocked by force, and released', async () => {
    const { mine, theirs, key } = stage();
    await warm((client, key) => client.mutex(key), mine);
    const [lease, copy] = await stage().late(() => mine.mutex(key).acquire());
    expect(await theirs.mutex(key).forceUnlock()).toBe(true);
    await lease.release();
    await stage().arrive(copy);
    expect(await stage().left()).toEqual([]);
    expect(await theirs.mutex(key).tryAcquire()).toBeDefined();
  });

  it('that was released after its permit was released by its id', async () => {
    const { mine, theirs, key } = stage();
    const of = (client: typeof mine) => client.semaphore(key, { permits: 1 });
    await warm((client, key) => client.semaphore(key, { permits: 1 }), mine);
    const [lease, copy] = await stage().late(() => of(mine).acquire());
    await of(theirs).release(lease.permitIds);
    await lease.release();
    await stage().arrive(copy);
    expect(await of(theirs).availablePermits()).toBe(1);
    expect(await of(theirs).tryAcquire()).toBeDefined();
  });
});

/** In ms, each far from the next: no test takes that long. */
const WATCHDOG = 12_000;
const SHORT = 30_000;
const LONG = 120_000;
const LONGER = 400_000;

const LEASES = [
  ['with a lease', { lease: WATCHDOG }],
  ['renewed', {}],
] as const;

describe('A late copy does not shorten the lease', () => {
  const stage = onLateCopies({ watchdogTimeout: WATCHDOG });

  describe.each(KINDS)('of a %s', (_, of, rival) => {
    it.each(LEASES)('when it is a copy of the acquire (%s)', async (_, options) => {
      const { mine, theirs, key } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().late(() => of(mine, key).acquire(options));
      await extend(lease, LONG);
      await stage().arrive(copy);

      expect(await stage().leaseLeft()).toBeGreaterThan(LONG / 2);
      expect(await rival(theirs, key).tryAcquire()).toBeUndefined();
      expect(lease.isHeld).toBe(true);
    });

    it('when it is a second copy of an acquire that was answered', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().replayed(() => of(mine, key).acquire());
      await extend(lease, LONG);
      await stage().arrive(copy);
      expect(await stage().leaseLeft()).toBeGreaterThan(LONG / 2);
      await lease.release();
    });

    it('when it is a copy of a renewal', async () => {
      const { mine, theirs, key } = stage();
      await warm(of, mine);
      const lease = await of(mine, key).acquire();
      const copy = await stage().lateRenewal();
      await extend(lease, LONG);
      await stage().arrive(copy);

      expect(await stage().leaseLeft()).toBeGreaterThan(LONG / 2);
      expect(await rival(theirs, key).tryAcquire()).toBeUndefined();
      expect(lease.isHeld).toBe(true);
    });

    it('when it is a copy of an extend that was refused, as was a longer one that renewals have replaced since', async () => {
      const { mine, key, server, proxy } = stage();
      await warm(of, mine);
      const lease = await of(mine, key).acquire();
      const copy = proxy.strand(stage().isScript);
      const shorter = extend(lease, SHORT);
      shorter.catch(() => {}); // awaited below
      await eventually('it is under way', () => copy.count);
      await server.command('CONFIG', 'SET', 'min-replicas-to-write', 1);
      copy.giveUp();
      await expect(shorter).rejects.toThrow('NOREPLICAS');
      await expect(extend(lease, LONG)).rejects.toThrow('NOREPLICAS');
      await server.command('CONFIG', 'SET', 'min-replicas-to-write', 0);
      proxy.cut((command) => command.includes(String(LONG)));
      const renewed = async () => (await stage().leaseLeft()) > LONG / 2;
      await eventually('it is renewed', renewed);
      await stage().arrive(copy);

      expect(await renewed()).toBe(true);
      expect(lease.isHeld).toBe(true);
    });

    it.each([
      ['shorter one after a longer one', SHORT, LONGER, LONG, LONGER],
      ['longer one after a shorter one', LONGER, SHORT, 0, SHORT],
    ])('or apply a %s: the newer extend stays in force', async (_, older, newer, least, most) => {
      const { mine, key } = stage();
      await warm(of, mine);
      const lease = await of(mine, key).acquire();
      const copies = [];
      for (const part of partsOf(lease)) {
        const [, copy] = await stage().late(() => part.extend(older));
        copies.push(copy);
      }
      await extend(lease, newer);
      for (const copy of copies) await stage().arrive(copy);

      const left = await stage().leaseLeft();
      expect(left).toBeGreaterThan(least);
      expect(left).toBeLessThanOrEqual(most);
      expect(lease.isHeld).toBe(true);
    });
  });

  it('of any lock when it is a copy of a renewal of many at once', async () => {
    const { mine, theirs, key } = stage();
    const locks = SINGLE_KINDS.map(([name, of, rival]) => ({ of, rival, key: `${key} ${name}` }));
    const all = await Promise.all(
      locks.map(async ({ of, rival, key }) => {
        await warm(of, mine);
        return { lease: await of(mine, key).acquire(), rival, key };
      }),
    );
    const copy = await stage().lateRenewal((command) =>
      all.every(({ key }) => command.some((arg) => arg.includes(key))),
    );
    for (const { lease } of all) await extend(lease, LONG);
    await stage().arrive(copy);

    for (const { lease, rival, key } of all) {
      expect(await rival(theirs, key).tryAcquire()).toBeUndefined();
      expect(lease.isHeld).toBe(true);
    }
    for (const lock of locks) expect(await stage().leaseLeft(lock.key)).toBeGreaterThan(LONG / 2);
  });

  describe.each(SINGLE_KINDS)('of a %s that is kept for a while after its use', (_, of, rival) => {
    it('when it is a copy of the acquire', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const [lease, copy] = await stage().late(() => of(mine, key).acquire());
      await leaveFor(LONG, lease);
      await stage().arrive(copy);
      await isKept();
    });

    it('when it is a copy of a renewal', async () => {
      const { mine, key } = stage();
      await warm(of, mine);
      const lease = await of(mine, key).acquire();
      const copy = await stage().lateRenewal();
      await leaveFor(LONG, lease);
      await stage().arrive(copy);
      await isKept();
    });

    it.each([
      ['shorter', SHORT],
      ['longer', LONGER],
    ])('when it is a copy of an extend to a %s time', async (_, older) => {
      const { mine, key } = stage();
      await warm(of, mine);
      const lease = await of(mine, key).acquire();
      const [, copy] = await stage().late(() => extend(lease, older));
      await leaveFor(LONG, lease);
      await stage().arrive(copy);
      await isKept();
    });

    async function isKept(): Promise<void> {
      const { theirs, key } = stage();
      const left = await stage().leaseLeft();
      expect(left).toBeGreaterThan(LONG / 2);
      expect(left).toBeLessThanOrEqual(LONG);
      expect(await rival(theirs, key).tryAcquire()).toBeUndefined();
    }
  });

  /** Releases it as `@RunOnce({ atLeast })` does. */
  async function leaveFor(ms: number, lease: Parameters<typeof partsOf>[0]): Promise<void> {
    for (const { hold } of partsOf(lease)) hold.atLeast = ms;
    await lease.release();
  }
});
