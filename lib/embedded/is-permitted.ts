import type { AclEntry } from '../zookeeper/connection/zookeeper-connection.js';
import type { Identity } from './identity.js';

/** Does `acl` give `permission` to somebody with these identities? */
export function isPermitted(
  acl: readonly AclEntry[],
  permission: number,
  identities: readonly Identity[],
): boolean {
  return acl.some(
    ({ perms, scheme, id }) =>
      (perms & permission) !== 0 &&
      (scheme === 'world' || identities.some((one) => one.scheme === scheme && one.id === id)),
  );
}
