import type { LockCommands } from './lock-commands.js';

/** How many waiters of one process stand in the queue of one key on the server; the others wait behind them, here. */
export const WAITERS_ON_SERVER = 16;
/** Names that are remembered as wanted; the oldest is forgotten first. */
const CAPACITY = 10_000;

type Kind = LockCommands['localQueue'];

/** How many of a line ask the server. */
const WIDTH = { exclusive: 1, waiters: 1, queue: WAITERS_ON_SERVER };

/** The lines of one client, by lock; and which locks other processes want too. */
export class LocalQueues {
  readonly #lines = {
    exclusive: new Map<string, Line>(),
    waiters: new Map<string, Line>(),
    queue: new Map<string, Line>(),
  };
  readonly #wanted = new WantedLocks();

  /** @internal Stands last in the line before that lock. */
  join(kind: Exclude<Kind, 'none'>, name: string): Place {
    const lines = this.#lines[kind];
    let line = lines.get(name);
    if (line === undefined) lines.set(name, (line = new Line(lines, name, WIDTH[kind])));
    return line.join();
  }

  /** Is there no line before that lock? */
  isEmpty(kind: Kind, name: string): boolean {
    return kind === 'none' || !this.#lines[kind].has(name);
  }

  /** Did other processes wait for that lock when we gave it back last? Then they go first the next time. */
  isWanted(name: string): boolean {
    return this.#wanted.has(name);
  }

  setWanted(name: string, isWanted: boolean): void {
    this.#wanted.set(name, isWanted);
  }
}

/** The place of one acquire in the line of this process for its lock, where there is one and it has to stand in it. */
export class LocalQueuePlace {
  #place?: Place;

  /** @param mayWait one that may not wait passes by the waiters, unless one holder keeps all others out */
  constructor(
    private readonly lines: LocalQueues,
    private readonly commands: Pick<LockCommands, 'localQueue' | 'redisKey'>,
    mayWait: boolean,
  ) {
    const { localQueue, redisKey } = commands;
    const queues =
      localQueue === 'queue' || (localQueue === 'waiters' && !lines.isEmpty(localQueue, redisKey));
    if (localQueue === 'exclusive' || (queues && mayWait)) this.#join();
  }

  /** Is it this one's turn to ask the server? */
  get isFirst(): boolean {
    return this.#place?.isFirst ?? true;
  }

  /** Joins the line of those who wait; resolves when it is this one's turn to ask, to whether others were ahead. */
  async first(): Promise<boolean> {
    if (this.commands.localQueue === 'none') return false;
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
    const { localQueue, redisKey } = this.commands;
    return (this.#place = this.lines.join(localQueue as Exclude<Kind, 'none'>, redisKey));
  }
}

/** One place in a {@link Line}. */
class Place {
  #first?: Promise<void>;
  #moved?: () => void;

  constructor(
    private readonly line: Line,
    public isFirst: boolean,
  ) {}

  /** Resolves when it is among the first. */
  get first(): Promise<void> {
    this.#first ??= this.isFirst
      ? Promise.resolve()
      : new Promise<void>((resolve) => (this.#moved = resolve));
    return this.#first;
  }

  moveUp(): void {
    this.isFirst = true;
    this.#moved?.();
  }

  leave(): void {
    this.line.leave(this);
  }
}

/** The acquires of one process that want one lock, in the order in which they came; the first `width` ask the server. */
class Line {
  readonly #places: Place[] = [];

  constructor(
    private readonly lines: Map<string, Line>,
    private readonly name: string,
    private readonly width: number,
  ) {}

  join(): Place {
    const place = new Place(this, this.#places.length < this.width);
    this.#places.push(place);
    return place;
  }

  leave(place: Place): void {
    const index = this.#places.indexOf(place);
    if (index < 0) return;
    this.#places.splice(index, 1);
    const next = this.#places[this.width - 1];
    if (next && !next.isFirst) next.moveUp();
    if (this.#places.length === 0) this.lines.delete(this.name);
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
