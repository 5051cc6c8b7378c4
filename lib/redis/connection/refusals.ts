import type { Clock, Timer } from '../../core/clock.js';

/** Interval of the checks while servers refuse, in ms. */
const TICK = 500;
/** A refusal of scripts that lasts this long is reported, in ms. */
const TOLD_AFTER = 1_000;
/** An episode is over if a script has run and none was refused for this long, in ms: waiters ask at least once a second. */
const QUIET = 1_500;
/** It also ends when nothing was asked for this long, in ms: an idle server would otherwise count as refusing forever. */
const FORGOTTEN = 5_000;

/** Listener of a {@link Refusals}; each method is called at most once per episode. */
interface RefusalsListener {
  /** Scripts have been refused for a second. */
  refused(error: Error): void;
  /** Scripts are no longer refused; called only after `refused`. */
  over(): void;
}

/**
 * Tracks refusals of scripts for a reason that may pass, such as READONLY and OOM: waiters keep retrying, and without this
 * neither their errors would show nor an operator would learn why nothing is granted.
 *
 * An episode begins with a refusal. Scripts may succeed meanwhile: a server without memory still releases, and in a cluster
 * a single master may refuse.
 */
export class Refusals {
  /** Set whenever a script has run. */
  hasSucceeded = false;
  #last?: Error;
  #lastAt = 0;
  /** Number of checks in this episode. */
  #ticks = 0;
  #isTold = false;
  #timer?: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly listener: RefusalsListener,
  ) {}

  /** The last refusal of this episode. */
  get last(): Error | undefined {
    return this.#last;
  }

  /** Whether this episode has been reported. */
  get isTold(): boolean {
    return this.#isTold;
  }

  add(error: Error): void {
    const now = this.clock.now();
    if (this.#last === undefined) {
      this.#ticks = 0;
      this.#arm();
    }
    this.#last = error;
    this.#lastAt = now;
    this.hasSucceeded = false;
  }

  /** Ends the episode: it is known that the server refuses nothing any more. */
  end(): void {
    const wasTold = this.#isTold;
    this.clear();
    if (wasTold) this.listener.over();
  }

  /** Forgets the episode without reporting its end. */
  clear(): void {
    this.#timer?.cancel();
    this.#timer = undefined;
    this.#last = undefined;
    this.#isTold = false;
  }

  #tick(): void {
    this.#ticks += 1;
    const now = this.clock.now();
    const quiet = now - this.#lastAt;
    const last = this.#last!;
    if (quiet >= (this.hasSucceeded ? QUIET : FORGOTTEN)) return this.end();
    this.#arm();
    const isRefusing = !this.hasSucceeded || quiet < 1.5 * TICK; // since the last tick, which may be a little early or late
    if (this.#isTold || !isRefusing || this.#ticks * TICK < TOLD_AFTER) return;
    this.#isTold = true;
    this.listener.refused(last);
  }

  #arm(): void {
    this.#timer = this.clock.setTimer(() => this.#tick(), TICK, true);
  }
}

/**
 * The problem of a server for a client that is not a cluster client, by its `INFO`; `undefined` if there is none.
 *
 * It is only a warning: a node may have all the slots, and a replica may be promoted.
 */
export function serverWarning(info: string, name: string): string | undefined {
  if (/^cluster_enabled:1/m.test(info))
    return `Lock client "${name}" is connected to a node of a Redis Cluster as if it were a server of its own: locks of the other nodes will be refused. Name the nodes as the option \`cluster\`, or hand over an ioredis \`Cluster\`.`;
  if (/^role:slave/m.test(info))
    return `Lock client "${name}" is connected to a replica, which grants nothing. Name the primary, or the Sentinels that know it.`;
  return undefined;
}
