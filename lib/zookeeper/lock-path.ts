import type { ErrorPolicy } from '../core/election/election-backend.js';
import { type LockErrorContext, LockKeyError, LockOptionsError } from '../core/errors/index.js';
import type { HandOff } from '../core/lock.js';
import { KeyUses, DeclaredPermits } from '../core/internal/key-uses.js';
import { validateOptionNames } from '../core/internal/option-names.js';
import { validateLockKey } from '../core/internal/validation.js';
import { isCanonicalPath } from './connection/znode-path.js';

/** Records what one client uses each path for, including the directories and the permits of its semaphores. */
export class PathUses {
  readonly #kinds: KeyUses;
  readonly #permits: DeclaredPermits;

  constructor(client: string) {
    this.#kinds = new KeyUses(client);
    this.#permits = new DeclaredPermits(client, 'one SharedCount to both, which can be changed');
  }

  /**
   * @param kind as shown in messages
   * @throws LockKeyError when `path` is used for another kind
   */
  claim(path: string, kind: string, key: string): void {
    this.#kinds.claim(path, kind, key);
  }

  /**
   * Like `claim`, for the directories and the permits of a semaphore.
   *
   * @throws LockOptionsError when another object of the same semaphore has different permits
   */
  claimSemaphore(path: string, kind: string, key: string, permits: unknown): void {
    this.claim(path, kind, key);
    this.claim(`${path}/locks`, `gate of a ${kind}`, key);
    this.claim(`${path}/leases`, `directory of leases of a ${kind}`, key);
    this.#permits.claim(path, permits, key);
  }
}

/** Slightly below the default request limit of the servers, which close the connection of a client that sends more. */
const MOST = 1_000_000;

/** Options of the locks of a client. */
const OF_LOCKS = ['data', 'permits', 'fair', 'fenced', 'handOff'];

/** Options of a lock, besides its key. */
export interface NodeOptions {
  /**
   * Data of the lock nodes, for inspection: up to 1,000,000 bytes. A string is stored as UTF-8. The data is copied.
   *
   * @default the address of this host, as in Curator
   */
  readonly data?: string | Uint8Array | undefined;
}

/** Returns a copy of the data. @throws LockOptionsError when it is too long, or neither a string nor bytes */
export function nodeData(options: NodeOptions, context: LockErrorContext): Buffer | undefined {
  validateOptionNames(options, OF_LOCKS, context);
  const { data } = options;
  if (data === undefined) return undefined;
  const isData = typeof data === 'string' || data instanceof Uint8Array;
  const bytes = isData ? Buffer.from(data as string) : undefined; // copies both a string and bytes
  if (bytes !== undefined && bytes.length <= MOST) return bytes;
  const expected = 'a text or a Uint8Array of up to 1,000,000 bytes';
  throw new LockOptionsError('data', bytes ? `${bytes.length} bytes` : data, expected, context);
}

/** Settings of one lock of a client. */
export interface LockSettings {
  /** Key as given by the caller. */
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  /** Data of its nodes. Default: that of the client. */
  readonly data?: Buffer | undefined;
  /** What ends a hold, besides the loss of the lock itself. Default: the loss of the session only. */
  readonly errorPolicy?: ErrorPolicy | undefined;
  /** Bounds within which it may be handed on. */
  readonly handOff?: HandOff | undefined;
}

/** Where a client keeps its locks. */
export interface LockPathSettings {
  readonly basePath: string;
  /** See `ZooKeeperLockOptions`. Default: false. */
  readonly literalPaths?: boolean;
}

/**
 * Returns the directory of the lock `key`: one percent-encoded component under `basePath`. With `literalPaths`, a key that
 * starts with `/` is the path itself.
 *
 * @throws LockKeyError
 */
export function lockPath(
  { basePath, literalPaths = false }: LockPathSettings,
  key: string,
  client: string,
): string {
  validateLockKey(key, { client });
  if (!literalPaths || !key.startsWith('/')) return `${basePath}/${encodeComponent(key)}`;
  if (isCanonicalPath(key)) return key;
  throw new LockKeyError(
    key,
    'with `literalPaths` a key that starts with "/" is a path, which may have no empty, "." or ".." part, no "/" at its end and no control character',
    { client },
  );
}

/** Like `encodeURIComponent`; also encodes the keys `.` and `..`, which would mean this or the parent directory. */
function encodeComponent(key: string): string {
  if (key === '.' || key === '..') return key.replaceAll('.', '%2E');
  return encodeURIComponent(key);
}
