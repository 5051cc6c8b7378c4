import { expect, it } from '@jest/globals';
import { LockPlans } from '../../../lib/plans/plan-metadata.js';
import { LockDefaults, WithMutex } from '../../../lib/index.js';

it('@LockDefaults adds to another one of the same class, and wins over it where it stands above', () => {
  @LockDefaults({ wait: 20 })
  @LockDefaults({ wait: 'forever', client: 'orders' })
  class Twice {
    @WithMutex('twice')
    async run(): Promise<void> {}
  }
  const [plan] = LockPlans.of(Object.create(Twice.prototype) as object);
  expect(plan?.options).toEqual({ wait: 20, client: 'orders' });
});
