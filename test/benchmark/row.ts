/** One line of a benchmark's table. */
export interface Row {
  readonly row: string;
  readonly unit: string;
  readonly ours: number;
  /** The least that the same work can cost here, measured in the same run; `null`: there is none. */
  readonly floor: number | null;
  readonly peers: Readonly<Record<string, number>>;
  /** How many times the floor we cost: 1 is the best. */
  readonly ratio: number | null;
  /** Upper bound of `ratio`, or of `ours` where there is no ratio; `null`: told, not judged. */
  readonly target: number | null;
  readonly ok: boolean;
}

/** A row with its ratio and verdict worked out. `higherIsBetter`: for rates. */
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
    ratio: ratio === null ? null : Math.round(ratio * 1000) / 1000,
    target,
    ok: target === null || (ratio ?? ours) <= target,
  };
}

function rounded(value: number): number {
  return value >= 100 ? Math.round(value) : Math.round(value * 1000) / 1000;
}
