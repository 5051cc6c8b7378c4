import { LockKeyError } from '../core/errors/index.js';
import { validateLockKey } from '../core/internal/validation.js';
import { isCanonicalPath } from './connection/znode-path.js';

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
