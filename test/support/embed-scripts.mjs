// Puts each Lua script of lib/redis/scripts into a module beside it, so that every build of the package contains it.
// With --check: only says which modules are not up to date.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const FOLDER = 'lib/redis/scripts';
const isCheck = process.argv.includes('--check');
const stale = [];

for (const file of readdirSync(FOLDER).filter((name) => name.endsWith('.lua'))) {
  const name = basename(file, '.lua');
  const module = join(FOLDER, `${name}.ts`);
  const text = moduleOf(name, readFileSync(join(FOLDER, file), 'utf8'));
  if (existsSync(module) && readFileSync(module, 'utf8') === text) continue;
  if (isCheck) stale.push(module);
  else writeFileSync(module, text);
}
if (stale.length > 0) {
  console.error(`Not made of their Lua scripts: ${stale.join(', ')}. Run \`npm run scripts\`.`);
  process.exit(1);
}

function moduleOf(name, source) {
  const constant = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
  const literal = source.replace(/[\\`]|\$\{/g, '\\$&');
  return `// Made of ${name}.lua by \`npm run scripts\`; change that.
import { Script } from '../connection/script.js';

export const ${constant} = new Script('${name}', \`${literal}\`);
`;
}
