import type { RedisStage } from './redis-stage.js';

/** How many scripts the server of the key of this test has run since `CONFIG RESETSTAT`. */
export async function scriptCalls(stage: RedisStage): Promise<number> {
  const stats = String(await stage.command('INFO', 'commandstats'));
  return Number(/^cmdstat_evalsha:calls=(\d+)/m.exec(stats)?.[1] ?? 0);
}
