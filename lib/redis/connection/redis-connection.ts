import { LockConnectionError } from '../../core/errors/index.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { isRedisCluster, type RedisArgument, type RedisNode } from './ioredis.js';
import {
  ConnectionStates,
  type ConnectionStatesSettings,
  Interruptions,
} from './connection-states.js';
import { isNoScript, isUnknownCommand } from './redis-error.js';
import { masterOfSlot } from './cluster-slots.js';
import { CommandCorking } from './command-corking.js';
import type { ReplicaPolicy } from './replica-policy.js';
import { type Script, parseNumbers } from './script.js';
import { serverWarning } from './refusals.js';
import { Subscriptions } from './subscriptions.js';

/** Round trips that are measured: one alone may have waited for something else. */
const PINGS = 3;

/** What a connection is made of. Nothing else may be done with the client: a command that blocks would hold ours up. */
export interface RedisConnectionSettings extends ConnectionStatesSettings {
  /** Of a cluster only; `auto`: as the servers can. */
  readonly shardedSubscriptionMode: 'auto' | 'on' | 'off';
}

/** Scripts and messages of one ioredis client. */
export class RedisConnection {
  /** The command that wakes who waits, as the other clients of these servers use it. */
  publishCommand: 'publish' | 'spublish' = 'publish';
  readonly isCluster: boolean;
  /** Resolves when `connect` has: not before that it is known which channels to use. */
  readonly connected: Promise<void>;
  #tellConnected!: () => void;
  #subscriptions?: Subscriptions;
  #isMeasuring = false;
  readonly #packets = new CommandCorking();
  /** The least that was ever seen, in ms: a single answer may have had to wait for something else. */
  #shortestRoundTrip = Infinity;
  readonly #readyListeners = new Set<() => void>();
  readonly #interruptions: Interruptions;
  readonly #states: ConnectionStates;

  constructor(readonly settings: RedisConnectionSettings) {
    const { client } = settings;
    this.isCluster = isRedisCluster(client);
    this.connected = new Promise((resolve) => (this.#tellConnected = resolve));
    this.#interruptions = new Interruptions(client);
    const tellReady = () => [...this.#readyListeners].forEach((listener) => listener());
    const wake = () => this.#subscriptions?.wake(); // waiters are to see it now, not when they would look again
    this.#states = new ConnectionStates(settings, tellReady, wake);
  }

  get isConnected(): boolean {
    return this.#subscriptions !== undefined;
  }

  get isReady(): boolean {
    return this.#states.isReady;
  }

  /** Is it closed for good: by us, or because ioredis has given up? */
  get hasEnded(): boolean {
    return this.#states.hasEnded;
  }

  /** `REFUSED`: the server has been refusing scripts for a second, as a replica or one without memory does. */
  get state(): 'CONNECTING' | 'CONNECTED' | 'REFUSED' | 'SUSPENDED' | 'CLOSED' {
    const { current } = this.#states;
    return this.isConnected || current === 'CLOSED' ? current : 'CONNECTING';
  }

  /** When the connection was lost, by our clock; `Infinity` while it is there. */
  get suspendedAt(): number {
    return this.#states.suspendedAt;
  }

  /** Why nothing is carried out now: the server refuses it, or there is no connection; `undefined` where nothing is known. */
  get trouble(): Error | undefined {
    return this.#states.trouble;
  }

  /** How often a connection that commands go through has closed; of a cluster, that of any node. */
  get interruptions(): number {
    return this.#interruptions.count;
  }

  /** Milliseconds that an answer takes at least, as far as that was seen. */
  get roundTrip(): number {
    return this.#shortestRoundTrip === Infinity ? 0 : this.#shortestRoundTrip;
  }

  /** Messages; from `connect` on. */
  get subscriptions(): Subscriptions {
    return this.#subscriptions!;
  }

  /** Resolves when the servers answer; rejects with what ended the wait, or with `LockConnectionError`. */
  async connect(wait: WaitScope, name: string): Promise<void> {
    const { client, clock } = this.settings;
    const states = this.#states;
    if (this.isConnected) return;
    if (this.hasEnded)
      throw new LockConnectionError(
        `The connection of lock client "${name}" has ended for good. Make another lock client.`,
        { client: name },
      );
    if (client.status === 'wait') client.connect().catch(() => {}); // it tries on
    const ready = () => new Promise<void>((resolve) => this.onReady(resolve));
    if (this.isReady) states.ready();
    else await wait.until(ready());
    for (let i = 0; i < PINGS; i++) await wait.until(this.read('ping'));
    if (!this.isCluster) await this.#lookAtServer(wait, name);
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
    const { clock } = this.settings;
    const operands = [keys.length, ...keys, ...args];
    let sentAt = clock.now();
    try {
      return this.#done(await this.#call('evalsha', script.sha1, ...operands), sentAt);
    } catch (error) {
      if (!isNoScript(error)) throw this.#failed(error);
    }
    sentAt = clock.now();
    try {
      return this.#done(await this.#call('eval', script.source, ...operands), sentAt);
    } catch (error) {
      throw this.#failed(error);
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

  /** Sends a command that is no script. */
  async read(command: string, ...args: RedisArgument[]): Promise<unknown> {
    const { clock } = this.settings;
    const sentAt = clock.now();
    const reply = await this.#call(command, ...args);
    this.#shortestRoundTrip = Math.min(this.#shortestRoundTrip, clock.now() - sentAt);
    return reply;
  }

  /** Measures the `measurePing` once more, in the background. */
  measure(): void {
    if (this.#isMeasuring || !this.isReady) return;
    this.#isMeasuring = true;
    const done = () => (this.#isMeasuring = false);
    this.read('ping').then(done, done);
  }

  /**
   * Calls `listener` whenever the connection is ready again, and when a cluster has lost a node; the returned function ends
   * that.
   */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => void this.#readyListeners.delete(listener);
  }

  /** Closes everything. */
  close(): void {
    this.#subscriptions?.close();
    this.#states.close();
    const { client } = this.settings;
    if (this.hasEnded) return;
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

  /** The answer of a script. */
  #done(reply: unknown, sentAt: number): unknown {
    const took = this.settings.clock.now() - sentAt;
    this.#shortestRoundTrip = Math.min(this.#shortestRoundTrip, took);
    this.#states.succeeded();
    return parseNumbers(reply);
  }

  /** Notes why a script was not run, and gives that back. */
  #failed(error: unknown): unknown {
    this.#states.failed(error);
    return error;
  }

  /** Warns of a server that will refuse; where the user may not ask, that is seen when it does. */
  async #lookAtServer(wait: WaitScope, name: string): Promise<void> {
    const info = await wait.until(this.read('info').catch(() => ''));
    const warning = serverWarning(String(info), name);
    if (warning) process.emitWarning(warning);
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
}
