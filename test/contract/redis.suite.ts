import type { RedisBackend } from './backends/redis.js';
import { redisRecipes, RedisStage } from './backends/redis.js';
import type { Deployment } from './backends/stage.js';
import { clientStatusSuite } from './client-status.suite.js';
import { redisGuardedWriteSuite } from './guarded-write.suite.js';
import { redisLeaderElectionSuite } from './leader-election.suite.js';
import {
  redisMutexSuite,
  redisReadWriteLockSuite,
  redisSemaphoreSuite,
  redisSharedReadSuite,
  redisStatusSuite,
} from './redis-locks.suite.js';
import { redisMultiLockSuite } from './redis-multi-lock.suite.js';

/** All that locks on one Redis server have to do. */
export function redisSuite(on: Deployment<RedisBackend>): void {
  redisMutexSuite(on);
  redisMutexSuite(on, 'fenced');
  redisMutexSuite(on, 'fair');
  redisMutexSuite(on, 'handedOn');
  redisMutexSuite(on, 'kept');
  redisMutexSuite(on, 'spin');
  redisMutexSuite(on, 'semaphoreMutex');
  redisReadWriteLockSuite(on);
  redisReadWriteLockSuite(on, { preferWriters: true });
  redisSharedReadSuite(on);
  redisMultiLockSuite(on);
  redisMultiLockSuite(on, 'fencedMultiLock');
  redisMultiLockSuite(on, 'handedOnMultiLock');
  redisSemaphoreSuite(on);
  redisSemaphoreSuite(on, { isFair: true });
  redisGuardedWriteSuite(on);
  redisLeaderElectionSuite(on);
  clientStatusSuite(on, () => RedisStage.build(on.backend(), redisRecipes.mutex), {
    holders: (stage) => stage.contenders(),
    suspended: 'degraded',
  });
  redisStatusSuite(on);
}

/** All that locks on a Redis Cluster have to do. */
export function redisClusterSuite(on: Deployment<RedisBackend>): void {
  redisMutexSuite(on);
  redisMutexSuite(on, 'handedOn');
  redisMutexSuite(on, 'kept');
  redisMutexSuite(on, 'fair');
  redisMutexSuite(on, 'spin');
  redisReadWriteLockSuite(on);
  redisMultiLockSuite(on);
  redisMultiLockSuite(on, 'slotMultiLock');
  redisSemaphoreSuite(on);
  redisSemaphoreSuite(on, { isFair: true });
  redisGuardedWriteSuite(on, { isCluster: true });
  redisLeaderElectionSuite(on);
}

/** All that locks behind Sentinels have to do. */
export function redisSentinelSuite(on: Deployment<RedisBackend>): void {
  redisMutexSuite(on);
  redisMutexSuite(on, 'kept');
  redisMutexSuite(on, 'fair');
  redisReadWriteLockSuite(on);
  redisSemaphoreSuite(on);
  redisSemaphoreSuite(on, { isFair: true });
  redisGuardedWriteSuite(on);
  redisLeaderElectionSuite(on);
}
