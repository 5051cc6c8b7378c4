import { LockOptionsError } from '../core/errors/index.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import { isCanonicalPath } from '../zookeeper/connection/znode-path.js';
import type { EmbeddedLockOptions } from './embedded-lock-options.js';

/** @throws LockOptionsError */
export function validateEmbeddedOptions(
  { wait, basePath, literalPaths }: Required<EmbeddedLockOptions>,
  client: string,
): void {
  validateAcquireOptions({ wait }, { client });
  if (typeof literalPaths !== 'boolean')
    throw new LockOptionsError('literalPaths', literalPaths, 'true or false', { client });
  if (isCanonicalPath(basePath)) return;
  const expected = "a path such as '/locks', without a slash at its end";
  throw new LockOptionsError('basePath', basePath, expected, { client });
}
