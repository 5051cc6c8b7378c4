import type { Clock, Timer } from '../../lib/core/clock.js';
import { Outbox } from '../../lib/embedded/embedded-transport.js';

interface Work {
  readonly kind: 'timer' | 'message';
  readonly run: () => void;
}

/**
 * The event loop of one simulated process: its timers, and the messages that reach it. It can be frozen, as by SIGSTOP or a
 * long garbage collection: time goes on, and what came meanwhile is processed afterwards. Or killed: then never.
 */
export class SimulatedProcess implements Clock {
  #state: 'running' | 'frozen' | 'dead' = 'running';
  /** What came while it was frozen, and what came since and waits behind that. */
  #backlog: Work[] = [];
  readonly #timers = new Set<object>();
  #thawedAt = 0;
  /** However many messages arrive at once, all work caused by one has run before the next is read. */
  readonly #socket = new Outbox((read) => process.nextTick(read));

  constructor(private readonly world: Clock) {}

  get isRunning(): boolean {
    return this.#state === 'running';
  }

  get isDead(): boolean {
    return this.#state === 'dead';
  }

  /** When it last began to run again. */
  get thawedAt(): number {
    return this.#thawedAt;
  }

  /** How many of its timers are still to fire. */
  get pendingTimers(): number {
    return this.#timers.size;
  }

  now(): number {
    return this.world.now();
  }

  setTimer(fn: () => void, ms: number): Timer {
    const entry = {};
    this.#timers.add(entry);
    const run = () => void (this.#timers.delete(entry) && fn());
    const timer = this.world.setTimer(() => this.#enter({ kind: 'timer', run }), ms);
    return {
      cancel: () => {
        this.#timers.delete(entry);
        timer.cancel();
      },
    };
  }

  /** A message from outside, processed when the process can. */
  receive(run: () => void): void {
    this.#socket.push(() => this.#enter({ kind: 'message', run }));
  }

  freeze(): void {
    if (this.#state === 'running') this.#state = 'frozen';
  }

  /** Ends `freeze`: what came meanwhile is processed, each thing in a turn of its own, that kind first. */
  thaw(first: Work['kind']): void {
    if (this.#state !== 'frozen') return;
    this.#state = 'running';
    this.#thawedAt = this.now();
    const isFirst = ({ kind }: Work) => kind === first;
    const backlog = this.#backlog;
    this.#backlog = [...backlog.filter(isFirst), ...backlog.filter((work) => !isFirst(work))];
    this.#workOff();
  }

  /** Ends the process without any notification. */
  kill(): void {
    this.#state = 'dead';
    this.#backlog = [];
    this.#timers.clear();
  }

  #enter(work: Work): void {
    if (this.#state === 'dead') return;
    if (this.#state === 'running' && this.#backlog.length === 0) work.run();
    else this.#backlog.push(work);
  }

  #workOff(): void {
    if (this.#backlog.length === 0) return;
    this.world.setTimer(() => {
      if (this.#state !== 'running') return;
      this.#backlog.shift()?.run();
      this.#workOff();
    }, 0);
  }
}
