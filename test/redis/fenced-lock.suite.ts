import { expect, it } from '@jest/globals';
import { LockLostError } from '../../lib/core/errors/index.js';
import { expectLost } from '../contract/expect-lost.js';
import type { RedisStage } from './redis-stage.js';

/** Tokens that grow with every grant. */
export function fencedLockSuite(stage: () => RedisStage): void {
  it('gives every grant the next token, however it was requested (Redisson: RedissonFencedLockTest testTokenIncrease)', async () => {
    const { mine, theirs, key } = stage();
    const [fenced, plain] = [mine.mutex(key, { fenced: true }), theirs.mutex(key)];
    const grants = [
      () => fenced.acquire(),
      () => fenced.acquire({ lease: 10_000 }),
      () => plain.acquire(),
      () => fenced.tryAcquire(),
      () => fenced.acquire({ wait: 1_000, lease: 10_000 }),
    ];
    const tokens: bigint[] = [];
    for (const grant of grants) {
      await using lease = await grant();
      tokens.push(await lease!.fencingToken());
    }
    expect(tokens).toEqual([1n, 2n, 3n, 4n, 5n]);
  });

  it('counts in a key that does not expire and is kept', async () => {
    const { mine, key } = stage();
    const { token } = stage().names;
    for (const count of ['1', '2']) {
      const lease = await mine.mutex(key, { fenced: true }).acquire();
      expect(await stage().keys()).toEqual([key, token]);
      expect(Object.keys(await stage().fields(key)).sort()).toEqual(
        [lease.holder, 'nestjs-interlock'].sort(),
      );
      expect(await stage().command('GET', token)).toBe(count);
      expect(await stage().command('PTTL', token)).toBe(-1);
      await lease.release();
    }
    expect(await stage().keys()).toEqual([token]);
    await mine.mutex(key).forceUnlock();
    expect(await stage().command('GET', token)).toBe('2');
  });

  it('shows its token in the activity of its client; a lock that is not fenced does so once the token was requested', async () => {
    const { mine, key } = stage();
    const tokens = () => mine.activity().map(({ fencingToken }) => fencingToken);
    await mine.mutex(key, { fenced: true }).using(() => expect(tokens()).toEqual([1n]));
    await mine.mutex(key).using(async (lease) => {
      expect(tokens()).toEqual([undefined]);
      await lease.fencingToken();
      expect(tokens()).toEqual([2n]);
    });
  });

  it('has its token from the grant, and sends no further command', async () => {
    const { mine, key } = stage();
    await using lease = await mine.mutex(key, { fenced: true }).acquire();
    await stage().command('SET', stage().names.token, 1_000); // another client was granted the lock by a server that had lost our lease
    expect(await lease.fencingToken()).toBe(1n);
    await stage().command('DEL', key);
    expect(await lease.fencingToken()).toBe(1n);
  });

  it('keeps its token for the leases that re-enter it', async () => {
    const { mine, key } = stage();
    const mutex = mine.mutex(key, { fenced: true });
    await using lease = await mutex.acquire();
    const inner = await lease.run(() => mutex.using((again) => again.fencingToken()));
    expect([inner, await lease.fencingToken()]).toEqual([1n, 1n]);
  });

  it('gives a waiter a greater token than the holder before it', async () => {
    const { mine, theirs, key } = stage();
    const first = await mine.mutex(key, { fenced: true }).acquire();
    const token = await first.fencingToken();
    const { lease: waiting } = await stage().queue(theirs, theirs.mutex(key, { fenced: true }));
    await first.release();
    await using second = await waiting;
    expect([token, await second.fencingToken()]).toEqual([1n, 2n]);
  });

  it('uses up no token for attempts that are not granted', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key, { fenced: true }).acquire();
    for (let time = 0; time < 3; time++)
      expect(await theirs.mutex(key, { fenced: true }).tryAcquire()).toBeUndefined();
    await lease.release();
    await using next = await theirs.mutex(key, { fenced: true }).acquire();
    expect(await next.fencingToken()).toBe(2n);
  });

  it('counts a token of a plain mutex only when it is requested, and once', async () => {
    const { mine, key } = stage();
    await (await mine.mutex(key).acquire()).release();
    expect(await stage().keys()).toEqual([]);
    const lease = await mine.mutex(key).acquire();
    const [token, again] = await Promise.all([lease.fencingToken(), lease.fencingToken()]);
    expect([token, again, await lease.fencingToken()]).toEqual([1n, 1n, 1n]);
    await lease.release();
  });

  it('rejects a token of a plain mutex once another client may have a greater one', async () => {
    const { mine, theirs, key } = stage();
    const lease = await mine.mutex(key).acquire();
    await stage().command('DEL', key);
    await using next = await theirs.mutex(key).acquire();
    expect(await next.fencingToken()).toBe(1n);
    await expect(lease.fencingToken()).rejects.toBeInstanceOf(LockLostError);
    expectLost(lease);
    expect(await stage().command('GET', stage().names.token)).toBe('1');
    await lease.release();
  });
}
