/** Options of `LockExceptionFilter`. */
export interface LockExceptionFilterOptions {
  /**
   * What `Retry-After` says, in seconds; a whole number from 1 on.
   *
   * @default for a lock that was not granted in time the `wait` of the call, rounded up; for servers that are away 5
   */
  readonly retryAfter?: number;
  /**
   * Is the message of the error sent, instead of a general one? It names key and client, perhaps servers too: a key may hold
   * an id that the caller is not to see.
   *
   * @default false
   */
  readonly exposeMessage?: boolean;
}
