/** A value as it was at some time: what a set may be made to depend on. */
export interface VersionedValue<T> {
  readonly value: T;
  /** Number of changes to the node; begins anew at -2^31 after 2^31 - 1. -1 before the value was read for the first time. */
  readonly version: number;
  /** The transaction that made it: grows with every change. -1 before the value was read for the first time. */
  readonly zxid: number;
}
