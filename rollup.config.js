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

/** Peers, the dependency and Node's own modules. The helpers of TypeScript become part of the package. */
const external = (id) => /^[^./]/.test(id) && id !== 'tslib';
const helpers = {
  name: 'helpers',
  resolveId: (id) => (id === 'tslib' ? resolve('node_modules/tslib/tslib.es6.mjs') : null),
};

/** What only one of the small entries needs is in its file. That a copy was loaded is a side effect, so it stays apart. */
function manualChunks(id) {
  if (id.endsWith('/loaded-copies.js')) return 'loaded-copies';
  return /modules\/(health|inspector|opentelemetry|testing)\//.test(id) ? undefined : 'interlock';
}
const output = {
  format: 'es',
  manualChunks,
  chunkFileNames: '[name].js',
  hoistTransitiveImports: false,
  minifyInternalExports: false,
};

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

/** The declarations are those of CommonJS, for both formats. */
const formats = {
  name: 'formats',
  generateBundle() {
    const emit = (fileName, source) => this.emitFile({ type: 'asset', fileName, source });
    emit('cjs/package.json', '{ "type": "commonjs" }\n');
    for (const entry of entries)
      emit(`${entry}.d.ts`, `export * from '${entry === 'index' ? '.' : '..'}/cjs/${entry}.js';\n`);
  },
};

export default [
  {
    input: modules('.js'),
    external,
    plugins: [helpers, tabs],
    output: [
      { ...output, dir: 'dist', plugins: [formats] },
      {
        ...output,
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
    plugins: [dts(), tabs],
    output: { ...output, dir: 'dist/cjs', chunkFileNames: '[name].d.ts' },
  },
];
