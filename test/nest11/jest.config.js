import base from '../../jest.config.js';

process.env.COMPILED = 'test/nest11/.compiled'; // from here Node finds the packages of this folder first

/** The suites that touch Nest, on Nest 11. */
export default {
  ...base,
  rootDir: '../..',
  modulePathIgnorePatterns: ['/\\.compiled/', '<rootDir>/dist/'],
  testMatch: [
    '<rootDir>/test/nest11/*.spec.ts',
    '<rootDir>/test/unit/(inspector|nest|opentelemetry|testing)/*.spec.ts',
    '<rootDir>/test/e2e/**/*.spec.ts',
    '<rootDir>/test/inspector/page.servers.spec.ts',
  ],
  testPathIgnorePatterns: ['/samples\\.servers\\.spec\\.ts$'], // they have packages of their own
  globalSetup: '<rootDir>/test/support/compile.mjs',
};
