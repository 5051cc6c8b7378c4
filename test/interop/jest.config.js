import base from '../../jest.config.js';

/** Needs the peers in other languages; `npm run test:interop` builds them first. */
export default {
  ...base,
  rootDir: '../..',
  maxWorkers: 3, // each has a Java peer
  testMatch: ['<rootDir>/test/interop/**/*.spec.ts'],
  testPathIgnorePatterns: [
    '/node_modules/',
    ...(process.env.TEST_TIER === 'long' ? [] : ['\\.long\\.spec\\.ts$']),
  ],
  testTimeout: 60_000,
};
