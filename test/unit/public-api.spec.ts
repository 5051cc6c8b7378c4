import { readFileSync } from 'node:fs';
import { beforeAll, describe, expect, it } from '@jest/globals';
import ts from 'typescript';

/** Every name that an entry of the package exports: what users import, and what may only change with a version. */
const PUBLISHED = 'test/unit/public-api.txt';

const { entryPoints } = JSON.parse(readFileSync('typedoc.json', 'utf8')) as {
  entryPoints: string[];
};

/** `entry  kind  name` of each export, sorted. A value may be used as a type, too. */
function exportsOf(entries: readonly string[]): string[] {
  const { config } = ts.readConfigFile('tsconfig.json', (path) => readFileSync(path, 'utf8'));
  const { options } = ts.parseJsonConfigFileContent(config, ts.sys, '.');
  const program = ts.createProgram(entries, { ...options, noEmit: true });
  const checker = program.getTypeChecker();
  return entries.flatMap((entry) => {
    const module = checker.getSymbolAtLocation(program.getSourceFile(entry)!)!;
    const name = entry.replace(/^lib(.*)\/index.ts$/, '.$1').replace('/standalone', '/core');
    return checker.getExportsOfModule(module).map((symbol) => {
      const isAlias = (symbol.flags & ts.SymbolFlags.Alias) !== 0;
      const { flags } = isAlias ? checker.getAliasedSymbol(symbol) : symbol;
      return `${name}  ${flags & ts.SymbolFlags.Value ? 'value' : 'type'}  ${symbol.name}`;
    });
  });
}

describe('The entries of the package', () => {
  let exported: string[];
  beforeAll(() => {
    exported = exportsOf(entryPoints).toSorted();
  });

  it('export the published names, and no others', () => {
    const published = readFileSync(PUBLISHED, 'utf8').trim().split('\n');
    expect(exported).toEqual(published);
  });
});
