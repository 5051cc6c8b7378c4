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

/** The most time that the name service gets, in ms: the data is only for people who look at the nodes. */
const PATIENCE = 1_000;

/** Address of this host as text: the data of lock nodes, as Curator writes it. Empty where the name does not resolve. */
export async function localAddress(clock: Clock): Promise<Buffer> {
  let data = Buffer.alloc(0);
  const found = lookup(hostname()).then(
    ({ address }) => void (data = Buffer.from(address)),
    () => {},
  );
  await settleWithin(PATIENCE, clock, found);
  return data;
}

/** How a client begins and ends; see the methods of `LockClient`. */
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
    this.#admit('reentrant');
  }

  close(timeout: number): Promise<void> {
    this.#closing ??= this.#close(timeout);
    return this.#closing;
  }

  /** Ends the waits there are, and refuses who comes from now on. */
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
