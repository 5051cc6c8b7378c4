const SLOTS = 16_384;

/** A node of a cluster that is to be. */
export interface RedisClusterNode {
  /** 40 hexadecimal digits. */
  readonly id: string;
  /** `host:port@busPort` */
  readonly address: string;
  /** The master that it replicates; a node without one is a master. */
  readonly masterId?: string;
}

/** The text of a node's `nodes.conf`: with it the nodes know each other when they start, and the slots that each serves. */
export function redisClusterNodes(nodes: readonly RedisClusterNode[], selfId: string): string {
  const masterIds = nodes.filter(({ masterId }) => !masterId).map(({ id }) => id);
  const firstSlot = (index: number) => Math.floor((index * SLOTS) / masterIds.length);

  const lines = nodes.map(({ id, address, masterId }) => {
    const index = masterIds.indexOf(masterId ?? id);
    const role = masterId ? 'slave' : 'master';
    const flags = id === selfId ? `myself,${role}` : role;
    const slots = masterId ? '' : ` ${firstSlot(index)}-${firstSlot(index + 1) - 1}`;
    return `${id} ${address} ${flags} ${masterId ?? '-'} 0 0 ${index + 1} connected${slots}\n`;
  });
  return `${lines.join('')}vars currentEpoch ${masterIds.length} lastVoteEpoch 0\n`;
}
