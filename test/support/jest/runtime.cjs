const { pathToFileURL } = require('node:url');
const { default: JestRuntime } = require('jest-runtime');

/** Where jest-circus keeps what listens to its events; it keeps all else of a file within its own module. */
const LISTENERS = Symbol.for('EVENT_HANDLERS');

/**
 * As Jest's, but the tests are modules of Node itself, and not of a registry and a realm for each file: a worker loads the
 * library and its packages once, and what V8 has compiled and optimized serves all of its files. What they find in
 * `globalThis`, `process.env` or a module is what the files before them have left there.
 */
module.exports = class Runtime extends JestRuntime {
  /** jest-circus, anew for each file. */
  requireInternalModule(path) {
    delete globalThis[LISTENERS];
    delete require.cache[path];
    return require(path);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  /** A test file; the query keeps it apart from the same file imported by another one. */
  async unstable_importModule(path) {
    const { compiled } = await import('../compile.mjs');
    const { provide } = await import('./globals.mjs');
    provide(this.jestGlobals.cjsGlobals(path));
    await import(`${pathToFileURL(compiled(path))}?test`);
  }
};
