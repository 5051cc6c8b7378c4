import calculateSlot from 'cluster-key-slot';

/** The slot of a Redis Cluster that a key or a sharded channel lies in. */
export function slotOf(name: string): number {
  return calculateSlot(name);
}
