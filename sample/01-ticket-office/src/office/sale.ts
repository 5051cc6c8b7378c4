/** What a customer goes home with. */
export interface Sale {
  /** Number of the seat; `null` when the show was sold out. */
  readonly seat: number | null;
  /** How long the customer waited for the lock, in milliseconds. */
  readonly waitedMs: number;
}
