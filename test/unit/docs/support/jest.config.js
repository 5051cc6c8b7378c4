import base from '../../../../jest.config.js';

/** Tests that stand in documents, written to files, on the source of the library. */
export default {
  ...base,
  rootDir: '../../../..',
  globalSetup: undefined,
  reporters: ['default'],
  testMatch: ['<rootDir>/test/unit/docs/program-*/*.documented.ts'],
  moduleNameMapper: {
    ...base.moduleNameMapper,
    '^nestjs-interlock$': '<rootDir>/lib/index.ts',
    '^nestjs-interlock/core$': '<rootDir>/lib/standalone/index.ts',
    '^nestjs-interlock/(\\w+)$': '<rootDir>/lib/$1/index.ts',
  },
};
