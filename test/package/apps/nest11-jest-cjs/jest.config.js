module.exports = {
  testEnvironment: 'node',
  testMatch: ['<rootDir>/test/*.test.ts'],
  transform: { '^.+\\.ts$': 'ts-jest' },
};
