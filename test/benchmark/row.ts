/** One line of a benchmark's table. */
export interface Row {
  readonly row: string;
  readonly unit: string;
  readonly ours: number;
  /** The least that the same work can cost here, measured in the same run; `null`: there is none. */
  readonly floor: number | null;
  /** What the same work takes with other libraries, by name, measured in the same run in turns with ours. */
  readonly peers: Readonly<Record<string, number>>;
  /**
   * Against the floor: how many times the floor we cost; 1 is the best. In a row with peers, which has no floor: how many
   * times as good as the best of them we are; 2 is twice the rate, or half the time.
   */
  readonly ratio: number | null;
  /**
   * Upper bound of `ratio`, or of `ours` where there is no ratio; in a row with peers, lower bound of `ratio`. `null`: told,
   * not judged.
   */
  readonly target: number | null;
  readonly ok: boolean;
}

/** A row with its ratio to the floor and its verdict worked out. `higherIsBetter`: for rates. */
export function row(
  name: string,
  unit: string,
  ours: number,
  floor: number | null,
  target: number | null = null,
  higherIsBetter = false,
): Row {
  const ratio = floor === null ? null : higherIsBetter ? floor / ours : ours / floor;
  return {
    row: name,
    unit,
    ours: rounded(ours),
    floor: floor === null ? null : rounded(floor),
    peers: {},
    ratio: ratio === null ? null : roundedRatio(ratio),
    target,
    ok: target === null || (ratio ?? ours) <= target,
  };
}

/**
 * A row with our ratio to the best of the peers, and its verdict, worked out from everybody's `values`. Without a peer it is
 * told and not judged, and says so. `higherIsBetter`: for rates.
 */
export function peerRow(
  name: string,
  unit: string,
  values: Readonly<Record<string, number>>,
  {
    target = null,
    higherIsBetter = false,
  }: { target?: number | null; higherIsBetter?: boolean } = {},
): Row {
  const { ours = NaN, ...peers } = values;
  const theirs = Object.values(peers);
  if (theirs.length === 0) return row(`${name} (no peer here)`, unit, ours, null);
  const ratio = higherIsBetter ? ours / Math.max(...theirs) : Math.min(...theirs) / ours;
  return {
    row: name,
    unit,
    ours: rounded(ours),
    floor: null,
    peers: Object.fromEntries(Object.entries(peers).map(([peer, value]) => [peer, rounded(value)])),
    ratio: roundedRatio(ratio),
    target,
    ok: target === null || ratio >= target,
  };
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : roundedRatio(value);
}

function roundedRatio(value: number): number {
  return Math.round(value * 1000) / 1000;
}

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
