import type { History } from './history.js';
import type { ObservedHold } from './observed-hold.js';
import type { Operation } from './operation.js';
import type { SimulatedLock } from './simulated-lock.js';

type Parts = ObservedHold['parts'];

/**
 * A multi-lock acquires its parts one after the other in one order, and has all of them or none: where one is not granted, the
 * others are released; where one is lost, the whole is. The promises of each part are judged separately.
 */
export class PartsRule {
  readonly #wholes = new Set<ObservedHold>();

  /** @param isAsking see `ExclusionRule` */
  constructor(
    private readonly history: History,
    private readonly isAsking: boolean,
  ) {}

  /** The multi-lock is about to acquire that part. */
  began(whole: Operation, lock: SimulatedLock): void {
    const { id, lock: multi } = whole.options;
    const held = this.#held(whole);
    const next = multi.parts![held.length];
    const isOrdered = held.every(({ hold }, place) => hold.lock === multi.parts![place]);
    if (!isOrdered || next !== lock)
      this.history.accuse(`operation ${id} takes ${lock.key} when it holds ${held.length} parts`);
    if (whole.parts.some(({ settledAt }) => settledAt === undefined))
      this.history.accuse(`operation ${id} asks for two parts at the same time`);
  }

  /** The operation has the lease; returns its parts. */
  granted(whole: Operation, now: number): Parts {
    const { id, lock } = whole.options;
    const parts = this.#held(whole);
    if (parts.length !== lock.parts!.length)
      this.history.accuse(`operation ${id} is granted with ${parts.length} parts`);
    if (parts.some(({ hold }) => hold.lostAt !== undefined && hold.lostAt < now))
      this.history.accuse(`operation ${id} is granted although a part of it was lost before`);
    return parts;
  }

  /** The hold begins. */
  held(whole: ObservedHold): void {
    this.#wholes.add(whole);
  }

  /** The operation ended without a lease. */
  over(whole: Operation): void {
    for (const { hold } of this.#held(whole))
      this.history.accuse(`operation ${whole.options.id} keeps ${hold.queue?.directory}`);
  }

  /** Whether one of those was not granted. */
  isRefused(parts: readonly Operation[]): boolean {
    const last = parts.at(-1);
    return last?.settledAt !== undefined && last.hold === undefined;
  }

  /** What else it may fail with. */
  reasons({ parts }: Operation): string[] {
    const { prospect } = parts.at(-1)?.options ?? {};
    return prospect?.kind === 'refuse' ? [prospect.code] : [];
  }

  check(): void {
    for (const whole of this.#wholes) {
      if (this.isAsking && whole.client.process.isRunning) this.#ask(whole);
      const { id, parts, lostAt, endedAt, client } = whole;
      const isLost = parts.some(({ hold }) => hold.lostAt !== undefined);
      if (endedAt === undefined && isLost)
        this.history.accuse(`hold ${id} goes on although a part of it is lost`);
      if (lostAt !== undefined && !isLost)
        this.history.accuse(`hold ${id} is lost although all its parts are held`);
      if (endedAt === undefined || whole.leases.size > 0) continue;
      this.#wholes.delete(whole);
      const isKept = parts.some(({ hold, lease }) => hold.leases.has(lease));
      if (isKept && client.process.isRunning)
        this.history.accuse(`hold ${id} is released but for a part`);
    }
  }

  /** If a part reports its loss when it is asked, the whole has to as well. */
  #ask({ id, leases, parts }: ObservedHold): void {
    const isHeld = [...leases].some((lease) => lease.isHeld);
    if (isHeld && !parts.every(({ lease }) => lease.isHeld))
      this.history.accuse(`hold ${id} says that it is held without a part`);
  }

  /** The parts that it holds now, in the order of their grants. */
  #held({ parts }: Operation): Parts {
    return parts.flatMap(({ hold, lease }) =>
      hold && lease && hold.leases.has(lease) ? [{ hold, lease }] : [],
    );
  }
}
