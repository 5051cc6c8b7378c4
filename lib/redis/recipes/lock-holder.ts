/** Who holds a lock, for an operator. */
export interface LockHolder {
  /** Owner on the server: `<uuid of the client>:<number>`, of Redisson `<uuid>:<thread id>`. */
  readonly id: string;
  readonly mode: 'alone' | 'write' | 'read';
  /** From here on only of holders of this library. Name of the host. */
  readonly host?: string;
  /** Process id. */
  readonly pid?: number;
  /** Class and method of a decorated method, or what was given to the acquire. */
  readonly method?: string;
  /** When it asked for the lock, by the clock of its host. */
  readonly since?: Date;
}
