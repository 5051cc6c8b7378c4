import type { AclEntry } from '../zookeeper/connection/zookeeper-connection.js';
import type { Identity } from './identity.js';

/**
 * The list as the server stores it, with the caller's identities for `auth`; `undefined` when it is not a valid one.
 * Known are `world`, `auth` and `digest`.
 */
export function resolveAcl(
  acl: readonly AclEntry[],
  identities: readonly Identity[],
): readonly AclEntry[] | undefined {
  const resolved = acl.map((entry) => {
    if (entry.scheme === 'auth')
      return identities.map((identity) => ({ ...identity, perms: entry.perms }));
    return isValid(entry) ? [{ ...entry }] : [];
  });
  const isComplete = resolved.length > 0 && resolved.every((entries) => entries.length > 0);
  return isComplete ? resolved.flat() : undefined;
}

function isValid({ scheme, id }: AclEntry): boolean {
  if (scheme === 'world') return id === 'anyone';
  return scheme === 'digest' && /^[^:]+:[^:]+$/.test(id);
}
