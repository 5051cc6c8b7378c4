/** How a rush went. Times in milliseconds. */
export interface RushResult {
  readonly locked: boolean;
  /** Customers who went home with a ticket. */
  readonly sold: number;
  /** Tickets beyond the seats that there are. */
  readonly oversold: number;
  readonly ms: number;
  /** How long a customer waited for the lock, on average. */
  readonly meanWaitMs: number;
  readonly longestWaitMs: number;
}
