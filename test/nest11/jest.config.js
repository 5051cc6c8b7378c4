import base from '../../jest.config.js';

/** The suites that touch Nest or need no server, on Nest 11. */
export default {
  ...base,
  rootDir: '../..',
  resolver: '<rootDir>/test/nest11/resolver.cjs',
  modulePathIgnorePatterns: ['<rootDir>/dist/'],
  testMatch: [
    '<rootDir>/test/nest11/*.spec.ts',
    '<rootDir>/test/unit/**/*.spec.ts',
    '<rootDir>/test/contract/**/*embedded*.spec.ts',
    '<rootDir>/test/e2e/**/*.spec.ts',
  ],
  // They run apps in processes of their own, where Nest is the one of the folder above, or are about documents.
  testPathIgnorePatterns: [
    '/(samples|terminated|leader-replicas)\\.servers\\.spec\\.ts$',
    '/test/unit/docs/',
  ],
  globalSetup: undefined,
};
