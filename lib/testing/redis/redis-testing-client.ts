import { LockEventEmitter } from '../../core/internal/lock-event-emitter.js';
import { LOCK_INSPECTION } from '../../core/lock-inspection.js';
import { RedisConnection } from '../../redis/connection/redis-connection.js';
import { makeClient } from '../../redis/make-client.js';
import { RedisLockClient } from '../../redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../redis/redis-options.js';
import { validateRedisOptions } from '../../redis/validate-redis-options.js';
import { type ControlledClient, locksToLose } from '../controlled-client.js';
import type { TestingClock } from '../testing-clock.js';
import { LuaMachine } from './lua/lua-machine.js';
import { ClientNetwork } from './network/client-network.js';
import { ServerPort } from './network/server-port.js';
import type { NodeHost } from './network/ioredis.js';
import { SimulatedNode } from './network/simulated-node.js';
import { Wire } from './network/wire.js';
import { SimulatedServer } from './server/redis-server.js';

/** Options that a client on a simulated Redis adopts from the client that it replaces. All others have no effect. */
export interface RedisLockTestingOptions extends Pick<
  RedisLockOptions,
  | 'connectTimeout'
  | 'fairLockWaitTimeout'
  | 'handOff'
  | 'maxWaiters'
  | 'maxWaitersPerKey'
  | 'onDeadlock'
  | 'prefix'
  | 'semaphoreTimeToLive'
  | 'wait'
  | 'watchdogTimeout'
> {
  /** In place of the `prefix`, as in the options of `LockModule.forRoot`. */
  readonly namespace?: string | undefined;
}

/** Time of the server at first, in ms since 1970: tests may set `Date`, and no occurrence is too far ahead of it then. */
const START = Date.UTC(2100, 0);

/** A client on Redis in virtual time, with a simulated server of its own. */
export class RedisTestingClient implements ControlledClient {
  #endSuspension?: (() => void) | undefined;

  private constructor(
    readonly locks: RedisLockClient,
    private readonly connection: RedisConnection,
    private readonly port: ServerPort,
    private readonly network: ClientNetwork,
    private readonly clock: TestingClock,
  ) {}

  /**
   * Creates the client as `createRedisLockClient` does, but for its network and its clock.
   *
   * Rejects with `LockOptionsError`.
   */
  static async create(
    name: string,
    given: RedisLockTestingOptions,
    clock: TestingClock,
  ): Promise<RedisTestingClient> {
    const now = () => START + Math.floor(clock.now());
    const port = new ServerPort(new SimulatedServer(new LuaMachine(), now));
    const way = (delay: () => number) => new Wire(clock, delay);
    const network = new ClientNetwork(clock, way, () => port);
    const options = { ...adopted(given), client: newDriver(network, clock) };
    validateRedisOptions(options, name);
    const events = new LockEventEmitter(name);
    const connection = new RedisConnection({
      client: await makeClient(name, options),
      shardedSubscriptionMode: 'auto',
      clock,
      onStateChange: (state, reason) => events.emit('connection', { state, reason }),
    });
    const random = () => 0; // each renewal has one time
    const locks = new RedisLockClient({ name, connection, events, clock, options, random });
    return new RedisTestingClient(locks, connection, port, network, clock);
  }

  get isClosed(): boolean {
    return this.connection.hasEnded;
  }

  async loseLease(key: string): Promise<void> {
    await this.clock.advance(0);
    const inspection = this.locks[LOCK_INSPECTION];
    for (const { name, holders } of locksToLose(this.locks, key, this.#isSuspended))
      await inspection.release(name!, holders);
    await this.clock.advance(0);
  }

  /** What is under way arrives before. */
  async suspend(): Promise<void> {
    await this.clock.advance(0);
    this.network.cut(() => 'processed');
    this.#endSuspension ??= this.network.partition();
    await this.clock.advance(0);
  }

  async resume(): Promise<void> {
    this.#endSuspension?.();
    this.#endSuspension = undefined;
    await this.clock.advance(0);
  }

  /** The server restarts without its data. */
  async expire(): Promise<void> {
    this.port.server.restart(false);
    this.port.hangUpAll();
    await this.resume();
  }

  get #isSuspended(): boolean {
    return this.#endSuspension !== undefined;
  }
}

/** An attempt to connect waits until the network lets it through, so the next one may follow at once. */
function newDriver(network: ClientNetwork, clock: TestingClock): SimulatedNode {
  const host: NodeHost = {
    clock,
    open: (listener, address) => network.open(listener, address),
    receive: (message) => message(),
  };
  return new SimulatedNode(host, { lazyConnect: true, retryStrategy: () => 0 });
}

function adopted(options: RedisLockTestingOptions): RedisLockTestingOptions {
  const { namespace, prefix = namespace && `${namespace}:` } = options;
  const { connectTimeout, fairLockWaitTimeout, semaphoreTimeToLive, watchdogTimeout } = options;
  const { handOff, maxWaiters, maxWaitersPerKey, onDeadlock, wait } = options;
  const times = { connectTimeout, fairLockWaitTimeout, semaphoreTimeToLive, watchdogTimeout };
  return { ...times, handOff, maxWaiters, maxWaitersPerKey, onDeadlock, prefix, wait };
}
