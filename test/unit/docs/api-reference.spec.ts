import { execFile } from 'node:child_process';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, beforeAll, describe, expect, it } from '@jest/globals';

const { entryPoints } = JSON.parse(readFileSync('typedoc.json', 'utf8')) as {
  entryPoints: string[];
};
const { exports } = JSON.parse(readFileSync('package.json', 'utf8')) as {
  exports: Record<string, string | { require: { default: string } }>;
};

describe('The API reference', () => {
  let folder: string;
  beforeAll(async () => {
    folder = mkdtempSync(join(tmpdir(), 'api-'));
    // It fails for a symbol without a comment, a link that leads nowhere, a type that is not exported.
    await promisify(execFile)(process.execPath, ['node_modules/.bin/typedoc', '--out', folder]);
  }, 180_000);
  afterAll(() => rmSync(folder, { recursive: true, force: true }));

  it('has every entry of the package', () => {
    const published = Object.values(exports).filter((entry) => typeof entry !== 'string');
    const sources = published.map(({ require: { default: file } }) =>
      file.replace(/^\.\/dist\/cjs(.*)\.js$/, 'lib$1.ts'),
    );
    expect(entryPoints.toSorted()).toEqual(sources.toSorted());
  });

  it('has a page for a decorator, a class, an error and an option', () => {
    const pages = readdirSync(folder, { recursive: true, encoding: 'utf8' });
    for (const name of ['WithMutex', 'LockModule', 'LockLostError', 'RedisLockOptions'])
      expect(pages).toContainEqual(expect.stringMatching(`${name}\\.md$`));
  });
});
