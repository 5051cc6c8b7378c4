import type { Redis } from 'ioredis';
import type { Mutex } from '../../lib/core/lock.js';
import { createRedLockClient } from '../../lib/redis/red-lock/create-red-lock-client.js';
import type { RedLockClient } from '../../lib/redis/red-lock/red-lock-client.js';
import { asOwn } from '../support/as-own.js';
import { CommandRecord } from './command-record.js';
import { onMessages } from './on-messages.js';
import type { StageClient, StageClientOptions } from './stage-client.js';

/** In milliseconds. The lease is longer than any test, and no stall of this machine is taken for a server that is away. */
const TIMES = { watchdogTimeout: 90_000, nodeTimeout: 5_000 };

/** Which of its locks a suite is about. */
export type RedLockKind = 'mutex' | 'semaphoreMutex';

/** A RedLock client, with an ioredis client of its own for each server, whose commands are written down. */
export class RedLockStageClient implements StageClient {
  #held = 0;
  #received = 0;

  private constructor(
    readonly nodes: readonly Redis[],
    readonly locks: RedLockClient,
    private readonly kind: RedLockKind,
    private readonly records: readonly CommandRecord[],
  ) {
    locks.on('acquired', () => (this.#held += 1));
    locks.on('released', () => (this.#held -= 1));
    locks.on('lost', () => (this.#held -= 1));
    for (const node of nodes) onMessages(node, () => (this.#received += 1));
  }

  static async connect(
    nodes: readonly Redis[],
    kind: RedLockKind,
    { wait = 'forever', namespace = '' }: StageClientOptions,
  ): Promise<RedLockStageClient> {
    const records = nodes.map((node) => new CommandRecord(node));
    const options = { nodes: nodes.map(asOwn), ...TIMES, prefix: namespace, wait };
    const locks = await createRedLockClient('contract', options);
    const client = new RedLockStageClient(nodes, locks, kind, records);
    await locks.connect();
    return client;
  }

  /** Its name on the servers. */
  get name(): string {
    return this.nodes[0]!.options.connectionName!;
  }

  get requests(): CommandRecord['requests'] {
    return this.records.flatMap(({ requests }) => requests);
  }

  /** What the names of its owners begin with, on each server; none before the first. */
  get ids(): readonly (string | undefined)[] {
    return this.records.map(({ owner }) => owner);
  }

  /** How many locks it holds, as far as it knows. */
  get held(): number {
    return this.#held;
  }

  /** How many messages have come in. */
  get received(): number {
    return this.#received;
  }

  lock(key: string): Mutex {
    return this.locks[this.kind](key);
  }

  half(_: 'read' | 'write', key: string): never {
    return this.locks.readWriteLock(key);
  }

  readLock(key: string): never {
    return this.locks.readWriteLock(key);
  }

  writeLock(key: string): never {
    return this.locks.readWriteLock(key);
  }
}
