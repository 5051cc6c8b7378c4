import { describe, expect, it } from '@jest/globals';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { Script } from '../../../lib/redis/connection/script.js';
import * as scripts from '../../../lib/redis/scripts/index.js';

const FOLDER = new URL('../../../lib/redis/scripts/', import.meta.url);
const FILES = new Map(
  ['locks', 'semaphores'].flatMap((room) =>
    readdirSync(new URL(room, FOLDER)).map((file) => [file.slice(0, -4), `${room}/${file}`]),
  ),
);
const NAMES = [...FILES.keys()];
const sourceOf = (name: string) => readFileSync(new URL(FILES.get(name)!, FOLDER), 'utf8');

describe('The scripts', () => {
  it('are all in the module that is made of them', () => {
    const names = Object.values(scripts).map(({ name }) => name);
    expect(names.sort()).toEqual(NAMES.sort());
    expect(NAMES.length).toBeGreaterThan(0);
  });

  it.each(NAMES)('stand in it as they are: %s', (name) => {
    const source = sourceOf(name).replace(/^-- include (.*)\n/gm, (_, part: string) =>
      readFileSync(new URL(`parts/${part}.lua`, FOLDER), 'utf8'),
    );
    const constant = name.replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
    const script = scripts[constant as keyof typeof scripts];
    const sha1 = createHash('sha1').update(source).digest('hex');
    expect(script).toBeInstanceOf(Script);
    expect(script).toMatchObject({ name, source, sha1 });
  });

  it.each(NAMES)('say what they do, what they want and what they answer: %s', (name) => {
    const [comment] = sourceOf(name).split(/^(?!--)/m);
    expect(comment).toMatch(/^-- [A-Z][^.]*\./);
    for (const part of ['KEYS', 'ARGV', '->']) expect(comment).toContain(part);
  });
});
