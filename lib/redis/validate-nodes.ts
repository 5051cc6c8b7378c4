import { isClient, isRedisCluster } from './connection/ioredis.js';
import type { RedisLockOptions } from './redis-lock-options.js';
import { validateSources, type RefuseOption } from './validate-sources.js';

/** Fewer have no majority without all of them. */
const FEWEST = 3;

/** Checks the servers of a RedLock, as far as that can be done before they are connected. */
export function validateNodes(
  { nodes, nodeTimeout, watchdogTimeout = 30_000 }: RedisLockOptions,
  refuse: RefuseOption,
): void {
  if (nodes === undefined) {
    if (nodeTimeout !== undefined) refuse('nodeTimeout', nodeTimeout, 'it together with `nodes`');
    return;
  }
  if (!Array.isArray(nodes) || nodes.length < FEWEST)
    refuse('nodes', 'too few', `at least ${FEWEST} servers, and an odd number`);
  const seen = new Set<unknown>();
  for (const node of nodes as readonly unknown[]) {
    if (node === undefined || node === null)
      refuse('nodes', node, 'for each server a URL, options of ioredis, or a Redis of yours');
    const source = isClient(node) ? { client: node } : { connect: node };
    validateSources(source, (_, value, expected) => refuse('nodes', value, expected));
    if (isClient(node) && isRedisCluster(node))
      refuse('nodes', 'a Cluster', 'independent servers; a cluster is one client of its own');
    const address = addressOf(node);
    if (seen.has(address)) refuse('nodes', 'the same server twice', 'each of them once');
    seen.add(address);
  }
  if (nodeTimeout !== undefined && !isIn(nodeTimeout, 1, watchdogTimeout / 3))
    refuse('nodeTimeout', nodeTimeout, 'milliseconds from 1 to a third of the `watchdogTimeout`');
}

function isIn(value: unknown, least: number, most: number): boolean {
  return typeof value === 'number' && value >= least && value <= most;
}

/** What tells servers apart; of one that is behind Sentinels nothing is known yet. */
function addressOf(node: unknown): unknown {
  if (typeof node === 'string') {
    const { hostname, port } = new URL(node);
    return `${hostname}:${port || 6379}`;
  }
  const options = (isClient(node) ? node.options : node) as {
    readonly host?: string;
    readonly port?: number;
    readonly path?: string;
    readonly sentinels?: unknown;
  };
  if (options.sentinels) return node;
  return options.path ?? `${options.host ?? 'localhost'}:${options.port ?? 6379}`;
}
