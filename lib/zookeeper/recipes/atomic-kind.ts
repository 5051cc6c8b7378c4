import type { NodeValueCodec } from './node-value-codec.js';

/** What kind of whole number a node holds: signed, big-endian, of so many bits, as in Curator. Zero bytes are 0. */
export class AtomicKind implements NodeValueCodec<bigint> {
  constructor(readonly bits: 32 | 64) {}

  has(value: bigint): boolean {
    return BigInt.asIntN(this.bits, value) === value;
  }

  /** @param value one that it has */
  encode(value: bigint): Buffer {
    const bytes = Buffer.alloc(this.bits / 8);
    if (this.bits === 32) bytes.writeInt32BE(Number(value));
    else bytes.writeBigInt64BE(value);
    return bytes;
  }

  decode(bytes: Buffer): bigint | undefined {
    if (bytes.length === 0) return 0n;
    if (bytes.length !== this.bits / 8) return undefined;
    return this.bits === 32 ? BigInt(bytes.readInt32BE()) : bytes.readBigInt64BE();
  }
}
