import { systemClock } from '../../../lib/core/clock.js';
import type { WaiterLimits } from '../../../lib/core/internal/waiter-limits.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { Lease } from '../../../lib/core/lease.js';
import type { AcquireOptions, Lock, Mutex } from '../../../lib/core/lock.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import type { Servers } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type { Session } from '../../../lib/zookeeper/connection/session.js';
import type {
  LinkListener,
  OpenOptions,
  Request,
  Transport,
  TransportLink,
} from '../../../lib/zookeeper/connection/transport.js';
import { parentPath } from '../../../lib/zookeeper/connection/znode-path.js';
import {
  Permission,
  type ZooKeeperConnection,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ReturnCode, ZooKeeperError } from '../../../lib/zookeeper/connection/zookeeper-error.js';
import type { InterProcessMutex } from '../../../lib/zookeeper/locks/inter-process-mutex.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { eventually } from '../../support/time.js';
import {
  type LockStage,
  nextKey,
  queueFor,
  type StageClient,
  type StageClientOptions,
} from './stage.js';

/**
 * How often servers look for empty directories, in ms: not while a suite runs, as tests restrict empty ones, and a directory that
 * is made anew is open to all.
 */
export const SELDOM = 3_600_000;

/** The servers of one suite, with the accidents that the suite has in mind for them. */
export interface Backend {
  /** A way to the servers for one client; where there are several, to another one than the client before. */
  connect(): Promise<{ transport: Transport; servers: Servers }>;
  /** The servers end that session. */
  expire(session: Session): Promise<void>;
  /** From now on the servers answer nothing, but keep their connections. */
  freeze(): void;
  /** Ends `freeze`: they go on where they were. */
  thaw(): void;
  /** The servers go away with the connections of those sessions. They remember everything. */
  kill(sessions: readonly Session[]): Promise<void>;
  /** Ends `kill`. */
  restart(): Promise<void>;
  /** Ends the servers for good. */
  stop(): Promise<void>;
}

/** A recipe that is to do what every mutex does. */
export interface MutexRecipe {
  /** Options of the clients. Default: none. */
  readonly limits?: WaiterLimits;
  make(locks: ZooKeeperLockClient, key: string): Mutex;
  /** Name of the client in its errors; none where its parts may belong to several. */
  readonly client?: string;
  /**
   * Paths of the nodes of one lock, one for each holder and waiter, the holder's first.
   *
   * @param path of its key
   * @param queueIn paths of the children of a directory, in the order of their numbers
   */
  contenders(path: string, queueIn: (path: string) => Promise<string[]>): Promise<string[]>;
}

/** A node of any recipe. */
const LOCK_NODE = /-(lock-|latch-|lease-|__READ__|__WRIT__)\d{10}$/;

/** What is there without any test. */
const KEPT_NODE = /^\/(locks$|zookeeper)/;

/** Servers on a busy machine may take longer for the end of a session than a client waits by itself, in milliseconds. */
const PATIENCE = 20_000;

