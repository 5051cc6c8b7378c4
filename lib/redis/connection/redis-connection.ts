import type { Clock } from '../../core/clock.js';
import { LockConnectionError } from '../../core/errors/index.js';
import type { WaitScope } from '../../core/wait-scope.js';
import {
  isRedisCluster,
  type RedisArgument,
  type RedisClient,
  type RedisNode,
} from './redis-client.js';
import { isNoScript, isUnknownCommand } from './redis-error.js';
import { masterOfSlot } from './master-of-slot.js';
import { Packets } from './packets.js';
import type { ReplicaPolicy } from './replica-policy.js';
import type { Script } from './script.js';
import { Subscriptions } from './subscriptions.js';
import { withNumbers } from './with-numbers.js';

/** Round trips that are measured: one alone may have waited for something else. */
const PINGS = 3;

/** States of the connection that commands go through. */
type ConnectionState = 'CONNECTED' | 'SUSPENDED' | 'RECONNECTED' | 'CLOSED';

/** What a connection is made of. */
export interface RedisConnectionSettings {
  readonly client: RedisClient;
  /** Did we make the client? Then we close it. */
  readonly isOwned: boolean;
  /** Of a cluster only; `auto`: as the servers can. */
  readonly shardedSubscriptionMode: 'auto' | 'on' | 'off';
  readonly clock: Clock;
  readonly onStateChange: (state: ConnectionState, reason: string) => void;
}

/** Scripts and messages of one ioredis client. */
export class RedisConnection {
  /** The command that wakes who waits, as the other clients of these servers use it. */
  publishCommand: 'publish' | 'spublish' = 'publish';
  readonly isCluster: boolean;
  /** Milliseconds that an answer takes at least, as seen when the connection was new. */
  roundTrip = 0;
  /** Resolves when `connect` has: not before that it is known which channels to use. */
  readonly connected: Promise<void>;
  /** When the connection was lost, by our clock; `Infinity` while it is there. */
  suspendedAt = Infinity;
  #tellConnected!: () => void;
  #subscriptions?: Subscriptions;
  #wasReady = false;
  #hasEnded = false;
  #lastError = '';
  readonly #packets = new Packets();
  readonly #readyListeners = new Set<() => void>();
  readonly #stopListening: (() => void)[] = [];

