import { NameMemory } from '../../core/collections/name-memory.js';
import { ShardedMap } from '../../core/collections/sharded-map.js';
import type { LockCommands } from './lock-commands.js';

/** Number of waiters of one process in the queue of one key on the server; the others wait behind them, locally. */
export const WAITERS_ON_SERVER = 16;

type Kind = LockCommands['localQueue'];

/** Number of acquires of a local queue that ask the server. */
const WIDTH = { exclusive: 1, waiters: 1, queue: WAITERS_ON_SERVER };

/** Local queues of one client, by lock; and the locks that other processes want too. */
export class LocalQueues {
  readonly #lines = {
    exclusive: new ShardedMap<Line>(),
    waiters: new ShardedMap<Line>(),
    queue: new ShardedMap<Line>(),
  };
  readonly #wanted = new WantedLocks();

  /** @internal Joins the end of the local queue of that lock. */
  join(kind: Exclude<Kind, 'none'>, name: string): Place {
    const lines = this.#lines[kind];
    let line = lines.get(name);
    if (line === undefined) lines.set(name, (line = new Line(lines, name, WIDTH[kind])));
    return line.join();
  }

  /** Whether there is no local queue for that lock. */
  isEmpty(kind: Kind, name: string): boolean {
    return kind === 'none' || !this.#lines[kind].has(name);
  }

  /** Number of processes that listened at this client's last release of that lock; if any, they go first the next time. */
  listeners(name: string): number {
    return this.#wanted.listeners(name);
  }

  setListeners(name: string, listeners: number): void {
    this.#wanted.set(name, listeners);
  }
}

/** Place of one acquire in the local queue of its lock, if there is a queue and the acquire has to join it. */
export class LocalQueuePlace {
  #place?: Place;

  /** @param mayWait an acquire that may not wait skips the waiters, unless the queue is `exclusive` */
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

  /** Whether it is this acquire's turn to ask the server. */
  get isFirst(): boolean {
    return this.#place?.isFirst ?? true;
  }

  /** Joins the queue of the waiters; resolves when it is this acquire's turn to ask, to whether others were ahead. */
  async first(): Promise<boolean> {
    if (this.commands.localQueue === 'none') return false;
    const place = this.#place ?? this.#join();
    const wasBehind = !place.isFirst;
    if (wasBehind) await place.first;
    return wasBehind;
  }

  /**
   * Must be called when the acquire neither wants nor holds the lock any more; idempotent.
   *
   * @param listening number of subscribers of other processes at the release, if known
   */
  leave(listening?: number): void {
    if (listening !== undefined) this.lines.setListeners(this.commands.redisKey, listening);
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

  /** Resolves when this place is among the first `width`. */
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

/** Acquires of one process that want one lock, in order of arrival; the first `width` ask the server. */
class Line {
  readonly #places: Place[] = [];

  constructor(
    private readonly lines: ShardedMap<Line>,
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

/** The latest locks that other processes waited for. */
class WantedLocks {
  readonly #listeners = new NameMemory<number>();

  listeners(name: string): number {
    return this.#listeners.get(name) ?? 0;
  }

  set(name: string, listeners: number): void {
    this.#listeners.delete(name); // it counts as new
    if (listeners > 0) this.#listeners.set(name, listeners);
  }
}
