import { afterAll, afterEach, beforeAll, beforeEach } from '@jest/globals';
import { eventually } from '../support/eventually.js';
import type { Backend } from './backend.js';
import type { MutexRecipe } from './mutex-recipe.js';
import { Stage } from './stage.js';

/**
 * Builds the stage for the tests of the `describe` around it. Each test gets a key of its own and new clients, and has to
 * leave no lock node behind.
 */
export function onStage(makeBackend: () => Promise<Backend>, recipe?: MutexRecipe): () => Stage {
  let stage: Stage;

  beforeAll(async () => {
    stage = await Stage.build(await makeBackend(), recipe);
  }, 60_000);
  afterAll(() => stage.stop());
  beforeEach(() => stage.reset());
  afterEach(async () => {
    await stage.closeClients();
    await eventually('no lock node is left', async () => (await stage.allNodes()).length === 0);
  });

  return () => stage;
}
