// Completes dist: dist/cjs is CommonJS inside a package of ES modules, and its declarations serve both formats.
import { readFileSync, writeFileSync } from 'node:fs';

writeFileSync('dist/cjs/package.json', '{ "type": "commonjs" }\n');

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
for (const { import: entry } of Object.values(exports)) {
  if (!entry) continue;
  const depth = entry.types.split('/').length - 3;
  const cjs = `${'../'.repeat(depth) || './'}cjs/${entry.default.replace('./dist/', '')}`;
  writeFileSync(entry.types, `export * from '${cjs}';\n`);
}
