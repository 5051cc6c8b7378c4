import type { AclEntry } from './acl.js';
import type { ConnectionState } from './connection-state.js';
import type { CreateMode } from './create-mode.js';
import { ReturnCode } from './return-code.js';
import { SessionManager, type SessionManagerOptions } from './session-manager.js';
import type { Session } from './session.js';
import type { Stat } from './stat.js';
import type { Answers, Request } from './transport.js';
import type { Watcher } from './watch-event.js';
import { WatchRegistry } from './watch-registry.js';
import type { ZooKeeperConnection } from './zookeeper-connection.js';
import { ZooKeeperError } from './zookeeper-error.js';

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
