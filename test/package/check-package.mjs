// Packs the built package as npm would publish it, and uses the tarball as strangers do.
import { execFileSync } from 'node:child_process';
import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';

const here = import.meta.dirname;
const folder = mkdtempSync(join(tmpdir(), 'package-'));
try {
  const tarball = pack();
  run('node_modules/.bin/publint', ['run', tarball, '--strict']);
  run('node_modules/.bin/attw', [tarball, '--no-color']);
  installInto(join(folder, 'consumer'), tarball);
  for (const use of ['import.mjs', 'require.cjs', 'both.mjs']) {
    run(process.execPath, [use], join(folder, 'consumer'));
  }
  const compile = [resolve('node_modules/typescript/bin/tsc'), '--noEmit', '-p', '.'];
  run(process.execPath, compile, join(folder, 'consumer'));
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

/** The tarball is unpacked, its dependencies and peers are ours; the drivers are not there. */
function installInto(consumer, tarball) {
  const modules = join(consumer, 'node_modules');
  cpSync(join(here, 'consumer'), consumer, { recursive: true });
  mkdirSync(join(modules, 'nestjs-interlock'), { recursive: true });
  run('tar', ['-xzf', tarball, '-C', join(modules, 'nestjs-interlock'), '--strip-components=1']);
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const peers = ['@nestjs', '@types', 'reflect-metadata', 'rxjs'];
  for (const name of [...Object.keys(dependencies), ...peers]) {
    symlinkSync(resolve('node_modules', name), join(modules, name));
  }
}

function run(command, args, cwd) {
  execFileSync(command, args, { cwd, stdio: 'inherit' });
}
