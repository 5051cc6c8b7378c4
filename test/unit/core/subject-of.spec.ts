import { describe, expect, it } from '@jest/globals';
import { lockSubject } from '../../../lib/core/lock-events.js';

describe('What events report of the caller', () => {
  it('is the method that asks for a lock', () => {
    const subject = { key: 'seat', recipe: 'mutex', method: 'Seats.book' };
    expect(lockSubject('seat', 'mutex', 'Seats.book')).toEqual(subject);
    expect(lockSubject('seat', 'semaphore')).toEqual({ key: 'seat', recipe: 'semaphore' });
  });

  it.each(['leaderLatch', 'leaderSelector'] as const)(
    'is the participant that stands in a %s, which is no method',
    (recipe) => {
      const subject = lockSubject('cron', recipe, 'web-1:4711');
      expect(subject).toEqual({ key: 'cron', recipe, participant: 'web-1:4711' });
      expect(subject).not.toHaveProperty('method');
    },
  );
});
