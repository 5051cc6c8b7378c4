interface Item<T> {
  readonly what: T;
  readonly dueAt: number;
}

/** One direction of a connection: it delivers in order, each thing after a delay, and nothing while it is held. */
export class SlowLane<T> {
  /** What comes in from now on is delivered that many ms later. */
  latency = 0;
  #isHeld = false;
  #items: Item<T>[] = [];
  #timer?: NodeJS.Timeout;

  constructor(private readonly deliver: (what: T) => void) {}

  get isHeld(): boolean {
    return this.#isHeld;
  }

  push(what: T): void {
    this.#items.push({ what, dueAt: performance.now() + this.latency });
    this.#drain();
  }

  hold(): void {
    this.#isHeld = true;
  }

  release(): void {
    this.#isHeld = false;
    this.#drain();
  }

  /** Removes what was not delivered yet. */
  takeAll(): T[] {
    clearTimeout(this.#timer);
    return this.#items.splice(0).map(({ what }) => what);
  }

  #drain(): void {
    clearTimeout(this.#timer);
    while (!this.#isHeld && this.#items.length > 0) {
      const left = this.#items[0]!.dueAt - performance.now();
      if (left > 0) {
        this.#timer = setTimeout(() => this.#drain(), left);
        return;
      }
      this.deliver(this.#items.shift()!.what);
    }
  }
}
