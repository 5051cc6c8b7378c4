import type { Clock, Timer } from '../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { EmbeddedServer } from '../../../lib/embedded/embedded-server.js';
import { embeddedServers, EmbeddedTransport } from '../../../lib/embedded/embedded-transport.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { FaultyTransport } from '../../support/faulty-transport.js';
import { seededRandom } from '../../support/seeded-random.js';
import { VirtualClock } from '../../support/virtual-clock.js';

/** Clients of one embedded server over networks that may fail, in virtual time. The server expires their sessions. */
export class LeaderLatchWorld {
  static readonly sessionTimeout = 6_000;
  readonly clock = new VirtualClock();
  readonly server = new EmbeddedServer({ clock: this.clock, tickTime: 500 });
  readonly #random: () => number;

  constructor(seed = 1) {
    this.#random = seededRandom(seed);
  }

  /** Resolves when it is connected. */
  async client() {
    const { clock } = this;
    const embedded = new EmbeddedTransport(this.server, (flush) => clock.setTimer(flush, 0));
    const network = new FaultyTransport(embedded, clock);
    network.latency = () => this.#random() * 20;
    const connection = new SessionConnection({
      transport: network,
      servers: embeddedServers,
      sessionTimeout: LeaderLatchWorld.sessionTimeout,
      clock,
      random: this.#random,
    });
    const timers = new CountedTimers(clock);
    const locks = new ZooKeeperLockClient({
      name: 'virtual',
      connection,
      events: new LockEventEmitter(),
      clock: timers,
      basePath: '/locks',
      connectTimeout: 15_000,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
    });
    connection.start();
    await clock.runUntil(() => connection.isConnected, 10_000);
    return { network, connection, locks, timers };
  }

  /** Names of the nodes in the directory of that key, by their numbers. */
  nodes(key: string): string[] {
    const names = this.server.tree.get(`/locks/${key}`)?.children ?? [];
    return [...names].sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
  }
}

/** The clock of a client's recipes, which knows how many of their timers are pending. */
class CountedTimers implements Clock {
  readonly #pending = new Set<object>();

  constructor(private readonly clock: Clock) {}

  get pending(): number {
    return this.#pending.size;
  }

  now(): number {
    return this.clock.now();
  }

  setTimer(fn: () => void, ms: number): Timer {
    const entry = {};
    this.#pending.add(entry);
    const fire = () => {
      this.#pending.delete(entry);
      fn();
    };
    const timer = this.clock.setTimer(fire, ms);
    return {
      cancel: () => {
        this.#pending.delete(entry);
        timer.cancel();
      },
    };
  }
}
