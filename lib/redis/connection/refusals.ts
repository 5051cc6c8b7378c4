import type { Clock, Timer } from '../../core/clock.js';

/** How often it is looked after while servers refuse, in ms. */
const TICK = 500;
/** A refusal of scripts that lasts so long is told, in ms. */
const TOLD_AFTER = 1_000;
/** It is over when a script has run and none was refused for so long, in ms: a waiter asks at least once a second. */
const QUIET = 1_500;
/** It is taken for over when nothing was asked for so long, in ms: a server that is asked nothing would never be well again. */
const FORGOTTEN = 5_000;

/** What a {@link Refusals} tells, each at most once an episode. */
export interface RefusalsListener {
  /** Scripts have been refused for a second. */
  refused(error: Error): void;
  /** They are not any more; told only where `refused` was. */
  over(): void;
}

/**
 * Remembers that the servers refuse scripts for a reason which may pass, such as READONLY and OOM: waiters ask on, and without
 * this neither their errors nor an operator would learn why nothing is granted.
 *
 * An episode begins with a refusal. Scripts may succeed meanwhile: a server without memory still releases, and of a cluster
 * one master may refuse.
 */
export class Refusals {
  #last?: Error;
  #lastAt = 0;
  /** How often it was looked after. */
  #ticks = 0;
  #hasSucceeded = false;
  #isTold = false;
  #timer?: Timer;

  constructor(
    private readonly clock: Clock,
    private readonly listener: RefusalsListener,
  ) {}

  /** The last of this episode. */
  get last(): Error | undefined {
    return this.#last;
  }

  /** Has this episode been told? */
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
    this.#hasSucceeded = false;
  }

  /** A script has run. */
  succeeded(): void {
    this.#hasSucceeded = true;
  }

  /** Forgets the episode, and tells nothing of its end. */
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
    if (quiet >= (this.#hasSucceeded ? QUIET : FORGOTTEN)) {
      const wasTold = this.#isTold;
      this.clear();
      if (wasTold) this.listener.over();
      return;
    }
    this.#arm();
    const isRefusing = !this.#hasSucceeded || quiet < 1.5 * TICK; // since the last tick, which came a little early or late
    if (this.#isTold || !isRefusing || this.#ticks * TICK < TOLD_AFTER) return;
    this.#isTold = true;
    this.listener.refused(last);
  }

  #arm(): void {
    this.#timer = this.clock.setTimer(() => this.#tick(), TICK, true);
  }
}

/**
 * What is wrong with a server for a client that is not one of a cluster, by its `INFO`; `undefined` when nothing is.
 *
 * It is a warning: a node may have all the slots, and a replica may be promoted.
 */
export function serverWarning(info: string, name: string): string | undefined {
  if (/^cluster_enabled:1/m.test(info))
    return `Lock client "${name}" is connected to a node of a Redis Cluster as if it were a server of its own: locks of the other nodes will be refused. Name the nodes as the option \`cluster\`, or hand over an ioredis \`Cluster\`.`;
  if (/^role:slave/m.test(info))
    return `Lock client "${name}" is connected to a replica, which grants nothing. Name the primary, or the Sentinels that know it.`;
  return undefined;
}
