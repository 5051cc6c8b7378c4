import { SessionManager, type SessionManagerOptions } from './session-manager.js';
import type { Session } from './session.js';
import type { Answers, Request } from './transport.js';
import type {
  AclEntry,
  ConnectionState,
  CreateMode,
  Stat,
  Watcher,
  WatchEvent,
  ZooKeeperConnection,
} from './zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from './zookeeper-error.js';

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

type RequestOf<O extends Request['op']> = Request & { readonly op: O };

/** The port over any transport: requests and watches here, the session and its links in {@link SessionManager}. */
export class SessionConnection implements ZooKeeperConnection {
  readonly #watches = new WatchRegistry();
  readonly #manager: SessionManager;

  constructor(private readonly options: SessionManagerOptions) {
    this.#manager = new SessionManager(
      options,
      (type, path) => this.#watches.fire(type, path),
      () => this.#watches.disconnect(),
    );
  }

  get state(): ConnectionState {
    return this.#manager.state;
  }

  get isConnected(): boolean {
    return this.#manager.isConnected;
  }

  get session(): Session | undefined {
    return this.#manager.session;
  }

  create(path: string, data: Buffer, mode: CreateMode): Promise<string> {
    return this.#send({ op: 'create', path, data, mode });
  }

  delete(path: string, version = -1): Promise<void> {
    return this.#send({ op: 'delete', path, version });
  }

  async exists(path: string, watcher?: Watcher): Promise<Stat | undefined> {
    if (watcher) this.#watches.add('data', path, watcher);
    try {
      return await this.#send({ op: 'exists', path, watch: watcher !== undefined });
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined; // the watch is set all the same
      if (watcher) this.#watches.remove('data', path, watcher);
      throw error;
    }
  }

  getData(path: string, watcher?: Watcher): Promise<{ data: Buffer; stat: Stat }> {
    return this.#sendWatched('data', watcher, {
      op: 'getData',
      path,
      watch: watcher !== undefined,
    });
  }

  setData(path: string, data: Buffer, version = -1): Promise<Stat> {
    return this.#send({ op: 'setData', path, data, version });
  }

  setAcl(path: string, acl: readonly AclEntry[]): Promise<void> {
    return this.#send({ op: 'setAcl', path, acl });
  }

  getChildren(path: string, watcher?: Watcher): Promise<string[]> {
    return this.#sendWatched('child', watcher, {
      op: 'getChildren',
      path,
      watch: watcher !== undefined,
    });
  }

  sync(path: string): Promise<void> {
    return this.#send({ op: 'sync', path });
  }

  unwatch(path: string, watcher: Watcher): void {
    this.#watches.remove('data', path, watcher);
    this.#watches.remove('child', path, watcher);
  }

  onStateChange(listener: (state: ConnectionState, reason: string) => void): () => void {
    return this.#manager.onStateChange(listener);
  }

  start(): void {
    this.#manager.start();
  }

  close(): Promise<void> {
    return this.#manager.close();
  }

  async #sendWatched<O extends 'getData' | 'getChildren'>(
    kind: 'data' | 'child',
    watcher: Watcher | undefined,
    request: RequestOf<O>,
  ): Promise<Answers[O]> {
    if (watcher) this.#watches.add(kind, request.path, watcher); // now: the event may follow the answer at once
    try {
      return await this.#send<O>(request);
    } catch (error) {
      if (watcher) this.#watches.remove(kind, request.path, watcher);
      throw error;
    }
  }

  #send<O extends Request['op']>(request: RequestOf<O>): Promise<Answers[O]> {
    return this.#manager.link?.send<O>(request) ?? this.#refuse(request);
  }

  /** In a later macrotask: a loop of refused requests must not keep the event loop from everything else. */
  #refuse({ op, path }: Request): Promise<never> {
    const error = new ZooKeeperError(ReturnCode.CONNECTIONLOSS, op, path);
    return new Promise((_, reject) => this.options.clock.setTimer(() => reject(error), 0));
  }
}
