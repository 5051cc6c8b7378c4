import { EventEmitter } from 'node:events';
import type { Timer } from '../../../core/clock.js';
import type { RedisArgument, RedisNode } from '../../../redis/connection/ioredis.js';
import { ErrorReply, fromBytes, type Reply, toBytes } from '../server/reply.js';
import { DEFAULTS, errorOf, type NodeHost, type NodeOptions, valueOf } from './ioredis.js';
import type { Link, LinkListener } from './link.js';

interface Command {
  readonly words: readonly string[];
  resolve(value: unknown): void;
  reject(error: Error): void;
}

/** How long it waits for the other side when it has ended a connection, in ms. */
const DISCONNECT_TIMEOUT = 2_000;
/** How long it waits before it looks again whether a server has loaded its data, in ms. */
const LOADING_DELAY = 1_000;
const CLOSED = 'Connection is closed.';

/** A `Redis` of ioredis in virtual time: the same states, events, queues and repetitions. */
export class SimulatedNode implements RedisNode {
  status = 'wait';
  readonly options: NodeOptions;
  readonly #events = new EventEmitter();
  #link?: Link | undefined;
  /** Sent, and not answered. */
  #sent: Command[] = [];
  /** Of the connection before: they are sent again. */
  #unfulfilled?: Command[] | undefined;
  /** Called while there was no connection. */
  #offline: Command[] = [];
  #attempts = 0;
  #isClosing = false;
  #isWritable = false;
  #silence?: Timer | undefined;
  #reconnect?: Timer | undefined;

  constructor(
    private readonly host: NodeHost,
    options: object = {},
  ) {
    this.options = { ...DEFAULTS, ...options };
    this.#events.setMaxListeners(0);
  }

  duplicate(override: object = {}): SimulatedNode {
    return new SimulatedNode(this.host, { ...this.options, ...override });
  }

  on(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.on(event, listener);
  }

  off(event: string, listener: (...args: unknown[]) => void): void {
    this.#events.off(event, listener);
  }

  connect(): Promise<void> {
    return new Promise((resolve, reject) => {
      if (['connecting', 'connect', 'ready'].includes(this.status)) {
        reject(new Error('Redis is already connecting/connected'));
        return;
      }
      this.#setStatus('connecting');
      this.#open();
      const ready = () => {
        this.#events.off('close', close);
        resolve();
      };
      const close = () => {
        this.#events.off('ready', ready);
        reject(new Error(CLOSED));
      };
      this.#events.once('ready', ready).once('close', close);
    });
  }

