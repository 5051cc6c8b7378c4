// Writes what is explored, as `npm run explore` counts it, into the table of that document: `npm run docs:tests`.
import { readFileSync, writeFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { EXPLORED, type Explored } from '../../../simulation/explorer/explored.js';

export const DOCUMENT = new URL('../../../../docs/internals/exploration.md', import.meta.url);
const TABLE = /\| world [^]*?\n\n/;

/** The document as the counts of today have it. */
export async function documentOfExplorations(): Promise<string> {
  const head = ['world', 'clients', 'requests', 'faults', 'runs', 'outcomes', 'explored by'];
  const rows = [head, head.map(() => '---'), ...EXPLORED.map(cellsOf)];
  const table = rows.map((cells) => `| ${cells.join(' | ')} |\n`).join('');
  const text = readFileSync(DOCUMENT, 'utf8').replace(TABLE, () => `${table}\n`);
  const filepath = fileURLToPath(DOCUMENT);
  return format(text, { ...(await resolveConfig(filepath)), filepath });
}

function cellsOf({ task, runs, outcomes, isLong }: Explored): string[] {
  const { scenario, clients, requests = clients, faults, kinds = ['any kind'] } = task;
  const trouble = faults === 0 ? 'none' : `${faults}: ${kinds.join(', ')}`;
  const counts = [clients, requests, trouble, runs.toLocaleString('en'), outcomes];
  return [scenario, ...counts.map(String), isLong ? '`npm run explore`' : '`npm test`'];
}

if (process.argv[1] === fileURLToPath(import.meta.url))
  writeFileSync(DOCUMENT, await documentOfExplorations());
