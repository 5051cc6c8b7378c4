import type { RedisServer } from './redis-server.js';

/** What a sentinel knows of a master and those around it. */
export interface SentinelView {
  /** The port of the master. */
  readonly master: number;
  /** Whether it finds nothing wrong with the master, and nothing is under way. */
  readonly isCalm: boolean;
  /** How many other sentinels it knows. */
  readonly sentinels: number;
  /** How many replicas it knows that work and are linked to their master. */
  readonly replicas: number;
}

/** Asks a sentinel. */
export async function sentinelView(
  sentinel: RedisServer,
  masterName: string,
): Promise<SentinelView> {
  const ask = (what: string) => sentinel.command('SENTINEL', what, masterName);
  const master = recordOf((await ask('MASTER')) as string[]);
  const replicas = ((await ask('REPLICAS')) as string[][]).map(recordOf);
  const linked = replicas.filter(
    (replica) => replica['flags'] === 'slave' && replica['master-link-status'] === 'ok',
  );
  return {
    master: Number(master['port']),
    isCalm: master['flags'] === 'master',
    sentinels: Number(master['num-other-sentinels']),
    replicas: linked.length,
  };
}

/** From names and values in turn. */
function recordOf(pairs: readonly string[]): Record<string, string | undefined> {
  const names = pairs.filter((_, i) => i % 2 === 0);
  return Object.fromEntries(names.map((name, i) => [name, pairs[2 * i + 1]]));
}
