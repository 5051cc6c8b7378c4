import type { Watcher, WatchEvent } from './zookeeper-connection.js';

type Kind = 'data' | 'child';

/**
 * Watchers by kind and path. The server holds one watch per path and kind; all watchers of it are notified together.
 *
 * A watcher is called once, then removed: with the event, or with `disconnected` when the link, and with it every watch on
 * the server, is lost.
 */
export class WatchRegistry {
  readonly #watchers = {
    data: new Map<string, Set<Watcher>>(),
    child: new Map<string, Set<Watcher>>(),
  };

  add(kind: Kind, path: string, watcher: Watcher): void {
    const there = this.#watchers[kind].get(path);
    if (there) there.add(watcher);
    else this.#watchers[kind].set(path, new Set([watcher]));
  }

  remove(kind: Kind, path: string, watcher: Watcher): void {
    const there = this.#watchers[kind].get(path);
    if (there?.delete(watcher) && there.size === 0) this.#watchers[kind].delete(path);
  }

  /** Handles a server event: `child` ends child watches, a deletion both kinds, any other event data watches. */
  fire(type: Exclude<WatchEvent['type'], 'disconnected'>, path: string): void {
    if (type !== 'child') this.#take('data', path, { type, path });
    if (type === 'child' || type === 'deleted') this.#take('child', path, { type, path });
  }

  disconnect(): void {
    for (const kind of ['data', 'child'] as const) {
      for (const path of [...this.#watchers[kind].keys()])
        this.#take(kind, path, { type: 'disconnected', path });
    }
  }

  #take(kind: Kind, path: string, event: WatchEvent): void {
    const there = this.#watchers[kind].get(path);
    if (there === undefined) return;
    this.#watchers[kind].delete(path);
    for (const watcher of there) watcher(event);
  }
}
