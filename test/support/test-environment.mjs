import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

const LEASE_CHAIN = Symbol.for('nestjs-interlock:lease-chain');

/**
 * As Jest's for Node, but the async local storage of the test file ends with it: Node serves each one that was ever used at
 * every promise of the process, also at those of all the files that the worker runs later.
 */
export default class TestEnvironment extends NodeEnvironment {
  async teardown() {
    this.global[LEASE_CHAIN]?.disable();
    await super.teardown();
  }
}
