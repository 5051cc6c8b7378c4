import { createRequire } from 'node:module';
import { expect, it } from '@jest/globals';
import { LockTesting } from '../../../lib/testing/index.js';

it('A simulated Redis is refused where Lua would write 1 as 1.0, as others have loaded it', async () => {
  createRequire(import.meta.url)('fengari');
  const client = new LockTesting().createRedisClient();
  await expect(client).rejects.toMatchObject({
    code: 'LOCK_CONNECTION',
    message: expect.stringContaining('Make a client on a simulated Redis first'),
  });
});
