import type { Clock } from '../../core/clock.js';
import { isRedisCluster, type RedisClient, type RedisNode } from './ioredis.js';
import { isOfSelect, isReadOnly, isRefusal, reasonOf, replyText } from './redis-error.js';
import { Refusals } from './refusals.js';

/**
 * Counts how often the connection that carries the commands has closed; in a cluster, that of any node.
 *
 * Invariant: a close is counted before a command sent on that connection is answered over another one, or rejected. So if
 * the count is the same before and after a command, no copy of it is under way.
 */
export class Interruptions {
  count = 0;

  constructor(client: RedisClient) {
    if (!isRedisCluster(client)) {
      this.#watch(client);
      return;
    }
    for (const node of client.nodes('all')) this.#watch(node);
    client.on('+node', (node) => this.#watch(node as RedisNode));
    client.on('-node', this.#add); // a cluster may drop a node before its connection has closed
  }

  #watch(node: RedisNode): void {
    node.on('close', this.#add);
  }

  readonly #add = (): void => {
    this.count += 1;
  };
}

/** Minimum time between two reconnects away from a replica, in ms: by then a lasting refusal has been reported. */
const RENEWED_AFTER = 1_500;

/** Change of the connection that carries the commands, as it is reported. */
type ConnectionChange = 'CONNECTED' | 'SUSPENDED' | 'RECONNECTED' | 'REFUSED' | 'CLOSED';

/** Settings of {@link ConnectionStates}. */
export interface ConnectionStatesSettings {
  readonly client: RedisClient;
  readonly clock: Clock;
  readonly onStateChange: (change: ConnectionChange, reason: string) => void;
}

/** Watches a client and reports the state of its connection. */
export class ConnectionStates {
  /** Time at which the connection was lost, by the client's clock; `Infinity` while it is up. */
  suspendedAt = Infinity;
  #wasReady = false;
  #hasEnded = false;
  #lastError = '';
  /** Whether the connection was refused its database: it is about to close, although ioredis may report it as ready before. */
  #hasOtherDatabase = false;
  /** Progress of a reconnect of our own that looks for the primary; `none` once it is ready again, or has failed. */
  #renewal: 'none' | 'closing' | 'connecting' = 'none';
  #renewedAt = -Infinity;
  readonly refusals: Refusals;
  readonly #stopListening: (() => void)[] = [];

  /**
   * @param wake called when the connection is ready again, and when a cluster has lost a node
   * @param ended called when the connection is closed for good
   */
  constructor(
    private readonly settings: ConnectionStatesSettings,
    private readonly wake: () => void,
    private readonly ended: () => void,
  ) {
    this.refusals = new Refusals(settings.clock, {
      refused: (error) => this.#tell('REFUSED', replyText(error)),
      over: () => this.#isReady && this.#tell('CONNECTED', 'the server accepts commands again'),
    });
    this.#listen('ready', () => this.ready());
    this.#listen('close', () => this.#suspended());
    this.#listen('end', () => this.#end());
    this.#listen('-node', () => this.#isReady && this.wake()); // a replica of the node may take over
    this.#listen('error', (error) => this.#failedToConnect(error));
  }

  get #isReady(): boolean {
    return this.settings.client.status === 'ready';
  }

  /** Whether it is closed for good, by this library or because ioredis has given up. */
  get hasEnded(): boolean {
    const { status } = this.settings.client;
    // A Cluster changes from 'end' to 'close', where it queues commands for a connection that does not come by itself.
    return status === 'end' || (status === 'close' && this.#hasEnded);
  }

  get current(): 'CONNECTED' | 'REFUSED' | 'SUSPENDED' | 'CLOSED' {
    if (this.hasEnded) return 'CLOSED';
    if (!this.#isReady && !this.#isLooking) return 'SUSPENDED';
    return this.refusals.isTold ? 'REFUSED' : 'CONNECTED';
  }

  /** Why nothing is carried out now: the server refuses it, or there is no connection; `undefined` if no reason is known. */
  get trouble(): Error | undefined {
    if (this.#isReady || this.#isLooking) return this.refusals.last;
    return new Error(`no connection to Redis: ${this.#lastError || 'it was closed'}`);
  }

  /** Records that a script has not run. */
  failed(error: unknown): void {
    if (isRefusal(error)) this.refusals.add(error);
    if (isReadOnly(error)) this.#renew(error as Error);
  }

  /** Records that the servers answer. */
  ready(): void {
    if (this.#hasOtherDatabase) return;
    this.#hasEnded = false;
    this.suspendedAt = Infinity;
    this.#lastError = '';
    const isLooking = this.#isLooking;
    if (this.#renewal === 'none') this.refusals.clear(); // it may be another server
    this.#renewal = 'none';
    if (!isLooking) this.#tell(this.#wasReady ? 'RECONNECTED' : 'CONNECTED', 'the servers answer');
    this.#wasReady = true;
    this.wake();
  }

  /** Stops watching and reporting. */
  close(): void {
    this.refusals.clear();
    for (const stop of this.#stopListening) stop();
  }

  /** True while it reconnects to look for the primary again, during a refusal that has been reported. */
  get #isLooking(): boolean {
    return this.refusals.isTold && this.#renewal !== 'none';
  }

  /**
   * Reconnects: a demoted primary keeps its connections, while a new connection reaches the current primary. A cluster
   * reports by itself where that is.
   */
  #renew(error: Error): void {
    const { client, clock } = this.settings;
    const now = clock.now();
    if (isRedisCluster(client) || !this.#isReady || now - this.#renewedAt < RENEWED_AFTER) return;
    this.#renewedAt = now;
    this.#renewal = 'closing';
    this.#lastError = replyText(error);
    client.disconnect(true);
  }

  /** Where the server does not select the database, ioredis would go on in database 0, which has other locks: it starts again. */
  #failedToConnect(error: unknown): void {
    const { client } = this.settings;
    this.#lastError = reasonOf(error);
    if (!isOfSelect(error) || isRedisCluster(client)) return;
    this.#hasOtherDatabase = true;
    client.disconnect(true);
  }

  #suspended(): void {
    this.#hasOtherDatabase = false;
    this.suspendedAt = Math.min(this.suspendedAt, this.settings.clock.now()); // each failed attempt emits 'close', too
    this.#renewal = this.#renewal === 'closing' ? 'connecting' : 'none';
    if (!this.#isLooking) this.#tell('SUSPENDED', this.#lastError || 'connection closed');
  }

  #end(): void {
    this.#hasEnded = true;
    this.refusals.clear();
    this.ended();
    this.#tell('CLOSED', 'the client has given up, or was closed');
  }

  #tell(change: ConnectionChange, reason: string): void {
    this.settings.onStateChange(change, reason);
  }

  #listen(event: string, listener: (...args: unknown[]) => void): void {
    const { client } = this.settings;
    client.on(event, listener);
    this.#stopListening.push(() => client.off(event, listener));
  }
}
