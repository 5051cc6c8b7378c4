// Puts each Lua script of lib/redis/scripts, and the parts of the inspector's page, into a module beside it, so that every
// build of the package contains it. A line `-- include NAME` in a script stands for scripts/parts/NAME.lua.
// With --check: only says which modules are not up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const FOLDER = 'lib/redis/scripts';
const PAGE = 'lib/inspector/page';
const PARTS = {
  'inspector.html': 'html',
  'theme.css': 'theme',
  'inspector.css': 'style',
  'inspector.js': 'script',
};
const isCheck = process.argv.includes('--check');
const stale = [];

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.lua'))) {
  const name = basename(file, '.lua');
  const module = join(FOLDER, `${name}.ts`);
  put(module, moduleOf(name, withParts(readFileSync(join(FOLDER, file), 'utf8'))));
}
for (const [file, part] of Object.entries(PARTS))
  put(
    join(PAGE, `inspector-${part}.ts`),
    partOf(file, part, readFileSync(join(PAGE, file), 'utf8')),
  );
if (stale.length > 0) {
  console.error(`Not made of the files beside them: ${stale.join(', ')}. Run \`npm run scripts\`.`);
  process.exit(1);
}

function put(module, text) {
  if (existsSync(module) && readFileSync(module, 'utf8') === text) return;
  if (isCheck) stale.push(module);
  else writeFileSync(module, text);
}

function withParts(source) {
  return source.replace(/^-- include ([\w-]+)\n/gm, (_, part) =>
    readFileSync(join(FOLDER, 'parts', `${part}.lua`), 'utf8'),
  );
}

function literalOf(source) {
  return source.replace(/[\\`]|\$\{/g, '\\$&');
}

function partOf(file, part, source) {
  const constant = `inspector${part[0].toUpperCase()}${part.slice(1)}`;
  return `// Made of ${file} by \`npm run scripts\`; change that.
export const ${constant} = \`${literalOf(source)}\`;
`;
}

function moduleOf(name, source) {
  const constant = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
  const literal = literalOf(source);
  return `// Made of ${name}.lua by \`npm run scripts\`; change that.
import { Script } from '../connection/script.js';

export const ${constant} = new Script('${name}', \`${literal}\`);
`;
}
