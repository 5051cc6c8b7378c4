const SHARDS = 64;

/**
 * A `Map` by names, for up to millions of them. One `Map` that grows beyond 500,000 entries copies them all in one turn of the event
 * loop, which takes 50 to 100 ms; here each of 64 copies its part.
 */
export class ShardedMap<V> {
  readonly #shards: (Map<string, V> | undefined)[] = Array.from({ length: SHARDS });

  get(name: string): V | undefined {
    return this.#shards[shardOf(name)]?.get(name);
  }

  has(name: string): boolean {
    return this.get(name) !== undefined;
  }

  set(name: string, value: V): void {
    (this.#shards[shardOf(name)] ??= new Map()).set(name, value);
  }

  delete(name: string): void {
    this.#shards[shardOf(name)]?.delete(name);
  }
}

/** @internal By the end of the name: what comes first in it is the same for many. */
export function shardOf(name: string): number {
  let hash = 0;
  for (let i = Math.max(0, name.length - 24); i < name.length; i++)
    hash = (hash * 31 + name.charCodeAt(i)) | 0;
  return (hash ^ (hash >>> 6) ^ (hash >>> 12)) & (SHARDS - 1);
}
