interface Line {
  readonly at: number;
  /** A step is chosen; what follows from it is news. */
  readonly isStep: boolean;
  what: string;
}

/** A run as a story: what each client and server did, when, and what came of it. */
export class Story {
  readonly #lines: Line[] = [];

  /** @param now in ms */
  constructor(private readonly now: () => number) {}

  step(what: string): void {
    this.#add(true, what);
  }

  /** Says more of the last step. */
  detail(what: string): void {
    this.#lines.at(-1)!.what += `: ${what}`;
  }

  news(what: string): void {
    this.#add(false, what);
  }

  toString(): string {
    let step = 0;
    const lines = this.#lines.map(({ at, isStep, what }) => {
      const time = `${at.toFixed(2).padStart(9)} ms`;
      const number = isStep ? `${++step}.` : '';
      return `${time} ${number.padStart(4)} ${isStep ? '' : '   '}${withoutIds(what)}`;
    });
    return lines.join('\n');
  }

  #add(isStep: boolean, what: string): void {
    this.#lines.push({ at: this.now(), isStep, what });
  }
}

/** The text without the random ids in the names of nodes. */
export const withoutIds = (text: string): string => text.replace(/_c_[-0-9a-f]{36}-/g, '');
