export default {
  testEnvironment: '<rootDir>/test/support/jest/environment.mjs',
  runtime: '<rootDir>/test/support/jest/runtime.cjs',
  modulePathIgnorePatterns: [
    '/\\.compiled/',
    '<rootDir>/dist/',
    '<rootDir>/test/databases/',
    '<rootDir>/test/nest11/',
  ],
  fakeTimers: { doNotFake: ['nextTick'] }, // Node itself goes by it
  transform: {},
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/interop/', '\\.long\\.spec\\.ts$'],
  testTimeout: 30_000,
  globalSetup: '<rootDir>/test/support/jest/provide-servers.mjs',
  reporters: ['default', '<rootDir>/test/support/jest/total-reporter.mjs'],
  // Most of the time the tests wait for servers: with eight files at a time two cores are busy, with three they idle half of it.
  // More would starve each other: a file may run three Java servers, and sessions that a test wants kept would expire.
  maxWorkers: 8,
  testSequencer: '<rootDir>/test/support/jest/longest-first.mjs',
};
