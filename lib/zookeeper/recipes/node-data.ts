import { LockOptionsError, type LockErrorContext } from '../../core/errors/index.js';

/** A little below what the servers accept in one request by default; they hang up on whoever sends more. */
const MOST = 1_000_000;

/** What a lock may be given beside its key. */
export interface NodeOptions {
  /**
   * Data of the lock nodes, for whoever looks at them: up to 1,000,000 bytes; a text is stored as UTF-8. It is copied.
   *
   * @default the address of this host, as in Curator
   */
  readonly data?: string | Uint8Array;
}

/** A copy of the data. @throws LockOptionsError when it is too long, or no data */
export function nodeData({ data }: NodeOptions, context: LockErrorContext): Buffer | undefined {
  if (data === undefined) return undefined;
  const isData = typeof data === 'string' || data instanceof Uint8Array;
  const bytes = isData ? Buffer.from(data as string) : undefined; // of a text or of bytes, a copy
  if (bytes !== undefined && bytes.length <= MOST) return bytes;
  const expected = 'a text or a Uint8Array of up to 1,000,000 bytes';
  throw new LockOptionsError('data', bytes ? `${bytes.length} bytes` : data, expected, context);
}
