import { ContenderLine } from './contender-line.js';

/** Names remembered; the oldest is forgotten first. */
const CAPACITY = 10_000;

/** The lines of one client, by lock; and which locks others want too. */
export class ContenderLines {
  readonly #lines = new Map<string, ContenderLine>();
  readonly #wanted = new Set<string>();

  /** The line before that lock. */
  of(name: string): ContenderLine {
    let line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, (line = new ContenderLine()));
    return line;
  }

  /** Does nobody stand in the line before that lock? */
  isEmpty(name: string): boolean {
    return this.#lines.get(name)?.isEmpty ?? true;
  }

  /** Forgets a line in which nobody stands, where there are many. */
  tidy(name: string): void {
    if (this.#lines.size > CAPACITY && this.#lines.get(name)?.isEmpty) this.#lines.delete(name);
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
