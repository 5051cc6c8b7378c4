import type { Clock } from '../../core/clock.js';
import { isRedisCluster, type RedisClient, type RedisNode } from './ioredis.js';
import { isReadOnly, isRefusal, replyText } from './redis-error.js';
import { Refusals } from './refusals.js';

/**
 * Counts how often a connection that commands go through has closed; of a cluster that of any node.
 *
 * Invariant: it has counted before a command that was sent on the connection is answered by another one, or rejected. So
 * where the count is the same before and after a command, no copy of it is under way.
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
    client.on('-node', this.#add); // a cluster may let go of a node before that has closed
  }

  #watch(node: RedisNode): void {
    node.on('close', this.#add);
  }

  readonly #add = (): void => {
    this.count += 1;
  };
}

/** A connection to a replica is made anew at most once in so many ms: by then a refusal that goes on has been told. */
const RENEWED_AFTER = 1_500;

/** What becomes of the connection that commands go through, as it is told. */
export type ConnectionChange = 'CONNECTED' | 'SUSPENDED' | 'RECONNECTED' | 'REFUSED' | 'CLOSED';

/** What {@link ConnectionStates} are made of. */
export interface ConnectionStatesSettings {
  readonly client: RedisClient;
  readonly clock: Clock;
  readonly onStateChange: (change: ConnectionChange, reason: string) => void;
}

/** Watches a client, and tells how its connection is. */
export class ConnectionStates {
  /** When the connection was lost, by our clock; `Infinity` while it is there. */
  suspendedAt = Infinity;
  #wasReady = false;
  #hasEnded = false;
  #lastError = '';
  /** Is it us who close the connection, to look for the primary? Then until it is ready again, or that has failed. */
  #renewal: 'none' | 'closing' | 'connecting' = 'none';
  #renewedAt = -Infinity;
  readonly #refusals: Refusals;
  readonly #stopListening: (() => void)[] = [];

  /**
   * @param wake called when the connection is ready again, and when a cluster has lost a node
   * @param ended called when it is closed for good
   */
  constructor(
    private readonly settings: ConnectionStatesSettings,
    private readonly wake: () => void,
    private readonly ended: () => void,
  ) {
    this.#refusals = new Refusals(settings.clock, {
      refused: (error) => this.#tell('REFUSED', replyText(error)),
      over: () => this.isReady && this.#tell('CONNECTED', 'the server refuses nothing any more'),
    });
    this.#listen('ready', () => this.ready());
    this.#listen('close', () => this.#suspended());
    this.#listen('end', () => this.#end());
    this.#listen('-node', () => this.isReady && this.wake()); // its replica may take over
    this.#listen('error', (error) => (this.#lastError = String(error)));
  }

  get isReady(): boolean {
    return this.settings.client.status === 'ready';
  }

  /** Is it closed for good: by us, or because ioredis has given up? */
  get hasEnded(): boolean {
    const { status } = this.settings.client;
    // A Cluster goes on from 'end' to 'close', where it keeps commands for a connection that does not come by itself.
    return status === 'end' || (status === 'close' && this.#hasEnded);
  }

  get current(): 'CONNECTED' | 'REFUSED' | 'SUSPENDED' | 'CLOSED' {
    if (this.hasEnded) return 'CLOSED';
    if (!this.isReady && !this.#isLooking) return 'SUSPENDED';
    return this.#refusals.isTold ? 'REFUSED' : 'CONNECTED';
  }

  /** Why nothing is carried out now: the server refuses it, or there is no connection; `undefined` where nothing is known. */
  get trouble(): Error | undefined {
    if (this.isReady || this.#isLooking) return this.#refusals.last;
    return new Error(`no connection to Redis: ${this.#lastError || 'it was closed'}`);
  }

  /** A script has run. */
  succeeded(): void {
    this.#refusals.succeeded();
  }

  /** A script has not run. */
  failed(error: unknown): void {
    if (isRefusal(error)) this.#refusals.add(error);
    if (isReadOnly(error)) this.#renew(error as Error);
  }

  /** The servers answer. */
  ready(): void {
    this.#hasEnded = false;
    this.suspendedAt = Infinity;
    this.#lastError = '';
    const isLooking = this.#isLooking;
    if (this.#renewal === 'none') this.#refusals.clear(); // it may be another server
    this.#renewal = 'none';
    if (!isLooking) this.#tell(this.#wasReady ? 'RECONNECTED' : 'CONNECTED', 'the servers answer');
    this.#wasReady = true;
    this.wake();
  }

  /** Watches and tells no longer. */
  close(): void {
    this.#refusals.clear();
    for (const stop of this.#stopListening) stop();
  }

  /** Is it away for a moment, to look for the primary once more, while it is told that the server refuses? */
  get #isLooking(): boolean {
    return this.#refusals.isTold && this.#renewal !== 'none';
  }

  /**
   * Connects anew: a primary that was demoted keeps its connections, while a new one reaches the primary. A cluster tells
   * by itself where that is.
   */
  #renew(error: Error): void {
    const { client, clock } = this.settings;
    const now = clock.now();
    if (isRedisCluster(client) || !this.isReady || now - this.#renewedAt < RENEWED_AFTER) return;
    this.#renewedAt = now;
    this.#renewal = 'closing';
    this.#lastError = replyText(error);
    client.disconnect(true);
  }

  #suspended(): void {
    this.suspendedAt = Math.min(this.suspendedAt, this.settings.clock.now()); // each failed attempt closes, too
    this.#renewal = this.#renewal === 'closing' ? 'connecting' : 'none';
    if (!this.#isLooking) this.#tell('SUSPENDED', this.#lastError || 'connection closed');
  }

  #end(): void {
    this.#hasEnded = true;
    this.#refusals.clear();
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
