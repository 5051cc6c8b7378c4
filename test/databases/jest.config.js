import base from '../../jest.config.js';

/** The recipes on transactions of docs/how-to.md, with TypeORM and Prisma. */
export default {
  ...base,
  rootDir: '../..',
  testMatch: ['<rootDir>/test/databases/*.spec.ts'],
  testPathIgnorePatterns: ['/node_modules/'],
  modulePathIgnorePatterns: ['/\\.compiled/', '<rootDir>/dist/', '<rootDir>/test/nest11/'],
  globalSetup: '<rootDir>/test/support/compile.mjs',
};
