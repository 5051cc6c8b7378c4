/** One broken promise. */
export interface Finding {
  /** In ms since the storm began. */
  readonly at: number;
  /** The kind of promise: findings of one kind usually have one cause. */
  readonly kind: string;
  readonly text: string;
  /** The events that led to it, line by line. */
  readonly story: readonly string[];
}

/** Stories are long, and after the first few of a kind there is nothing new in them. */
const STORIES_OF_A_KIND = 3;

/** What the judges of a storm have found. */
export class Findings {
  readonly all: Finding[] = [];
  readonly #startedAt = performance.now();

  get count(): number {
    return this.all.length;
  }

  /** Milliseconds since the storm began. */
  get now(): number {
    return Math.round(performance.now() - this.#startedAt);
  }

  add(kind: string, text: string, story: () => readonly string[] = () => []): void {
    const isTold = this.all.filter((finding) => finding.kind === kind).length < STORIES_OF_A_KIND;
    this.all.push({ at: this.now, kind, text, story: isTold ? story() : [] });
  }

  /** Number of findings of each kind. */
  counts(): Record<string, number> {
    const counts: Record<string, number> = {};
    for (const { kind } of this.all) counts[kind] = (counts[kind] ?? 0) + 1;
    return counts;
  }
}
