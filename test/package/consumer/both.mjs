// Imported and required, the package is one copy; a second one that cannot be avoided is reported.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'nestjs-interlock';
import { runWithLibrary } from './app-of-library.cjs';
import library from './library.cjs';
import { takeLock } from './use.cjs';

const require = createRequire(import.meta.url);
for (const entry of ['', '/health', '/inspector', '/opentelemetry', '/testing', '/core']) {
  const [one, other] = [
    await import(`nestjs-interlock${entry}`),
    require(`nestjs-interlock${entry}`),
  ];
  for (const name in one) assert.equal(other[name], one[name], name);
}
assert.deepEqual(await runWithLibrary(esm, library), []);

const cjs = require('./node_modules/nestjs-interlock/dist/cjs/index.js');
assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
assert.notEqual(cjs.LockTimeoutError, esm.LockTimeoutError);
const [warning, ...more] = await runWithLibrary(esm, library);
assert.match(warning, /^2 copies of nestjs-interlock .*dist\/loaded-.*dist\/cjs\/loaded-.*npm ls/);
assert.deepEqual(more, []);
assert.deepEqual(await runWithLibrary(esm, library), []); // once for the process
for (const [one, other] of [
  [esm, cjs],
  [cjs, esm],
]) {
  const error = new one.LockTimeoutError(5);
  assert.ok(error instanceof other.LockTimeoutError);
  assert.ok(error instanceof other.LockError);
  assert.ok(!(error instanceof other.LockLostError));
  assert.equal(one.getLockClientToken('orders'), other.getLockClientToken('orders'));
  await takeLock({ ...one, getLockClientToken: other.getLockClientToken });
}
