/**
 * What is wrong with a server for a client that is not one of a cluster, by its `INFO`; `undefined` when nothing is.
 *
 * It is a warning: a node may have all the slots, and a replica may be promoted.
 */
export function serverWarning(info: string, name: string): string | undefined {
  if (/^cluster_enabled:1/m.test(info))
    return `Lock client "${name}" is connected to a node of a Redis Cluster as if it were a server of its own: locks of the other nodes will be refused. Name the nodes as the option \`cluster\`, or hand over an ioredis \`Cluster\`.`;
  if (/^role:slave/m.test(info))
    return `Lock client "${name}" is connected to a replica, which grants nothing. Name the primary, or the Sentinels that know it.`;
  return undefined;
}
