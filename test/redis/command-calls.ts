import type { RedisStage } from './redis-stage.js';

/**
 * How often the server of this test's key has executed commands of that name since `CONFIG RESETSTAT`, also in scripts.
 *
 * @param name of the command in small letters; a pattern for several
 */
export async function commandCalls(
  server: Pick<RedisStage, 'command'>,
  name: string,
): Promise<number> {
  const stats = String(await server.command('INFO', 'commandstats'));
  const calls = stats.matchAll(new RegExp(`^cmdstat_(?:${name}):calls=(?<count>\\d+)`, 'gm'));
  return [...calls].reduce((sum, { groups }) => sum + Number(groups!.count), 0);
}
