import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { LockStage } from './lock-stage.js';

/**
 * Builds the stage for the tests of the `describe` around it. Each test gets a key of its own and new clients, and has to
 * leave nothing behind on the servers.
 */
export function onStage<S extends LockStage>(build: () => Promise<S>): () => S {
  let stage: S;

  beforeAll(async () => {
    stage = await build();
  }, 60_000);
  afterAll(() => stage.stop());
  beforeEach(() => stage.reset());
  afterEach(async () => {
    await stage.closeClients();
    await eventually('nothing is left', async () => {
      const remains = await stage.remains();
      if (remains.length > 0) throw new Error(remains.join(', '));
      return true;
    });
  });

  return () => stage;
}
