import { LockEventEmitter } from '../../lib/core/internal/lock-event-emitter.js';
import type { Lock, Mutex } from '../../lib/core/lock.js';
import { systemClock } from '../../lib/core/clock.js';
import { RetryForever } from '../../lib/zookeeper/connection/retry-policies.js';
import type { Servers } from '../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../lib/zookeeper/connection/session-connection.js';
import type { Request, Transport } from '../../lib/zookeeper/connection/transport.js';
import type { InterProcessMutex } from '../../lib/zookeeper/locks/inter-process-mutex.js';
import { ZooKeeperLockClient } from '../../lib/zookeeper/zookeeper-lock-client.js';
import { interProcessMutexRecipe } from './inter-process-mutex-recipe.js';
import type { MutexRecipe } from './mutex-recipe.js';
import { RecordingTransport } from './recording-transport.js';
import type { StageClient, StageClientOptions } from './stage-client.js';

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
    const { wait = 'forever', namespace, recipe = interProcessMutexRecipe } = options;
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
