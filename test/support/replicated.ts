import { eventually } from './eventually.js';
import type { RedisServer } from './redis-server.js';

/** Returns a replica of the master that has all that was written to it before. */
export async function replicated(
  master: RedisServer,
  servers: readonly RedisServer[],
): Promise<RedisServer> {
  const { offset } = await master.role();
  const hasAll = async (server: RedisServer) => {
    const role = await server.role();
    return (
      role.name === 'replica' &&
      role.master === master.port &&
      role.isLinked &&
      role.offset >= offset
    );
  };
  return eventually('a replica has all that its master has', async () => {
    for (const server of servers) if (server.running && (await hasAll(server))) return server;
    return undefined;
  });
}
