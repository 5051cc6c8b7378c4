/** How the bytes of a node stand for a value. */
export interface NodeValueCodec<T> {
  encode(value: T): Buffer;
  /** What shares no memory with the bytes; `undefined`: they stand for none. */
  decode(bytes: Buffer): T | undefined;
}
