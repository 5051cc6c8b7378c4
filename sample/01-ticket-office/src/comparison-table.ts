import type { RushResult } from './rush/rush-result.js';

const HEADER = ['', 'sold', 'oversold', 'time', 'lock waits'];

/** The results of the rushes, as text for a terminal. */
export function comparisonTable(results: readonly RushResult[]): string {
  const rows = [HEADER, ...results.map(rowOf)];
  const widths = HEADER.map((_, column) => Math.max(...rows.map((row) => row[column]!.length)));
  const lines = rows.map((row) =>
    row.map((cell, column) =>
      column === 0 ? cell.padEnd(widths[0]!) : cell.padStart(widths[column]!),
    ),
  );
  return lines.map((cells) => cells.join('   ')).join('\n');
}

function rowOf({ locked, sold, oversold, ms, meanWaitMs, longestWaitMs }: RushResult): string[] {
  return [
    locked ? '@WithMutex' : 'no lock',
    `${sold}`,
    `${oversold}`,
    seconds(ms),
    locked ? `${seconds(meanWaitMs)} on average, ${seconds(longestWaitMs)} at most` : '-',
  ];
}

function seconds(ms: number): string {
  return `${(ms / 1000).toFixed(2)} s`;
}