  constructor(readonly settings: RedisConnectionSettings) {
    const { client, isOwned } = settings;
    this.isCluster = isRedisCluster(client);
    this.connected = new Promise((resolve) => (this.#tellConnected = resolve));
    this.#listen('ready', () => this.#ready());
    this.#listen('close', () => this.#suspended());
    this.#listen('end', () => this.#ended());
    this.#listen('-node', () => this.isReady && this.#tellReady()); // of a cluster: its replica may take over
    // On the user's client a listener of ours would keep errors from being shown.
    if (isOwned) this.#listen('error', (error) => (this.#lastError = String(error)));
  }

  get isConnected(): boolean {
    return this.#subscriptions !== undefined;
  }

  get state(): 'CONNECTING' | 'CONNECTED' | 'SUSPENDED' | 'CLOSED' {
    if (this.hasEnded) return 'CLOSED';
    if (!this.isConnected) return 'CONNECTING';
    return this.isReady ? 'CONNECTED' : 'SUSPENDED';
  }

  get isReady(): boolean {
    return this.settings.client.status === 'ready';
  }

  /** Was the client closed, by whoever it belongs to? */
  get hasEnded(): boolean {
    const { status } = this.settings.client;
    // A Cluster goes on from 'end' to 'close', where it keeps commands for a connection that does not come by itself.
    return status === 'end' || (status === 'close' && this.#hasEnded);
  }

  /** Messages; from `connect` on. */
  get subscriptions(): Subscriptions {
    return this.#subscriptions!;
  }

  /** Resolves when the servers answer; rejects with what ended the wait, or with `LockConnectionError`. */
  async connect(wait: WaitScope, name: string): Promise<void> {
    const { client, clock } = this.settings;
    if (this.isConnected) return;
    if (this.hasEnded)
      throw new LockConnectionError(
        `The Redis client of lock client "${name}" was closed before. Hand over one that is open.`,
        { client: name },
      );
    if (client.status === 'wait') client.connect().catch(() => {}); // it tries on
    const ready = () => new Promise<void>((resolve) => this.onReady(resolve));
    if (this.isReady) this.#ready();
    else await wait.until(ready());
    this.roundTrip = await this.#shortestRoundTrip(wait);
    const isSharded = this.isCluster && (await wait.until(this.#usesShardedChannels()));
    if (isSharded) this.publishCommand = 'spublish';
    this.#subscriptions = new Subscriptions(client, isSharded, clock);
    this.#tellConnected();
  }

  /** Runs a script; its answer is a number, or many, or `null`. Rejects as ioredis does. */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
  ): Promise<unknown> {
    const operands = [keys.length, ...keys, ...args];
    try {
      return withNumbers(await this.#call('evalsha', script.sha1, ...operands));
    } catch (error) {
      if (!isNoScript(error)) throw error;
      return withNumbers(await this.#call('eval', script.source, ...operands));
    }
  }

  /**
   * Runs a script, then waits until that many replicas have what it did, if that counts.
   *
   * `WAIT` counts for the connection that it is sent on, so both must go the same way; where a reconnect or another
   * master came in between, it rejects with an error of the connection.
   */
  async runReplicated(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
    { atLeast, timeout = 1_000 }: ReplicaPolicy,
    counts: (reply: unknown) => boolean,
  ): Promise<{ reply: unknown; acknowledged: number }> {
    const master = this.#masterOf(keys[0]!);
    const reply = await this.run(script, keys, args);
    if (!counts(reply)) return { reply, acknowledged: 0 };
    const { stream } = master; // in the turn of the reply, so the one that it came by
    const acknowledged = Number(await master.call('wait', atLeast, timeout));
    if (master.stream === stream && this.#masterOf(keys[0]!) === master)
      return { reply, acknowledged };
    throw new Error('The connection changed before the replicas were asked.');
  }

  /** Reads what everybody may read. */
  read(command: string, ...args: RedisArgument[]): Promise<unknown> {
    return this.#call(command, ...args);
  }

  /**
   * Calls `listener` whenever the connection is ready again, and when a cluster has lost a node; the returned function ends
   * that.
   */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => void this.#readyListeners.delete(listener);
  }

  /** Closes what we have opened. */
  close(): void {
    this.#subscriptions?.close();
    for (const stop of this.#stopListening) stop();
    const { client, isOwned } = this.settings;
    if (!isOwned || this.hasEnded) return;
    client.on('error', () => {}); // nobody to tell any more
    client.disconnect();
  }

  #call(command: string, ...args: RedisArgument[]): Promise<unknown> {
    if (this.hasEnded) return Promise.reject(new Error('Connection is closed.'));
    const { client } = this.settings;
    this.#packets.next(client.stream);
    return client.call(command, ...args);
  }

  #masterOf(key: string): RedisNode {
    const { client } = this.settings;
    if (!isRedisCluster(client)) return client;
    const node = masterOfSlot(client, key);
    if (node === undefined) throw new Error(`The cluster knows no master for ${key} now.`);
    return node;
  }

  async #shortestRoundTrip(wait: WaitScope): Promise<number> {
    const { client, clock } = this.settings;
    let shortest = Infinity;
    for (let i = 0; i < PINGS; i++) {
      const sentAt = clock.now();
      await wait.until(client.call('ping'));
      shortest = Math.min(shortest, clock.now() - sentAt);
    }
    return shortest;
  }

  /** Redisson's rule: sharded channels where the servers of a cluster have them. */
  async #usesShardedChannels(): Promise<boolean> {
    const { client, shardedSubscriptionMode } = this.settings;
    if (shardedSubscriptionMode !== 'auto') return shardedSubscriptionMode === 'on';
    try {
      await client.call('pubsub', 'shardnumsub');
      return true;
    } catch (error) {
      if (isUnknownCommand(error)) return false;
      throw error; // a guess would be heard by nobody
    }
  }

  #suspended(): void {
    this.suspendedAt = Math.min(this.suspendedAt, this.settings.clock.now()); // each failed attempt closes, too
    this.#tell('SUSPENDED', this.#lastError || 'connection closed');
  }

  #ended(): void {
    this.#hasEnded = true;
    this.#subscriptions?.wake(); // who waits is to see it now, not when it would look again
    this.#tell('CLOSED', 'the client has given up, or was closed');
  }

  #ready(): void {
    this.#hasEnded = false;
    this.suspendedAt = Infinity;
    this.#tell(this.#wasReady ? 'RECONNECTED' : 'CONNECTED', 'the servers answer');
    this.#wasReady = true;
    this.#tellReady();
  }

  #tellReady(): void {
    for (const listener of [...this.#readyListeners]) listener();
  }

  #tell(state: ConnectionState, reason: string): void {
    this.settings.onStateChange(state, reason);
  }

  #listen(event: string, listener: (...args: unknown[]) => void): void {
    const { client } = this.settings;
    client.on(event, listener);
    this.#stopListening.push(() => client.off(event, listener));
  }
}
