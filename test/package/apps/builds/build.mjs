// Builds the app in each way, two at a time, and runs what came out.
import { execFile } from 'node:child_process';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { transformFileSync } from '@swc/core';
import { build } from 'esbuild';

const run = promisify(execFile);
const node = (...args) => run(process.execPath, args);

/** Type-checked, with exactOptionalPropertyTypes, and written for ES2017. */
async function byTsc() {
  await node('node_modules/typescript/bin/tsc');
  return 'dist/tsc/main.js';
}

async function bySwc() {
  const { code } = transformFileSync('src/main.ts', {
    jsc: {
      target: 'es2017',
      parser: { syntax: 'typescript', decorators: true },
      transform: { legacyDecorator: true, decoratorMetadata: true },
    },
    module: { type: 'commonjs' },
  });
  mkdirSync('dist/swc', { recursive: true });
  writeFileSync('dist/swc/main.js', code);
  return 'dist/swc/main.js';
}

async function byEsbuild() {
  await build({
    entryPoints: ['src/main.ts'],
    outfile: 'dist/esbuild/main.mjs',
    bundle: true,
    minify: true,
    platform: 'node',
    format: 'esm',
    target: 'node20',
    external: [
      '@nestjs/microservices',
      '@nestjs/platform-express',
      '@nestjs/websockets',
      'class-transformer',
      'class-validator',
    ],
    banner: {
      js: 'import { createRequire } from "node:module"; const require = createRequire(import.meta.url);',
    },
    logLevel: 'warning',
  });
  return 'dist/esbuild/main.mjs';
}

async function byWebpack(file, ...args) {
  const nest = 'node_modules/@nestjs/cli/bin/nest.js';
  const { stdout, stderr } = await node(nest, 'build', '--webpack', ...args);
  if (/warning|cron|redis|zookeeper/i.test(stdout + stderr)) throw new Error(stdout + stderr);
  return file;
}

const builds = [
  byTsc,
  () => byWebpack('dist/main.js'),
  () => byWebpack('dist/bundled.js', '--webpackPath', 'webpack-bundled.config.js'),
  bySwc,
  byEsbuild,
];
const lane = async () => {
  for (let next; (next = builds.shift());) {
    const file = await next();
    const { stdout, stderr } = await node(file);
    if (stdout !== 'ok\n' || stderr) throw new Error(`${file} said: ${stdout}${stderr}`);
  }
};
await Promise.all([lane(), lane()]);
