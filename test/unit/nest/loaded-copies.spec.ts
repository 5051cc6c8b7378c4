import { readFileSync } from 'node:fs';
import { afterEach, describe, expect, it, jest } from '@jest/globals';

type Copies = Map<string, string> & { reported?: number };
const copies = () => Reflect.get(globalThis, Symbol.for('nestjs-interlock:copies')) as Copies;
const { version } = JSON.parse(readFileSync('package.json', 'utf8')) as { version: string };

describe('A second copy of the package', () => {
  /** Evaluates it, and notes what it warns of. */
  async function load() {
    jest.resetModules();
    const { Logger } = await import('@nestjs/common');
    const warn = jest.spyOn(Logger, 'warn').mockImplementation(() => undefined);
    return { warn, ...(await import('../../../lib/index.js')) };
  }

  afterEach(() => void copies().delete('/app/bundle.js:1:2'));

  it('is not one that is evaluated again; its version is that of package.json', async () => {
    await load();
    const { LockModule, warn } = await load();
    LockModule.forRoot();
    const place = expect.stringMatching(/lib.loaded-copies\.ts:\d+:\d+$/);
    expect([...copies()]).toEqual([[place, version]]);
    expect(warn).not.toHaveBeenCalled();
  });

  it('is told once, with the versions and places of both and what to do', async () => {
    const { LockModule, warn } = await load();
    copies().set('/app/bundle.js:1:2', '0.0.9');
    LockModule.forRoot();
    LockModule.forRoot({ name: 'other' });
    expect(warn).toHaveBeenCalledTimes(1);
    const [text] = warn.mock.calls[0]!;
    expect(text).toContain(`2 copies of nestjs-interlock are loaded: ${version} at `);
    expect(text).toContain('0.0.9 at /app/bundle.js:1:2');
    expect(text).toContain('npm ls nestjs-interlock');
  });
});
