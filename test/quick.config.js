import base from '../jest.config.js';

process.env.TEST_TIER = 'quick';

/** What needs neither a server nor the native driver. */
export default {
  ...base,
  rootDir: '..',
  maxWorkers: 3, // it waits for nothing
  testPathIgnorePatterns: [
    ...base.testPathIgnorePatterns,
    '<rootDir>/test/(redis|faults|storm)/',
    'exploration\\.spec\\.ts$', // every order of what may happen: some seconds for each world
    '\\.servers\\.spec\\.ts$',
  ],
  globalSetup: '<rootDir>/test/support/compile.mjs',
};
