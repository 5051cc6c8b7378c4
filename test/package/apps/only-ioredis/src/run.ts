// Locks on a server of its own, with the one driver that is installed.
import { strict as assert } from 'node:assert';
import { spawn } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { once } from 'node:events';
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getLockClientToken, type LockClient, LockModule } from 'nestjs-interlock';
import { keepsLocksWhileBlocked } from './blocked.js';

const folder = mkdtempSync(join(tmpdir(), 'only-ioredis-'));
const path = join(folder, 'redis.sock');
const server = spawn(process.env.REDIS_SERVER ?? 'redis-server', [
  '--port',
  '0',
  '--unixsocket',
  path,
  '--save',
  '',
]);
try {
  await once(server.stdout, 'data');

  @Module({ imports: [LockModule.forRoot({ backend: 'redis', connect: { path } })] })
  class AppModule {}

  const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
  const locks = app.get<LockClient>(getLockClientToken());
  const lease = await locks.mutex('seat').acquire();
  assert.equal(lease.isHeld, true);
  assert.equal(await locks.mutex('seat').tryAcquire(), undefined);
  await lease.release();
  await app.close();
  await keepsLocksWhileBlocked(path);
} finally {
  server.kill();
  rmSync(folder, { recursive: true });
}
