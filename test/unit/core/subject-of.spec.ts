import { describe, expect, it } from '@jest/globals';
import { subjectOf } from '../../../lib/core/lock-events.js';

describe('What events tell of who asks', () => {
  it('is the method that asks for a lock', () => {
    const subject = { key: 'seat', recipe: 'mutex', method: 'Seats.book' };
    expect(subjectOf('seat', 'mutex', 'Seats.book')).toEqual(subject);
    expect(subjectOf('seat', 'semaphore')).toEqual({ key: 'seat', recipe: 'semaphore' });
  });

  it.each(['leaderLatch', 'leaderSelector'] as const)(
    'is the participant that stands in a %s, which is no method',
    (recipe) => {
      const subject = subjectOf('cron', recipe, 'web-1:4711');
      expect(subject).toEqual({ key: 'cron', recipe, participant: 'web-1:4711' });
      expect(subject).not.toHaveProperty('method');
    },
  );
});
