import { beforeEach, describe, expect, it } from '@jest/globals';
import { LockConnectionError } from '../../../lib/core/errors/index.js';
import { replyError } from '../../../lib/redis/connection/redis-error.js';
import {
  Deadline,
  retryUntilAnswered,
} from '../../../lib/redis/connection/retry-until-answered.js';
import { VirtualClock } from '../../support/time.js';

describe('A command that is refused, and sent again after a pause,', () => {
  let clock: VirtualClock;
  /** When it was sent. */
  let sent: number[];

  beforeEach(() => {
    clock = new VirtualClock();
    sent = [];
  });

  const retry = (bound: Parameters<typeof retryUntilAnswered>[2]) => {
    const send = async () => {
      sent.push(clock.now());
      throw replyError('OOM command not allowed');
    };
    return clock.runUntil(retryUntilAnswered({ hasEnded: false }, send, bound, () => 200));
  };
  const deadline = () =>
    new Deadline(clock, 500, () => new LockConnectionError('too late', { client: 'unit' }));

  it('is not sent at its deadline, when there is no time for an answer', async () => {
    await expect(retry(deadline())).rejects.toThrow('too late');
    expect([...sent, clock.now()]).toEqual([0, 200, 400, 500]);
  });
});
