import type { Cluster as IoCluster, Redis as IoRedis } from 'ioredis';

/** Where the clients come from that tests hand over as users do: `ioredis`, or what `REDIS_CLIENT` in the environment names. */
const name = process.env.REDIS_CLIENT || 'ioredis';

const { Cluster, Redis } = (await import(name)) as {
  readonly Cluster: typeof IoCluster;
  readonly Redis: typeof IoRedis;
};

export { Cluster, Redis };
