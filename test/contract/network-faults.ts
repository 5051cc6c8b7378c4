/** What may happen on the way between one client and the server. */
export interface NetworkFaults {
  /** Breaks the connection. */
  cut(): void;
  /** Breaks the connection at the next request about `path`: before the server reads it, or after it was carried out. */
  cutAt(path: string, when: 'before' | 'after'): void;
  /** From now on no new connection is taken. */
  refuse(): void;
  /** Ends `refuse`. */
  accept(): Promise<void>;
  /** From now on nothing arrives in either direction, and neither side learns of it. */
  silence(): void;
  /** Ends `silence`: what was sent meanwhile arrives. */
  restore(): void;
}
