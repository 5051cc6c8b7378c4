import type { ZooKeeperConnection } from '../../lib/zookeeper/connection/zookeeper-connection.js';

const READS: readonly unknown[] = ['exists', 'getAcl', 'getChildren', 'getData'];

/**
 * The connection, with reads that see everything that any client was answered before them: of an ensemble, its server may
 * be behind those of others.
 */
export function upToDate(connection: ZooKeeperConnection): ZooKeeperConnection {
  return new Proxy(connection, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (!READS.includes(name)) return call;
      return async (...args: unknown[]) => {
        await target.sync('/');
        return call(...args);
      };
    },
  });
}
