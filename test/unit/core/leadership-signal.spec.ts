import { afterEach, beforeEach, describe, expect, it } from '@jest/globals';
import { LockLostError, LockNotHeldError, type LockClient } from '../../../lib/index.js';
import { LockTesting } from '../../../lib/testing/index.js';

describe('The signal of a leadership', () => {
  const locks = new LockTesting();
  let client: LockClient;

  beforeEach(async () => {
    client = locks.createClient(expect.getState().currentTestName);
    await client.connect();
  });
  afterEach(() => client.close());

  const elected = async () => {
    const latch = client.leaderLatch('mailer');
    latch.start();
    return { latch, leadership: await latch.awaitLeadership() };
  };

  it('aborts when its latch is closed: others may lead then', async () => {
    const { latch, leadership } = await elected();
    const { signal } = leadership;
    await latch.close();
    expect(signal.reason).toBeInstanceOf(LockLostError);
    expect((signal.reason as Error).message).toContain('its latch was closed');
    expect(leadership.isHeld).toBe(false);
    expect(() => leadership.assertHeld()).toThrow(LockNotHeldError);
  });

  it('has aborted for a caller that asks for it later', async () => {
    const { latch, leadership } = await elected();
    await latch.close();
    expect(leadership.signal.reason).toBeInstanceOf(LockLostError);
  });

  it('aborts for work that went on before, and not for what is entered and may end', async () => {
    const { latch, leadership } = await elected();
    const entered = latch.enter()!;
    const { signal } = leadership;
    const closing = latch.close();
    expect(signal.aborted).toBe(true);
    expect([entered.isHeld, entered.signal.aborted]).toEqual([true, false]);
    await entered.release();
    await closing;
    expect(client.activity()).toEqual([]);
  });

  it.each(['lost', 'closed'])(
    'has aborted when the listeners are notified that it is %s',
    async (end) => {
      const { latch, leadership } = await elected();
      const told: boolean[] = [];
      latch.onLeadershipLost(() => told.push(leadership.signal.aborted));
      if (end === 'closed') await latch.close('NOTIFY_LEADER');
      else await locks.loseLease('mailer', client.name);
      expect(told).toEqual([true]);
      await latch.close();
    },
  );

  it('keeps the reason for which it was lost before', async () => {
    const { latch, leadership } = await elected();
    const { signal } = leadership;
    await locks.loseLease('mailer', client.name);
    const { reason } = signal;
    await latch.close();
    expect(leadership.signal.reason).toBe(reason);
  });
});
