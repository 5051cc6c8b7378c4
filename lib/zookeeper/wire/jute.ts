/** What a server sent is not the protocol: nothing behind it on that connection can be trusted. */
export class ProtocolError extends Error {
  constructor(what: string) {
    super(`the server does not speak ZooKeeper's protocol: ${what}`);
    this.name = 'ProtocolError';
  }
}

/** Bytes that a writer starts with; it grows, and keeps what it has grown to. */
const INITIAL_SIZE = 1_024;
/** A writer that had to grow beyond this returns to its initial size. */
const KEPT_SIZE = 65_536;

/** Writes records of Jute, the encoding of ZooKeeper's protocol: big-endian, each text and buffer behind its length. */
export class JuteWriter {
  #bytes = Buffer.allocUnsafeSlow(INITIAL_SIZE);
  #length = 0;

  /** Number of bytes written since the last `take`. */
  get length(): number {
    return this.#length;
  }

  int(value: number): this {
    this.#length = this.#room(4).writeInt32BE(value, this.#length);
    return this;
  }

  long(value: bigint): this {
    this.#length = this.#room(8).writeBigInt64BE(value, this.#length);
    return this;
  }

  boolean(value: boolean): this {
    this.#length = this.#room(1).writeUInt8(Number(value), this.#length);
    return this;
  }

  buffer(value: Uint8Array): this {
    this.int(value.length).#room(value.length).set(value, this.#length);
    this.#length += value.length;
    return this;
  }

  text(value: string): this {
    const at = this.#length;
    const size = this.int(0)
      .#room(value.length * 3)
      .write(value, at + 4);
    this.#bytes.writeInt32BE(size, at);
    this.#length += size;
    return this;
  }

  vector<T>(items: readonly T[], write: (writer: this, item: T) => void): this {
    this.int(items.length);
    for (const item of items) write(this, item);
    return this;
  }

  /** Appends what `write` writes as one frame, and returns its size. Takes it back if it is longer than `limit`, or `write` throws. */
  frame(limit: number, write: (writer: this) => void): number {
    const at = this.#length;
    try {
      write(this.int(0));
    } catch (error) {
      this.#length = at; // half a record would go out before the next one
      throw error;
    }
    const size = this.#length - at - 4;
    if (size > limit) this.#length = at;
    else this.#bytes.writeInt32BE(size, at);
    return size;
  }

  /** Returns everything written since the last call. */
  take(): Buffer {
    const taken = Buffer.from(this.#bytes.subarray(0, this.#length));
    this.#length = 0;
    if (this.#bytes.length > KEPT_SIZE) this.#bytes = Buffer.allocUnsafeSlow(INITIAL_SIZE);
    return taken;
  }

  /** The bytes, with room for so many more. */
  #room(size: number): Buffer {
    const needed = this.#length + size;
    if (needed <= this.#bytes.length) return this.#bytes;
    const grown = Buffer.allocUnsafeSlow(Math.max(needed, 2 * this.#bytes.length));
    this.#bytes.copy(grown, 0, 0, this.#length);
    return (this.#bytes = grown);
  }
}

/** Reads a record of Jute. Every length is checked against what is there, before anything is made of it. */
export class JuteReader {
  #at = 0;

  constructor(private readonly bytes: Buffer) {}

  /** Number of bytes that are not read yet. */
  get rest(): number {
    return this.bytes.length - this.#at;
  }

  int(): number {
    return this.bytes.readInt32BE(this.#skip(4));
  }

  long(): bigint {
    return this.bytes.readBigInt64BE(this.#skip(8));
  }

  /** A 64-bit number that counts something or is a time: exact below 2^53. */
  count(): number {
    const high = this.int();
    return high * 2 ** 32 + this.bytes.readUInt32BE(this.#skip(4));
  }

  boolean(): boolean {
    return this.bytes[this.#skip(1)] !== 0;
  }

  /** A copy, so that it does not keep the bytes around it; empty for a null. */
  buffer(): Buffer {
    const size = this.#size();
    const at = this.#skip(size);
    return Buffer.from(this.bytes.subarray(at, at + size));
  }

  text(): string {
    const size = this.#size();
    const at = this.#skip(size);
    return this.bytes.toString('utf8', at, at + size);
  }

  /** @param smallest bytes that each item takes at least */
  vector<T>(smallest: number, read: (reader: this) => T): T[] {
    const count = Math.max(0, this.int());
    if (count * smallest > this.rest)
      throw new ProtocolError(`a list of ${count} in ${this.rest} bytes`);
    return Array.from({ length: count }, () => read(this));
  }

  /** The length of what follows; -1 stands for null. */
  #size(): number {
    const size = this.int();
    if (size < -1) throw new ProtocolError(`a length of ${size}`);
    return Math.max(0, size);
  }

  /** Where the next `size` bytes begin. */
  #skip(size: number): number {
    if (size > this.rest) throw new ProtocolError(`${size} bytes announced, ${this.rest} received`);
    const at = this.#at;
    this.#at += size;
    return at;
  }
}
