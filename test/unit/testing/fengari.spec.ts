import { createRequire } from 'node:module';
import { afterEach, beforeEach, expect, it } from '@jest/globals';
import type * as testing from '../../../lib/testing/index.js';
import { withCopy } from '../../support/copies.js';

const load = createRequire(import.meta.url);
const isFengari = ([path]: [string, unknown]) => path.includes('/node_modules/fengari/');
let loaded: [string, NodeJS.Module | undefined][];

function unload(): void {
  for (const [path] of Object.entries(load.cache).filter(isFengari)) delete load.cache[path];
}

beforeEach(() => {
  loaded = Object.entries(load.cache).filter(isFengari);
  unload();
});
afterEach(() => {
  unload();
  for (const [path, module] of loaded) load.cache[path] = module;
});

it('A simulated Redis is refused where Lua would write 1 as 1.0, as others have loaded it', async () => {
  load('fengari');
  await withCopy<typeof testing>('testing/index', async ({ LockTesting }) => {
    await expect(new LockTesting().createRedisClient()).rejects.toMatchObject({
      code: 'LOCK_CONNECTION',
      message: expect.stringContaining('Make a client on a simulated Redis first'),
    });
  });
});
