import type { LockClient } from '../core/lock-client.js';
import { LockEventEmitter } from '../core/internal/lock-event-emitter.js';
import { EmbeddedLink } from '../embedded/embedded-transport.js';
import { EmbeddedServer } from '../embedded/embedded-server.js';
import { validateEmbeddedOptions } from '../embedded/create-embedded-lock-client.js';
import { SessionConnection } from '../zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../zookeeper/zookeeper-lock-client.js';
import { leasedClient } from './leased-client.js';
import type { LockTestingOptions } from './lock-testing-options.js';
import type { TestingClock } from './testing-clock.js';

/** Unit of time of a ZooKeeper server, in ms: its sessions get 2 to 20 of it. */
const TICK_TIME = 2_000;

/** A client in virtual time, with a server of its own and the accidents of that. */
export class TestingClient {
  readonly locks: LockClient;
  readonly #server: EmbeddedServer;
  #isSuspended = false;

  constructor(
    private readonly name: string,
    options: LockTestingOptions,
    private readonly clock: TestingClock,
  ) {
    const { wait = 'forever', basePath = '/locks', literalPaths = false } = options;
    const { sessionTimeout = 30_000, errorPolicy } = options;
    validateEmbeddedOptions({ wait, basePath, literalPaths }, name);
    const server = (this.#server = new EmbeddedServer({ clock, tickTime: TICK_TIME }));
    const outbox = { push: (message: () => void) => void clock.setTimer(message, 0) };
    const locks = new ZooKeeperLockClient({
      name,
      connection: new SessionConnection({
        transport: {
          open: (link, listener) => new EmbeddedLink(server, outbox, link, listener),
          close: async () => {},
        },
        // A list without end, so that the next attempt to connect follows at once.
        servers: { size: Infinity, next: async () => ({ host: 'testing', port: 0 }) },
        sessionTimeout,
        tickTime: TICK_TIME,
        clock,
      }),
      events: new LockEventEmitter(name),
      clock,
      basePath,
      literalPaths,
      errorPolicy,
      connectTimeout: 15_000,
      wait,
      retryPolicy: { nextDelay: () => 0 }, // each try waits for the connection first
      nodeData: Buffer.alloc(0),
      watchAfter: 0,
    });
    this.locks = options.backend === 'redis' ? leasedClient(locks, clock) : locks;
  }

  /** Deletes the nodes of all who hold that key. */
  async loseLease(key: string): Promise<void> {
    if (this.#isSuspended)
      throw new Error(
        `Lock client "${this.name}" is suspended, so nobody would hear of the loss of "${key}". Call \`resume()\` first.`,
      );
    await this.clock.advance(0);
    const held = this.locks.activity().filter(({ state }) => state === 'held');
    const nodes = held.filter((lock) => lock.key === key).flatMap(({ holders }) => holders);
    if (nodes.length === 0) {
      const keys = [...new Set(held.map((lock) => `"${lock.key}"`))].join(', ') || 'nothing';
      throw new Error(
        `Nobody holds "${key}" of lock client "${this.name}"; held is ${keys}. Wait until it is held, with \`await advance(0)\`.`,
      );
    }
    for (const node of nodes) this.#server.remove(node);
    await this.clock.advance(0);
  }

  async suspend(): Promise<void> {
    const { sessionId } = this.locks.status();
    this.#isSuspended = true;
    this.#server.freeze();
    if (sessionId !== undefined) this.#server.cut(sessionId);
    await this.clock.advance(0);
  }

  async resume(): Promise<void> {
    this.#isSuspended = false;
    this.#server.thaw();
    await this.clock.advance(0);
  }

  async expire(): Promise<void> {
    const { sessionId } = this.locks.status();
    if (sessionId !== undefined) this.#server.expire(sessionId);
    await this.resume();
  }
}
