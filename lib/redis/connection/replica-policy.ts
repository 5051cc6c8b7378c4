import { LockConnectionError } from '../../core/errors/index.js';

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
