import type { Liveness } from '../../core/internal/client-lifecycle.js';
import { IdleWatches, type WatchKind } from './idle-watches.js';
import type { Session } from './session.js';
import { SessionLinks, type SessionOptions } from './session-links.js';
import type { Answers, Request, SessionCredentials } from './transport.js';
import { WatchRegistry } from './watch-registry.js';
import type {
  AclEntry,
  ConnectionState,
  Created,
  CreateMode,
  Operation,
  OperationAnswers,
  Stat,
  Watcher,
  ZooKeeperConnection,
} from './zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from './zookeeper-error.js';

type RequestOf<O extends Request['op']> = Request & { readonly op: O };

/** Implements the port over any transport: sends requests and sets watches on the links of its session. */
export class SessionConnection implements ZooKeeperConnection, Liveness {
  readonly #links: SessionLinks;
  readonly #watches: WatchRegistry;

  constructor(private readonly options: SessionOptions) {
    this.#watches = new WatchRegistry(
      new IdleWatches(options.clock, (kind, path) => this.#removeWatch(kind, path)),
    );
    this.#links = new SessionLinks(options, this.#watches);
  }

  get state(): ConnectionState {
    return this.#links.state;
  }

  get isConnected(): boolean {
    return this.#links.connectedLink !== undefined;
  }

  get session(): Session | undefined {
    return this.#links.session;
  }

  get server(): string | undefined {
    return this.#links.server;
  }

  get createsWithAcl(): boolean {
    return this.options.transport.createsWithAcl ?? false;
  }

  create(
    path: string,
    data: Buffer,
    mode: CreateMode,
    acl?: readonly AclEntry[],
  ): Promise<Created> {
    return this.#send({ op: 'create', path, data, mode, acl });
  }

  delete(path: string, version = -1): Promise<void> {
    return this.#send({ op: 'delete', path, version });
  }

  async exists(path: string, watcher?: Watcher): Promise<Stat | undefined> {
    const failed = watcher && this.#watches.add('data', path, watcher);
    try {
      return await this.#send({ op: 'exists', path, watch: watcher !== undefined });
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return undefined; // the watch is set nevertheless
      failed?.();
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

  async multi<const O extends readonly Operation[]>(
    operations: O,
  ): Promise<{ readonly [I in keyof O]: OperationAnswers[O[I]['op']] }> {
    const path = operations[0]?.path ?? '/';
    const outcome = await this.#send({ op: 'multi', path, operations });
    if ('answers' in outcome)
      return outcome.answers as { [I in keyof O]: OperationAnswers[O[I]['op']] };
    const { rc, failed } = outcome;
    const { op, path: culprit } = operations[failed]!;
    throw new ZooKeeperError(rc, `multi[${failed}] ${op}`, culprit, false, failed);
  }

  sync(path: string): Promise<void> {
    return this.#send({ op: 'sync', path });
  }

  unwatch(path: string, watcher: Watcher): void {
    this.#watches.unwatch(path, watcher);
  }

  onStateChange(listener: (state: ConnectionState, reason: string) => void): () => void {
    return this.#links.onStateChange(listener);
  }

  onDoubt(listener: () => void): void {
    this.#links.onDoubt(listener);
  }

  start(): void {
    this.#links.start();
  }

  /**
   * Connects to a session that another connection has opened, which the servers then cut off from it.
   *
   * @param confirmedAt when a sign of life was sent of which the leader has learned
   */
  takeOver(credentials: SessionCredentials, confirmedAt: number): void {
    this.#links.takeOver(credentials, confirmedAt);
  }

  unref(): void {
    this.#links.unref();
  }

  rest(): Promise<void> {
    return this.#links.rest();
  }

  ref(): void {
    this.#links.ref();
  }

  close(): Promise<void> {
    return this.#links.close();
  }

  async #sendWatched<O extends 'getData' | 'getChildren'>(
    kind: WatchKind,
    watcher: Watcher | undefined,
    request: RequestOf<O>,
  ): Promise<Answers[O]> {
    const failed = watcher && this.#watches.add(kind, request.path, watcher); // before sending: the event may follow the answer at once
    try {
      return await this.#send<O>(request);
    } catch (error) {
      failed?.();
      throw error;
    }
  }

  #send<O extends Request['op']>(request: RequestOf<O>): Promise<Answers[O]> {
    return this.#links.connectedLink?.send<O>(request) ?? this.#refuse(request);
  }

  /** Whether there was one does not matter: it may have fired, or it never was set; nor that the native driver cannot do it. */
  #removeWatch(kind: WatchKind, path: string): void {
    this.#send({ op: 'removeWatches', kind, path }).catch(() => {});
  }

  /** Rejects in a later macrotask: a loop of rejected requests must not starve the event loop. */
  #refuse({ op, path }: Request): Promise<never> {
    const error = new ZooKeeperError(ReturnCode.CONNECTIONLOSS, op, path);
    return new Promise((_, reject) => this.options.clock.setTimer(() => reject(error), 0));
  }
}
