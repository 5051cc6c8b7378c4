import { expect, it } from '@jest/globals';
import {
  LockAbortedError,
  LockClientClosedError,
  LockOptionsError,
  LockTimeoutError,
} from '../../lib/core/errors/index.js';
import type { RedisLockClient } from '../../lib/redis/redis-lock-client.js';
import { earliest } from '../support/earliest.js';
import { eventually } from '../support/eventually.js';
import type { RedisStage } from './redis-stage.js';
import { scriptCalls } from './script-calls.js';

/** Time in ms after which a waiter without any message checks by itself. */
const SILENCE = 5_000;

/** How callers wait for the latch, and what ends a wait. */
export function countDownLatchWaitingSuite(stage: () => RedisStage): void {
  it('opens for a waiter when the last count is counted down (Redisson: RedissonCountDownLatchTest testAwaitTimeout)', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(2);
    const startedAt = performance.now();
    const opened = mine.countDownLatch(key).await({ wait: 20_000 });
    await stage().listening(channel());
    await theirs.countDownLatch(key).countDown();
    expect(await mine.countDownLatch(key).getCount()).toBe(1);
    await theirs.countDownLatch(key).countDown();
    await opened;
    expect(performance.now() - startedAt).toBeLessThan(SILENCE);
  });

  it('is waited for as long as requested (Redisson: RedissonCountDownLatchTest testAwaitTimeoutFail)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(2);
    await theirs.countDownLatch(key).countDown(); // not enough
    const startedAt = performance.now();
    const late = latch.await({ wait: 300 });
    await expect(late).rejects.toBeInstanceOf(LockTimeoutError);
    await expect(late).rejects.toMatchObject({ key, waitedMs: 300 });
    const waited = performance.now() - startedAt;
    expect(waited).toBeGreaterThanOrEqual(earliest(300));
    expect(waited).toBeLessThan(2_000);
    expect(await latch.getCount()).toBe(1);
    await latch.delete();
  });

  it('requires no wait and no subscription where it is open', async () => {
    const { mine, key } = stage();
    const log = await stage().log();
    await mine.countDownLatch(key).await();
    expect(await log.commands('subscribe"')).toEqual([]);
  });

  it('opens for all five waiters (Redisson: RedissonCountDownLatchTest testMultiAwait)', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(5);
    const opened = Array.from({ length: 5 }, () => latch.await({ wait: 20_000 }));
    await stage().listening(channel());
    for (let time = 0; time < 5; time++) await theirs.countDownLatch(key).countDown();
    expect(await Promise.all(opened)).toHaveLength(5);
  });

  it('opens for hundreds of waiters of two clients by one message (Redisson: CountDownLatchPubSubTest testOnZeroMessageAllListenersExecuted)', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).await(); // it is open; the server now knows the script
    await mine.countDownLatch(key).trySetCount(1);
    await stage().commands('CONFIG', 'RESETSTAT');
    const opened = [mine, theirs].flatMap((client) => waiters(client, 200));
    await eventually('all wait', async () => (await scriptCalls(stage())) >= 800); // before and after they subscribe
    await stage().listening(channel(), 2);

    const log = await stage().log();
    const startedAt = performance.now();
    await theirs.countDownLatch(key).countDown();
    expect(await Promise.all(opened)).toHaveLength(400);
    expect(performance.now() - startedAt).toBeLessThan(SILENCE - 1_000);
    expect(await log.published(key)).toHaveLength(1);
  });

  it('is counted down by one caller while another waits, a thousand times (Redisson: RedissonCountDownLatchConcurrentTest testSingleCountDownAwait_SingleInstance)', async () => {
    const { mine, key } = stage();
    const latches = Array.from({ length: 50 }, (_, n) => mine.countDownLatch(`${key}-${n}`));
    for (let round = 0; round < 20; round++) {
      const rounds = latches.map(async (latch) => {
        expect(await latch.trySetCount(1)).toBe(true);
        await Promise.all([latch.await({ wait: 20_000 }), latch.countDown()]);
        expect(await latch.getCount()).toBe(0);
      });
      await Promise.all(rounds);
    }
  });

  it('opens for a waiter when it is deleted', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(3);
    const startedAt = performance.now();
    const opened = mine.countDownLatch(key).await({ wait: 20_000 });
    await stage().listening(channel());
    await theirs.countDownLatch(key).delete();
    await opened;
    expect(performance.now() - startedAt).toBeLessThan(SILENCE);
  });

  it('opens a little later where the message is lost', async () => {
    const { mine, key } = stage();
    await mine.countDownLatch(key).trySetCount(1);
    const opened = mine.countDownLatch(key).await({ wait: 60_000 });
    await stage().listening(channel());
    await stage().command('DEL', key); // and publishes nothing
    const openedAt = performance.now();
    await opened;
    expect(performance.now() - openedAt).toBeLessThan(SILENCE + 2_000);
  }, 20_000);

  it('is waited for in spite of messages that do not open it', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    const opened = latch.await({ wait: 20_000 });
    await stage().listening(channel());
    const publish = stage().isCluster ? 'SPUBLISH' : 'PUBLISH';
    const log = await stage().log();
    for (const message of ['1', '0']) await stage().command(publish, channel(), message);
    await eventually('it has looked', async () => (await log.commands('"evalsha"')).length > 0);
    await expect(latch.await({ wait: 50 })).rejects.toBeInstanceOf(LockTimeoutError); // so it is still closed
    await theirs.countDownLatch(key).countDown();
    await opened;
  });

  it('ends the wait of a caller that aborts, and of no other', async () => {
    const { mine, theirs, key } = stage();
    await mine.countDownLatch(key).trySetCount(1);
    const abort = new AbortController();
    const why = new Error('enough');
    const impatient = mine.countDownLatch(key).await({ signal: abort.signal });
    const patient = mine.countDownLatch(key).await({ wait: 20_000 });
    await stage().listening(channel());
    abort.abort(why);
    await expect(impatient).rejects.toBeInstanceOf(LockAbortedError);
    await expect(impatient).rejects.toMatchObject({ cause: why, key });
    await theirs.countDownLatch(key).countDown();
    await patient;
    const signal = AbortSignal.abort(why);
    const again = mine.countDownLatch(key).await({ signal });
    await expect(again).rejects.toBeInstanceOf(LockAbortedError);
  });

  it('ends the wait and the subscription when the client closes', async () => {
    const { mine, theirs, key } = stage();
    const latch = mine.countDownLatch(key);
    await latch.trySetCount(1);
    const waiting = latch.await();
    waiting.catch(() => {});
    await stage().listening(channel());
    await mine.close();
    await expect(waiting).rejects.toBeInstanceOf(LockClientClosedError);
    await expect(latch.await()).rejects.toBeInstanceOf(LockClientClosedError);
    await stage().listening(channel(), 0);
    await theirs.countDownLatch(key).delete();
  });

  it.each([0, -1, NaN, Infinity, '5'])('rejects a wait of %p', async (wait) => {
    const { mine, key } = stage();
    const refused = mine.countDownLatch(key).await({ wait: wait as number });
    await expect(refused).rejects.toBeInstanceOf(LockOptionsError);
    await expect(refused).rejects.toMatchObject({ option: 'wait', value: wait, key });
  });

  function waiters(client: RedisLockClient, count: number): Promise<void>[] {
    const latch = client.countDownLatch(stage().key);
    return Array.from({ length: count }, () => latch.await({ wait: 60_000 }));
  }

  function channel(): string {
    return `redisson_countdownlatch__channel__{${stage().key}}`;
  }
}
