import type { Watcher, WatchEvent } from './zookeeper-connection.js';

type Kind = 'data' | 'child';

/**
 * Who waits for which path. The server is asked for one watch a path and kind; whoever waits for it is told together.
 *
 * A watcher is called once, then forgotten: by the event, or with `disconnected` when the link, and with it every watch
 * on the server, has gone.
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

  /** A server's event: `child` ends child watches, a deletion both kinds, the rest data watches. */
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
