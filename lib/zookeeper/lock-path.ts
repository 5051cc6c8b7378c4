import type { ErrorPolicy } from '../core/election/election-backend.js';
import { type LockErrorContext, LockKeyError, LockOptionsError } from '../core/errors/index.js';
import { KeyUses, DeclaredPermits } from '../core/internal/key-uses.js';
import { validateLockKey } from '../core/internal/validation.js';
import { isCanonicalPath } from './connection/znode-path.js';

/** What one client uses each path for, with the directories and the permits of its semaphores. */
export class PathUses {
  readonly #kinds: KeyUses;
  readonly #permits: DeclaredPermits;

  constructor(client: string) {
    this.#kinds = new KeyUses(client);
    this.#permits = new DeclaredPermits(client, 'one SharedCount to both, which can be changed');
  }

  /**
   * @param kind as it stands in messages
   * @throws LockKeyError when `path` is used for another kind
   */
  claim(path: string, kind: string, key: string): void {
    this.#kinds.claim(path, kind, key);
  }

  /**
   * As `claim`, of the directories of a semaphore.
   *
   * @throws LockOptionsError when another object of that semaphore has other permits
   */
  claimSemaphore(path: string, kind: string, key: string, permits: unknown): void {
    this.claim(path, kind, key);
    this.claim(`${path}/locks`, `gate of a ${kind}`, key);
    this.claim(`${path}/leases`, `directory of leases of a ${kind}`, key);
    this.#permits.claim(path, permits, key);
  }
}

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

/** What a client knows of a lock. */
export interface LockSettings {
  /** As the user gave it. */
  readonly key: string;
  /** Directory of the lock. */
  readonly path: string;
  /** Of its nodes; default: that of the client. */
  readonly data?: Buffer;
  /** What ends a hold on it beside its own loss. Default: the loss of the session only. */
  readonly errorPolicy?: ErrorPolicy;
}

/** Where a client has its locks. */
export interface LockPathSettings {
  readonly basePath: string;
  /** See `ZooKeeperLockOptions`. Default: false. */
  readonly literalPaths?: boolean;
}

/**
 * Directory of the lock `key`: one component under `basePath`, percent-encoded; with `literalPaths` a key that starts with `/`
 * is the path itself.
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

/** As `encodeURIComponent`, and dots where they would mean this or the upper directory. */
function encodeComponent(key: string): string {
  if (key === '.' || key === '..') return key.replaceAll('.', '%2E');
  return encodeURIComponent(key);
}
