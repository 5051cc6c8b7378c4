import { isRedisCluster, type RedisClient, type RedisNode } from './redis-client.js';

/**
 * Counts how often a connection that commands go through has closed; of a cluster that of any node.
 *
 * Invariant: it has counted before a command that was sent on the connection is answered by another one, or rejected. So
 * where the count is the same before and after a command, no copy of it is under way.
 */
export class Interruptions {
  count = 0;

  constructor(client: RedisClient) {
    if (!isRedisCluster(client)) {
      this.#watch(client);
      return;
    }
    for (const node of client.nodes('all')) this.#watch(node);
    client.on('+node', (node) => this.#watch(node as RedisNode));
    client.on('-node', this.#add); // a cluster may let go of a node before that has closed
  }

  #watch(node: RedisNode): void {
    node.on('close', this.#add);
  }

  readonly #add = (): void => {
    this.count += 1;
  };
}