  disconnect(reconnect = false): void {
    if (!reconnect) this.#isClosing = true;
    if (!reconnect) this.#reconnect?.cancel();
    if (this.status === 'wait') this.#closed();
    else if (this.#link) this.#end(this.#link);
  }

  call(name: string, ...args: (RedisArgument | readonly RedisArgument[])[]): Promise<unknown> {
    const words = [name, ...args.flat()].map((word) => toBytes(word));
    return new Promise((resolve, reject) => this.#send({ words, resolve, reject }));
  }

  #send(command: Command): void {
    if (this.status === 'wait') this.connect().catch(() => {});
    if (this.status === 'end') command.reject(new Error(CLOSED));
    else if (this.status === 'ready' && this.#isWritable) this.#write(command);
    else this.#offline.push(command);
  }

  #write(command: Command): void {
    this.#link!.send(command.words);
    this.#sent.push(command);
    if (this.#silence === undefined) this.#awaitData();
  }

  #open(): void {
    const { clock } = this.host;
    const isCurrent = () => this.#link === link;
    const admit = (message: () => void) =>
      this.host.receive(() => {
        if (isCurrent()) message();
      });
    const giveUp = () => link.destroy('connect ETIMEDOUT');
    const timer = clock.setTimer(giveUp, this.options.connectTimeout!);
    const { host, port } = this.options;
    const listener: LinkListener = {
      onConnect: () =>
        admit(() => {
          timer.cancel();
          this.#connected();
        }),
      onReply: (reply) => admit(() => this.#heard(reply)),
      onMessage: (kind, channel, text) =>
        admit(() => {
          this.#hasData();
          const event = kind === 'sunsubscribe' ? 'moved' : kind;
          this.#events.emit(event, fromBytes(channel), fromBytes(text));
        }),
      onClose: (reason) =>
        admit(() => {
          timer.cancel();
          this.#link = undefined;
          if (reason !== undefined) this.#tellError(new Error(reason));
          this.#closed();
        }),
    };
    const link = this.host.open(listener, `${host}:${port}`);
    this.#link = link;
  }

  #end(link: Link): void {
    this.#isWritable = false;
    link.end();
    const destroy = () => {
      if (this.#link === link) link.destroy();
    };
    this.host.clock.setTimer(destroy, DISCONNECT_TIMEOUT);
  }

  #connected(): void {
    this.#sent = [];
    this.#isWritable = true;
    this.#setStatus('connect');
    this.#askWhetherReady();
  }

  #askWhetherReady(): void {
    const link = this.#link!;
    const resolve = (info: unknown) => {
      if (!/^loading:1/m.test(String(info))) return this.#ready();
      const again = () => {
        if (this.#link === link) this.#askWhetherReady();
      };
      this.host.clock.setTimer(again, LOADING_DELAY);
    };
    const reject = (error: Error) => {
      if (this.#link !== link) return;
      this.#flush(error);
      this.#tellError(error);
      this.disconnect(true);
    };
    this.#write({ words: ['info'], resolve, reject });
  }

  #ready(): void {
    this.#setStatus('ready');
    this.#attempts = 0;
    const again = [...(this.#unfulfilled ?? []), ...this.#offline];
    this.#unfulfilled = undefined;
    this.#offline = [];
    for (const command of again) this.#send(command);
  }

  #heard(reply: Reply): void {
    const command = this.#sent.shift();
    if (reply instanceof ErrorReply) {
      const error = errorOf(reply);
      if (command?.words[0] === 'ssubscribe' && error.message.startsWith('MOVED'))
        this.#events.emit('moved');
      command?.reject(error);
    } else command?.resolve(valueOf(reply));
    this.#hasData();
  }

  #closed(): void {
    const wasReady = this.status === 'ready';
    this.#setStatus('close');
    this.#isWritable = false;
    this.#silence?.cancel();
    this.#silence = undefined;
    if (wasReady && this.#sent.length > 0) this.#unfulfilled = this.#sent;
    const delay = this.#isClosing ? undefined : this.options.retryStrategy?.(++this.#attempts);
    this.#isClosing = false;
    if (typeof delay !== 'number') {
      this.#setStatus('end');
      this.#flush(new Error(CLOSED));
      return;
    }
    this.#setStatus('reconnecting');
    const connect = () => {
      this.#reconnect = undefined;
      this.connect().catch(() => {});
    };
    this.#reconnect = this.host.clock.setTimer(connect, delay);
    const { maxRetriesPerRequest: most } = this.options;
    if (typeof most === 'number' && this.#attempts % (most + 1) === 0)
      this.#flush(new Error(`Reached the max retries per request limit (which is ${most}).`));
  }

  #flush(error: Error): void {
    for (const command of [...this.#offline.splice(0), ...this.#sent.splice(0)])
      command.reject(error);
  }

  #hasData(): void {
    this.#silence?.cancel();
    this.#silence = undefined;
    if (this.#sent.length > 0) this.#awaitData();
  }

  #awaitData(): void {
    const { socketTimeout } = this.options;
    if (socketTimeout === undefined) return;
    const link = this.#link!;
    const give = () => {
      if (this.#link === link) link.destroy('Socket timeout');
    };
    this.#silence = this.host.clock.setTimer(give, socketTimeout);
  }

  #setStatus(status: string): void {
    this.status = status;
    void Promise.resolve().then(() => this.#events.emit(status)); // no timer, which a test runner may fake
  }

  #tellError(error: Error): void {
    if (this.#events.listenerCount('error') > 0) this.#events.emit('error', error);
  }
}
