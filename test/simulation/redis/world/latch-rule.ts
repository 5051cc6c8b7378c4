import type { RedisWorld } from './redis-world.js';

interface Change {
  readonly at: number;
  readonly from: number;
  readonly to: number;
}

/**
 * A latch is closed with a count, and counted down by one; at 0 it is open. Each change is what one call has done, and each call
 * has done what it says.
 */
export class LatchRule {
  #count = 0;
  /** Changes of which no caller knows yet. */
  #changes: Change[] = [];
  /** Calls without an answer: what they have done is not known. */
  #open = 0;
  /** When it was last open, and last closed, until now. */
  #lastOpenAt = 0;
  #lastClosedAt = -Infinity;

  constructor(
    private readonly world: RedisWorld,
    private readonly key: string,
  ) {
    const { servers } = world;
    const before = servers.onChange;
    servers.onChange = (keys) => {
      before(keys);
      this.#look();
    };
  }

  began(): void {
    this.#open += 1;
  }

  ended(): void {
    this.#open -= 1;
    if (this.#changes.length > this.#open)
      this.#accuse(`was changed ${this.#changes.length} times by ${this.#open} calls`);
  }

  /** A wait has ended. */
  passed(startedAt: number): void {
    if (!this.#was('open', startedAt)) this.#accuse('lets someone pass while it is closed');
  }

  countedDown(startedAt: number, left: number): void {
    const isOwn = this.#claim(startedAt, (it) => it.to === left && it.from === left + 1);
    if (isOwn || (left === 0 && this.#was('open', startedAt))) return;
    this.#accuse(`was not counted down to ${left}`);
  }

  closed(startedAt: number, count: number, isDone: boolean): void {
    if (!isDone && !this.#was('closed', startedAt)) this.#accuse('is open, and was not closed');
    if (isDone && !this.#claim(startedAt, (it) => it.from === 0 && it.to === count))
      this.#accuse(`was not closed with ${count}`);
  }

  /** A caller has learned of a change since then. Returns whether there was one. */
  #claim(startedAt: number, isMeant: (change: Change) => boolean): boolean {
    const index = this.#changes.findIndex((it) => it.at >= startedAt && isMeant(it));
    if (index >= 0) this.#changes.splice(index, 1);
    return index >= 0;
  }

  #was(state: 'open' | 'closed', since: number): boolean {
    if (state === 'open' ? this.#count === 0 : this.#count > 0) return true;
    return (state === 'open' ? this.#lastOpenAt : this.#lastClosedAt) >= since;
  }

  #look(): void {
    const { servers, clock } = this.world;
    const [from, to] = [this.#count, Number(servers.keyspace.read(this.key, 'string') ?? 0)];
    if (from === to) return;
    const at = clock.now();
    if (from > 0 && to !== from - 1) this.#accuse(`changes from ${from} to ${to}`);
    if (from === 0) this.#lastOpenAt = at;
    else this.#lastClosedAt = at;
    this.#count = to;
    this.#changes.push({ at, from, to });
  }

  #accuse(what: string): void {
    this.world.judge.accuse(`latch ${this.key} ${what}`);
  }
}
