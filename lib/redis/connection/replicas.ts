import { LockConnectionError } from '../../core/errors/index.js';
import type { RedisNode } from './ioredis.js';

/** Replicas that must have a grant before it counts: Redis replicates asynchronously, and a failover may lose a lock. */
export interface ReplicaPolicy {
  /** Number of replicas that must have acknowledged the grant; a whole number from 1. */
  readonly atLeast: number;
  /**
   * How long to wait for them, in ms; above 0. The connection that carries the commands answers nothing else meanwhile.
   *
   * @default 1000
   */
  readonly timeout?: number | undefined;
  /**
   * When there are fewer: release the lock and reject with `LockConnectionError`, or grant it with a process warning.
   *
   * @default 'fail'
   */
  readonly otherwise?: 'fail' | 'warn' | undefined;
}

/**
 * Checks how many replicas have acknowledged a grant.
 *
 * @throws LockConnectionError
 */
export function checkReplicas(
  acknowledged: number,
  { atLeast, otherwise }: ReplicaPolicy,
  about: { readonly key: string; readonly client: string },
): void {
  if (acknowledged >= atLeast) return;
  const message = `Lock "${about.key}" of client "${about.client}" was acknowledged by ${acknowledged} of ${atLeast} replicas: a failover may forget it.`;
  if (otherwise !== 'warn')
    throw new LockConnectionError(
      `${message} It was released. Check the replicas, or lower \`replicas.atLeast\`.`,
      about,
    );
  process.emitWarning(message);
}

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
