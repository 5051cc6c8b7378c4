import { systemClock } from '../../lib/core/clock.js';
import type { AcquireOptions, Lock } from '../../lib/core/lock.js';
import type { Lease } from '../../lib/core/lease.js';
import {
  Permission,
  type ZooKeeperConnection,
} from '../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../../lib/zookeeper/connection/zookeeper-error.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import { parentPath } from '../../lib/zookeeper/connection/znode-path.js';
import { eventually } from '../support/eventually.js';
import type { Backend } from './backend.js';
import { Client, type ClientOptions } from './client.js';
import { interProcessMutexRecipe } from './inter-process-mutex-recipe.js';
import type { LockStage } from './lock-stage.js';
import type { MutexRecipe } from './mutex-recipe.js';
import { queueFor } from './queue-for.js';
import { upToDate } from './up-to-date.js';

/** A node of any recipe. */
const LOCK_NODE = /-(lock-|latch-|lease-|__READ__|__WRIT__)\d{10}$/;

/** Servers on a busy machine may take longer for the end of a session than a client waits by itself, in milliseconds. */
const PATIENCE = 20_000;

/** ZooKeeper's servers, or the embedded tree, with its znodes. */
export class Stage implements LockStage {
  #key = 0;
  mine!: Client;
  theirs!: Client;
  /** A connection of another client, to look at znodes and to meddle with them. */
  readonly stranger: ZooKeeperConnection;
  readonly #clients = new Set<Client>();

  private constructor(
    readonly backend: Backend,
    readonly recipe: MutexRecipe,
    private readonly observer: SessionConnection,
  ) {
    this.stranger = upToDate(observer);
  }

  /** @param recipe of the mutex under test */
  static async build(backend: Backend, recipe = interProcessMutexRecipe): Promise<Stage> {
    const observer = new SessionConnection({
      ...(await backend.connect()),
      sessionTimeout: 30_000,
      clock: systemClock,
    });
    observer.start();
    await eventually('the observer is connected', () => observer.isConnected);
    return new Stage(backend, recipe, observer);
  }

  /** The key of this test. */
  get key(): string {
    return `key-${this.#key}`;
  }

  /** Its directory. */
  get path(): string {
    return `/locks/${this.key}`;
  }

  /** For the next test. */
  async reset(): Promise<void> {
    this.#key += 1;
    [this.mine, this.theirs] = await Promise.all([this.client(), this.client()]);
  }

  /** A client with a session of its own, connected. */
  async client(options: ClientOptions = {}): Promise<Client> {
    const { transport, servers } = await this.backend.connect();
    const client = new Client(transport, servers, { recipe: this.recipe, ...options });
    this.#clients.add(client);
    await client.locks.connect();
    return client;
  }

  async closeClients(): Promise<void> {
    await Promise.all([...this.#clients].map(({ locks }) => locks.close(PATIENCE)));
    this.#clients.clear();
  }

  async stop(): Promise<void> {
    await this.observer.close();
    await this.backend.stop();
  }

  /** The servers end the session of that client; resolves when the client has another one. */
  async expire({ connection }: Client): Promise<void> {
    const ended = connection.session!;
    await this.backend.expire(ended);
    await eventually(
      'it is connected with a new session',
      () => connection.isConnected && connection.session !== ended,
    );
  }

  /** Another client deletes the node of the holder. */
  async evict(): Promise<void> {
    const [node] = await this.contenders();
    await this.stranger.delete(node!);
  }

  /** Its watches notify it. */
  makeSure(): void {}

  /** Takes the permission to remove nodes of the test away; each has a directory of its own. */
  async forbidRemoval(): Promise<void> {
    const [node] = await this.contenders();
    const onlyRead = [{ perms: Permission.READ, scheme: 'world', id: 'anyone' }];
    await this.stranger.setAcl(parentPath(node!), onlyRead);
  }

  async permitRemoval(): Promise<void> {}

  freeze(): void {
    this.backend.freeze();
  }

  thaw(): void {
    this.backend.thaw();
  }

  /** The servers go away; resolves when all clients know. */
  async down(): Promise<void> {
    const connections = this.#connections();
    await this.backend.kill(connections.map(({ session }) => session!));
    await eventually('no client is connected', () => connections.every((it) => !it.isConnected));
  }

  /** Ends `down`; resolves when all clients are connected again. */
  async up(): Promise<void> {
    await this.backend.restart();
    await eventually(
      'everybody is connected again',
      () => this.#connections().every(({ isConnected }) => isConnected),
      { within: 20_000 },
    );
  }

  /** Has the client queue for the mutex of the test; resolves when it does, with the lease to come. */
  queue(client: Client, options?: AcquireOptions): Promise<{ lease: Promise<Lease> }> {
    return this.queueFor(client.lock(this.key), client, options);
  }

  /** The same for any lock of that client. */
  queueFor(
    lock: Lock,
    client: Client,
    options?: AcquireOptions,
  ): Promise<{ lease: Promise<Lease> }> {
    return queueFor(lock, client.locks, options);
  }

  /** Resolves when the client has dealt with everything that happened on the servers before this call. */
  async caughtUp({ connection }: Client): Promise<void> {
    await connection.sync('/'); // its server learns what the others know
    for (let look = 0; look < 3; look++) await connection.exists('/'); // answered behind the looks of its waiters
  }

  /** The queue of a lock, as everybody can see it. */
  async nodes(path = this.path): Promise<string[]> {
    try {
      return await this.stranger.getChildren(path);
    } catch (error) {
      if (ZooKeeperError.is(error, ReturnCode.NONODE)) return [];
      throw error;
    }
  }

  /** Paths of the children of a directory, in the order of their numbers. */
  async queueIn(path: string): Promise<string[]> {
    const names = await this.nodes(path);
    names.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
    return names.map((name) => `${path}/${name}`);
  }

  /** Paths of the nodes of the mutex under test: one for each holder and waiter, the holder's first. */
  contenders(path = this.path): Promise<string[]> {
    return this.recipe.contenders(path, (directory) => this.queueIn(directory));
  }

  /** Every lock node on the servers. */
  async remains(path = ''): Promise<string[]> {
    const children = (await this.nodes(path || '/')).map((name) => `${path}/${name}`);
    const below = await Promise.all(children.map((child) => this.remains(child)));
    return [...children.filter((child) => LOCK_NODE.test(child)), ...below.flat()];
  }

  #connections(): SessionConnection[] {
    return [this.observer, ...[...this.#clients].map(({ connection }) => connection)];
  }
}
