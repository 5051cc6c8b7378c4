import type { LoggerService } from '@nestjs/common';
import { type Clock, systemClock } from '../core/clock.js';
import { type LockClient, LockOptionsError, type LockSubject } from '../core/index.js';
import { LeaseScope } from '../core/internal/lease-scope.js';
import { nextTurn, settleWithin } from '../core/internal/timers.js';
import { finishWork } from '../core/internal/listed-work.js';
import type { LockBackendOptions } from '../interfaces/lock-module-options.interface.js';
import { LivenessWatch } from './liveness-watch.js';

/** Options of a shutdown, complete. */
type Terms = Required<{
  [Name in 'drainTimeout' | 'shutdownTimeout' | 'unfinished']: NonNullable<
    LockBackendOptions[Name]
  >;
}>;

/** Looks at an idle process, one every 100 ms, after which work that keeps a lock is taken to run no more. */
const IDLE_LOOKS = 20;

/**
 * The end of the clients of an app: `announce`, `finish`, `drain` and `close`, in this order.
 *
 * Invariants:
 * - No client closes before all have drained, as work under a lock of one may need locks of another.
 * - Work of a client is waited for until its `drainTimeout` after the first wait began, however often it is.
 */
export class ClientShutdown {
  readonly #clients = new Map<LockClient, Terms>();
  /** Until when their work is waited for, by their clocks. */
  readonly #deadlines = new Map<LockClient, number>();
  /** Whose end was waited for, as the log says. */
  readonly #logged = new Map<LockClient, string>();

  constructor(private readonly logger: Pick<LoggerService, 'log' | 'warn'>) {}

  /** @throws LockOptionsError */
  add(client: LockClient, options: LockBackendOptions): void {
    const { drainTimeout = 20_000, shutdownTimeout = 5_000, unfinished = 'keep' } = options;
    const refuse = (option: string, value: unknown, expected: string) => {
      throw new LockOptionsError(option, value, expected, { client: client.name });
    };
    if (!(Number.isFinite(shutdownTimeout) && shutdownTimeout > 0))
      refuse('shutdownTimeout', shutdownTimeout, 'milliseconds above 0');
    if (!(Number.isFinite(drainTimeout) && drainTimeout >= 0))
      refuse('drainTimeout', drainTimeout, 'milliseconds from 0 on');
    if (unfinished !== 'keep' && unfinished !== 'release')
      refuse('unfinished', unfinished, "'keep' or 'release'");
    this.#clients.set(client, { drainTimeout, shutdownTimeout, unfinished });
  }

  /** Closes a client that was not opened after all, and forgets it. */
  async discard(client: LockClient): Promise<void> {
    for (const known of [this.#clients, this.#deadlines, this.#logged]) known.delete(client);
    await client.close();
  }

  /** Waits get a bound, so that what waits for a lock is not waited for in vain. */
  announce(): void {
    for (const [client, { shutdownTimeout }] of this.#clients) client.limitWaits(shutdownTimeout);
  }

  /** Waits for the work that is under way now, and serves all callers meanwhile; what they begin is not waited for. */
  async finish(): Promise<void> {
    await Promise.all([...this.#clients.keys()].map((client) => this.#finish(client)));
  }

  /** Takes no new callers, and waits for the work under way. */
  async drain(): Promise<void> {
    await Promise.all([...this.#clients].map(([client, terms]) => this.#drain(client, terms)));
  }

  async close(): Promise<void> {
    const closed = [...this.#clients].map(([client, { shutdownTimeout, unfinished }]) =>
      client.close(shutdownTimeout, unfinished),
    );
    await Promise.all(closed);
    LeaseScope.runOutside(() => this.#watchKept());
  }

  async #finish(client: LockClient): Promise<void> {
    const left = this.#timeLeft(client);
    await new Promise<void>((resolve) => nextTurn(resolve)); // work on a lock that was just granted begins
    const works = client.unfinished();
    if (works.length === 0 || left === 0) return;
    this.#logWait(client, left);
    await settleWithin(left, clockOf(client), finishWork(works));
  }

  async #drain(client: LockClient, { drainTimeout, unfinished }: Terms): Promise<void> {
    const left = this.#timeLeft(client);
    const drained = client.drain();
    this.#logWait(client, left);
    await settleWithin(left, clockOf(client), drained);
    const late = namesOf(client.unfinished());
    if (late === '') return;
    const outcome =
      unfinished === 'keep'
        ? 'The lock keeps others out until the work ends; if the process ends first, until the lease or the session is over.'
        : 'The lock is released now: others may run beside it.';
    this.logger.warn(
      `Lock client "${client.name}" closes, although its work was not over after the \`drainTimeout\` of ${drainTimeout} ms: ${late}. Its signal aborts. ${outcome}`,
    );
  }

  #timeLeft(client: LockClient): number {
    const now = clockOf(client).now();
    const deadline = this.#deadlines.get(client) ?? now + this.#clients.get(client)!.drainTimeout;
    this.#deadlines.set(client, deadline);
    return Math.max(0, deadline - now);
  }

  /** Not again for the same work. */
  #logWait(client: LockClient, left: number): void {
    const begun = namesOf(client.unfinished());
    if (begun === '' || left === 0 || this.#logged.get(client) === begun) return;
    this.#logged.set(client, begun);
    this.logger.log(
      `Lock client "${client.name}" waits for up to ${Math.round(left)} ms for the end of ${begun}`,
    );
  }

  /** Locks that are kept must not keep the process alive when nothing else does. */
  #watchKept(): void {
    const clients = [...this.#clients.keys()];
    const isOver = () => clients.every((client) => client.unfinished().length === 0);
    if (isOver()) return;
    const watch = new LivenessWatch(IDLE_LOOKS, isOver);
    for (const client of clients) watch.add(client);
  }
}

const clockOf = (client: LockClient): Clock => client.clock ?? systemClock;

/** Each method once, with the key of its first lock; callers without a method by key. */
function namesOf(locks: readonly LockSubject[]): string {
  const names = new Map(locks.map(({ method, key }) => [method ?? `"${key}"`, key]));
  return [...names]
    .map(([name, key]) => (name.endsWith('"') ? name : `${name} ("${key}")`))
    .join(', ');
}
