/** A value of Redis's protocol: null, the text of a simple one, or the elements of an aggregate, of a map in turn. */
export type RespValue = string | null | readonly RespValue[];

/** A request or a reply as it was sent. */
export interface RespFrame {
  readonly bytes: Buffer;
  /** The character that its kind of value starts with: `+`, `*`, … */
  readonly type: string;
  readonly value: RespValue;
}

/** Cuts a byte stream into the requests, or the replies and pushed messages, of RESP2 and RESP3. */
export class RespSplitter {
  private rest: Buffer = Buffer.alloc(0);

  /** Those that are complete with these bytes. */
  push(bytes: Buffer): RespFrame[] {
    this.rest = Buffer.concat([this.rest, bytes]);
    const frames: RespFrame[] = [];
    for (let read = readValue(this.rest, 0); read; read = readValue(this.rest, 0)) {
      const type = String.fromCharCode(this.rest[0]!);
      frames.push({ bytes: this.rest.subarray(0, read.end), type, value: read.value });
      this.rest = this.rest.subarray(read.end);
    }
    return frames;
  }
}

interface Read {
  readonly value: RespValue;
  /** Where the next value starts. */
  readonly end: number;
}

/** Reads the value that starts there; undefined when a part of it is still to come. */
function readValue(bytes: Buffer, start: number): Read | undefined {
  const lineEnd = bytes.indexOf('\r\n', start);
  if (lineEnd < 0) return undefined;
  const type = String.fromCharCode(bytes[start]!);
  const line = bytes.toString('utf8', start + 1, lineEnd);
  const end = lineEnd + 2;

  if (SIMPLE.includes(type)) return { value: type === '_' ? null : line, end };
  if (line === '-1') return { value: null, end };
  if (BULK.includes(type)) return readBulk(bytes, end, Number(line));
  if (AGGREGATE.includes(type)) return readElements(bytes, end, Number(line));
  if (type === '%') return readElements(bytes, end, 2 * Number(line));
  throw new Error(`Not a value of RESP: ${type}${line}`);
}

const SIMPLE = '+-:_,#(';
const BULK = '$=!';
const AGGREGATE = '*~>';

function readBulk(bytes: Buffer, start: number, length: number): Read | undefined {
  const end = start + length + 2;
  if (bytes.length < end) return undefined;
  return { value: bytes.toString('utf8', start, start + length), end };
}

function readElements(bytes: Buffer, start: number, count: number): Read | undefined {
  const value: RespValue[] = [];
  let end = start;
  while (value.length < count) {
    const element = readValue(bytes, end);
    if (!element) return undefined;
    value.push(element.value);
    end = element.end;
  }
  return { value, end };
}
