/** A part of `lib`, and the tests that are to catch its mutants. */
export interface Area {
  /** Files and folders below `lib`. */
  readonly lib: readonly string[];
  /** Arguments of `npm test`; a stage runs only when those before it caught nothing. */
  readonly tests: readonly (readonly string[])[];
}

export const AREAS: Readonly<Record<string, Area>> = {
  core: {
    lib: ['core'],
    tests: [['test/unit/core'], ['test/contract/.*embedded']],
  },
};
