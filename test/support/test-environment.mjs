import { AsyncLocalStorage } from 'node:async_hooks';
import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

/** The async local storages in use, of this library, of Jest and of others. */
const inUse = new Set();
const { prototype } = AsyncLocalStorage;
const { _enable: enable } = prototype; // not in later versions of Node, which have no need for this
if (enable)
  prototype._enable = function () {
    inUse.add(this);
    enable.call(this);
  };

/**
 * As Jest's for Node, but the async local storages of the test file end with it: Node serves each one that was ever used at
 * every promise of the process, also at those of all the files that the worker runs later.
 */
export default class TestEnvironment extends NodeEnvironment {
  async teardown() {
    for (const storage of inUse) storage.disable();
    inUse.clear();
    await super.teardown();
  }
}
