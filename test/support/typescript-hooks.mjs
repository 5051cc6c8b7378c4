import { existsSync, readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import ts from 'typescript';

const compilerOptions = {
  target: ts.ScriptTarget.ES2023,
  module: ts.ModuleKind.ESNext,
  experimentalDecorators: true,
  emitDecoratorMetadata: true,
  inlineSourceMap: true,
};

const OUR_NAME = /^nestjs-interlock(?:\/(\w+))?$/;

/**
 * The relative imports of a TypeScript file say `.js`, as they will be named when compiled. Our package, by its name, is
 * its sources, so that the samples need no build.
 */
export function resolve(specifier, context, nextResolve) {
  if (!context.parentURL?.endsWith('.ts')) return nextResolve(specifier, context);
  if (OUR_NAME.test(specifier)) {
    const [, entry = '.'] = OUR_NAME.exec(specifier);
    return nextResolve(new URL(`../../lib/${entry}/index.ts`, import.meta.url).href, context);
  }
  if (specifier.startsWith('.') && specifier.endsWith('.js')) {
    const source = specifier.replace(/\.js$/, '.ts');
    if (existsSync(new URL(source, context.parentURL))) return nextResolve(source, context);
  }
  return nextResolve(specifier, context);
}

export function load(url, context, nextLoad) {
  if (!url.endsWith('.ts')) return nextLoad(url, context);
  const fileName = fileURLToPath(url);
  const { outputText } = ts.transpileModule(readFileSync(fileName, 'utf8'), {
    fileName,
    compilerOptions,
  });
  return { format: 'module', source: outputText, shortCircuit: true };
}
