/** What happened in a simulated world, and the first violation. */
export class History {
  readonly #lines: string[] = [];
  readonly #counts = new Map<string, number>();
  #accusation?: string;

  constructor(private readonly now: () => number) {}

  /** How often each kind of event happened. */
  get counts(): ReadonlyMap<string, number> {
    return this.#counts;
  }

  note(kind: string, details = ''): void {
    this.#counts.set(kind, (this.#counts.get(kind) ?? 0) + 1);
    this.#lines.push(`${this.now().toFixed(1).padStart(9)}  ${kind} ${details}`);
  }

  /** A promise is broken; the first accusation counts. */
  accuse(what: string): void {
    this.#accusation ??= what;
    this.note('VIOLATION', what);
  }

  /** @throws the accusation, with all that led to it */
  throwIfAccused(): void {
    if (this.#accusation === undefined) return;
    throw new Error(`${this.#accusation}\n\nWhat happened (ms):\n${this.#lines.join('\n')}\n`);
  }
}
