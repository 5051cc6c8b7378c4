import { createHash } from 'node:crypto';
import { existsSync, readFileSync } from 'node:fs';
import { mkdir, rename, writeFile } from 'node:fs/promises';
import { createRequire } from 'node:module';
import { fileURLToPath } from 'node:url';

const compilerOptions = {
  target: 'ES2023',
  module: 'ESNext',
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
};

/** Compiled sources. A test may start ten processes at once, each of which would compile all it imports. */
const CACHE = new URL('../../node_modules/.cache/typescript-hooks/', import.meta.url);
const { version } = createRequire(import.meta.url)('typescript/package.json');

const OUR_NAME = /^nestjs-interlock(?:\/(\w+))?$/;

/**
 * The relative imports of a TypeScript file say `.js`, as they will be named when compiled, and so does the URL of a worker's
 * file. Our package, by its name, is its sources, so that the samples need no build.
 */
export function resolve(specifier, context, nextResolve) {
  if (context.parentURL === undefined && /^file:.*\/lib\/.*\.js$/.test(specifier))
    return nextResolve(specifier.replace(/\.js$/, '.ts'), context);
  if (!context.parentURL?.endsWith('.ts')) return nextResolve(specifier, context);
  if (OUR_NAME.test(specifier)) {
    const [, entry = '.'] = OUR_NAME.exec(specifier);
    const folder = entry === 'core' ? 'standalone' : entry; // `lib/core` is what all of it shares
    return nextResolve(new URL(`../../lib/${folder}/index.ts`, import.meta.url).href, context);
  }
  if (specifier.startsWith('.') && specifier.endsWith('.js')) {
    const source = new URL(specifier.replace(/\.js$/, '.ts'), context.parentURL);
    if (existsSync(source)) return { url: source.href, format: 'module', shortCircuit: true };
  }
  return nextResolve(specifier, context);
}

export async function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const fileName = fileURLToPath(url);
  const input = readFileSync(fileName, 'utf8');
  const identity = JSON.stringify([version, compilerOptions, fileName, input]);
  const cached = new URL(createHash('sha256').update(identity).digest('hex'), CACHE);
  const source = existsSync(cached)
    ? readFileSync(cached, 'utf8')
    : await compile(fileName, input, cached);
  return { format: 'module', source, shortCircuit: true };
}

/** Renamed when it is whole: others may look for it at the same time. */
async function compile(fileName, input, cached) {
  const { default: ts } = await import('typescript'); // takes half a second to load
  const { outputText } = ts.transpileModule(input, {
    fileName,
    compilerOptions: ts.convertCompilerOptionsFromJson(compilerOptions, '.').options,
  });
  const whole = `${fileURLToPath(cached)}.${process.pid}`;
  await mkdir(CACHE, { recursive: true });
  await writeFile(whole, outputText);
  await rename(whole, cached);
  return outputText;
}
