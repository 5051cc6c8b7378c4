import { AsyncLocalStorage } from 'node:async_hooks';
import { ModernFakeTimers } from '@jest/fake-timers';
import { ModuleMocker } from 'jest-mock';

/** The async local storages in use, of this library, of Jest and of others. */
const inUse = new Set();
const { prototype } = AsyncLocalStorage;
const { _enable: enable } = prototype; // not in later versions of Node, which have no need for this
if (enable)
  prototype._enable = function () {
    inUse.add(this);
    enable.call(this);
  };

/** Where Jest keeps what `jest.setTimeout` sets. */
const TIMEOUT = Symbol.for('TEST_TIMEOUT_SYMBOL');
const { console } = globalThis;
const { exit } = process;

/** Node itself, where Jest's has a realm for each file: a test has the globals that users of the library have. */
export default class Environment {
  global = globalThis;
  moduleMocker = new ModuleMocker(globalThis);

  constructor({ projectConfig }) {
    this.fakeTimersModern = new ModernFakeTimers({ config: projectConfig, global: globalThis });
  }

  exportConditions() {
    return ['node', 'node-addons'];
  }

  getVmContext() {
    return null;
  }

  async setup() {}

  /**
   * Nothing of Jest's stays for the next file. Node serves each async local storage that was ever used at every promise of the
   * process: jest-circus makes one a file.
   */
  async teardown() {
    this.fakeTimersModern.dispose();
    this.moduleMocker.restoreAllMocks();
    globalThis.console = console;
    process.exit = exit;
    delete globalThis[TIMEOUT];
    for (const storage of inUse) storage.disable();
    inUse.clear();
  }
}
