// The worker thread that renews locks, from both formats of the package, and what happens where its file is not.
import { strict as assert } from 'node:assert';
import { once } from 'node:events';
import { cpSync, rmSync } from 'node:fs';
import { createRequire } from 'node:module';
import { dirname, join } from 'node:path';
import { MessageChannel, Worker } from 'node:worker_threads';
import * as esm from 'nestjs-interlock/core';

type Package = typeof esm;

const require = createRequire(import.meta.url);
const folder = dirname(require.resolve('nestjs-interlock/package.json'));
/** As old versions of Node, Jest and bundlers load it; `require` finds the ES modules where Node can. */
const COMMON_JS = 'dist/cjs/standalone/index.js';

export async function keepsLocksWhileBlocked(path: string): Promise<void> {
  await keepsLock(esm, path);
  await keepsLock(require(join(folder, COMMON_JS)) as Package, path);
  await assertRefused(await copyWithoutThread(), path);
  for (const file of ['dist/session-thread.js', 'dist/cjs/session-thread.js'])
    await assertStarts(join(folder, file));
}

/** The thread of the backend ZooKeeper, which has no server here. */
async function assertStarts(file: string): Promise<void> {
  const { port1, port2: port } = new MessageChannel();
  const sign = new SharedArrayBuffer(8);
  const options = { connect: 'zk:2181' };
  const workerData = { client: 'a', options, maxStall: 1, sign, time: { now: 0, shared: 0 }, port };
  const thread = new Worker(file, { workerData, transferList: [port] });
  assert.deepEqual(await once(thread, 'message'), ['ready']);
  await thread.terminate();
  port1.close();
}

async function keepsLock({ createLockClient }: Package, path: string): Promise<void> {
  await using locks = await createLockClient(optionsOf(path));
  const lease = await locks.mutex('seat').acquire();
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, 2 * LEASE);
  assert.equal(lease.isHeld, true);
  await lease.release();
}

/** In ms. */
const LEASE = 2_000;

const optionsOf = (path: string) =>
  ({
    backend: 'redis',
    connect: { path },
    watchdogTimeout: LEASE,
    renewalWorker: { maxStall: 10 * LEASE },
  }) as const;

/** As in a bundle that has left the file out. */
async function copyWithoutThread(): Promise<Package> {
  const copy = join(dirname(folder), 'bundled');
  cpSync(folder, copy, { recursive: true });
  rmSync(join(copy, 'dist/cjs/renewal-thread.js'));
  return require(join(copy, COMMON_JS)) as Package;
}

async function assertRefused({ createLockClient }: Package, path: string): Promise<void> {
  await assert.rejects(createLockClient(optionsOf(path)), {
    name: 'LockOptionsError',
    message:
      /renewalWorker.*Cannot find module .*renewal-thread\.js.*leave `nestjs-interlock` external/s,
  });
  await using locks = await createLockClient({ backend: 'redis', connect: { path } });
  assert.ok(await locks.mutex('seat').tryAcquire());
}
