/** Cuts a byte stream into ZooKeeper's frames: a length of four bytes, then as many bytes. */
export class FrameSplitter {
  private rest = Buffer.alloc(0);

  /** The frames that are complete with these bytes, each with its length in front. */
  push(bytes: Buffer): Buffer[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const frames: Buffer[] = [];
    while (this.rest.length >= 4) {
      const end = 4 + this.rest.readInt32BE(0);
      if (this.rest.length < end) break;
      frames.push(this.rest.subarray(0, end));
      this.rest = this.rest.subarray(end);
    }
    return frames;
  }
}
