// Both copies of the package in one process.
import 'reflect-metadata';
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';
import * as esm from 'nestjs-interlock';
import { takeLock } from './use.cjs';

const cjs = createRequire(import.meta.url)('nestjs-interlock');

assert.deepEqual(Object.keys(cjs).sort(), Object.keys(esm).sort());
assert.notEqual(cjs.LockTimeoutError, esm.LockTimeoutError);
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
