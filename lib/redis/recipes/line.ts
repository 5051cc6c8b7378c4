import type { LockCommands } from './lock-commands.js';

/** How many waiters of one process stand in the queue of one key on the server; the others wait behind them, here. */
export const WAITERS_ON_SERVER = 16;
/** Names that are remembered as wanted; the oldest is forgotten first. */
const CAPACITY = 10_000;

const NOW = Promise.resolve();

type Kind = LockCommands['line'];

/** The lines of one client, by lock; and which locks other processes want too. */
export class ContenderLines {
  readonly #lines = new Map<string, Line>();
  readonly #wanted = new WantedLocks();

  /** @internal Stands last in the line before that lock. */
  join(kind: Kind, name: string): Place {
    const id = idOf(kind, name);
    let line = this.#lines.get(id);
    if (line === undefined) {
      const forget = () => void this.#lines.delete(id);
      line = new Line(kind === 'queue' ? WAITERS_ON_SERVER : 1, forget);
      this.#lines.set(id, line);
    }
    return line.join();
  }

  /** Is there no line before that lock? */
  isEmpty(kind: Kind, name: string): boolean {
    return !this.#lines.has(idOf(kind, name));
  }

  /** Did other processes wait for that lock when we gave it back last? Then they go first the next time. */
  isWanted(name: string): boolean {
    return this.#wanted.has(name);
  }

  setWanted(name: string, isWanted: boolean): void {
    this.#wanted.set(name, isWanted);
  }
}

const idOf = (kind: Kind, name: string) => `${kind}:${name}`;

/** The place of one acquire in the line of this process for its lock, where there is one and it has to stand in it. */
export class LinePlace {
  #place?: Place;

  /** @param mayWait one that may not wait passes by the waiters, unless one holder keeps all others out */
  constructor(
    private readonly lines: ContenderLines,
    private readonly commands: Pick<LockCommands, 'line' | 'raw'>,
    mayWait: boolean,
  ) {
    const { line, raw } = commands;
    const queues = line === 'queue' || (line === 'waiters' && !lines.isEmpty(line, raw));
    if (line === 'contenders' || (queues && mayWait)) this.#join();
  }

  /** Is it this one's turn to ask the server? */
  get isFirst(): boolean {
    return this.#place?.isFirst ?? true;
  }

  /** Joins the line of those who wait; resolves when it is this one's turn to ask, to whether others were ahead. */
  async first(): Promise<boolean> {
    if (this.commands.line === 'nobody') return false;
    const place = this.#place ?? this.#join();
    const wasBehind = !place.isFirst;
    if (wasBehind) await place.first;
    return wasBehind;
  }

  /** To be called when it neither wants nor holds the lock any more; idempotent. */
  leave(): void {
    this.#place?.leave();
  }

  #join(): Place {
    const { line, raw } = this.commands;
    return (this.#place = this.lines.join(line, raw));
  }
}

interface Place {
  readonly isFirst: boolean;
  /** Resolves when it is among the first. */
  readonly first: Promise<void>;
  leave(): void;
}

/** The acquires of one process that want one lock, in the order in which they came; the first `width` ask the server. */
class Line {
  readonly #places: { isFirst: boolean; moveUp(): void }[] = [];

  /** @param empty called when the last one has left; it is not used after that */
  constructor(
    private readonly width: number,
    private readonly empty: () => void,
  ) {}

  join(): Place {
    const isFirst = this.#places.length < this.width;
    let moveUp = () => {};
    const first = isFirst ? NOW : new Promise<void>((resolve) => (moveUp = () => resolve()));
    const place = { isFirst, first, moveUp, leave: () => this.#leave(place) };
    this.#places.push(place);
    return place;
  }

  #leave(place: { isFirst: boolean; moveUp(): void }): void {
    const index = this.#places.indexOf(place);
    if (index < 0) return;
    this.#places.splice(index, 1);
    const next = this.#places[this.width - 1];
    if (next && !next.isFirst) {
      next.isFirst = true;
      next.moveUp();
    }
    if (this.#places.length === 0) this.empty();
  }
}

/** Which locks other processes waited for, of the latest ones. */
class WantedLocks {
  readonly #names = new Set<string>();

  has(name: string): boolean {
    return this.#names.has(name);
  }

  set(name: string, isWanted: boolean): void {
    this.#names.delete(name);
    if (!isWanted) return;
    this.#names.add(name);
    const [eldest] = this.#names;
    if (this.#names.size > CAPACITY) this.#names.delete(eldest!);
  }
}
