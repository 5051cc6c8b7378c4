import type { Wait } from '../core/acquire-options.js';
import type { Clock } from '../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../core/errors/index.js';
import type { LockClient } from '../core/lock-client.js';
import { type LockEventEmitter } from '../core/lock-event-emitter.js';
import type { LockEvents } from '../core/lock-events.js';
import { WaitScope } from '../core/wait-scope.js';
import { within } from '../core/within.js';
import type { AclEntry } from './connection/acl.js';
import type { RetryPolicy } from './connection/retry/retry-policy.js';
import type { ZooKeeperConnection } from './connection/zookeeper-connection.js';
import { localAddress } from './local-address.js';
import { lockPath } from './lock-path.js';
import { GuaranteedDelete } from './recipes/guaranteed-delete.js';
import { InterProcessMutex } from './recipes/inter-process-mutex.js';
import { LongHolds } from './recipes/long-holds.js';
import { LockParents } from './recipes/lock-parents.js';
import type { RecipeContext } from './recipes/recipe-context.js';
import { SoleChildMemory } from './recipes/sole-child-memory.js';
import { untilConnected } from './recipes/until-connected.js';

/** A holder that did not queue has its node watched only after this time, in ms. */
const WATCH_AFTER = 100;

/** What a client is made of. Times in milliseconds. */
export interface ZooKeeperLockClientSettings {
  readonly name: string;
  readonly connection: ZooKeeperConnection;
  readonly events: LockEventEmitter;
  readonly clock: Clock;
  /** Prefix of every path, without a slash at its end; made with the parents of a lock where it is missing. Default: none. */
  readonly chroot?: string;
  readonly basePath: string;
  readonly connectTimeout: number;
  readonly wait: Wait;
  readonly retryPolicy: RetryPolicy;
  readonly acl?: readonly AclEntry[];
}

/** Locks on ZooKeeper, or on the embedded tree that behaves like it. */
export class ZooKeeperLockClient implements LockClient {
  readonly name: string;
  readonly #context: RecipeContext;
  #closing?: Promise<void>;

  constructor(private readonly settings: ZooKeeperLockClientSettings) {
    const { name, connection, events, clock, connectTimeout, wait, retryPolicy, acl } = settings;
    this.name = name;
    this.#context = {
      client: name,
      connection,
      clock,
      events,
      retryPolicy,
      wait,
      connectTimeout,
      parents: new LockParents(connection, acl),
      removals: new GuaranteedDelete(connection, (error) =>
        process.emitWarning(
          `Lock client "${name}" may not remove a lock node, so the lock stays taken: ${error.message}`,
        ),
      ),
      soleChildren: new SoleChildMemory(connection),
      longHolds: new LongHolds(clock, WATCH_AFTER),
      nodeData: Buffer.alloc(0),
      isRefusing: false,
      waits: new Set(),
      holds: new Set(),
    };
    connection.onStateChange((state, reason) => events.emit('connection', { state, reason }));
  }

  mutex(key: string): InterProcessMutex {
    const { chroot = '', basePath } = this.settings;
    const path = chroot + lockPath(basePath, key, this.name);
    return new InterProcessMutex(this.#context, key, path);
  }

  on<E extends keyof LockEvents>(event: E, listener: (event: LockEvents[E]) => void): () => void {
    return this.settings.events.on(event, listener);
  }

  async connect(): Promise<void> {
    const { name, connection, clock, connectTimeout } = this.settings;
    if (this.#context.isRefusing) throw new LockClientClosedError({ client: name });
    const wait = new WaitScope(
      { client: name, clock, open: this.#context.waits },
      { wait: connectTimeout },
    );
    let lastReason = 'no server has answered';
    const stop = this.on('connection', ({ reason }) => (lastReason = reason));
    try {
      connection.start();
      await untilConnected(connection, wait);
      this.#context.nodeData = await localAddress(clock);
    } catch (cause) {
      stop(); // the closing is not what it failed of
      await connection.close();
      if (!(cause instanceof LockTimeoutError)) throw cause;
      throw new LockConnectionError(
        `Lock client "${name}" could not connect within ${connectTimeout} ms (${lastReason}). Check \`connect\` and that the servers run, or raise \`connectTimeout\`.`,
        { client: name, cause },
      );
    } finally {
      stop();
      wait.end();
    }
  }

  refuse(): void {
    this.#context.isRefusing = true;
    for (const wait of [...this.#context.waits]) wait.close();
  }

  close(timeout = 5_000): Promise<void> {
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  async #close(timeout: number): Promise<void> {
    const { connection, clock } = this.settings;
    const deadline = clock.now() + timeout;
    this.refuse();
    await within(timeout, clock, this.#giveEverythingBack());
    await within(Math.max(0, deadline - clock.now()), clock, connection.close());
  }

  async #giveEverythingBack(): Promise<void> {
    const { waits, holds, removals } = this.#context;
    const revoked = [...holds].map((hold) => hold.revoke('the client was closed'));
    await Promise.all([...revoked, ...[...waits].map((wait) => wait.ended())]);
    await removals.drained();
  }
}
