/**
 * Who of this process wants one lock, in the order they came. The first one contends for it on the server, and keeps its
 * place while it holds the lock: those behind it know without asking that they have to wait.
 */
export class ContenderLine {
  readonly #places: Place[] = [];

  get isEmpty(): boolean {
    return this.#places.length === 0;
  }

  join(): Place {
    const place = new Place(() => this.#leave(place));
    this.#places.push(place);
    if (this.#places.length === 1) place.moveUp();
    return place;
  }

  #leave(place: Place): void {
    const index = this.#places.indexOf(place);
    if (index < 0) return;
    this.#places.splice(index, 1);
    if (index === 0) this.#places[0]?.moveUp();
  }
}

/** One place in a {@link ContenderLine}. */
export class Place {
  isFirst = false;
  #first?: Promise<void>;
  #tellFirst?: () => void;

  /** @param leave to be called when it neither wants nor holds the lock any more; idempotent */
  constructor(readonly leave: () => void) {}

  /** Resolves when it is the first. */
  first(): Promise<void> {
    this.#first ??= new Promise((resolve) => (this.#tellFirst = resolve));
    if (this.isFirst) this.#tellFirst!();
    return this.#first;
  }

  /** @internal */
  moveUp(): void {
    this.isFirst = true;
    this.#tellFirst?.();
  }
}
