import { LockOptionsError } from '../core/errors/index.js';
import { validateAcquireOptions } from '../core/internal/validation.js';
import { type AclEntry, type AuthInfo, Permission } from './connection/zookeeper-connection.js';
import { parseConnectString } from './connection/server-list.js';
import { isCanonicalPath } from './connection/znode-path.js';
import type { ZooKeeperLockOptions } from './zookeeper-lock-options.js';

/** The driver counts in 32 bits. */
const LONGEST = 2 ** 31 - 1;

/** Throws {@link LockOptionsError} for the first option that is out of its range. */
export function validateZooKeeperOptions(options: ZooKeeperLockOptions, client: string): void {
  const refuse = (option: keyof ZooKeeperLockOptions, expected: string): never => {
    const shown = option === 'auth' ? 'not shown here' : options[option];
    throw new LockOptionsError(option, shown, expected, { client });
  };
  parseConnectString(options.connect, client);
  for (const option of ['sessionTimeout', 'connectTimeout', 'tickTime'] as const) {
    const ms = options[option];
    if (ms !== undefined && !(Number.isFinite(ms) && ms > 0 && ms <= LONGEST))
      refuse(option, 'milliseconds above 0 and below 2^31');
  }
  const { basePath, literalPaths, wait, retryPolicy, errorPolicy, auth, acl } = options;
  if (basePath !== undefined && !isCanonicalPath(basePath))
    refuse('basePath', "a path such as '/locks', without a slash at its end");
  if (literalPaths !== undefined && typeof literalPaths !== 'boolean')
    refuse('literalPaths', 'true or false');
  validateAcquireOptions({ wait }, { client });
  if (retryPolicy !== undefined && typeof retryPolicy?.nextDelay !== 'function')
    refuse('retryPolicy', 'a RetryPolicy, such as new RetryForever(50)');
  if (errorPolicy !== undefined && errorPolicy !== 'standard' && errorPolicy !== 'session')
    refuse('errorPolicy', "'standard' or 'session'");
  if (auth !== undefined && !(Array.isArray(auth) && auth.every(isAuthInfo)))
    refuse('auth', "entries such as { scheme: 'digest', auth: 'user:password' }");
  if (acl !== undefined && !(Array.isArray(acl) && acl.length > 0 && acl.every(isAclEntry)))
    refuse(
      'acl',
      "at least one entry such as { perms: 31, scheme: 'auth', id: '' }, or leave it out",
    );
}

function isAuthInfo(entry: Partial<AuthInfo> | null | undefined): boolean {
  return typeof entry?.scheme === 'string' && typeof entry.auth === 'string';
}

function isAclEntry(entry: Partial<AclEntry> | null | undefined): boolean {
  const { perms, scheme, id } = entry ?? {};
  const isPermission = Number.isInteger(perms) && perms! > 0 && perms! <= Permission.ALL;
  return isPermission && typeof scheme === 'string' && typeof id === 'string';
}
