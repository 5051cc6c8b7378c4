import { describe, expect, it } from '@jest/globals';
import type { Redis } from 'ioredis';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { asOwn } from '../support/redis-server.js';
import { eventually } from '../support/time.js';
import { type RedisBackend, redisRecipes, RedisStage } from './backends/redis.js';
import { RedisSemaphoreStage } from './backends/semaphores.js';
import { type Deployment, onStage } from './backends/stage.js';
import { handOffSuite } from './hand-off.suite.js';
import { keptLockSuite } from './kept-lock.suite.js';
import { everyMutexSuite } from './mutex.suite.js';
import { everyReadWriteLockSuite } from './read-write-lock.suite.js';
import { sharedReadSuite } from './shared-read.suite.js';
import { everySemaphoreSuite } from './semaphore.suite.js';

const REDIS_NAMES = {
  mutex: 'mutex',
  fenced: 'fenced mutex',
  fair: 'fair mutex',
  handedOn: 'mutex that is handed on',
  kept: 'mutex that is kept',
  spin: 'spin lock',
  semaphoreMutex: 'semaphore mutex',
};

/** What every mutex promises, of those on Redis. Only the fair one has one queue for all clients. */
export function redisMutexSuite(
  on: Deployment<RedisBackend>,
  kind: keyof typeof REDIS_NAMES = 'mutex',
): void {
  describe(`A ${REDIS_NAMES[kind]} on ${on.name}`, () => {
    const stage = onStage(() => RedisStage.build(on.backend(), redisRecipes[kind]));
    everyMutexSuite(on, stage, {
      isFair: kind === 'fair',
      isReentrant: kind !== 'semaphoreMutex',
      isVariant: kind !== 'mutex',
      shown: 'itself',
    });
    if (kind === 'handedOn') handOffSuite(on.name, stage);
    if (kind === 'kept') keptLockSuite(on.name, stage);
  });
}

/** What every read/write lock promises, of that on Redis, which is not fair; at most writers go first. */
export function redisReadWriteLockSuite(
  on: Deployment<RedisBackend>,
  { preferWriters = false } = {},
): void {
  describe(`A read/write lock ${preferWriters ? 'that prefers writers ' : ''}on ${on.name}`, () => {
    const recipe = preferWriters ? redisRecipes.writersFirst : redisRecipes.mutex;
    const stage = onStage(() => RedisStage.build(on.backend(), recipe));
    everyReadWriteLockSuite(on, stage, preferWriters ? 'writers' : 'any', 'itself');
  });
}

/** What every read/write lock promises, of one on Redis whose readers share it. */
export function redisSharedReadSuite(on: Deployment<RedisBackend>): void {
  describe(`A read/write lock whose readers share it, on ${on.name}`, () => {
    const stage = onStage(() => RedisStage.build(on.backend(), redisRecipes.sharedReads));
    everyReadWriteLockSuite(on, stage, 'any', 'itself');
    sharedReadSuite(stage);
  });
}

/** What every semaphore promises, of that on Redis. Only the fair one has one queue for all clients. */
export function redisSemaphoreSuite(on: Deployment<RedisBackend>, { isFair = false } = {}): void {
  describe(`A ${isFair ? 'fair ' : ''}semaphore on ${on.name}`, () => {
    const stage = onStage(() => RedisStage.build(on.backend(), redisRecipes.mutex));
    everySemaphoreSuite(on, stage, new RedisSemaphoreStage(stage, isFair));
  });
}

/** What is particular in the status of a client on a Redis server. */
export function redisStatusSuite(on: Deployment<RedisBackend>): void {
  describe(`A client on ${on.name}`, () => {
    it('does not report latches and plain semaphores, which have no owner', async () => {
      const locks = await createRedisLockClient('contract', { client: on.backend().client() });
      await locks.connect();
      const latch = locks.countDownLatch('latch');
      const semaphore = locks.plainSemaphore('plain');
      await latch.trySetCount(1);
      await semaphore.trySetPermits(1);
      await semaphore.acquire();
      const waits = [latch.await(), semaphore.acquire()];
      await eventually('both listen', async () => {
        const channels = (await on
          .backend()
          .client()
          .call('pubsub', 'channels', 'redisson_*')) as string[];
        return channels.length === 2;
      });
      expect(locks.status()).toMatchObject({ health: 'up', held: 0, waiting: 0 });
      expect(locks.activity()).toEqual([]);

      await latch.countDown();
      await semaphore.release();
      await Promise.all(waits);
      await locks.close();
    });

    it('reports CLOSED, not LOST, when ioredis has given up', async () => {
      const watchdogTimeout = 300;
      const client = on.backend().client() as Redis;
      const locks = await createRedisLockClient('contract', {
        client: asOwn(client),
        watchdogTimeout,
      });
      await locks.connect();
      client.disconnect();
      await eventually('it is closed', () => locks.status().state === 'CLOSED');
      const closedAt = performance.now();
      await eventually('leases are over', () => performance.now() - closedAt > watchdogTimeout);
      expect(locks.status()).toMatchObject({ health: 'down', state: 'CLOSED' });
      await locks.close();
    });
  });
}
