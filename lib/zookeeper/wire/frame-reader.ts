import { ProtocolError } from './jute.js';

/**
 * Longest accepted frame in bytes. Servers bound requests (`jute.maxbuffer`, by default 1 MiB) but not answers: a list of a
 * million waiters has this size.
 */
const LONGEST_FRAME = 64 * 1024 * 1024;
const HEADER = 4;

/**
 * Cuts a stream of bytes into frames, wherever TCP has cut or joined them.
 *
 * Nothing is allocated by the length that a server announces: what has arrived is kept as it is, and joined once, when the
 * frame is complete.
 */
export class FrameReader {
  #parts: Buffer[] = [];
  /** Total size of the parts. */
  #size = 0;
  /** Size from which there is something to cut. */
  #needed = HEADER;

  /**
   * Returns the frames that are complete with `chunk`.
   *
   * @throws ProtocolError
   */
  push(chunk: Buffer): Buffer[] {
    this.#parts.push(chunk);
    this.#size += chunk.length;
    if (this.#size < this.#needed) return [];
    return this.#cut(this.#parts.length === 1 ? chunk : Buffer.concat(this.#parts, this.#size));
  }

  #cut(bytes: Buffer): Buffer[] {
    const frames: Buffer[] = [];
    let at = 0;
    this.#needed = HEADER;
    while (bytes.length - at >= HEADER) {
      const length = bytes.readInt32BE(at);
      if (length < 0 || length > LONGEST_FRAME)
        throw new ProtocolError(`a frame of ${length} bytes`);
      const end = at + HEADER + length;
      if (end > bytes.length) {
        this.#needed = HEADER + length;
        break;
      }
      frames.push(bytes.subarray(at + HEADER, end));
      at = end;
    }
    const rest = bytes.subarray(at);
    this.#parts = rest.length > 0 ? [rest] : [];
    this.#size = rest.length;
    return frames;
  }
}