/** ZooKeeper's servers, or the embedded tree, with its znodes. */
export class Stage implements LockStage {
  #key = '';
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
    return this.#key;
  }

  /** Its directory. */
  get path(): string {
    return `/locks/${this.key}`;
  }

  /** For the next test. */
  async reset(): Promise<void> {
    this.#key = nextKey();
    [this.mine, this.theirs] = await Promise.all([this.client(), this.client()]);
  }

  /** A client with a session of its own, connected. */
  async client(options: ClientOptions = {}): Promise<Client> {
    const { transport, servers } = await this.backend.connect();
    const { recipe } = this;
    const client = new Client(transport, servers, { recipe, ...recipe.limits, ...options });
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
  nodes(path = this.path): Promise<string[]> {
    return this.stranger.getChildren(path).catch(noneWhereMissing);
  }

  /** Resolves when the directory of the test has so many. */
  async nodesBecome(count: number): Promise<void> {
    await eventually(`${count} nodes`, async () => (await this.nodes()).length === count);
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
  async remains(): Promise<string[]> {
    await this.observer.sync('/');
    return (await this.#below('')).filter((path) => LOCK_NODE.test(path));
  }

  async clear(): Promise<void> {
    const paths = (await this.#below('')).filter((path) => !KEPT_NODE.test(path)).reverse();
    await Promise.all(paths.map((path) => this.observer.delete(path).catch(() => {}))); // some may be forbidden
  }

  /** Every path below another one, parents before their children. */
  async #below(path: string): Promise<string[]> {
    const names = await this.observer.getChildren(path || '/').catch(noneWhereMissing);
    const children = names.map((name) => `${path}/${name}`);
    const below = await Promise.all(children.map((child) => this.#below(child)));
    return [...children, ...below.flat()];
  }

  #connections(): SessionConnection[] {
    return [this.observer, ...[...this.#clients].map(({ connection }) => connection)];
  }
}

function noneWhereMissing(error: unknown): string[] {
  if (ZooKeeperError.is(error, ReturnCode.NONODE)) return [];
  throw error;
}

export interface ClientOptions extends StageClientOptions {
  /** What `lock` makes. Default: the reentrant mutex. */
  readonly recipe?: MutexRecipe;
}

/** A lock client with a session of its own. */
export class Client implements StageClient {
  readonly connection: SessionConnection;
  readonly locks: ZooKeeperLockClient;
  readonly #transport: RecordingTransport;
  readonly #recipe: MutexRecipe;

  constructor(transport: Transport, servers: Servers, options: ClientOptions) {
    const { wait = 'forever', namespace, recipe = interProcessMutexRecipe, ...limits } = options;
    this.#recipe = recipe;
    this.#transport = new RecordingTransport(transport);
    this.connection = new SessionConnection({
      transport: this.#transport,
      servers,
      sessionTimeout: 30_000,
      tickTime: 500,
      clock: systemClock,
    });
    this.locks = new ZooKeeperLockClient({
      name: 'contract',
      connection: this.connection,
      events: new LockEventEmitter(),
      clock: systemClock,
      chroot: namespace && `/${namespace}`,
      basePath: '/locks',
      literalPaths: true,
      connectTimeout: 15_000,
      wait,
      retryPolicy: new RetryForever(50),
      ...limits,
    });
  }

  /** What it has asked the servers so far, but for keeping its connection up. */
  get requests(): readonly Request[] {
    return this.#transport.requests;
  }

  /** The mutex under test. */
  lock(key: string): Mutex {
    return this.#recipe.make(this.locks, key);
  }

  mutex(key: string): InterProcessMutex {
    return this.locks.mutex(key);
  }

  /** One half of a read/write lock. */
  half(which: 'read' | 'write', key: string): Lock {
    const lock = this.locks.readWriteLock(key);
    return which === 'read' ? lock.readLock() : lock.writeLock();
  }

  readLock(key: string): Lock {
    return this.half('read', key);
  }

  writeLock(key: string): Lock {
    return this.half('write', key);
  }
}

/** Within bounds that no test reaches. */
const OFTEN = { atMost: 1_000, for: 600_000 };
const KEEPING = { ...OFTEN, keep: OFTEN.for };

/** The reentrant mutex that is handed on. */
export const handedOnRecipe: MutexRecipe = {
  make: (locks, key) => locks.mutex(key, { handOff: OFTEN }),
  client: 'contract',
  contenders: (path, queueIn) => queueIn(path),
};

/** The reentrant mutex that its client keeps. */
export const keptRecipe: MutexRecipe = {
  make: (locks, key) => locks.mutex(key, { handOff: KEEPING }),
  client: 'contract',
  contenders: (path, queueIn) => queueIn(path),
};

/** The reentrant mutex, of clients whose callers share read locks. */
export const sharedReadRecipe: MutexRecipe = {
  limits: { handOff: OFTEN },
  make: (locks, key) => locks.mutex(key, { handOff: false }),
  client: 'contract',
  contenders: (path, queueIn) => queueIn(path),
};

/** The reentrant mutex. */
export const interProcessMutexRecipe: MutexRecipe = {
  make: (locks, key) => locks.mutex(key),
  client: 'contract',
  contenders: (path, queueIn) => queueIn(path),
};

/** Two mutexes as one. */
export const multiLockRecipe: MutexRecipe = {
  make: (locks, key) => locks.multiLock([locks.mutex(`${key}.b`), locks.mutex(`${key}.a`)]),
  contenders: (path, queueIn) => queueIn(`${path}.a`), // where everybody begins
};

/** The same of two that are handed on, one of which is kept. */
export const handedOnMultiLockRecipe: MutexRecipe = {
  ...multiLockRecipe,
  make: (locks, key) =>
    locks.multiLock([
      locks.mutex(`${key}.b`, { handOff: OFTEN }),
      locks.mutex(`${key}.a`, { handOff: KEEPING }),
    ]),
};

/** The mutex that is a semaphore of one permit, and not reentrant. */
export const semaphoreMutexRecipe: MutexRecipe = {
  make: (locks, key) => locks.semaphoreMutex(key),
  client: 'contract',
  /** The first at the gate has a lease too, that it waits with; until then it has just come, or is about to leave. */
  contenders: (path, queueIn) =>
    eventually('the first at the gate has its lease', async () => {
      const places = [queueIn(`${path}/leases`), queueIn(`${path}/locks`)] as const;
      const [leases, gate] = await Promise.all(places);
      return (gate.length === 0 || leases.length > 1) && [...leases, ...gate.slice(1)];
    }),
};

/** Writes down the requests that go over a transport. */
export class RecordingTransport implements Transport {
  readonly #requests: Request[] = [];

  constructor(private readonly transport: Transport) {}

  get createsWithAcl(): boolean {
    return this.transport.createsWithAcl ?? false;
  }

  /** What recipes have sent so far; without those about `/`, which keep the connection up. */
  get requests(): readonly Request[] {
    return this.#requests.filter(({ path }) => path !== '/');
  }

  open(options: OpenOptions, listener: LinkListener): TransportLink {
    const link = this.transport.open(options, listener);
    return {
      request: (request, reply) => {
        this.#requests.push(request);
        link.request(request, reply);
      },
      detach: (session) => link.detach(session),
      close: () => link.close(),
    };
  }

  close(): Promise<void> {
    return this.transport.close();
  }
}

const READS: readonly unknown[] = ['exists', 'getAcl', 'getChildren', 'getData'];

/**
 * The connection, with reads that see everything that any client was answered before them: of an ensemble, its server may
 * be behind those of others.
 */
export function upToDate(connection: ZooKeeperConnection): ZooKeeperConnection {
  return new Proxy(connection, {
    get(target, name) {
      const member = Reflect.get(target, name, target) as unknown;
      if (typeof member !== 'function') return member;
      const call = member.bind(target) as (...args: unknown[]) => Promise<unknown>;
      if (!READS.includes(name)) return call;
      return async (...args: unknown[]) => {
        await target.sync('/');
        return call(...args);
      };
    },
  });
}
