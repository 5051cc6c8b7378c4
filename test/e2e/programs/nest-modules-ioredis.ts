// An app that locks by the client of `@nestjs-modules/ioredis`, which Jest cannot load with Nest 12. Argument: the URL of the
// server. Reports whether it holds a lock that nobody else gets, then, when it has closed, whether it still holds it.
import 'reflect-metadata';
import { Module } from '@nestjs/common';
import { NestFactory } from '@nestjs/core';
import { getRedisConnectionToken, RedisModule } from '@nestjs-modules/ioredis';
import type { Redis } from 'ioredis';
import { getLockClientToken, type LockClient, LockModule } from '../../../lib/index.js';

const url = process.argv[2]!;

@Module({
  imports: [
    RedisModule.forRoot({ type: 'single', url }),
    LockModule.forRootAsync({
      inject: [getRedisConnectionToken()],
      useFactory: (client: Redis) => ({ backend: 'redis', client }),
    }),
  ],
})
class AppModule {}

const app = await NestFactory.createApplicationContext(AppModule, { logger: ['error'] });
const locks = app.get<LockClient>(getLockClientToken());
const lease = await locks.mutex('till').acquire();
const isExclusive = (await locks.mutex('till').tryAcquire()) === undefined;
process.send!(lease.isHeld && isExclusive ? 'held' : 'shared');
process.once('message', () => void close());

async function close(): Promise<void> {
  await app.close();
  process.send!(lease.isHeld ? 'still held' : 'released', () => process.disconnect());
}
