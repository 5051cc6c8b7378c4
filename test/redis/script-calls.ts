import type { RedisStage } from './redis-stage.js';

/** How many scripts a server, or that of the key of this test, has run since `CONFIG RESETSTAT`. */
export async function scriptCalls(server: Pick<RedisStage, 'command'>): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}
