import type { LinkListener } from '../zookeeper/connection/transport.js';

const NOBODY: ReadonlySet<LinkListener> = new Set();

/** One-shot watches of one kind: at most one for each path and link. */
export class WatchTable {
  readonly #listeners = new Map<string, Set<LinkListener>>();
  readonly #paths = new Map<LinkListener, Set<string>>();

  /** Number of watches that are set. */
  get size(): number {
    let size = 0;
    for (const paths of this.#paths.values()) size += paths.size;
    return size;
  }

  add(path: string, listener: LinkListener): void {
    link(this.#listeners, path, listener);
    link(this.#paths, listener, path);
  }

  /** Removes the watch of one link; `false` if there is none. */
  remove(path: string, listener: LinkListener): boolean {
    const isThere = this.#listeners.get(path)?.has(listener) === true;
    unlink(this.#listeners, path, listener);
    unlink(this.#paths, listener, path);
    return isThere;
  }

  /** Removes the watches on `path`, and returns their listeners. */
  take(path: string): ReadonlySet<LinkListener> {
    const listeners = this.#listeners.get(path);
    if (listeners === undefined) return NOBODY;
    this.#listeners.delete(path);
    for (const listener of listeners) unlink(this.#paths, listener, path);
    return listeners;
  }

  /** Removes all watches of a link. */
  forget(listener: LinkListener): void {
    for (const path of this.#paths.get(listener) ?? []) unlink(this.#listeners, path, listener);
    this.#paths.delete(listener);
  }
}

function link<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const values = map.get(key);
  if (values === undefined) map.set(key, new Set([value]));
  else values.add(value);
}

function unlink<K, V>(map: Map<K, Set<V>>, key: K, value: V): void {
  const values = map.get(key);
  values?.delete(value);
  if (values?.size === 0) map.delete(key);
}
