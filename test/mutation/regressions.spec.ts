import { existsSync, readFileSync } from 'node:fs';
import { describe, expect, it } from '@jest/globals';
import { planted, REGRESSIONS } from './regressions.js';

describe('A defect that was mended', () => {
  it.each(REGRESSIONS.map((each) => [each.defect, each] as const))(
    'can be brought back, to see its tests fail: %s',
    (_, each) => {
      const text = readFileSync(each.file, 'utf8');
      expect(planted(each, text)).not.toBe(text);
      for (const test of each.tests) expect(isTest(test)).toBe(true);
    },
  );
});

/** Whether a path of the arguments stands for a folder or a spec file. */
function isTest(path: string): boolean {
  return [path, `${path}.spec.ts`, `${path}.ts`, `${path}.servers.spec.ts`].some(existsSync);
}
