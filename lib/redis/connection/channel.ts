/** One channel that somebody of this process listens to. */
export class Channel {
  /** How many do. */
  users = 0;
  /** Would a message come in now? */
  isActive = false;
  #signals = 0;
  readonly #listeners = new Set<() => void>();

  constructor(readonly name: string) {}

  /**
   * How often there was a reason to look again: a message came, or the subscription began or was interrupted, when a
   * message may have been missed. Read it before a look; if it is another one after that, look again.
   */
  get signals(): number {
    return this.#signals;
  }

  /** Tells who listens to look again. */
  signal(): void {
    this.#signals += 1;
    for (const tell of [...this.#listeners]) tell();
  }

  /** Calls `listener` at each signal; the returned function ends that. */
  onSignal(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => void this.#listeners.delete(listener);
  }
}
