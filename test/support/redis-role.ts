/** A server's part in the replication. */
export type RedisRole = RedisMasterRole | RedisReplicaRole;

interface RedisMasterRole {
  readonly name: 'master';
  /** How much it has written to its replicas since ever, in bytes. */
  readonly offset: number;
  /** How many replicas are linked to it. */
  readonly replicas: number;
}

interface RedisReplicaRole {
  readonly name: 'replica';
  /** How much it has read of that, in bytes. */
  readonly offset: number;
  /** The port of its master. */
  readonly master: number;
  /** Whether it has a copy of its master's data and hears every change. */
  readonly isLinked: boolean;
}

/** Reads the answer to `ROLE`. */
export function parseRole(answer: unknown): RedisRole {
  const [name, ...rest] = answer as [string, ...unknown[]];
  if (name === 'master') {
    const [offset, replicas] = rest as [number, unknown[]];
    return { name, offset, replicas: replicas.length };
  }
  const [, master, state, offset] = rest as [string, number, string, number];
  return { name: 'replica', offset, master, isLinked: state === 'connected' };
}
