// Puts the Lua scripts of lib/redis/scripts into one module, and the parts of the inspector's page into another, so that every
// build of the package contains them. A line `-- include NAME` in a script stands for scripts/parts/NAME.lua; other
// lines that are comments are left out.
import { existsSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { basename, join } from 'node:path';

const SCRIPTS = 'lib/redis/scripts';
const PAGE = 'lib/inspector/page';
const scripts = ['locks', 'semaphores'].flatMap((room) =>
  readdirSync(join(SCRIPTS, room))
    .sort()
    .map((file) => {
      const name = basename(file, '.lua');
      const constant = name.replace(/-(\w)/g, (_, letter) => letter.toUpperCase());
      const source = withParts(readFileSync(join(SCRIPTS, room, file), 'utf8'));
      return `export const ${constant} = new Script('${name}', ${literalOf(source)});\n`;
    }),
);
put(join(SCRIPTS, 'index.ts'), [
  `// Made of the Lua scripts beside it by \`npm run scripts\`; change those.\n`,
  `import { Script } from '../connection/script.js';\n\n`,
  ...scripts,
]);

const styles = readdirSync(join(PAGE, 'style')).sort();
const parts = {
  inspectorHtml: readFileSync(join(PAGE, 'inspector.html'), 'utf8'),
  inspectorStyle: styles.map((file) => readFileSync(join(PAGE, 'style', file), 'utf8')).join(''),
  inspectorScript: `(() => {\n'use strict';\n${joined('main.js')}})();\n`,
};
put(join(PAGE, 'parts.ts'), [
  `// Made of the files beside it by \`npm run scripts\`; change those.\n`,
  ...Object.entries(parts).map(([name, text]) => `export const ${name} = ${literalOf(text)};\n`),
]);

/** A module of the page behind those that it imports, as one script: a module may not be loaded by the policy of the page. */
function joined(file, taken = new Set()) {
  if (taken.has(file)) return '';
  taken.add(file);
  const source = readFileSync(join(PAGE, 'script', file), 'utf8');
  const imported = [...source.matchAll(/^import [^;]*'\.\/([\w.-]+)';\n/gm)];
  const before = imported.map(([, name]) => joined(name, taken)).join('');
  return before + source.replace(/^import [^;]*;\n/gm, '').replace(/^export /gm, '');
}

/** Writes only what has changed, so that what watches the file is left in peace. */
function put(module, lines) {
  const text = lines.join('');
  if (!existsSync(module) || readFileSync(module, 'utf8') !== text) writeFileSync(module, text);
}

function withParts(source) {
  return source
    .replace(/^-- include ([\w-]+)\n/gm, (_, part) =>
      readFileSync(join(SCRIPTS, 'parts', `${part}.lua`), 'utf8'),
    )
    .replace(/^ *--.*\n/gm, '');
}

function literalOf(source) {
  return `\`${source.replace(/[\\`]|\$\{/g, '\\$&')}\``;
}
