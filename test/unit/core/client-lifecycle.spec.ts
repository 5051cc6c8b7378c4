import { createHook } from 'node:async_hooks';
import { describe, expect, it } from '@jest/globals';
import { createEmbeddedLockClient } from '../../../lib/embedded/create-embedded-lock-client.js';

/** How many promises are made meanwhile. */
async function promisesOf(work: () => Promise<void>): Promise<number> {
  let promises = 0;
  const hook = createHook({ init: (_id, type) => void (promises += Number(type === 'PROMISE')) });
  hook.enable();
  await work();
  hook.disable();
  return promises;
}

describe('The close of a client', () => {
  it('starts nothing for locks that it does not hold', async () => {
    const client = createEmbeddedLockClient('idle');
    await client.connect();
    const promises = await promisesOf(() => client.close());
    expect(promises).toBeGreaterThan(0);
    expect(promises).toBeLessThan(500); // up to a thousand locks are freed at the same time
  });
});
