import { exactNow, type Timer } from '../../core/clock.js';
import { LockConnectionError, LockTimeoutError } from '../../core/errors/index.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import { isReply, lockErrorOf, replyText } from '../connection/redis-error.js';
import { checkReplicas, type ReplicaPolicy } from '../connection/replicas.js';
import { retryUntilAnswered } from '../connection/retry-until-answered.js';
import type { Channel } from '../connection/subscriptions.js';
import type { RecipeContext } from '../recipe-context.js';
import { askKeeper } from './next-caller.js';
import type { AcquireCommands, Answer, LockCommand, LockRequest } from './lock-commands.js';

/** Longest sleep of a waiter while its subscription is not active, in ms. */
const DEAF_SLEEP = 500;
/** How long waiters of Redisson, which take longer to wake up, have to go first after this client had the lock in a row, in ms. */
const HEAD_START = 5;
/** Shortest sleep, in ms, so that an answer of 0 ms does not cause a busy loop. */
const SHORTEST_SLEEP = 5;
/** Delay before a failed command is sent again, in ms. */
const retryDelay = (failures: number) => Math.min(50 * 2 ** (failures - 1), 1_000);
/** Number of late grants in a row after which the acquire gives up. */
const LATE_GRANTS = 5;

const NOTHING_SENT: Promise<unknown> = Promise.resolve();

/** A grant by the server. */
export interface Granted {
  /** When the command that set the lease was sent. */
  readonly sentAt: number;
  readonly token?: bigint | undefined;
  /** Number of connection interruptions before the acquire was sent: see `AcquireLoop.mayFollow`. */
  readonly interruptions: number;
}

/**
 * One owner's contention for one lock on the server: ask; if others are ahead, subscribe, ask again, and sleep until there
 * is a reason to ask again (the wait loop of Redisson's `RLock`).
 *
 * Invariants:
 * - A signal that arrives between an answer and the sleep is not missed: the channel counts its signals.
 * - Every sleep is bounded by the holder's remaining lease, as reported by the server: a lost message costs no more.
 * - Every sent command is settled (`inFlight`) before its release is sent. If a copy of it may still arrive later
 *   (`mayFollow`), the release leaves a tombstone, so no grant follows the release.
 */
