/** A part of `lib`, and the tests that are to catch its mutants. */
export interface Area {
  /** Files and folders below `lib`. */
  readonly lib: readonly string[];
  /** Arguments of `npm test`, the fast ones first: a stage runs when those before it have caught nothing. */
  readonly tests: readonly (readonly string[])[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  core: {
    lib: ['core'],
    tests: [
      ['test/unit/core'],
      ['test/contract/embedded'],
      ['test/contract/red(is|-lock).servers'],
    ],
  },
  zookeeper: {
    lib: ['atomic', 'barriers', 'connection', 'locks', 'nodes', 'semaphores', 'shared'].map(
      (folder) => `zookeeper/${folder}`,
    ),
    tests: [
      ['test/unit/zookeeper'],
      ['test/contract/embedded'],
      ['test/simulation'],
      ['test/contract/(zookeeper|network).servers'],
    ],
  },
  redis: {
    lib: ['connection', 'locks', 'red-lock', 'scripts', 'semaphores'].map((it) => `redis/${it}`),
    tests: [
      ['test/unit/redis'],
      ['test/contract/red(is|-lock).servers'],
      ['test/redis/', 'test/faults/redis'],
    ],
  },
  nest: {
    lib: ['clients', 'decorators', 'elections', 'interceptors', 'plans'],
    tests: [['test/unit/(nest|testing)'], ['test/e2e/(?!.*servers)'], ['test/e2e/.*servers']],
  },
};
