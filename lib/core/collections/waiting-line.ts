import { ShardedMap } from './sharded-map.js';

/** Takes what the acquire ahead hands on, in the same turn; returns whether it did. */
export type TakeOver<H> = (handed: H) => boolean;

/** Lines in which the acquires of one client wait for each other, by lock. */
export class WaitingLines<H> {
  readonly #lines = new ShardedMap<Line<H>>();

  /** @param width how many acquires in the line of a lock have their turn at a time */
  constructor(private readonly width = 1) {}

  /** Joins the end of the line of that lock. */
  join(name: string): LinePlace<H> {
    let line = this.#lines.get(name);
    if (line === undefined) this.#lines.set(name, (line = new Line(this.#lines, name, this.width)));
    return line.join();
  }

  has(name: string): boolean {
    return this.#lines.has(name);
  }
}

/** Place of one acquire in a line. */
export class LinePlace<H> {
  /** Whether it has its turn. */
  isFirst = false;
  isInLine = true;
  ahead?: LinePlace<H> | undefined;
  behind?: LinePlace<H> | undefined;
  /** Called when the next one in the line has come; set while it has nothing else to do with the lock. */
  onFollowed?: (() => void) | undefined;
  #takeOver?: TakeOver<H>;
  #onFirst?: () => void;

  constructor(private readonly line: Line<H>) {}

  /** Whether it is in the line, with none behind it. */
  get isLast(): boolean {
    return this.isInLine && this.behind === undefined;
  }

  /** Calls `listener`, the last one that was given, when it has its turn: now if it has it. */
  onFirst(listener: () => void): void {
    this.#onFirst = listener;
    if (this.isFirst) listener();
  }

  /**
   * From now on `take` is called with what the acquire ahead hands on. If the lock was kept for the next one, which it returns, it is
   * called now; or the lock is given back, and this place will be the first.
   */
  onHandOff(take: TakeOver<H>): boolean {
    this.#takeOver = take;
    const followed = this.ahead?.onFollowed;
    followed?.();
    return followed !== undefined;
  }

  moveUp(): void {
    this.isFirst = true;
    this.#onFirst?.();
  }

  /** Must be called when the acquire neither wants nor holds the lock any more; idempotent. */
  leave(): void {
    this.line.leave(this);
  }

  /** Hands the lock on to the next in the line, and leaves; returns whether that took it. */
  handOff(handed: H): boolean {
    const { isInLine, behind } = this;
    if (!isInLine || behind === undefined || behind.#takeOver?.(handed) !== true) return false;
    this.leave();
    return true;
  }
}

/** Acquires that want one lock, in order of arrival. Invariant: the first `width` of them have their turn. */
class Line<H> {
  #last?: LinePlace<H> | undefined;
  #length = 0;
  /** The first one that does not have its turn. */
  #next?: LinePlace<H> | undefined;

  constructor(
    private readonly lines: ShardedMap<Line<H>>,
    private readonly name: string,
    private readonly width: number,
  ) {}

  join(): LinePlace<H> {
    const place = new LinePlace(this);
    if (this.#last) [place.ahead, this.#last.behind] = [this.#last, place];
    this.#last = place;
    if (this.#length < this.width) place.moveUp();
    else this.#next ??= place;
    this.#length += 1;
    return place;
  }

  leave(place: LinePlace<H>): void {
    if (!place.isInLine) return;
    const { ahead, behind } = place;
    place.isInLine = false;
    if (ahead) ahead.behind = behind;
    if (behind) behind.ahead = ahead;
    else this.#last = ahead;
    this.#length -= 1;
    if (this.#length === 0) this.lines.delete(this.name);
    const next = this.#next;
    if (next !== undefined && (place.isFirst || place === next)) this.#next = next.behind;
    if (place.isFirst) next?.moveUp();
    // One that left long ago, in the old generation, would keep all that came later, until a full garbage collection.
    place.ahead = place.behind = undefined;
  }
}
