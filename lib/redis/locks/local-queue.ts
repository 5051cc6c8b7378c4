import { NameMemory } from '../../core/collections/name-memory.js';
import {
  type LinePlace,
  type TakeOver,
  WaitingLines,
} from '../../core/collections/waiting-line.js';
import type { WaitScope } from '../../core/internal/wait-scope.js';
import type { Tenure } from '../../core/hand-off.js';
import type { SharedHold } from '../../core/shared-hold.js';
import type { LockCommands } from './lock-commands.js';

/** What one acquire of a client hands on to the next. */
export interface HandedHold {
  readonly holder: string;
  /** When the command that last set the lease was sent. */
  readonly sentAt: number;
  readonly lease: number;
  /** Number of connection interruptions before the acquire was sent: a later interruption may cause a copy of it. */
  readonly interruptions: number;
  /** Default: the server grants it now. */
  readonly tenure?: Tenure | undefined;
}

/** What the next caller gets: the hold, or a read lock that the caller before it goes on holding. */
export type Handed = HandedHold | SharedHold;

/** Number of waiters of one process in the queue of one key on the server; the others wait behind them, locally. */
export const WAITERS_ON_SERVER = 16;

type Kind = LockCommands['localQueue'];

/** Other processes that wait for a lock. */
interface Listeners {
  readonly listeners: number;
  readonly redissons: number;
}

/** Local queues of one client, by lock; and the locks that other processes want too. */
export class LocalQueues {
  readonly #lines = {
    exclusive: new WaitingLines<Handed>(),
    shared: new WaitingLines<Handed>(),
    waiters: new WaitingLines<Handed>(),
    queue: new WaitingLines<Handed>(WAITERS_ON_SERVER),
  };
  readonly #wanted = new NameMemory<Listeners>();

  /** @internal Joins the end of the local queue of that lock. */
  join(kind: Exclude<Kind, 'none'>, name: string): LinePlace<Handed> {
    return this.#lines[kind].join(name);
  }

  /** Whether there is no local queue for that lock. */
  isEmpty(kind: Kind, name: string): boolean {
    return kind === 'none' || !this.#lines[kind].has(name);
  }

  /** Number of processes that listened at this client's last release of that lock; if any, they go first the next time. */
  listeners(name: string): number {
    return this.#wanted.get(name)?.listeners ?? 0;
  }

  /** Number of those that hand nothing on, as Redisson's, if this client had handed the lock on before that release. */
  redissons(name: string): number {
    return this.#wanted.get(name)?.redissons ?? 0;
  }

  setListeners(name: string, listeners: number, redissons: number): void {
    this.#wanted.delete(name); // it counts as new
    if (listeners > 0) this.#wanted.set(name, { listeners, redissons });
  }
}

/** Place of one acquire in the local queue of its lock, if there is a queue and the acquire has to join it. */
export class LocalQueuePlace {
  #place?: LinePlace<Handed>;

  /** @param mayWait an acquire that may not wait skips the waiters, unless the queue is one of holders */
  constructor(
    private readonly lines: LocalQueues,
    private readonly commands: Pick<LockCommands, 'localQueue' | 'redisKey'>,
    mayWait: boolean,
  ) {
    const { localQueue, redisKey } = commands;
    const queues =
      localQueue === 'queue' || (localQueue === 'waiters' && !lines.isEmpty(localQueue, redisKey));
    if (this.isOfHolders || (queues && mayWait)) this.#join();
  }

  /** Whether a holder stays in the queue, up to its release. */
  get isOfHolders(): boolean {
    const { localQueue } = this.commands;
    return localQueue === 'exclusive' || localQueue === 'shared';
  }

  /** Whether it is this acquire's turn to ask the server. */
  get isFirst(): boolean {
    return this.#place?.isFirst ?? true;
  }

  /**
   * Joins the queue of the waiters, if there is one; resolves when it is this acquire's turn to ask, to whether others were ahead.
   * Rejects when the wait ends before.
   */
  first(wait: WaitScope): Promise<boolean> {
    if (this.commands.localQueue === 'none') return Promise.resolve(false);
    const place = this.#place ?? this.#join();
    if (place.isFirst) return Promise.resolve(false);
    return wait.untilCalled((resolve) => place.onFirst(() => resolve(true)));
  }

  /**
   * Must be called when the acquire neither wants nor holds the lock any more; idempotent.
   *
   * @param listening number of subscribers of other processes at the release, if known
   * @param redissons how many of them hand nothing on, as those of Redisson, if that was asked for
   */
  leave(listening?: number, redissons = 0): void {
    if (listening !== undefined)
      this.lines.setListeners(this.commands.redisKey, listening, redissons);
    this.#place?.leave();
  }

  /** See `LinePlace`. */
  get isLast(): boolean {
    return this.#place?.isLast ?? false;
  }

  /** See `LinePlace`. */
  set onFollowed(followed: (() => void) | undefined) {
    if (this.#place) this.#place.onFollowed = followed;
  }

  /** See `LinePlace`. */
  onHandOff(take: TakeOver<Handed>): boolean {
    return this.#place?.onHandOff(take) ?? false;
  }

  /** See `LinePlace`. */
  handOff(handed: Handed): boolean {
    return this.#place?.handOff(handed) ?? false;
  }

  #join(): LinePlace<Handed> {
    const { localQueue, redisKey } = this.commands;
    return (this.#place = this.lines.join(localQueue as Exclude<Kind, 'none'>, redisKey));
  }
}
