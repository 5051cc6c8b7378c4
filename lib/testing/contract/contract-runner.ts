/** What a contract needs of a test runner: Jest, Vitest, Mocha and `node:test` all have it. */
export interface ContractRunner {
  readonly describe: (name: string, body: () => void) => unknown;
  readonly it: (name: string, body: () => Promise<void>) => unknown;
  readonly beforeEach: (body: () => Promise<void>) => unknown;
  readonly afterEach: (body: () => Promise<void>) => unknown;
}
