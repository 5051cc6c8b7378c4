import base from '../../jest.config.js';

/** The suites that touch Nest, on Nest 11. */
export default {
  ...base,
  rootDir: '../..',
  resolver: '<rootDir>/test/nest11/resolver.cjs',
  modulePathIgnorePatterns: ['<rootDir>/.compiled/', '<rootDir>/dist/'],
  testMatch: [
    '<rootDir>/test/nest11/*.spec.ts',
    '<rootDir>/test/unit/(inspector|nest|opentelemetry|testing)/*.spec.ts',
    '<rootDir>/test/e2e/**/*.spec.ts',
    // The app with the page is on Nest 11, the processes that it asks are on the Nest of the folder above.
    '<rootDir>/test/inspector/page.servers.spec.ts',
  ],
  // They run apps in processes of their own, where Nest is the one of the folder above.
  testPathIgnorePatterns: [
    '/(failed-boot|samples|terminated|leader-replicas)\\.servers\\.spec\\.ts$',
  ],
  globalSetup: '<rootDir>/test/support/compile.mjs',
};
