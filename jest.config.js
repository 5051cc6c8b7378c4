/** Everything runs as ES modules: Nest 12 is ESM only, and Jest can load it in no other way on Node 20. */
export default {
  testEnvironment: 'node',
  extensionsToTreatAsEsm: ['.ts'],
  moduleNameMapper: { '^(\\.{1,2}/.*)\\.js$': '$1' },
  transform: { '^.+\\.ts$': ['ts-jest', { useESM: true, diagnostics: false }] },
  testMatch: ['<rootDir>/test/**/*.spec.ts'],
  testTimeout: 30_000,
};
