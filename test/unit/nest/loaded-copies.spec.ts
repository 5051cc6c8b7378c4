import { readFileSync } from 'node:fs';
import { afterEach, beforeEach, describe, expect, it, jest } from '@jest/globals';
import { Logger } from '@nestjs/common';
import { LockModule } from '../../../lib/index.js';
import { evaluateAgain, loadedCopies } from '../../support/copies.js';

const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('A second copy of the package', () => {
  let warn: jest.SpiedFunction<typeof Logger.warn>;
  beforeEach(() => {
    warn = jest.spyOn(Logger, 'warn').mockImplementation(() => undefined);
  });
  afterEach(() => {
    warn.mockRestore();
    loadedCopies().delete('/app/bundle.js:1:2');
  });

  it('is not one that is evaluated again; its version is that of package.json', async () => {
    await evaluateAgain('loaded-copies');
    LockModule.forRoot();
    const place = expect.stringMatching(/lib.loaded-copies\.ts:\d+:\d+$/);
    expect([...loadedCopies()]).toEqual([[place, version]]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is told once, with the versions and places of both and what to do', () => {
    loadedCopies().set('/app/bundle.js:1:2', '0.0.9');
    LockModule.forRoot();
    LockModule.forRoot({ name: 'other' });
    expect(warn).toHaveBeenCalledTimes(1);
    const [text] = warn.mock.calls[0]!;
    expect(text).toContain(`2 copies of nestjs-interlock are loaded: ${version} at `);
    expect(text).toContain('0.0.9 at /app/bundle.js:1:2');
    expect(text).toContain('npm ls nestjs-interlock');
  });
});
