import type { Timer } from '../../core/clock.js';
import { LockConnectionError } from '../../core/errors/index.js';
import type { WaitScope } from '../../core/wait-scope.js';
import type { Channel } from '../connection/channel.js';
import { isPassing, lockErrorOf } from '../connection/redis-error.js';
import type { ReplicaPolicy } from '../connection/replica-policy.js';
import type { ContentionCommands, LockCommand, LockRequest } from './lock-commands.js';
import type { RecipeContext } from './recipe-context.js';

/** The longest sleep of a waiter that would not get messages now, in ms. */
const DEAF_SLEEP = 500;
/** The shortest, in ms: an answer of 0 ms is no reason to ask again and again. */
const SHORTEST_SLEEP = 5;
/** Delays between commands that fail, in ms. */
const RETRY_DELAY = 50;
const LONGEST_RETRY_DELAY = 1_000;
/** A grant that is confirmed so often and late each time is given up. */
const LATE_GRANTS = 5;

/** 1 and the token, when it was granted; else 0, the ms after which to ask again, and of many locks which one was taken. */
type Answer = [isGranted: number, value: number, taken?: number];

/** What the server has granted. */
export interface Granted {
  /** When the command was sent that set the lease. */
  readonly sentAt: number;
  readonly token?: bigint;
}

/**
 * One owner's contention for one lock on the server: ask; where others are ahead subscribe, ask again, and sleep until there
 * is a reason to ask again (the wait loop of Redisson's `RLock`).
 *
 * Invariants:
 * - A reason that comes up between an answer and the sleep is not slept over: the channel counts them.
 * - Every sleep is bounded by what the holder's lease has left, as the server told it; so a lost message costs no more.
 * - Whatever was sent is settled before its release is sent (`inFlight`), so that no grant comes after it.
 */
export class Contention {
  /** Settles when nothing that was sent is unanswered. */
  inFlight: Promise<unknown> = Promise.resolve();
  /** May there be something of this owner on the server? */
  isOnServer = false;
  #channel?: Channel;
  /** Of many locks the one that was found to be taken. */
  #taken = 0;

  constructor(
    private readonly context: RecipeContext,
    private readonly commands: ContentionCommands,
    private readonly request: LockRequest,
    private readonly wait: WaitScope,
    private readonly key: string,
    private readonly contended: () => void,
  ) {}

  /**
   * Resolves to the grant, or to `undefined` where others are ahead and it may not wait.
   *
   * @param myTurn asked for when it has to wait; resolves when it is this one who asks for all of its process, to whether
   *   that took long, so that what was answered before is out of date
   */
  async run(myTurn?: () => Promise<boolean>): Promise<Granted | undefined> {
    const { mayWait } = this.request;
    const { connection, lines } = this.context;
    const { backOff, raw } = this.commands;
    if (!connection.isConnected) await this.wait.until(connection.connected);
    if (mayWait && backOff === undefined && lines.isWanted(raw)) await this.#listen();
    const delay = backOff?.delays();
    for (;;) {
      const seen = this.#channel?.signals;
      const listenedFor = this.#taken;
      const answer = await this.#ask();
      if (typeof answer === 'object') return answer;
      if (!mayWait) return undefined;
      this.contended();
      if (await myTurn?.()) continue;
      if (delay) await this.wait.sleep(Math.min(delay(), this.#longestSleep(answer)));
      else if (this.#channel === undefined || this.#taken !== listenedFor) await this.#listen();
      else await this.#sleep(this.#channel, seen!, answer);
    }
  }

  /** Stops listening. */
  end(): void {
    if (this.#channel) this.context.connection.subscriptions.leave(this.#channel);
    this.#channel = undefined;
  }

  /** Subscribes; comes back when that is confirmed, or takes long. */
  #listen(): Promise<void> {
    this.end();
    const name = this.commands.channelOf(this.request.holder, this.#taken);
    this.#channel = this.context.connection.subscriptions.join(name);
    const { isActive, signals } = this.#channel;
    return isActive ? Promise.resolve() : this.#sleep(this.#channel, signals, DEAF_SLEEP);
  }

  /** Sleeps for `ms`, or until the channel has a reason that was not `seen` yet. */
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

  /** How long to sleep at most, when the holder has so many ms left; below 0: it has no end. */
  #longestSleep(left: number): number {
    const { silence } = this.commands;
    return left < 0 ? silence : Math.max(SHORTEST_SLEEP, Math.min(left, silence));
  }

  /** The grant, or the ms after which to ask again. */
  async #ask(): Promise<Granted | number> {
    const { clock } = this.context;
    let late = 0;
    for (let retries = 0; ;) {
      this.wait.throwIfEnded();
      const sentAt = clock.now();
      try {
        const [isGranted, value, taken = 0] = await this.wait.until(this.#send());
        if (isGranted !== 1) {
          this.isOnServer = this.commands.queues && this.request.mayWait;
          this.#taken = taken;
          return value;
        }
        // The lease counts from when it was sent. Sent again, a grant that came late is a fresh one.
        if (clock.now() - sentAt < this.request.lease / 2) return { sentAt, token: BigInt(value) };
        late += 1;
      } catch (error) {
        this.wait.throwIfEnded();
        this.#throwIfLasting(error);
        retries += 1;
        await this.wait.sleep(Math.min(RETRY_DELAY * 2 ** (retries - 1), LONGEST_RETRY_DELAY));
      }
      if (late === LATE_GRANTS) throw this.#tooSlow();
    }
  }

  #send(): Promise<Answer> {
    const { connection, replicas } = this.context;
    this.isOnServer = true;
    const command = this.commands.acquire(this.request);
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
    const { reply, acknowledged } = await connection.runReplicated(
      script,
      keys,
      args,
      policy,
      isGrant,
    );
    if (!isGrant(reply) || acknowledged >= policy.atLeast) return reply as Answer;
    const message = `Lock "${this.key}" of client "${client}" was acknowledged by ${acknowledged} of ${policy.atLeast} replicas: a failover may forget it.`;
    if (policy.otherwise !== 'warn')
      throw new LockConnectionError(
        `${message} It was given back. Check the replicas, or lower \`replicas.atLeast\`.`,
        { key: this.key, client },
      );
    process.emitWarning(message);
    return reply as Answer;
  }

  #throwIfLasting(error: unknown): void {
    const { client, connection } = this.context;
    const about = { key: this.key, client };
    if (error instanceof LockConnectionError || !isPassing(error)) throw lockErrorOf(error, about);
    if (connection.hasEnded)
      throw new LockConnectionError(
        `The Redis client of lock client "${client}" was closed. Keep it open as long as locks are wanted.`,
        { ...about, cause: error },
      );
  }

  #tooSlow(): LockConnectionError {
    const { client } = this.context;
    return new LockConnectionError(
      `Redis answers so late that a lease of ${this.request.lease} ms is half over. Give lock "${this.key}" a longer lease, or look after the server.`,
      { key: this.key, client },
    );
  }
}
