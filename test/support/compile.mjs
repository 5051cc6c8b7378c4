import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join, relative } from 'node:path';
import { fileURLToPath } from 'node:url';
import { transformFileSync, version } from '@swc/core';

const ROOT = fileURLToPath(new URL('../../', import.meta.url));
const COMPILED = join(ROOT, process.env.COMPILED ?? '.compiled');

/**
 * Its manifest. The package by its own name is its sources, so that the samples need no build. What was made by another
 * compiler or with other options is of no use.
 */
const MANIFEST = JSON.stringify({
  name: 'nestjs-interlock',
  type: 'module',
  exports: {
    '.': './lib/index.js',
    './core': './lib/standalone/index.js', // `lib/core` is what all of it shares
    './*': './lib/*/index.js',
  },
  compiler: [version, readFileSync(join(ROOT, '.swcrc'), 'utf8')],
});

/** Jest's global set-up, too: compiles what Node is to run, so far as it has changed, into `.compiled`. */
export default function compile() {
  provideManifest();
  provideGlobals();
  for (const folder of ['lib', 'sample', 'test']) compileFolder(join(ROOT, folder));
}

/** What `compile` makes of a TypeScript file. */
export function compiled(file) {
  const path = file.startsWith(COMPILED) ? file : join(COMPILED, relative(ROOT, file));
  return path.replace(/\.ts$/, '.js');
}

/** It comes first: another process that begins now has to see that this one's files are of use. */
function provideManifest() {
  const path = join(COMPILED, 'package.json');
  const found = existsSync(path) ? readFileSync(path, 'utf8') : undefined;
  if (found === MANIFEST) return;
  if (found !== undefined) rmSync(COMPILED, { recursive: true });
  mkdirSync(COMPILED, { recursive: true });
  write(path, MANIFEST);
}

/** `@jest/globals`, which can only be imported within a registry of Jest. */
function provideGlobals() {
  const folder = join(COMPILED, 'node_modules/@jest/globals');
  mkdirSync(folder, { recursive: true });
  link(join(ROOT, 'test/support/jest/globals.mjs'), join(folder, 'index.js'));
}

function compileFolder(folder) {
  const target = compiled(folder);
  mkdirSync(target, { recursive: true });
  const left = new Set(readdirSync(target));
  for (const entry of readdirSync(folder, { withFileTypes: true })) {
    const path = join(folder, entry.name);
    if (entry.name === 'node_modules') {
      left.delete(entry.name) || link(path, join(target, entry.name));
    } else if (entry.isDirectory() && !entry.name.startsWith('.')) {
      left.delete(entry.name);
      compileFolder(path);
    } else if (/\.ts$/.test(path) && !/\.d\.ts$/.test(path)) {
      left.delete(entry.name.replace(/\.ts$/, '.js'));
      compileFile(path);
    }
  }
  for (const name of left) rmSync(join(target, name), { recursive: true, force: true });
}

/** Another process may have done it. */
function link(from, to) {
  try {
    symlinkSync(from, to);
  } catch (error) {
    if (error.code !== 'EEXIST') throw error;
  }
}

/** A file and what was made of it have the same time of change. */
function compileFile(path) {
  const target = compiled(path);
  const { mtime } = statSync(path);
  if (statSync(target, { throwIfNoEntry: false })?.mtime.getTime() === mtime.getTime()) return;
  const { code } = transformFileSync(path, { cwd: ROOT, sourceMaps: 'inline' });
  write(target, code, mtime);
}

/** Others may read it at the same time: it gets its name when it is whole. */
function write(path, text, time = new Date()) {
  const whole = join(COMPILED, `new-${process.pid}`);
  writeFileSync(whole, text);
  utimesSync(whole, time, time);
  renameSync(whole, path);
}
