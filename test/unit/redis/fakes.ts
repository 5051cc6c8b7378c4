import { EventEmitter } from 'node:events';
import type { Clock } from '../../../lib/core/clock.js';
import { LockEventEmitter } from '../../../lib/core/internal/lock-event-emitter.js';
import type { RedisClient, RedisNode } from '../../../lib/redis/connection/ioredis.js';
import { RedisConnection } from '../../../lib/redis/connection/redis-connection.js';
import { LONGEST_TIMEOUT } from '../../../lib/redis/make-connection.js';
import { RedLockClient } from '../../../lib/redis/red-lock/red-lock-client.js';
import { RedLockNodes } from '../../../lib/redis/red-lock/red-lock-nodes.js';
import { RedisLockClient } from '../../../lib/redis/redis-lock-client.js';
import type { RedisLockOptions } from '../../../lib/redis/redis-options.js';
import { Deferred, VirtualClock } from '../../support/time.js';

/** A command, and the answer that the test gives. */
export class SentCommand {
  readonly #answer = new Deferred<unknown>();

  constructor(
    readonly name: string,
    readonly args: readonly (string | number)[],
  ) {}

  get answered(): Promise<unknown> {
    return this.#answer.promise;
  }

  answer(value: unknown): void {
    this.#answer.resolve(value);
  }

  /** Rejects as ioredis does when the server answers with an error. */
  refuse(message: string): void {
    this.#answer.reject(Object.assign(new Error(message), { name: 'ReplyError' }));
  }

  /** Rejects as ioredis' `Cluster` does when the servers have refused it often enough. */
  exhaust(message: string): void {
    const text = `Too many Cluster redirections. Last error: ReplyError: ${message}`;
    this.#answer.reject(new Error(text));
  }

  /** Rejects as ioredis does when there is no connection. */
  fail(): void {
    this.#answer.reject(new Error('Connection is closed.'));
  }
}

/** An ioredis client without a server: what is sent, and what becomes of it, is in the hands of the test. */
export class FakeNode extends EventEmitter implements RedisNode {
  status = 'ready';
  readonly sent: SentCommand[] = [];
  readonly duplicates: FakeNode[] = [];
  /** Does it answer at once, with what? An error is a refusal. A command without an answer waits for the test. */
  reply: (command: SentCommand) => unknown = () => undefined;

  constructor(readonly options: object = {}) {
    super();
  }

  /** What was sent last. */
  get last(): SentCommand {
    return this.sent.at(-1)!;
  }

  call(name: string, ...given: unknown[]): Promise<unknown> {
    const command = new SentCommand(name, given.flat() as (string | number)[]);
    this.sent.push(command);
    const value = this.reply(command) ?? (name === 'info' ? '' : undefined); // which a new connection asks for once
    if (value instanceof Error) command.refuse(value.message);
    else if (value !== undefined) command.answer(value);
    return command.answered;
  }

  async connect(): Promise<void> {}

  disconnect(): void {
    this.becomes('end');
  }

  duplicate(override: object = {}): FakeNode {
    const copy = new FakeNode({ ...this.options, ...override });
    copy.status = 'wait';
    this.duplicates.push(copy);
    return copy;
  }

  /** Changes its state, and says so. */
  becomes(status: 'ready' | 'close' | 'end'): void {
    this.status = status;
    this.emit(status);
  }
}

/** A connection of a client in the hands of the test. */
export function connectionOf(
  client: RedisClient,
  clock: Clock,
  events = new LockEventEmitter(),
): RedisConnection {
  return new RedisConnection({
    client,
    shardedSubscriptionMode: 'auto',
    clock,
    onStateChange: (state, reason) => events.emit('connection', { state, reason }),
  });
}

/** A connected RedLock client of five servers that the test plays, in virtual time. */
export class RedLockOnFakes {
  readonly clock = new VirtualClock();
  readonly nodes = Array.from({ length: 5 }, () => new FakeNode());

  private constructor(private readonly options: RedisLockOptions) {
    for (const server of this.nodes.keys()) this.says(server, 'PONG');
  }

  static async connect(
    options: RedisLockOptions = {},
  ): Promise<{ fakes: RedLockOnFakes; client: RedLockClient }> {
    const { fakes, client } = RedLockOnFakes.make(options);
    await fakes.clock.runUntil(client.connect());
    return { fakes, client };
  }

  /** The same, not connected yet. */
  static make(options: RedisLockOptions = {}): { fakes: RedLockOnFakes; client: RedLockClient } {
    const fakes = new RedLockOnFakes(options);
    return { fakes, client: fakes.#client() };
  }

  /** From now on that server answers a PING with that. */
  says(server: number, pong: string | Error): void {
    this.nodes[server]!.reply = ({ name }) =>
      (name === 'ping' ? pong : name === 'info' && `run_id:${server}`) || undefined;
  }

  /** What each server was asked last, if that is a script. */
  get asked(): SentCommand[] {
    return this.nodes.map(({ last }) => last).filter(({ name }) => name === 'evalsha');
  }

  #client(): RedLockClient {
    const { clock, options } = this;
    const events = new LockEventEmitter();
    const name = 'test';
    const nodes = this.nodes.map((node) => {
      const own = new LockEventEmitter();
      const connection = connectionOf(node, clock, own);
      const each = { ...options, connectTimeout: LONGEST_TIMEOUT };
      const settings = { name, connection, events: own, clock, options: each };
      return { connection, client: new RedisLockClient(settings) };
    });
    const servers = new RedLockNodes(name, nodes, clock, events);
    return new RedLockClient({ name, nodes: servers, events, clock, options });
  }
}
