import { EventEmitter } from 'node:events';
import type { Corkable } from '../connection/command-corking.js';
import type { RedisArgument, RedisNode } from '../connection/ioredis.js';
import type { NodeRedisClient, NodeRedisServer } from './node-redis.js';

/** Returns the delay before the next attempt to connect, in ms; without a number, there is no further attempt. */
type RetryStrategy = (attempt: number) => number | null;

const untiring: RetryStrategy = (attempt) => Math.min(attempt * 50, 2_000);

/** Error replies of a server begin with a code in capitals; node-redis' own errors do not. */
const REPLY = /^[A-Z][A-Z\d_]*(\s|$)/;
/** After so many attempts to connect, the commands that wait for a connection are rejected, as ioredis does. */
const MOST_ATTEMPTS = 20;

/** A command that waits for a connection. */
interface Waiting {
  readonly proceed: () => void;
  readonly reject: (error: Error) => void;
}

/** A socket as `CommandCorking` and `RedisLiveness` see it. node-redis groups the commands of a turn by itself. */
class Stream implements Corkable {
  readonly writableCorked = 0;
  constructor(private readonly client: NodeRedisClient) {}
  cork(): void {}
  uncork(): void {}
  ref(): void {
    this.client.ref();
  }
  unref(): void {
    this.client.unref();
  }
}

/**
 * A connection by node-redis that behaves as one of ioredis: the states and events are the same, a command waits for a
 * connection, and is sent again when the connection breaks before its answer.
 *
 * Each TCP connection has a client of node-redis of its own, which never reconnects. So no command moves to another connection
 * inside of it, and all that it was sent is rejected when it breaks, written or not.
 *
 * Invariant: `close` is emitted before a command of the connection that has broken is rejected, or sent again.
 */
export class NodeRedisNode implements RedisNode {
  status: 'wait' | 'connecting' | 'ready' | 'close' | 'reconnecting' | 'end' = 'wait';
  readonly options: object;
  stream?: Stream | undefined;
  reconnectTimeout?: NodeJS.Timeout | undefined;
  readonly commandQueue = { length: 0 };
  /** Commands that wait for a connection. */
  readonly offlineQueue: Waiting[] = [];
  #client?: NodeRedisClient | undefined;
  /** Whether it has a socket. */
  #hasSocket = false;
  /** Number of the connection that is being opened, or is open. */
  #connection = 0;
  /** The last change of each channel's subscription that is under way. */
  readonly #turns = new Map<string, Promise<void>>();
  #attempts = 0;
  #heardAt = 0;
  #silence?: NodeJS.Timeout | undefined;
  readonly #events = new EventEmitter().setMaxListeners(0);

  /**
   * @param longestSilence longest wait for a reply before the connection is dropped, in ms
   */
  constructor(
    private readonly server: NodeRedisServer,
    private readonly longestSilence: number,
    private readonly retryStrategy: RetryStrategy = untiring,
  ) {
    this.options = server.options;
  }

  on(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.on(event, listener);
    return this;
  }

  off(event: string, listener: (...args: unknown[]) => void): this {
    this.#events.off(event, listener);
    return this;
  }

  duplicate(override: { readonly retryStrategy?: RetryStrategy } = {}): NodeRedisNode {
    return new NodeRedisNode(this.server, this.longestSilence, override.retryStrategy);
  }

  /** Begins to connect. */
  async connect(): Promise<void> {
    if (this.status === 'wait' || this.status === 'end') void this.#open();
  }

  disconnect(reconnect = false): void {
    if (this.status === 'end') return;
    clearTimeout(this.reconnectTimeout);
    this.#broken(undefined, reconnect ? () => 0 : () => null);
  }

  async call(
    command: string,
    ...args: (RedisArgument | readonly RedisArgument[])[]
  ): Promise<unknown> {
    if (/^s?(un)?subscribe$/.test(command)) return await this.#subscribe(command, String(args[0]));
    const words: (string | Buffer)[] = [command];
    for (const it of args.flat()) words.push(Buffer.isBuffer(it) ? it : `${it}`);
    for (;;) {
      while (this.status !== 'ready') await this.#connected();
      const client = this.#client!;
      this.#expect();
      try {
        return await client.sendCommand(words);
      } catch (error) {
        const isUp = client === this.#client;
        if (isUp && error instanceof Error && REPLY.test(error.message)) error.name = 'ReplyError';
        if (isUp) throw error;
      } finally {
        this.#settle();
      }
    }
  }