export class AcquireLoop {
  /** Settles when no sent command is unanswered. */
  inFlight = NOTHING_SENT;
  /** A holder, by the last answer: its field, and what it says about itself; empty if none is known. */
  seen: readonly (string | number)[] = [];
  /** Number of connection interruptions before the first command was sent. */
  #interruptions?: number;
  /** Whether the server holds state for this owner, as far as the answers show. */
  #isOnServer = false;
  /** Whether the server has ever answered that others are ahead. */
  #wasAnswered = false;
  #failure?: unknown; // why the last command was not carried out
  #channel: Channel | undefined;
  #marker: Channel | undefined;
  #channelName = ''; // to listen to, by the last answer
  #taken = -1; // which of several locks was taken, by the last answer

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: AcquireCommands,
    private readonly request: LockRequest,
    private readonly wait: WaitScope,
    private readonly key: string,
  ) {}

  /**
   * Whether a copy of a sent command may arrive after the next command. A client sends a command again when the connection
   * breaks before the answer, and TCP continues to deliver what was written to the abandoned connection. On a connection
   * that was not interrupted since, the server handles everything in order.
   */
  get mayFollow(): boolean {
    return (
      this.#interruptions !== undefined &&
      this.#interruptions !== this.context.connection.interruptions.count
    );
  }

  /** Whether the server may hold state for this owner, now or later. */
  get mayBeOnServer(): boolean {
    return this.#isOnServer || this.mayFollow;
  }

  /**
   * Resolves to the grant, or to `undefined` if others are ahead and it may not wait.
   *
   * @param myTurn called when it has to wait; resolves when this acquire is the one that asks for all of its process, to
   *   whether it had to wait for that, which makes the previous answer out of date
   */
  async run(myTurn?: () => Promise<boolean>): Promise<Granted | undefined> {
    const { holder, mayWait } = this.request;
    const { connection, lines } = this.context;
    const { backOff, redisKey } = this.commands;
    if (!connection.isConnected) await this.wait.until(connection.connected);
    const ahead = lines.listeners(redisKey);
    this.#channelName = this.commands.channelOf(holder, 0, ahead > 1); // one listens, the others are registered
    if (mayWait && backOff === undefined && ahead > 0) await this.#listen();
    const delay = backOff?.delays();
    for (;;) {
      if (mayWait && lines.redissons(redisKey) > 0) await this.wait.sleep(HEAD_START);
      const seen = this.#channel?.signals;
      const answer = await this.#ask();
      if (typeof answer === 'object') return answer;
      if (!mayWait) return undefined;
      this.wait.contended();
      if (await myTurn?.()) continue;
      if (delay) await this.wait.sleep(Math.min(delay(), this.#longestSleep(answer)));
      else if (this.#channel?.name !== this.#channelName) await this.#listen();
      else await this.#sleep(this.#channel, seen!, answer);
    }
  }

  /** Leaves the channel. */
  end(): void {
    if (this.#channel === undefined) return;
    const { subscriptions } = this.context.connection;
    subscriptions.leave(this.#channel);
    if (this.#marker) subscriptions.leave(this.#marker);
    this.#channel = this.#marker = undefined;
  }

  /** Subscribes; resolves when the subscription is confirmed or takes long. */
  #listen(): Promise<void> {
    this.end();
    const { subscriptions } = this.context.connection;
    const marker = this.request.isHandedOn && this.commands.markerOf?.(this.#channelName);
    if (marker) this.#marker = subscriptions.join(marker);
    const channel = (this.#channel = subscriptions.join(this.#channelName));
    return channel.isActive ? Promise.resolve() : this.#sleep(channel, channel.signals, DEAF_SLEEP);
  }

  /** Sleeps for `ms`, or until the channel has a signal that was not `seen` yet. */
  async #sleep(channel: Channel, seen: number, ms: number): Promise<void> {
    const { clock } = this.context;
    const most = channel.isActive ? Infinity : DEAF_SLEEP;
    const delay = Math.min(most, this.#longestSleep(ms));
    let timer: Timer | undefined;
    let stop: (() => void) | undefined;
    try {
      await this.wait.until(
        new Promise<void>((wake) => {
          if (channel.signals !== seen) return wake();
          timer = clock.setTimer(wake, delay);
          stop = channel.onSignal(wake);
        }),
      );
    } finally {
      timer?.cancel();
      stop?.();
    }
  }

  /** Longest sleep in ms if the holder's lease has `left` ms remaining; if `left` is below 0, the lease does not expire. */
  #longestSleep(left: number): number {
    const { maxSleep } = this.commands;
    return left < 0 ? maxSleep : Math.max(SHORTEST_SLEEP, Math.min(left, maxSleep));
  }

  /** Error that ends a wait; a time-out gets its cause, unless the only cause is that others were ahead. */
  explained(error: unknown): unknown {
    const { client, connection } = this.context;
    const isQueued = this.#wasAnswered && connection.isReady;
    const cause = this.#failure ?? (isQueued ? undefined : connection.trouble);
    if (!(error instanceof LockTimeoutError) || cause === undefined) return error;
    const about = { key: this.key, client, cause, method: error.method, holder: error.holder };
    if (this.#wasAnswered || !isReply(cause)) return new LockTimeoutError(error.waitedMs, about);
    return new LockConnectionError(
      `Redis refused to grant lock "${this.key}" of client "${client}" throughout the wait of ${error.waitedMs} ms: ${replyText(cause)}. Check the server; it is not known whether another client holds the lock.`,
      about,
    );
  }

  /** Resolves to the grant, or to the ms after which to ask again. */
  async #ask(): Promise<Granted | number> {
    const { clock, connection } = this.context;
    for (let late = 0; late < LATE_GRANTS; late += 1) {
      let sentAt = 0;
      const send = () => {
        this.wait.throwIfEnded();
        sentAt = clock.now();
        return this.#send();
      };
      const failed = (error: unknown) => (this.#failure = error);
      let answer: Answer;
      try {
        answer = await retryUntilAnswered(connection, send, this.wait, retryDelay, failed);
      } catch (error) {
        throw lockErrorOf(error, { key: this.key, client: this.context.client }, connection);
      }
      this.#failure = undefined;
      const [isGranted, value, taken = 0, isRegistered = 0, ...seen] = answer;
      this.seen = seen;
      this.commands.answered?.(isGranted === 1);
      if (isGranted !== 1) {
        askKeeper(connection, seen, (holder) => this.commands.channelOf(holder, taken, true));
        this.#wasAnswered = true;
        this.#taken = taken;
        this.#isOnServer = this.commands.leavesQueueEntry && this.request.mayWait;
        this.#channelName = this.commands.channelOf(this.request.holder, taken, isRegistered === 1);
        return value;
      }
      // The lease counts from the time of sending. After a late grant, sending the command again sets a fresh lease.
      if (exactNow(clock) - sentAt < this.request.lease / 2)
        return { sentAt, token: BigInt(value), interruptions: this.#interruptions! };
    }
    throw this.#tooSlow();
  }

  #send(): Promise<Answer> {
    const { connection, replicas } = this.context;
    this.#isOnServer = true;
    this.#interruptions ??= connection.interruptions.count;
    const { commands, request, wait } = this;
    const command = commands.acquire(request, Math.round(wait.elapsed), this.#taken);
    const sent = replicas
      ? this.#sendToReplicas(command, replicas)
      : (connection.run(command.script, command.keys, command.args) as Promise<Answer>);
    this.inFlight = sent;
    return sent;
  }

  async #sendToReplicas(command: LockCommand, policy: ReplicaPolicy): Promise<Answer> {
    const { connection, client } = this.context;
    const { script, keys, args } = command;
    const isGrant = (reply: unknown) => (reply as Answer)[0] === 1;
    const sent = await connection.runReplicated(script, keys, args, policy, isGrant);
    if (isGrant(sent.reply)) checkReplicas(sent.acknowledged, policy, { key: this.key, client });
    return sent.reply as Answer;
  }

  #tooSlow(): LockConnectionError {
    return new LockConnectionError(
      `Redis answers so late that a lease of ${this.request.lease} ms is half over. Give lock "${this.key}" a longer lease, or check the server.`,
      { key: this.key, client: this.context.client },
    );
  }
}
