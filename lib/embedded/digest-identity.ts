import { createHash } from 'node:crypto';
import type { AuthInfo } from '../zookeeper/connection/zookeeper-connection.js';
import type { Identity } from './identity.js';

/** Who proves to be `user` by `{ scheme: 'digest', auth: 'user:password' }`: ZooKeeper writes `user:hash` in its ACLs. */
export function digestIdentity({ scheme, auth }: AuthInfo): Identity {
  const [user] = auth.split(':', 1);
  const hash = createHash('sha1').update(auth).digest('base64');
  return { scheme, id: `${user}:${hash}` };
}
