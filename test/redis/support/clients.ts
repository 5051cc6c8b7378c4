import { afterEach, beforeEach } from '@jest/globals';
import { createRedisLockClient } from '../../../lib/redis/create-redis-lock-client.js';
import type { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { eventually } from '../../support/time.js';
import { useCleanup } from '../../support/fixtures.js';
import { RedisProxy } from '../../support/redis-proxy.js';
import type { RedisServer } from '../../support/redis-server.js';

/** What ioredis needs so that a client that is disconnected without a connection does not keep the process alive. */
export const AT_ONCE = { disconnectTimeout: 0 };

/** Makes lock clients that are closed after each test of the surrounding `describe` or file, and connects them. */
export function useClients(name = 'test') {
  const cleanup = useCleanup();
  const made = async (options: RedisLockOptions, as = name): Promise<RedisLockClient> =>
    cleanup(await createRedisLockClient(as, options), (client) => client.close());
  const connected = async (options: RedisLockOptions, as = name): Promise<RedisLockClient> => {
    const client = await made(options, as);
    await client.connect();
    return client;
  };
  return { made, connected };
}

/** A proxy in front of the server, a new one for each test. */
export function useProxy(server: () => RedisServer): () => RedisProxy {
  let proxy: RedisProxy;
  beforeEach(async () => {
    proxy = await RedisProxy.start(server());
  });
  afterEach(() => proxy.stop());
  return () => proxy;
}

/** Resolves when the client begins to wait for a lock. */
export function contended(client: RedisLockClient): Promise<void> {
  return new Promise((resolve) => void client.on('contended', () => resolve()));
}

/** Resolves once somebody is subscribed to a channel with that text in its name. */
export async function listened(server: RedisServer, part = ''): Promise<void> {
  await eventually('it is listened to', async () => {
    const channels = (await server.command('PUBSUB', 'CHANNELS', `*${part}*`)) as string[];
    return channels.length > 0;
  });
}
