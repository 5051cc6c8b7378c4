import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import type { Script } from '../../../lib/redis/connection/script.js';

const FOLDER = new URL('../../../lib/redis/scripts/', import.meta.url);
const FILES = readdirSync(FOLDER);
const NAMES = FILES.filter((file) => file.endsWith('.lua')).map((file) => file.slice(0, -4));

describe('The scripts', () => {
  it('are one Lua file and one module each', () => {
    const modules = FILES.filter((file) => file.endsWith('.ts')).map((file) => file.slice(0, -3));
    expect(modules.sort()).toEqual(NAMES.sort());
    expect(NAMES.length).toBeGreaterThan(0);
  });

  it.each(NAMES)('are what their module says: %s', async (name) => {
    const source = readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8').replace(
      /^-- include (.*)\n/gm,
      (_, part: string) => readFileSync(new URL(`parts/${part}.lua`, FOLDER), 'utf8'),
    );
    const module = (await import(new URL(`${name}.ts`, FOLDER).href)) as Record<string, Script>;
    const [script] = Object.values(module);
    const sha1 = createHash('sha1').update(source).digest('hex');
    expect(script).toMatchObject({ name, source, sha1 });
  });

  it.each(NAMES)('say what they do, what they want and what they answer: %s', (name) => {
    const [comment] = readFileSync(new URL(`${name}.lua`, FOLDER), 'utf8').split(/^(?!--)/m);
    expect(comment).toMatch(/^-- [A-Z][^.]*\./);
    for (const part of ['KEYS', 'ARGV', '->']) expect(comment).toContain(part);
  });
});