  /**
   * A subscription belongs to its connection: its owner subscribes again on the next one.
   *
   * Those of one channel come one after the other: node-redis would take it for subscribed until the reply to an unsubscribe.
   */
  async #subscribe(command: string, channel: string): Promise<void> {
    const before = this.#turns.get(channel);
    const turn = before
      ? before.then(() => this.#change(command, channel))
      : this.#change(command, channel);
    const over = turn
      .catch(() => {})
      .then(() => {
        if (this.#turns.get(channel) === over) this.#turns.delete(channel);
      });
    this.#turns.set(channel, over);
    await turn;
  }

  async #change(command: string, channel: string): Promise<void> {
    const client = this.#client;
    if (client === undefined || this.status !== 'ready') throw new Error('Connection is closed.');
    const tell = (event: string) => (_: string, name: string) => this.#emit(event, name);
    this.#expect();
    try {
      if (command === 'subscribe') await client.subscribe(channel, tell('message'));
      else if (command === 'ssubscribe') await client.sSubscribe(channel, tell('smessage'));
      else if (command === 'unsubscribe') await client.unsubscribe(channel);
      else await client.sUnsubscribe(channel);
    } finally {
      this.#settle();
    }
  }

  async #open(): Promise<void> {
    this.status = 'connecting';
    this.reconnectTimeout = undefined;
    const connection = (this.#connection += 1);
    let client: NodeRedisClient;
    try {
      client = await this.server.newClient();
    } catch (error) {
      if (connection === this.#connection) this.#broken(error, this.retryStrategy);
      return;
    }
    if (connection !== this.#connection) return;
    this.#client = client;
    const isCurrent = () => client === this.#client;
    const broken = (error: unknown) => isCurrent() && this.#broken(error, this.retryStrategy);
    client.on('error', broken); // also after an answer that it does not understand: then nothing that follows is certain
    client.on('connect', () => {
      if (isCurrent()) this.#hasSocket = true;
      else client.destroy(); // it could not be before: a client without a socket would get one all the same
    });
    client.on('sharded-channel-moved', () => isCurrent() && this.#emit('moved'));
    client.on('ready', () => isCurrent() && this.#ready(client));
    client.connect().catch(broken);
  }

  #ready(client: NodeRedisClient): void {
    this.status = 'ready';
    this.#attempts = 0;
    this.stream = new Stream(client);
    for (const { proceed } of this.offlineQueue.splice(0)) proceed();
    this.#emit('ready');
  }

  /** @param error why it has broken; none if it was meant to */
  #broken(error: unknown, retryStrategy: RetryStrategy): void {
    const client = this.#client;
    const hasSocket = this.#hasSocket;
    this.#connection += 1;
    this.#client = undefined;
    this.#hasSocket = false;
    this.stream = undefined;
    clearTimeout(this.#silence);
    this.#silence = undefined;
    this.status = 'close';
    if (error !== undefined) this.#emit('error', error);
    this.#emit('close');
    if (hasSocket && client?.isOpen) client.destroy();
    if (this.status !== 'close') return; // a listener has disconnected it
    this.#attempts += 1;
    const delay = retryStrategy(this.#attempts);
    if (delay === null) {
      this.status = 'end';
      this.#rejectWaiting(error);
      this.#emit('end');
      return;
    }
    if (this.#attempts % MOST_ATTEMPTS === 0) this.#rejectWaiting(error);
    this.status = 'reconnecting';
    this.reconnectTimeout = setTimeout(() => void this.#open(), delay);
  }

  #rejectWaiting(error: unknown): void {
    const cause = error instanceof Error ? error : new Error('Connection is closed.');
    for (const { reject } of this.offlineQueue.splice(0)) reject(cause);
  }

  #connected(): Promise<void> {
    if (this.status === 'end') return Promise.reject(new Error('Connection is closed.'));
    if (this.status === 'wait') void this.#open();
    return new Promise((proceed, reject) => this.offlineQueue.push({ proceed, reject }));
  }

  /** A command is about to be sent. node-redis' own time-out counts silence on a connection where nothing is awaited, too. */
  #expect(): void {
    this.commandQueue.length += 1;
    if (this.commandQueue.length > 1) return;
    this.#heardAt = performance.now();
    if (this.#silence === undefined) this.#listen(this.longestSilence);
  }

  #settle(): void {
    this.commandQueue.length -= 1;
    this.#heardAt = performance.now();
  }

  #listen(ms: number): void {
    const client = this.#client;
    this.#silence = setTimeout(() => {
      this.#silence = undefined;
      if (this.commandQueue.length === 0 || client !== this.#client) return;
      const left = this.#heardAt + this.longestSilence - performance.now();
      if (left > 0) return this.#listen(left);
      this.#broken(new Error('Redis did not answer in time.'), this.retryStrategy);
    }, ms).unref();
  }

  #emit(event: string, ...args: unknown[]): void {
    if (event === 'error' && this.#events.listenerCount('error') === 0) return;
    this.#events.emit(event, ...args);
  }
}
