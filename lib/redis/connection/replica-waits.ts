import type { RedisNode } from './ioredis.js';
import type { ReplicaPolicy } from './replica-policy.js';

/** The commands `WAIT` on the connection of one node. */
interface Waits {
  /** Under way. */
  sent?: Promise<unknown> | undefined;
  /** Not sent yet: it is for all that is answered until then. */
  next?: Promise<number> | undefined;
}

/**
 * Asks how many replicas have what was written on the connection of a node, for up to `timeout` ms (`WAIT`); twice as long if that
 * connection waits already.
 *
 * A server does nothing else on a connection that waits, so all grants that were answered meanwhile share the next wait: renewals
 * and releases stand behind one of them at most, however many grants there are while a replica is down.
 */
export class ReplicaWaits {
  readonly #nodes = new WeakMap<RedisNode, Waits>();

  /** @param isCluster whether a script may have run on another node than that of its slot */
  constructor(private readonly isCluster: boolean) {}

  /**
   * Resolves to the number of replicas that have all that was answered on this connection before, or to `undefined` if the key is
   * not on this node. Rejects as ioredis does.
   */
  async acknowledged(
    node: RedisNode,
    key: string,
    policy: ReplicaPolicy,
  ): Promise<number | undefined> {
    const isThere = this.isCluster ? hasKey(node, key) : true;
    const waits = this.#nodes.get(node) ?? {};
    this.#nodes.set(node, waits);
    const acknowledged = await (waits.next ??= ask(node, waits, policy));
    return (await isThere) ? acknowledged : undefined;
  }
}

async function ask(
  node: RedisNode,
  waits: Waits,
  { atLeast, timeout = 1_000 }: ReplicaPolicy,
): Promise<number> {
  await waits.sent?.catch(() => {});
  await new Promise<void>((resolve) => process.nextTick(resolve)); // answers that were read together share it
  waits.next = undefined;
  waits.sent = node.call('wait', atLeast, timeout);
  return Number(await waits.sent);
}

/** While a slot is moved, its node does not have a key that is created: it answers ASK, and the client follows. */
function hasKey(node: RedisNode, key: string): Promise<boolean> {
  return node.call('exists', key).then(
    (count) => Number(count) === 1,
    () => false,
  );
}
