import type { Corkable } from '../connection/command-corking.js';
import type { RedisArgument, RedisNode } from '../connection/ioredis.js';
import { ClientState, never, type RetryStrategy } from './client-state.js';
import { isErrorReply } from './error-reply.js';
import type { NodeRedisClient, NodeRedisServer } from './node-redis.js';

const untiring: RetryStrategy = (attempt) => Math.min(attempt * 50, 2_000);

/** An argument as node-redis takes it. */
const wordOf = (it: RedisArgument) => (typeof it === 'number' ? `${it}` : it);

/** Ends a client, and what it has registered elsewhere. Version 5 throws where it has ended by itself. */
function destroy(client: NodeRedisClient): void {
  try {
    client.destroy();
  } catch {
    // nothing is left to end
  }
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
  readonly options: object;
  stream?: Stream | undefined;
  readonly commandQueue = { length: 0 };
  readonly #state = new ClientState(() => void this.#open());
  #client?: NodeRedisClient | undefined;
  /** Whether it has a socket. */
  #hasSocket = false;
  /** Of the connection that is being opened, or is open: aborts when it is over. */
  #connection = new AbortController();
  /** The last change of each channel's subscription that is under way. */
  readonly #turns = new Map<string, Promise<void>>();
  #heardAt = 0;
  #silence?: NodeJS.Timeout | undefined;

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

  get status(): ClientState['status'] {
    return this.#state.status;
  }

  get reconnectTimeout(): ClientState['reconnectTimeout'] {
    return this.#state.reconnectTimeout;
  }

  get offlineQueue(): ClientState['offlineQueue'] {
    return this.#state.offlineQueue;
  }

  on(event: string, listener: (...args: unknown[]) => void): this {
    this.#state.on(event, listener);
    return this;
  }

  off(event: string, listener: (...args: unknown[]) => void): this {
    this.#state.off(event, listener);
    return this;
  }

  /** Begins to connect. */
  async connect(): Promise<void> {
    this.#state.connect();
  }

  duplicate(override: { readonly retryStrategy?: RetryStrategy } = {}): NodeRedisNode {
    return new NodeRedisNode(this.server, this.longestSilence, override.retryStrategy);
  }

  disconnect(reconnect = false): void {
    if (this.status !== 'end') this.#broken(undefined, reconnect ? () => 0 : never);
  }

  async call(
    command: string,
    ...args: (RedisArgument | readonly RedisArgument[])[]
  ): Promise<unknown> {
    if (command.endsWith('subscribe')) return await this.#subscribe(command, String(args[0]));
    const words: (string | Buffer)[] = [command];
    for (const arg of args) {
      if (Array.isArray(arg))
        for (const it of arg as readonly RedisArgument[]) words.push(wordOf(it));
      else words.push(wordOf(arg as RedisArgument));
    }
    for (;;) {
      while (this.#state.status !== 'ready') await this.#state.untilReady();
      const client = this.#client!;
      this.#expect();
      try {
        return await client.sendCommand(words);
      } catch (error) {
        if (client !== this.#client) continue; // it has broken
        if (isErrorReply(error)) error.name = 'ReplyError';
        else this.#broken(error, this.retryStrategy); // it may have been sent: only a counted close shows that a copy is under way
        throw error;
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
    const emit = (event: string) => (_: string, name: string) => this.#state.emit(event, name);
    this.#expect();
    try {
      if (command === 'subscribe') await client.subscribe(channel, emit('message'));
      else if (command === 'ssubscribe') await client.sSubscribe(channel, emit('smessage'));
      else if (command === 'unsubscribe') await client.unsubscribe(channel);
      else await client.sUnsubscribe(channel);
    } finally {
      this.#settle();
    }
  }

  async #open(): Promise<void> {
    const { signal } = (this.#connection = new AbortController());
    let client: NodeRedisClient;
    try {
      client = await this.server.newClient(signal);
    } catch (error) {
      if (!signal.aborted) this.#broken(error, this.retryStrategy);
      return;
    }
    if (signal.aborted) return;
    this.#client = client;
    const isCurrent = () => client === this.#client;
    const broken = (error: unknown) => {
      if (isCurrent()) this.#broken(error, this.retryStrategy);
      else if (!client.isOpen) destroy(client);
    };
    client.on('error', broken); // also after an answer that it does not understand: then nothing that follows is certain
    client.on('connect', () => {
      if (!isCurrent()) return destroy(client); // it could not be before: a client without a socket would get one all the same
      this.#hasSocket = true;
      this.#listen(this.longestSilence); // node-redis waits for the answers to its first commands without an end
    });
    client.on('sharded-channel-moved', () => isCurrent() && this.#state.emit('moved'));
    client.on('ready', () => isCurrent() && this.#ready(client));
    client.connect().catch(broken);
  }

  #ready(client: NodeRedisClient): void {
    this.#heardAt = performance.now();
    this.stream = new Stream(client);
    this.#state.ready();
  }

  /** @param error why it has broken; none if it was meant to */
  #broken(error: unknown, retryStrategy: RetryStrategy): void {
    const client = this.#client;
    const hasSocket = this.#hasSocket;
    this.#connection.abort();
    this.#client = undefined;
    this.#hasSocket = false;
    this.stream = undefined;
    clearTimeout(this.#silence);
    this.#silence = undefined;
    this.#state.close();
    this.#state.emitClosed(error);
    if (client && (hasSocket || !client.isOpen)) destroy(client);
    this.#state.retry(error, retryStrategy);
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
      if (client !== this.#client) return;
      if (this.commandQueue.length === 0 && this.status === 'ready') return;
      const left = this.#heardAt + this.longestSilence - performance.now();
      if (left > 0) return this.#listen(left);
      this.#broken(new Error('Redis did not answer in time.'), this.retryStrategy);
    }, ms).unref();
  }
}
