/** What `@jest/globals` exports to the tests, for the file that runs at the time. */
export let afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest;

export function provide(globals) {
  ({ afterAll, afterEach, beforeAll, beforeEach, describe, expect, it, jest } = globals);
}
