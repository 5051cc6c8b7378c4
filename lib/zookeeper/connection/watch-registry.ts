import { type IdleWatches, type WatchKind } from './idle-watches.js';
import type { Watcher, WatchEvent } from './zookeeper-connection.js';

/** A watcher of one path and kind. */
interface Registration {
  /** Number of the requests that have set its watch, or may do so. */
  requests: number;
}

/**
 * Watchers by kind and path. The server holds one watch per path and kind; all watchers of it are notified together.
 *
 * A watcher is called once, then removed: with the event, or with `disconnected` when the link, and with it every watch on
 * the server, is lost.
 *
 * Invariants:
 * - A watcher that several requests were sent for is registered until all of them have failed: one of them may have set the watch. A
 *   failure counts for the registration that its request belongs to, not for a later one of the same watcher.
 * - The request to remove an idle watch is sent in the same step in which it is found to have no watcher. A
 *   watcher that comes later sends its own request behind that one, and a server carries out the requests of one link in their
 *   order: so no watch is removed that has a watcher.
 */
export class WatchRegistry {
  readonly #watchers = {
    data: new Map<string, Map<Watcher, Registration>>(),
    child: new Map<string, Map<Watcher, Registration>>(),
  };

  constructor(private readonly idle: IdleWatches) {}

  /** Called right before the request that sets the watch is sent. Returns what is to be called if that fails: it has set none. */
  add(kind: WatchKind, path: string, watcher: Watcher): () => void {
    this.idle.delete(kind, path);
    const there = this.#watchers[kind].get(path);
    const registration = there?.get(watcher) ?? { requests: 0 };
    registration.requests += 1;
    if (there) there.set(watcher, registration);
    else this.#watchers[kind].set(path, new Map([[watcher, registration]]));
    return () => {
      registration.requests -= 1;
      const isCurrent = this.#watchers[kind].get(path)?.get(watcher) === registration;
      if (isCurrent && registration.requests === 0) this.#wasLast(kind, path, watcher);
    };
  }

  /** Removes a watcher; the server keeps the watch until the other watchers are notified, or for some time. */
  unwatch(path: string, watcher: Watcher): void {
    for (const kind of ['data', 'child'] as const)
      if (this.#wasLast(kind, path, watcher)) this.idle.add(kind, path);
  }

  /** Handles a server event: `child` ends child watches, a deletion both kinds, any other event data watches. */
  fire(type: Exclude<WatchEvent['type'], 'disconnected'>, path: string): void {
    if (type !== 'child') this.#take('data', path, { type, path });
    if (type === 'child' || type === 'deleted') this.#take('child', path, { type, path });
  }

  disconnect(): void {
    this.idle.clear();
    for (const kind of ['data', 'child'] as const) {
      for (const path of [...this.#watchers[kind].keys()])
        this.#take(kind, path, { type: 'disconnected', path });
    }
  }

  #wasLast(kind: WatchKind, path: string, watcher: Watcher): boolean {
    const there = this.#watchers[kind].get(path);
    if (!there?.delete(watcher) || there.size > 0) return false;
    return this.#watchers[kind].delete(path);
  }

  #take(kind: WatchKind, path: string, event: WatchEvent): void {
    this.idle.delete(kind, path);
    const there = this.#watchers[kind].get(path);
    if (there === undefined) return;
    this.#watchers[kind].delete(path);
    for (const watcher of there.keys()) watcher(event);
  }
}
