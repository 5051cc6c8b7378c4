import { LockKeyError } from '../core/errors/index.js';
import { validateLockKey } from '../core/validate-lock-key.js';
import { isCanonicalPath } from './connection/znode-path.js';

/**
 * Directory of the lock `key`: one component under `basePath`, percent-encoded. A key that starts with `/` is the path
 * itself, for sharing with Curator.
 *
 * @throws LockKeyError
 */
export function lockPath(basePath: string, key: string, client: string): string {
  validateLockKey(key, { client });
  if (!key.startsWith('/')) return `${basePath}/${encodeComponent(key)}`;
  if (isCanonicalPath(key)) return key;
  throw new LockKeyError(
    key,
    'a key that starts with "/" is a path, which may have no empty, "." or ".." part, no "/" at its end and no control character',
    { client },
  );
}

/** As `encodeURIComponent`, and dots where they would mean this or the upper directory. */
function encodeComponent(key: string): string {
  if (key === '.' || key === '..') return key.replaceAll('.', '%2E');
  return encodeURIComponent(key);
}
