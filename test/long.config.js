import base from '../jest.config.js';

process.env.TEST_TIER = 'long';

/** Everything, in full: each case on each deployment, thousands of schedules, leaks, repeated kills. */
export default {
  ...base,
  rootDir: '..',
  maxWorkers: 3, // storms and kills need time to themselves
  testPathIgnorePatterns: ['/node_modules/'],
  testTimeout: 60_000,
};
