import type { LockClient } from '../../lib/core/lock-client.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import { createRedisLockClient } from '../../lib/redis/create-redis-lock-client.js';
import { asOwn } from '../support/as-own.js';
import type { RedisServer } from '../support/redis-server.js';
import type { LockStage } from './lock-stage.js';
import { RedLockStage } from './red-lock-stage.js';
import type { RedisBackend } from './redis-backend.js';
import { redisRecipes } from './redis-recipes.js';
import { RedisStage } from './redis-stage.js';

/** Of the clients with leases that end while a test waits, in ms. */
const SHORT_LEASE = 3_000;

/** A client of the test's own. */
export interface MortalClient {
  readonly locks: LockClient;
  /** Its connections end for good, as when its process does. */
  vanish(): void;
}

/** What elections on Redis stand on. */
export interface LeaderElectionGround<S extends LockStage = LockStage> {
  readonly stage: S;
  /** A client with short leases, connected; to be closed by the test. */
  mortal(): Promise<MortalClient>;
  /** The servers forget everything. */
  forget(): Promise<void>;
}

/** A server, or servers that are one. */
export async function redisElectionGround(
  backend: RedisBackend,
): Promise<LeaderElectionGround<RedisStage>> {
  return {
    stage: await RedisStage.build(backend, redisRecipes.fenced),
    async mortal() {
      const client = backend.client();
      const locks = await createRedisLockClient('mortal', {
        client: asOwn(client),
        watchdogTimeout: SHORT_LEASE,
      });
      await locks.connect();
      return { locks, vanish: () => client.disconnect() };
    },
    forget: () => forget(backend.servers),
  };
}

/** Servers that know nothing of each other. */
export async function redLockElectionGround(
  servers: readonly RedisServer[],
): Promise<LeaderElectionGround> {
  return {
    stage: await RedLockStage.build(servers, 'semaphoreMutex'),
    async mortal() {
      const nodes = servers.map((server) => server.client());
      const times = { watchdogTimeout: SHORT_LEASE, nodeTimeout: SHORT_LEASE / 3 };
      const locks = await createRedLockClient('mortal', { nodes: nodes.map(asOwn), ...times });
      await locks.connect();
      return { locks, vanish: () => nodes.forEach((node) => node.disconnect()) };
    },
    forget: () => forget(servers),
  };
}

/** Replicas refuse, and follow their masters. */
async function forget(servers: readonly RedisServer[]): Promise<void> {
  await Promise.allSettled(servers.map((server) => server.command('FLUSHALL')));
}
