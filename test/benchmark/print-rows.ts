import type { Row } from './row.js';

const WORDS = 2; // columns of words; the others are numbers

/** Prints a table, or with `json` one array and nothing else. */
export function printRows(rows: readonly Row[], json: boolean): void {
  if (json) return console.log(JSON.stringify(rows));
  const peers = [...new Set(rows.flatMap((row) => Object.keys(row.peers)))];
  const table = [
    ['', 'unit', 'ours', 'floor', ...peers, 'ratio', 'target', ''],
    ...rows.map((row) => cellsOf(row, peers)),
  ];
  const widths = table[0]!.map((_, i) => Math.max(...table.map((line) => line[i]!.length)));
  for (const line of table)
    console.log(
      line
        .map((cell, i) => (i < WORDS ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join('  '),
    );
}

function cellsOf(row: Row, peers: readonly string[]): string[] {
  const { unit, ours, floor, ratio, target, ok } = row;
  const theirs = peers.map((peer) => row.peers[peer] ?? null);
  const isLowerBound = Object.keys(row.peers).length > 0;
  return [
    row.row,
    unit,
    ...[ours, floor, ...theirs, ratio].map((value) => (value === null ? '–' : String(value))),
    target === null ? '–' : `${isLowerBound ? '≥' : '≤'} ${target}`,
    target === null ? '' : ok ? 'ok' : 'MISSED',
  ];
}
