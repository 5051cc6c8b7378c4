import { describe, expect, it } from '@jest/globals';
import { extend, KINDS, partsOf, SINGLE_KINDS, warm } from './late-copies-kinds.js';
import { onLateCopies } from './late-copies-stage.js';

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
