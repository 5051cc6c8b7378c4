// Joins the modules that tsc wrote to dist/modules: a file for each entry, and one for what the entries share.
import { readFileSync } from 'node:fs';
import { resolve } from 'node:path';
import { dts } from 'rollup-plugin-dts';

const { exports } = JSON.parse(readFileSync('package.json', 'utf8'));
const entries = Object.values(exports).flatMap(({ require: { default: file } = {} }) =>
  file ? [file.slice('./dist/cjs/'.length, -'.js'.length)] : [],
);
const modules = (extension) =>
  Object.fromEntries(entries.map((entry) => [entry, `dist/modules/${entry}${extension}`]));

/** The files of the worker threads: beside the file that starts them, and no exports of the package. */
const threads = {
  'renewal-thread': 'dist/modules/redis/renewal-worker/renewal-thread.js',
  'session-thread': 'dist/modules/zookeeper/session-worker/session-thread.js',
};

/** Peers, the dependency and Node's own modules. The helpers of TypeScript become part of the package. */
const external = (id) => /^[^./]/.test(id) && id !== 'tslib';
const helpers = {
  name: 'helpers',
  resolveId: (id) => (id === 'tslib' ? resolve('node_modules/tslib/tslib.es6.mjs') : null),
};

/** As short as it is in CommonJS, and not that of a page where a test runner makes one: else rollup asks for `document`. */
const ownUrl = {
  name: 'own-url',
  resolveImportMeta: (property, { format }) =>
    property === 'url' && format === 'cjs'
      ? "require('node:url').pathToFileURL(__filename).href"
      : null,
};

/**
 * What only one of the small entries, or a worker thread, needs is in its file. What the entry without Nest needs is in a file
 * that does not import Nest. That a copy was loaded is a side effect, so it stays apart.
 */
const chunks =
  (extension) =>
  (id, { getModuleInfo }) => {
    const withoutNest = importsOf(resolve(modules(extension)['standalone/index']), getModuleInfo);
    if (withoutNest.has(id)) return 'locks';
    if (/modules\/(redis\/renewal|zookeeper\/session)-worker\//.test(id)) return undefined;
    if (id.endsWith('/loaded-copies.js')) return 'loaded-copies';
    return /modules\/(health|inspector|opentelemetry|standalone|testing)\//.test(id)
      ? undefined
      : 'interlock';
  };

/** The modules that a module imports, and those that they import. */
function importsOf(entry, getModuleInfo, found = new Set()) {
  const { importedIds, dynamicallyImportedIds } = getModuleInfo(entry);
  for (const id of [...importedIds, ...dynamicallyImportedIds]) {
    if (found.has(id) || getModuleInfo(id).isExternal) continue;
    importsOf(id, getModuleInfo, found.add(id));
  }
  return found;
}

const outputOf = (extension) => ({
  format: 'es',
  manualChunks: chunks(extension),
  chunkFileNames: '[name].js',
  hoistTransitiveImports: false,
  minifyInternalExports: false,
});

/** Writes each step of indentation, four characters of tsc, as a tab. */
const tabs = {
  name: 'tabs',
  renderChunk(code, { fileName }) {
    const kept = fileName.endsWith('.js') ? templatesOf(this.parse(code)) : [];
    return code.replace(/^( {4})+/gm, (spaces, _, at) =>
      kept.some(({ start, end }) => start < at && at < end)
        ? spaces
        : '\t'.repeat(spaces.length / 4),
    );
  },
};

function templatesOf(node) {
  if (node === null || typeof node !== 'object') return [];
  if (node.type === 'TemplateLiteral') return [node];
  return Object.values(node).flatMap(templatesOf);
}

/** What each entry exports at run time. */
const values = new Map();

/** The declarations are those of CommonJS, for both formats. */
const formats = {
  name: 'formats',
  generateBundle(_, bundle) {
    for (const { name, isEntry, exports } of Object.values(bundle))
      if (isEntry) values.set(name, new Set(exports));
    const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source });
    emit('cjs/package.json', '{ "type": "commonjs" }\n');
    for (const entry of entries)
      emit(`${entry}.d.ts`, `export * from '${entry === 'index' ? '.' : '..'}/cjs/${entry}.js';\n`);
  },
};

/** A class that an entry exports as a type only is no value: else a compiler lets through what fails at run time. */
const types = {
  name: 'types',
  renderChunk(code, { name, isEntry }) {
    if (!isEntry) return null;
    return code.replace(/^export \{ (.+?) \}/gm, (_, names) => {
      const isValue = (exported) => values.get(name).has(exported.split(' as ').at(-1));
      const marked = names.split(', ').map((each) => (isValue(each) ? each : `type ${each}`));
      return `export { ${marked.join(', ')} }`;
    });
  },
};

export default [
  {
    input: { ...modules('.js'), ...threads },
    external,
    plugins: [helpers, ownUrl, tabs],
    output: [
      { ...outputOf('.js'), dir: 'dist', plugins: [formats] },
      {
        ...outputOf('.js'),
        dir: 'dist/cjs',
        format: 'cjs',
        interop: 'auto',
        dynamicImportInCjs: false,
      },
    ],
  },
  {
    input: modules('.d.ts'),
    external,
    plugins: [dts(), tabs, types],
    output: { ...outputOf('.d.ts'), dir: 'dist/cjs', chunkFileNames: '[name].d.ts' },
  },
];
