// Writes what is explored, as `npm run explore` counts it, into the table of that document: `npm run docs:tests`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { EXPLORED } from '../../../simulation/explorer/zookeeper/explored.js';
import { REDIS_EXPLORED } from '../../../simulation/redis/explorer/redis-explored.js';
import { RED_LOCK_EXPLORED } from '../../../simulation/redis/red-lock/explorer/red-lock-explored.js';

export const DOCUMENT = 'docs/internals/exploration.md';

/** One row. */
interface Row {
  readonly scenario: string;
  readonly clients: number;
  readonly requests?: number;
  readonly faults: number;
  readonly kinds?: readonly string[] | undefined;
  readonly runs: number;
  readonly outcomes: number;
  readonly isLong: boolean;
}

/** The document as the counts of today have it. */
export async function documentOfExplorations(): Promise<string> {
  const onZooKeeper = EXPLORED.map(({ task, ...counts }) => ({ ...task, ...counts }));
  const onRedis = REDIS_EXPLORED.map(({ task, ...counts }) => {
    return { ...task, ...counts, scenario: task.redis };
  });
  const onServers = RED_LOCK_EXPLORED.map(({ task, ...counts }) => {
    return { ...task, ...counts, scenario: task.redLock };
  });
  const tables = { 'on ZooKeeper': onZooKeeper, 'on Redis': onRedis, 'of RedLock': onServers };
  let text = readFileSync(DOCUMENT, 'utf8');
  for (const [title, rows] of Object.entries(tables)) text = withTable(text, title, rows);
  return format(text, { ...(await resolveConfig(DOCUMENT)), filepath: DOCUMENT });
}

/** The text with that table in place of the one that begins with that title. */
function withTable(text: string, title: string, explored: readonly Row[]): string {
  const head = [title, 'clients', 'requests', 'faults', 'runs', 'outcomes', 'explored by'];
  const rows = [head, head.map(() => '---'), ...explored.map(cellsOf)];
  const table = rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  return text.replace(new RegExp(`\\| ${title} [^]*?\\n\\n`), () => `${table}\n`);
}

function cellsOf(row: Row): string[] {
  const { scenario, clients, requests = clients, faults, kinds = ['any kind'] } = row;
  const { runs, outcomes, isLong } = row;
  const trouble = faults === 0 ? 'none' : `${faults}: ${kinds.join(', ')}`;
  const counts = [clients, requests, trouble, runs.toLocaleString('en'), outcomes];
  return [scenario, ...counts.map(String), isLong ? '`npm run explore`' : '`npm test`'];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(DOCUMENT, await documentOfExplorations());
