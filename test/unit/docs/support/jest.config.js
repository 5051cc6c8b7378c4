import base from '../../../../jest.config.js';

/** Tests that stand in documents, written to files, on the source of the library. */
export default {
  ...base,
  rootDir: '../../../..',
  globalSetup: '<rootDir>/test/support/compile.mjs',
  reporters: ['default'],
  testMatch: ['<rootDir>/test/unit/docs/program-*/*.documented.ts'],
};
