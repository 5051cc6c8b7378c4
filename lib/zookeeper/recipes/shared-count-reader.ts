/** A number that may change, such as a `SharedCount`. */
export interface SharedCountReader {
  readonly count: number;
  /** Calls `listener` when it has changed; the returned function stops that. */
  onChange(listener: (count: number) => void): () => void;
}
