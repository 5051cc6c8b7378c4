import { lookup } from 'node:dns/promises';
import { hostname } from 'node:os';
import type { Clock } from '../core/clock.js';
import {
  LockClientClosedError,
  LockConnectionError,
  LockTimeoutError,
} from '../core/errors/index.js';
import { releaseAll } from '../core/internal/client-lifecycle.js';
import { settleWithin } from '../core/internal/timers.js';
import { WaitScope } from '../core/internal/wait-scope.js';
import { untilConnected } from './nodes/node-requests.js';
import type { RecipeContext, ZooKeeperLockClientSettings } from './recipe-context.js';

/** Longest wait for the name service in ms; the data is only for inspection of the nodes. */
const PATIENCE = 1_000;

/** Address of this host as text, which is the data of lock nodes as in Curator; empty if the name does not resolve in time. */
async function localAddress(clock: Clock): Promise<Buffer> {
  let data = Buffer.alloc(0);
  const found = lookup(hostname()).then(
    ({ address }) => void (data = Buffer.from(address)),
    () => {},
  );
  await settleWithin(PATIENCE, clock, found);
  return data;
}

/** Implements `connect`, `refuse` and `close` of `LockClient`. */
export class ClientLifecycle {
  #closing?: Promise<void>;

  constructor(
    private readonly settings: ZooKeeperLockClientSettings,
    private readonly context: RecipeContext,
  ) {}

  get isClosing(): boolean {
    return this.#closing !== undefined;
  }

  async connect(): Promise<void> {
    const { name, connection, events, clock, connectTimeout, nodeData } = this.settings;
    if (this.context.accepts !== 'all') throw new LockClientClosedError({ client: name });
    const wait = new WaitScope(
      { client: name, clock, open: this.context.waits },
      { wait: connectTimeout },
    );
    let lastReason = 'no server has answered';
    const stop = events.on('connection', ({ reason }) => (lastReason = reason));
    try {
      connection.start();
      await untilConnected(connection, wait);
      this.context.nodeData = nodeData ?? (await localAddress(clock));
    } catch (cause) {
      stop(); // the state change of the close must not replace `lastReason`
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
    this.#admit('reentrant');
  }

  close(timeout: number): Promise<void> {
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  /** Ends all pending waits, and limits which acquires are accepted from now on. */
  #admit(whom: 'reentrant' | 'none'): void {
    if (this.context.accepts !== 'none') this.context.accepts = whom;
    for (const wait of this.context.waits) wait.close();
  }

  async #close(timeout: number): Promise<void> {
    const { connection, clock } = this.settings;
    const deadline = clock.now() + timeout;
    this.#admit('none');
    await settleWithin(timeout, clock, this.#giveEverythingBack());
    await settleWithin(Math.max(0, deadline - clock.now()), clock, connection.close());
  }

  async #giveEverythingBack(): Promise<void> {
    await releaseAll(this.context);
    await this.context.removals.drained();
  }
}
