import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';

/** A lock client in the storm. */
export interface StormClient {
  readonly name: string;
  readonly locks: RedisLockClient;
  /** How often its connection was interrupted. */
  interruptions: number;
}

/** They differ in what they wait for, and in how they send again. Leases are short, so that faults can outlast them. */
const KINDS = [
  { watchdogTimeout: 1_500, socketTimeout: 300, maxRetriesPerRequest: null },
  { watchdogTimeout: 2_000, socketTimeout: 500, maxRetriesPerRequest: 1 },
  { watchdogTimeout: 1_500, socketTimeout: 400, maxRetriesPerRequest: null, commandTimeout: 250 },
  { watchdogTimeout: 2_000, socketTimeout: 3_000, maxRetriesPerRequest: null },
  { watchdogTimeout: 2_000, socketTimeout: 400, maxRetriesPerRequest: 1, commandTimeout: 600 },
  { watchdogTimeout: 1_800, socketTimeout: 350, maxRetriesPerRequest: 20 },
];

/** Connects clients of all kinds to the primary, by the name that leads to it. */
export function connectAll(address: { host: string; port: number }): Promise<StormClient[]> {
  return Promise.all(
    KINDS.map(async ({ watchdogTimeout, ...options }, n) => {
      const name = `client${n + 1}`;
      const connect = {
        ...address,
        ...options,
        connectionName: name,
        retryStrategy: () => 20,
        disconnectTimeout: 0,
      };
      const locks = await createRedisLockClient(name, { connect, watchdogTimeout });
      await locks.connect();
      const client: StormClient = { name, locks, interruptions: 0 };
      locks.on('connection', ({ state }) => {
        if (state === 'SUSPENDED') client.interruptions += 1;
      });
      return client;
    }),
  );
}
