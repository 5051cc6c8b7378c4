import type { Row } from './row.js';

const HEADINGS = ['', 'unit', 'ours', 'floor', 'ratio', 'target', ''];

/** Prints a table, or with `json` one array and nothing else. */
export function printRows(rows: readonly Row[], json: boolean): void {
  if (json) return console.log(JSON.stringify(rows));
  const cells = rows.map(({ row, unit, ours, floor, ratio, target, ok }) =>
    [row, unit, ours, floor, ratio, target, target === null ? '' : ok ? 'ok' : 'MISSED'].map(
      (cell) => (cell === null ? '–' : String(cell)),
    ),
  );
  const widths = HEADINGS.map((heading, i) =>
    Math.max(heading.length, ...cells.map((line) => line[i]!.length)),
  );
  for (const line of [HEADINGS, ...cells])
    console.log(
      line
        .map((cell, i) => (i < 2 ? cell.padEnd(widths[i]!) : cell.padStart(widths[i]!)))
        .join('  '),
    );
}
