/** Everything runs as ES modules: Nest 12 is ESM only, and Jest can load it in no other way on Node 20. */
export default {
  testEnvironment: '<rootDir>/test/support/test-environment.mjs',
  extensionsToTreatAsEsm: ['.ts'],
  moduleFileExtensions: ['ts', 'js', 'mjs', 'cjs', 'json', 'node'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  modulePathIgnorePatterns: [
    '<rootDir>/.compiled/',
    '<rootDir>/dist/',
    '<rootDir>/test/databases/',
    '<rootDir>/test/nest11/',
  ],
  transform: { '^.+\\.ts$': '@swc/jest' },
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/', '<rootDir>/test/interop/', '\\.long\\.spec\\.ts$'],
  testTimeout: 30_000,
  globalSetup: '<rootDir>/test/support/provide-servers.mjs',
  reporters: ['default', '<rootDir>/test/support/total-reporter.mjs'],
  // Most of the time the tests wait for servers: with seven files at a time two cores are busy, with three they idle half of it.
  // More would starve each other: a file may run three Java servers, and sessions that a test wants kept would expire.
  maxWorkers: 7,
  // ES modules of finished test files stay in memory, and a worker that has too many of them only collects garbage. The scripts
  // give each one more room for young objects (`--max-semi-space-size`), which takes a tenth off the whole run, and have V8
  // optimize later (`--interrupt-budget`), as the modules are new in each file.
  workerIdleMemoryLimit: '500MB',
  testSequencer: '<rootDir>/test/support/longest-first.mjs',
};
