// The reverse of both.mjs: an app in CommonJS, and a library that imports.
require('reflect-metadata');
const assert = require('node:assert/strict');
const interlock = require('nestjs-interlock');
const { runWithLibrary } = require('./app-of-library.cjs');

import('./library.mjs')
  .then((library) => runWithLibrary(interlock, library))
  .then((warnings) => assert.deepEqual(warnings, []))
  .catch((error) => {
    console.error(error);
    process.exitCode = 1;
  });
