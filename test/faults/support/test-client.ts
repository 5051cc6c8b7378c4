import { systemClock } from '../../../lib/core/clock.js';
import type { ErrorPolicy } from '../../../lib/core/election/election-backend.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import { RetryForever } from '../../../lib/zookeeper/connection/retry-policies.js';
import { parseConnectString, ServerList } from '../../../lib/zookeeper/connection/server-list.js';
import { SessionConnection } from '../../../lib/zookeeper/connection/session-connection.js';
import type {
  AuthInfo,
  ConnectionState,
} from '../../../lib/zookeeper/connection/zookeeper-connection.js';
import { ZooKeeperLockClient } from '../../../lib/zookeeper/zookeeper-lock-client.js';
import { eventually } from '../../support/time.js';
import { transportOf } from '../../support/zookeeper-driver.js';

/** What a {@link TestClient} may want other than the usual. */
export interface TestClientOptions {
  readonly name?: string;
  /** In milliseconds. Default 10,000. */
  readonly sessionTimeout?: number;
  /** Of the servers, in milliseconds. Default 500, as `test/support` starts them. */
  readonly tickTime?: number;
  /** In milliseconds. Default 15,000. */
  readonly connectTimeout?: number;
  readonly errorPolicy?: ErrorPolicy;
  readonly auth?: readonly AuthInfo[];
  /** Hears of every attempt to connect that failed. */
  readonly onAttemptFailed?: (reason: string) => void;
}

/** A lock client as `createZooKeeperLockClient` makes it, with a connection that the test can look into. */
export class TestClient {
  /** The states of the connection since it was connected first. */
  readonly states: ConnectionState[] = [];

  private constructor(
    readonly locks: ZooKeeperLockClient,
    readonly connection: SessionConnection,
  ) {}

  /** Starts a client; resolves when it is connected. */
  static async connect(connect: string, options: TestClientOptions = {}): Promise<TestClient> {
    const { name = 'test', sessionTimeout = 10_000, tickTime = 500 } = options;
    const { auth, onAttemptFailed, errorPolicy, connectTimeout = 15_000 } = options;
    const { servers, chroot } = parseConnectString(connect);
    const connection = new SessionConnection({
      transport: await transportOf(),
      servers: new ServerList(servers, Math.random, systemClock),
      sessionTimeout,
      tickTime,
      clock: systemClock,
      auth,
      onAttemptFailed,
    });
    const locks = new ZooKeeperLockClient({
      name,
      connection,
      events: new LockEventEmitter(),
      clock: systemClock,
      chroot,
      basePath: '/locks',
      literalPaths: true,
      connectTimeout,
      wait: 'forever',
      retryPolicy: new RetryForever(50),
      errorPolicy,
    });
    await locks.connect();
    const client = new TestClient(locks, connection);
    connection.onStateChange((state) => client.states.push(state));
    return client;
  }

  /** Waits until the connection has been in `state` since it was connected first. */
  async reached(state: ConnectionState): Promise<void> {
    const isReached = () => this.states.includes(state);
    await eventually(state, isReached, { within: 30_000 }).catch((error: Error) => {
      throw new Error(`${error.message}, after ${this.states.join(', ') || 'no change'}`);
    });
  }

  /** The names in a directory as they are on the servers now; none when there is no directory. */
  async children(directory: string): Promise<string[]> {
    await this.connection.sync('/');
    if (!(await this.connection.exists(directory))) return [];
    return this.connection.getChildren(directory);
  }

  /** Waits until `directory` has so many children, and returns their names in the order of their numbers. */
  async queue(directory: string, length: number): Promise<string[]> {
    const names = await eventually(`${length} nodes in ${directory}`, async () => {
      const there = await this.children(directory);
      return there.length === length && there;
    });
    return names.sort((a, b) => (a.slice(-10) < b.slice(-10) ? -1 : 1));
  }
}
