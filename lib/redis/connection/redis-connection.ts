import { LockConnectionError } from '../../core/errors/index.js';
import { inTurns } from '../../core/internal/timers.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { isRedisCluster, type RedisArgument, type RedisNode } from './ioredis.js';
import {
  ConnectionStates,
  type ConnectionStatesSettings,
  Interruptions,
} from './connection-states.js';
import { isNoScript, rethrowBare, withoutArguments } from './redis-error.js';
import { masterOfSlot } from './cluster-slots.js';
import { CommandCorking } from './command-corking.js';
import { handshake } from './handshake.js';
import { type ReplicaPolicy, ReplicaWaits } from './replicas.js';
import { operands, parseNumbers, type Script } from './script.js';
import { serverIds } from './server-ids.js';
import { Subscriptions } from './subscriptions.js';

/** The client must not be used for anything else: a blocking command would delay ours. */
interface RedisConnectionSettings extends ConnectionStatesSettings {
  /** For a cluster only; `auto` depends on what the servers support. */
  readonly shardedSubscriptionMode: 'auto' | 'on' | 'off';
}

/** Scripts and messages of one ioredis client. */
export class RedisConnection {
  /** The command that wakes waiters, the same as other clients of these servers use. */
  publishCommand: 'publish' | 'spublish' = 'publish';
  readonly isCluster: boolean;
  /** Whether `connect` has succeeded. */
  isConnected = false;
  /** Subscriptions to channels; set once it `isConnected`. */
  subscriptions!: Subscriptions;
  /** How often the connection that carries the commands has closed; in a cluster, that of any node. */
  readonly interruptions: Interruptions;
  readonly #replicaWaits: ReplicaWaits;
  #tellConnected!: () => void;
  /** Resolves when `connect` has succeeded: until then it is not known which channels to use. */
  readonly connected = new Promise<void>((resolve) => (this.#tellConnected = resolve));
  #isMeasuring = false;
  readonly #packets = new CommandCorking();
  /** Shortest round trip measured so far, in ms: a single reply may have been delayed by something else. */
  #shortestRoundTrip = Infinity;
  /** Id of the process of the server, when it was connected to. */
  #runId?: string;
  readonly #readyListeners = new Set<() => void>();
  readonly #states: ConnectionStates;

  constructor(readonly settings: RedisConnectionSettings) {
    const { client } = settings;
    this.isCluster = isRedisCluster(client);
    this.#replicaWaits = new ReplicaWaits(this.isCluster);
    this.interruptions = new Interruptions(client);
    const tell = (listener: () => void) => this.#readyListeners.has(listener) && listener();
    const tellReady = () => void inTurns([...this.#readyListeners], tell);
    const wake = () => this.isConnected && this.subscriptions.wake(); // waiters notice it now, not at their next look
    this.#states = new ConnectionStates(settings, tellReady, wake);
  }

  get isReady(): boolean {
    return this.settings.client.status === 'ready';
  }

  /** Whether it is closed for good, by this library or because ioredis has given up. */
  get hasEnded(): boolean {
    return this.#states.hasEnded;
  }

  /** `REFUSED`: the server has been refusing scripts for a second, as a replica or one without memory does. */
  get state(): 'CONNECTING' | 'CONNECTED' | 'REFUSED' | 'SUSPENDED' | 'CLOSED' {
    const { current } = this.#states;
    return this.isConnected || current === 'CLOSED' ? current : 'CONNECTING';
  }

  /** Time at which the connection was lost, by the client's clock; `Infinity` while it is up. */
  get suspendedAt(): number {
    return this.#states.suspendedAt;
  }

  /** Why nothing is carried out now: the server refuses it, or there is no connection; `undefined` if no reason is known. */
  get trouble(): Error | undefined {
    return this.#states.trouble;
  }

  /** Shortest round trip measured so far, in ms; 0 if there is none. */
  get roundTrip(): number {
    return this.#shortestRoundTrip === Infinity ? 0 : this.#shortestRoundTrip;
  }

  /** See `LockScope`. */
  serverIds(): string[] {
    return serverIds(this.settings.client, this.#runId);
  }

  /** Rejects with the error that ended the wait, with a refusal that cannot pass, or with `LockConnectionError`. */
  async connect(wait: WaitScope, name: string): Promise<void> {
    const { client, clock } = this.settings;
    const states = this.#states;
    if (this.isConnected) return;
    if (this.hasEnded)
      throw new LockConnectionError(
        `The connection of lock client "${name}" has ended for good. Make another lock client.`,
        { client: name },
      );
    if (client.status === 'wait') client.connect().catch(() => {}); // it keeps trying
    if (this.isReady) states.ready();
    else await wait.until(new Promise<void>((resolve) => this.onReady(resolve)));
    const refused = (error: unknown) => states.failed(error);
    const { runId, isSharded } = await handshake(this, wait, name, refused);
    if (this.isConnected) return; // by another call
    states.refusals.end();
    this.#runId = runId;
    if (isSharded) this.publishCommand = 'spublish';
    this.subscriptions = new Subscriptions(client, isSharded, clock);
    this.isConnected = true;
    this.#tellConnected();
  }

  /** Runs a script; the reply is a number, a text, a possibly nested array of these, or `null`. Rejects as ioredis does. */
  async run(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
    parse = parseNumbers,
  ): Promise<unknown> {
    let sentAt = this.settings.clock.now();
    const done = (reply: unknown) => parse(this.#done(reply, sentAt));
    try {
      return done(await this.#call('evalsha', operands(script.sha1, keys, args)));
    } catch (error) {
      if (!isNoScript(error)) throw this.#failed(error);
    }
    sentAt = this.settings.clock.now();
    try {
      return done(await this.#call('eval', operands(script.source, keys, args)));
    } catch (error) {
      throw this.#failed(error);
    }
  }

  /**
   * Runs a script. If its reply `counts`, waits for the replicas: see {@link ReplicaWaits}. The first key has to be there then.
   *
   * `WAIT` covers the connection that it is sent on, so both must use the same one. If a reconnect or another master came in
   * between, or the script was redirected to where the slot is moved, it rejects with a connection error.
   */
  async runReplicated(
    script: Script,
    keys: readonly string[],
    args: readonly RedisArgument[],
    policy: ReplicaPolicy,
    counts: (reply: unknown) => boolean,
  ): Promise<{ reply: unknown; acknowledged: number }> {
    const key = keys[0]!;
    const master = this.#masterOf(key);
    const reply = await this.run(script, keys, args);
    if (!counts(reply)) return { reply, acknowledged: 0 };
    const { stream } = master; // read in the turn of the reply, so it is the one that the reply came by
    const acknowledged = await this.#replicaWaits.acknowledged(master, key, policy);
    const isSame = master.stream === stream && this.#masterOf(key) === master;
    if (isSame && acknowledged !== undefined) return { reply, acknowledged };
    throw new Error('The connection changed before the replicas were asked.');
  }

  /** Sends a command that is not a script. */
  async read(command: string, ...args: RedisArgument[]): Promise<unknown> {
    const sentAt = this.settings.clock.now();
    const reply = await this.#call(command, args).catch(rethrowBare);
    this.#shortestRoundTrip = Math.min(this.#shortestRoundTrip, this.settings.clock.now() - sentAt);
    return reply;
  }

  /** Measures the `roundTrip` once more, in the background. */
  measure(): void {
    if (this.#isMeasuring || !this.isReady) return;
    this.#isMeasuring = true;
    const done = () => (this.#isMeasuring = false);
    this.read('ping').then(done, done);
  }

  /** Calls `listener` when the connection is ready again, or a cluster has lost a node; the returned function removes it. */
  onReady(listener: () => void): () => void {
    this.#readyListeners.add(listener);
    return () => void this.#readyListeners.delete(listener);
  }

  /** Closes the client and the subscriptions. */
  close(): void {
    if (this.isConnected) this.subscriptions.close();
    this.#states.close();
    const { client } = this.settings;
    if (this.hasEnded) return;
    client.on('error', () => {}); // no listener is left
    client.disconnect();
  }

  /** The arguments are one array: a call with a hundred thousand of them would overflow the stack. */
  #call(command: string, args: readonly RedisArgument[]): Promise<unknown> {
    const { client } = this.settings;
    if (client.status !== 'ready' && this.hasEnded)
      return Promise.reject(new Error('Connection is closed.'));
    this.#packets.next(client.stream);
    return client.call(command, args);
  }

  #masterOf(key: string): RedisNode {
    const { client } = this.settings;
    if (!isRedisCluster(client)) return client;
    const node = masterOfSlot(client, key);
    if (node === undefined) throw new Error(`The cluster knows no master for ${key} now.`);
    return node;
  }

  /** Records that a script has run, and returns its reply. */
  #done(reply: unknown, sentAt: number): unknown {
    const took = this.settings.clock.now() - sentAt;
    this.#shortestRoundTrip = Math.min(this.#shortestRoundTrip, took);
    this.#states.refusals.hasSucceeded = true;
    return reply;
  }

  /** Records why a script was not run, and returns the error. */
  #failed(error: unknown): unknown {
    this.#states.failed(error);
    return withoutArguments(error);
  }
}
