// Packs the built package as npm would publish it, and uses the tarball as its users do.
import { execFileSync } from 'node:child_process';
import {
  cpSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  rmSync,
  symlinkSync,
} from 'node:fs';
import { createRequire } from 'node:module';
import { tmpdir } from 'node:os';
import { dirname, join, resolve } from 'node:path';
import { tryApp } from './try-app.mjs';

const here = import.meta.dirname;
const TSC = resolve('node_modules/typescript/bin/tsc');
const manifest = JSON.parse(readFileSync('package.json', 'utf8'));
const folder = mkdtempSync(join(tmpdir(), 'package-'));
try {
  const tarball = pack();
  run('node_modules/.bin/publint', ['run', tarball, '--strict']);
  run('node_modules/.bin/attw', [tarball, '--no-color']);
  assertPublishedWhole(tarball);
  assertNothingRunsAtInstall();
  assertPeersOutOfReach();
  install('without-nest', tarball, '@types');
  runPrograms('without-nest', 'import.mjs', 'require.cjs');
  compile('without-nest');
  install('consumer', tarball, '@types', '@nestjs/common', '@nestjs/core', '@nestjs/testing');
  link('consumer', 'reflect-metadata', 'rxjs');
  runPrograms('consumer', 'import.mjs', 'require.cjs', 'both.cjs');
  link('consumer', '@nestjs/terminus', '@opentelemetry/api');
  runPrograms('consumer', 'import-entries.mjs', 'require-entries.cjs', 'both.mjs', 'values.mjs');
  compile('consumer');
  buildSamples(tarball);
  await tryApps(tarball);
  console.log('The package is fine.');
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function pack() {
  const args = ['pack', '--json', '--ignore-scripts', '--pack-destination', folder];
  const [{ filename, files, size }] = JSON.parse(execFileSync('npm', args, { encoding: 'utf8' }));
  console.log(`${filename}: ${files.length} files, ${Math.ceil(size / 1024)} kB`);
  return join(folder, filename);
}

/** `npm publish` from a clean clone has to build first, with the places that provenance needs, and without maps and sources. */
function assertPublishedWhole(tarball) {
  if (!/\bbuild$/.test(manifest.scripts.prepack ?? ''))
    throw new Error('Nothing builds before npm packs.');
  for (const field of ['repository', 'homepage', 'bugs'])
    if (!manifest[field]) throw new Error(`package.json has no \`${field}\`.`);
  const files = execFileSync('tar', ['-tzf', tarball], { encoding: 'utf8' }).trim().split('\n');
  const others = files.filter(
    (file) => !/(?:\.[cm]?js|\.d\.ts|\.md|\/package\.json|\/LICENSE)$/.test(file),
  );
  if (others.length > 0) throw new Error(`Not for users: ${others.join(', ')}.`);
}

/** npm warns of a tarball with any of these. */
function assertNothingRunsAtInstall() {
  const scripts = ['preinstall', 'install', 'postinstall', 'prepare'].filter(
    (script) => script in manifest.scripts,
  );
  if (scripts.length > 0) throw new Error(`Users would be warned of: ${scripts.join(', ')}.`);
}

/** Node looks for packages in all folders above; one that is found there would hide that we cannot do without it. */
function assertPeersOutOfReach() {
  const { resolve: find } = createRequire(join(folder, 'index.js'));
  for (const peer of Object.keys(manifest.peerDependencies)) {
    const found = find.paths(peer).find((path) => existsSync(join(path, peer)));
    if (found)
      throw new Error(
        `No peer may be within reach here: remove ${join(found, peer)}, or set TMPDIR elsewhere.`,
      );
  }
}

/** The tarball is unpacked, its dependencies and the given packages are ours; whatever else is optional is not there. */
function install(consumer, tarball, ...packages) {
  cpSync(join(here, consumer), join(folder, consumer), { recursive: true });
  unpack(consumer, tarball);
  link(consumer, ...packages);
}

function unpack(consumer, tarball) {
  const unpacked = join(folder, consumer, 'node_modules', manifest.name);
  mkdirSync(unpacked, { recursive: true });
  run('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1']);
  link(consumer, ...Object.keys(manifest.dependencies));
}

function link(consumer, ...packages) {
  for (const name of packages) {
    const path = join(folder, consumer, 'node_modules', name);
    mkdirSync(dirname(path), { recursive: true });
    symlinkSync(resolve('node_modules', name), path);
  }
}

function runPrograms(consumer, ...programs) {
  for (const program of programs) run(process.execPath, [program], join(folder, consumer));
}

function compile(consumer) {
  run(process.execPath, [TSC, '--noEmit', '-p', '.'], join(folder, consumer));
}

/** The samples outside of the repository, with no packages but those that they name; the first one is a part of it. */
function buildSamples(tarball) {
  const names = readdirSync('sample').filter((name) =>
    existsSync(join('sample', name, 'package.json')),
  );
  for (const name of names) {
    const source = join('sample', name);
    const filter = (path) => !/\/(dist|node_modules)$/.test(path);
    cpSync(source, join(folder, name), { recursive: true, filter });
    unpack(name, tarball);
    const sample = JSON.parse(readFileSync(join(source, 'package.json'), 'utf8'));
    const named = Object.keys({ ...sample.dependencies, ...sample.devDependencies });
    link(name, ...named.filter((each) => each !== manifest.name));
  }
  const projects = names.map((name) => join(folder, name, 'tsconfig.build.json'));
  run(process.execPath, [TSC, '-b', ...projects]);
  run(process.execPath, [TSC, '--noEmit', '-p', 'sample/01-ticket-office/tsconfig.build.json']);
}

/** Two at a time, each in a folder of its own. */
async function tryApps(tarball) {
  const apps = readdirSync(join(here, 'apps'));
  const lane = async () => {
    for (let name; (name = apps.shift());) {
      console.time(name);
      await tryApp(name, folder, tarball);
      console.timeEnd(name);
    }
  };
  const failed = (await Promise.allSettled([lane(), lane()])).find(({ reason }) => reason);
  if (failed) throw failed.reason;
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: 'inherit' });
}
