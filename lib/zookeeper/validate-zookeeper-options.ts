import { LockOptionsError } from '../core/errors/index.js';
import { validateAcquireOptions } from '../core/validate-acquire-options.js';
import { parseConnectString } from './connection/connect-string.js';
import { isCanonicalPath } from './connection/znode-path.js';
import type { ZooKeeperLockOptions } from './zookeeper-lock-options.js';

/** Throws {@link LockOptionsError} for the first option that is out of its range. */
export function validateZooKeeperOptions(options: ZooKeeperLockOptions, client: string): void {
  const refuse = (option: keyof ZooKeeperLockOptions, expected: string): never => {
    throw new LockOptionsError(option, options[option], expected, { client });
  };
  parseConnectString(options.connect, client);
  for (const option of ['sessionTimeout', 'connectTimeout'] as const) {
    const ms = options[option];
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0))
      refuse(option, 'milliseconds above 0');
  }
  const { basePath, wait, retryPolicy, auth, acl } = options;
  if (basePath !== undefined && !isCanonicalPath(basePath))
    refuse('basePath', "a path such as '/locks', without a slash at its end");
  validateAcquireOptions({ wait }, { client });
  if (retryPolicy !== undefined && typeof retryPolicy.nextDelay !== 'function')
    refuse('retryPolicy', 'a RetryPolicy, such as new RetryForever(50)');
  if (
    auth?.some(
      ({ scheme, auth: secret }) => typeof scheme !== 'string' || typeof secret !== 'string',
    )
  )
    refuse('auth', "entries such as { scheme: 'digest', auth: 'user:password' }");
  if (acl?.length === 0) refuse('acl', 'at least one entry, or leave it out');
}
