import { ContenderLine } from './contender-line.js';

/** Names remembered; the oldest is forgotten first. */
const CAPACITY = 10_000;

/** The lines of one client, by lock; and which locks others want too. */
export class ContenderLines {
  readonly #lines = new Map<string, ContenderLine>();
  readonly #wanted = new Set<string>();

  /** The line before that lock. */
  of(name: string): ContenderLine {
    const line = this.#lines.get(name) ?? new ContenderLine();
    this.#lines.set(name, line);
    return line;
  }

  /** Forgets a line in which nobody stands. */
  tidy(name: string): void {
    if (this.#lines.get(name)?.isEmpty) this.#lines.delete(name);
  }

  /** Did other processes wait for that lock when we gave it back last? Then they go first the next time. */
  isWanted(name: string): boolean {
    return this.#wanted.has(name);
  }

  setWanted(name: string, isWanted: boolean): void {
    this.#wanted.delete(name);
    if (!isWanted) return;
    this.#wanted.add(name);
    const [eldest] = this.#wanted;
    if (this.#wanted.size > CAPACITY) this.#wanted.delete(eldest!);
  }
}
